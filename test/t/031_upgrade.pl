# A database of an older version becomes one of this version: nothing in its catalogs differs from a fresh one, and its data
# are what they were. No version has been released yet, so the test makes an older one from the present script, and the script
# that leads back. Both lie in a copy of the server's installation, where user postgres may write.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %place = map { my $p = `$ENV{PG_CONFIG} --$_`; chomp $p; $_ => $p } 'bindir', 'sharedir';
(my $home = $place{bindir}) =~ s{/bin$}{};
my $copy = PostgreSQL::Test::Utils::tempdir();
# the server finds its files by their place beside its program
for my $folder ($home, $place{sharedir})
{
	(my $parent = $folder) =~ s{/[^/]+$}{};
	system('mkdir', '-p', "$copy$parent") == 0 && system('cp', '-a', $folder, "$copy$parent/") == 0 or die "$folder: $!";
}
my $scripts = "$copy$place{sharedir}/extension";
my ($newest) = slurp_file("$scripts/cudal1.control") =~ /^default_version = '(.*)'/m;
my $older = '0.0.1';

my $node = PostgreSQL::Test::Cluster->new('upgrade', install_path => "$copy$home");
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'cudal1'\ncudal1.databases = ''\n");
$node->start;

sub sql
{
	my ($database, $query) = @_;
	return $node->safe_psql($database, "SET client_min_messages = error;\n$query");
}

# everything that the extension put into a database, one line an object: "kind name: what it is"
my $catalog = <<'END';
WITH member AS (
	SELECT d.classid, d.objid FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'cudal1'
		WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
), relation AS (
	SELECT c.* FROM pg_class AS c WHERE c.oid IN (SELECT objid FROM member WHERE classid = 'pg_class'::regclass)
		OR EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND c.relkind = 'S' AND d.deptype IN ('a', 'i')
					AND d.refobjid IN (SELECT objid FROM member WHERE classid = 'pg_class'::regclass))
), lines AS (
	SELECT 'function ' || p.oid::regprocedure AS name, concat_ws(' | ', pg_get_functiondef(p.oid),
			(SELECT array_agg(a.grantee::regrole || ' ' || a.privilege_type ORDER BY 1) FROM aclexplode(p.proacl) AS a WHERE a.grantee <> 0)::text,
			(SELECT 'PUBLIC' FROM aclexplode(p.proacl) AS a WHERE a.grantee = 0), p.proacl IS NULL, obj_description(p.oid, 'pg_proc')) AS what
		FROM pg_proc AS p WHERE p.oid IN (SELECT objid FROM member WHERE classid = 'pg_proc'::regclass)
	UNION ALL
	SELECT format('relation %s', r.oid::regclass), concat_ws(' | ', r.relkind, r.relpersistence, r.reloptions, r.relrowsecurity,
			(SELECT array_agg(a.grantee::text || ' ' || a.privilege_type ORDER BY 1) FROM aclexplode(r.relacl) AS a WHERE a.grantee <> r.relowner)::text,
			obj_description(r.oid, 'pg_class'), CASE r.relkind WHEN 'v' THEN pg_get_viewdef(r.oid) END)
		FROM relation AS r
	UNION ALL
	-- a column that came later stands last in a table that was there before it
	SELECT format('column %s of %s', CASE r.relkind WHEN 'v' THEN a.attnum END, r.oid::regclass),
			concat_ws(' | ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.attstorage, a.attcompression,
				a.attcollation::regcollation, a.attacl, pg_get_expr(x.adbin, x.adrelid), col_description(r.oid, a.attnum))
		FROM relation AS r JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
			LEFT JOIN pg_attrdef AS x ON x.adrelid = r.oid AND x.adnum = a.attnum
		WHERE r.relkind IN ('r', 'v')
	UNION ALL
	SELECT format('constraint %s of %s', k.conname, k.conrelid::regclass), concat_ws(' | ', pg_get_constraintdef(k.oid), k.convalidated)
		FROM pg_constraint AS k WHERE k.conrelid IN (SELECT oid FROM relation)
	UNION ALL
	SELECT format('index %s', i.indexrelid::regclass), concat_ws(' | ', pg_get_indexdef(i.indexrelid), i.indisvalid)
		FROM pg_index AS i WHERE i.indrelid IN (SELECT oid FROM relation)
	UNION ALL
	SELECT format('trigger %s of %s', t.tgname, t.tgrelid::regclass), concat_ws(' | ', pg_get_triggerdef(t.oid), t.tgenabled)
		FROM pg_trigger AS t WHERE t.tgrelid IN (SELECT oid FROM relation) AND NOT t.tgisinternal
	UNION ALL
	SELECT format('sequence %s', s.seqrelid::regclass), concat_ws(' | ', s.seqtypid::regtype, s.seqstart, s.seqincrement, s.seqmax, s.seqmin, s.seqcycle)
		FROM pg_sequence AS s WHERE s.seqrelid IN (SELECT oid FROM relation)
	UNION ALL
	SELECT format('part of dumps %s', u.relation::regclass), u.condition
		FROM pg_extension AS e CROSS JOIN LATERAL unnest(e.extconfig, e.extcondition) AS u (relation, condition) WHERE e.extname = 'cudal1'
	UNION ALL
	SELECT 'shipped profile ' || p.name, row_to_json(p)::text FROM cudal1.profile AS p WHERE p.shipped
	UNION ALL
	SELECT 'shipped technique ' || t.name, t.pattern FROM cudal1.technique AS t WHERE t.pattern IS NOT NULL
	UNION ALL
	SELECT 'member ' || pg_describe_object(m.classid, m.objid, 0), '' FROM member AS m)
SELECT regexp_replace(name || ': ' || COALESCE(what, ''), '\s+', ' ', 'g') FROM lines ORDER BY 1;
END

sub differences
{
	my ($a, $b) = map { sql($_, $catalog) } @_;
	my %a = map { $_ => 1 } split /\n/, $a;
	my %b = map { $_ => 1 } split /\n/, $b;
	return ((map { "upgraded: $_" } grep { !$b{$_} } sort keys %a), map { "fresh:    $_" } grep { !$a{$_} } sort keys %b);
}

sql('postgres', "CREATE DATABASE fresh; CREATE DATABASE upgraded");
sql('fresh', 'CREATE EXTENSION cudal1');
cmp_ok(scalar(split /\n/, sql('fresh', $catalog)), '>', 500, 'a database has its catalog');

# the older version lacks a function and a column, and has another comment
my $function = 'cudal1_group_advantages';
my $definition = sql('fresh', <<"END");
SELECT replace(pg_get_functiondef(oid), 'FUNCTION public.', 'FUNCTION \@extschema\@.') || E';\n'
	|| format('COMMENT ON FUNCTION \@extschema\@.%I(%s) IS %L;', proname, pg_get_function_identity_arguments(oid), obj_description(oid, 'pg_proc')) || E'\n'
	|| format('REVOKE ALL ON FUNCTION \@extschema\@.%I(%s) FROM PUBLIC;', proname, pg_get_function_identity_arguments(oid))
FROM pg_proc WHERE proname = '$function';
END
my $column = sql('fresh', q{SELECT format($$ALTER TABLE cudal1.device ADD COLUMN %1$I %2$s; COMMENT ON COLUMN cudal1.device.%1$I IS %3$L; COMMENT ON TABLE cudal1.device IS %4$L;$$,
	attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum), obj_description(attrelid, 'pg_class'))
	FROM pg_attribute WHERE attrelid = 'cudal1.device'::regclass AND attname = 'lost_candidate'});
append_to_file("$scripts/cudal1--$older.sql", slurp_file("$scripts/cudal1--$newest.sql") . <<"END");
DROP FUNCTION \@extschema\@.$function;
ALTER TABLE cudal1.device DROP COLUMN lost_candidate;
COMMENT ON TABLE cudal1.device IS 'as it was';
END
append_to_file("$scripts/cudal1--$older--$newest.sql", <<"END");
$definition
$column
END

sql('upgraded', <<"END");
CREATE EXTENSION cudal1 VERSION '$older';
SELECT cudal1_add_task('t', E'class Model:\\n    pass', 'pytorch', NULL, 1, '{"device": "cpu"}');
SELECT cudal1_submit('t', 'code ' || n) FROM generate_series(1, 5) AS n;
SELECT cudal1_import_result('t', 'elsewhere', 2.2, 'published', 'A100');
END
is(sql('upgraded', q{SELECT hint FROM cudal1_status() WHERE item = 'version'}),
	"Run ALTER EXTENSION cudal1 UPDATE; this server has version $newest.", 'the status says that there is a newer version');
cmp_ok(scalar(differences('upgraded', 'fresh')), '>', 3, 'the older version differs');
my %looks = (
	tasks => 'SELECT task_id, name, language, level FROM cudal1.task ORDER BY task_id',
	candidates => 'SELECT candidate_id, code, state, reward, imported FROM cudal1.candidate ORDER BY candidate_id',
	jobs => 'SELECT kind, candidate_id, state FROM cudal1.job ORDER BY job_id',
	buckets => 'SELECT * FROM cudal1_bucket_stats($$t$$)');
my %before = map { $_ => sql('upgraded', $looks{$_}) } keys %looks;
isnt($before{$_}, '', "there are $_") for sort keys %looks;

sql('upgraded', 'ALTER EXTENSION cudal1 UPDATE');
is(sql('upgraded', q{SELECT extversion FROM pg_extension WHERE extname = 'cudal1'}), $newest, "$older becomes $newest");
is(sql('upgraded', $looks{$_}), $before{$_}, "the same $_") for sort keys %looks;
is(sql('upgraded', 'SELECT * FROM cudal1_check()'), '', 'all derived numbers hold');
is(join("\n", map { substr($_, 0, 400) } differences('upgraded', 'fresh')), '', 'nothing differs from a fresh database');

# the comparison sees what it should
sql('fresh', q{COMMENT ON TABLE cudal1.task IS 'other'; ALTER TABLE cudal1.task ADD COLUMN x int; GRANT SELECT ON cudal1.job TO PUBLIC});
my @seen = differences('upgraded', 'fresh');
is(scalar(grep { /relation cudal1.task:/ } @seen), 2, 'a changed comment is a difference');
is(scalar(grep { /column +of cudal1.task: x / } @seen), 1, 'a new column, too');
is(scalar(grep { /relation cudal1.job:/ } @seen), 2, 'and a grant');

$node->stop;
done_testing();
