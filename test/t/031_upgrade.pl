# A database of any released version, with work in it, becomes one of this version: nothing in its catalogs differs from a fresh
# one, its data are what they were, what roles could do they still can, and it measures on.
use strict;
use warnings;
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $share = `$ENV{PG_CONFIG} --sharedir`;
chomp $share;
my $control = slurp_file("$share/extension/cudal1.control");
my ($newest) = $control =~ /^default_version = '(.*)'/m;
my @released = grep { $_ ne $newest } map { m{cudal1--([\d.]+)\.sql$} ? $1 : () } glob("$share/extension/cudal1--*.sql");
ok(@released > 0, "there are released versions before $newest: @released");

my $node = PostgreSQL::Test::Cluster->new('upgrade');
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

sql('postgres', 'CREATE DATABASE fresh');
sql('fresh', 'CREATE EXTENSION cudal1');
cmp_ok(scalar(split /\n/, sql('fresh', $catalog)), '>', 500, 'a database has its catalog');

# all that users rely on must not change by an upgrade
my %looks = (
	tasks => 'SELECT name, language, level, profile, device_model, certified FROM cudal1.task ORDER BY task_id',
	candidates => 'SELECT candidate_id, task_id, code, state, failure, detail, reward, score, purpose, imported, decided_at FROM cudal1.candidate ORDER BY candidate_id',
	proposals => 'SELECT proposal_id, candidate_id, method, group_key, proposal_key, created_at FROM cudal1.proposal ORDER BY proposal_id',
	measurements => 'SELECT measurement_id, candidate_id, kind, outcome, score, reward, samples, evidence FROM cudal1.measurement ORDER BY measurement_id',
	prompts => 'SELECT prompt_id, prompt FROM cudal1.prompt ORDER BY prompt_id',
	profiles => 'SELECT name, shipped, pairs, bucket_seconds FROM cudal1.profile ORDER BY name',
	devices => 'SELECT device_id, device_key, model, enabled FROM cudal1.device ORDER BY device_id',
	jobs => 'SELECT kind, candidate_id, state, attempt FROM cudal1.job ORDER BY job_id',
	buckets => 'SELECT * FROM cudal1_bucket_stats($$t$$) UNION ALL SELECT * FROM cudal1_bucket_stats($$l$$)',
	draws => 'SELECT s, e.* FROM generate_series(1, 20) AS s, cudal1_sample_exemplars($$t$$, 2, $$bucket$$, NULL, s) AS e',
	'draws at random' => 'SELECT s, e.* FROM generate_series(1, 20) AS s, cudal1_sample_exemplars($$t$$, 2, $$random$$, NULL, s) AS e',
	report => 'SELECT * FROM cudal1_speedup_report()');

for my $version (@released)
{
	(my $database = "from_$version") =~ tr/./_/;
	(my $role = "trainer_$version") =~ tr/./_/;
	sql('postgres', "CREATE DATABASE $database; CREATE ROLE $role");
	# with the library of today, as between the packages' upgrade and ALTER EXTENSION
	sql($database, <<"SETUP");
CREATE EXTENSION cudal1 VERSION '$version';
SELECT cudal1_grant('$role', 'trainer');
SELECT cudal1_add_profile('own', 'quick', '{"bucket_seconds": 0.05}', 'for this test');
SELECT cudal1_add_task('t', E'class Model:\\n    pass', 'pytorch', NULL, 1, '{"profile": "own", "device": "cpu"}');
SELECT cudal1_add_task('l', 'class Model: pass', 'pytorch', NULL, 2, '{"score_scale": "log", "bucket_width": 0.1, "device": "cpu", "strategy": "island"}');
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}');
SELECT count(*) FROM generate_series(1, 40) AS n, LATERAL cudal1_submit(CASE WHEN n % 3 = 0 THEN 'l' ELSE 't' END, 'code ' || n, 'method ' || n % 2, NULL, 'g' || n % 5, 'key ' || n);
DO \$\$
DECLARE
	c		record;
	n		int := 0;
BEGIN
	LOOP
		SELECT * INTO c FROM cudal1.claim(1, 'w');
		EXIT WHEN NOT FOUND OR n >= 25;
		n := n + 1;
		PERFORM cudal1.finish(c.job_id, c.attempt, CASE WHEN n % 7 = 0 THEN '{"outcome": "crash", "detail": "signal 11"}'::jsonb
			ELSE jsonb_build_object('outcome', 'successful', 'score', 0.5 + n * 0.04, 'samples', '[[1.0]]'::jsonb, 'evidence', '{"x": 1}'::jsonb) END);
	END LOOP;
END
\$\$;
SELECT cudal1_import_result('t', 'elsewhere', 2.2, 'published', 'A100');
SELECT cudal1_prompt('t', seed => 5), cudal1_prompt('l', strategy => 'island', seed => 6);
SELECT cudal1_ablation_explain(cudal1_ablate(cudal1_submit('t', E'A = True\\nB = True\\n'), '{A,B}'), '{A}', 'found by looking');
SELECT cudal1_measure_aa(), cudal1_prune('0 days');
SETUP
	my %before = map { $_ => sql($database, $looks{$_}) } keys %looks;
	isnt($before{$_}, '', "$version: there are $_") for sort keys %looks;
	is(sql($database, q{SELECT hint FROM cudal1_status() WHERE item = 'version'}), "Run ALTER EXTENSION cudal1 UPDATE; this server has version $newest.",
		"$version: the status says that there is a newer one") if $version ne '0.1.0';

	# a dump of the old version, restored beside the new one
	my $file = PostgreSQL::Test::Utils::tempdir() . '/dump';
	$node->command_ok(['pg_dump', '-Fc', '-f', $file, '-d', $node->connstr($database)], "$version: a dump before it");
	sql('postgres', "CREATE DATABASE old_$database");
	sql("old_$database", "CREATE EXTENSION cudal1 VERSION '$version'");
	$node->command_ok(['pg_restore', '--exit-on-error', '-d', $node->connstr("old_$database"), $file], 'is restored into its version');
	sql("old_$database", 'ALTER EXTENSION cudal1 UPDATE');
	is(sql("old_$database", $looks{$_}), $before{$_}, "$version: same $_ after the restore and the upgrade") for grep { $_ ne 'jobs' } sort keys %looks;
	is(sql("old_$database", 'SELECT DISTINCT subject FROM cudal1_check()'), 'undecided without a job', "$version: all that is off is the queue");

	if ($version eq '0.1.0')
	{
		# a view over a function that has further arguments since, as docs/operation.md says
		sql($database, "CREATE VIEW my_view AS SELECT level, tasks FROM cudal1_level_report(); GRANT SELECT ON my_view TO $role");
		my $mine = sql($database, 'SELECT * FROM my_view');
		my ($rc, $out, $error) = $node->psql($database, "\\set VERBOSITY verbose\nALTER EXTENSION cudal1 UPDATE");
		like($error, qr/2BP01.*view my_view depends on function cudal1_level_report/s, "$version: the update stops before a user's view");
		my $view = PostgreSQL::Test::Utils::tempdir() . '/my_view.sql';
		$node->command_ok(['pg_dump', '--schema-only', '--table', 'my_view', '-f', $view, '-d', $node->connstr($database)], 'which can be saved');
		$node->command_ok(['psql', '-X', '-1', '-v', 'ON_ERROR_STOP=1', '-c', 'DROP VIEW my_view', '-c', 'ALTER EXTENSION cudal1 UPDATE',
			'-f', $view, '-d', $node->connstr($database)], 'dropped and put back');
		is(sql($database, "SET ROLE $role; SELECT * FROM my_view"), $mine, 'and says the same, to whom it was granted');
		sql($database, 'DROP VIEW my_view');
	}
	else
	{
		sql($database, 'ALTER EXTENSION cudal1 UPDATE');
	}
	is(sql($database, q{SELECT extversion FROM pg_extension WHERE extname = 'cudal1'}), $newest, "$version becomes $newest");
	is(sql($database, $looks{$_}), $before{$_}, "$version: same $_") for sort keys %looks;
	is(sql($database, 'SELECT * FROM cudal1_check()'), '', "$version: all derived numbers hold");

	is(sql($database, "SELECT has_function_privilege('$role', 'cudal1_bucket_stats(text, double precision)', 'EXECUTE') AND"
		. " has_table_privilege('$role', 'cudal1.candidate', 'SELECT') AND (SELECT bool_and(has_function_privilege('$role', p.oid, 'EXECUTE')) FROM pg_proc AS p"
		. " WHERE p.proname IN ('cudal1_submit', 'cudal1_wait', 'cudal1_sample_exemplars', 'cudal1_level_report'))"), 't', "$version: a trainer can do what it could");
	# what is new comes with another grant; then nothing is left that a fresh database's trainer has and this one's has not
	sql($_, "SELECT cudal1_grant('$role', 'trainer')") for $database, 'fresh';
	my @differences = differences($database, 'fresh');
	is(scalar(@differences), 0, "$version: upgraded and granted anew, nothing differs from a fresh database")
	  or diag("what tools/upgrade can't derive goes into sql/upgrade/*--$newest.sql:\n", map { substr($_, 0, 400) . "\n" } @differences);
	sql($_, "SELECT cudal1_revoke('$role', 'trainer')") for $database, 'fresh';

	# it measures on, and can be dumped and restored
	is(sql($database, "SELECT cudal1.register_device('h', '{\"key\": \"cpu:1\", \"class\": \"cpu\", \"model\": \"M\", \"languages\": [\"pytorch\"]}')"), '1', "$version: its device is known");
	sql($database, q{SELECT cudal1_submit('t', 'after it', priority => 1000)});
	is(sql($database, <<'MEASURE'), 'successful 1.57', "$version: a new candidate is measured");
DO $$
DECLARE
	c	record;
BEGIN
	LOOP
		SELECT * INTO c FROM cudal1.claim(1, 'w');
		EXIT WHEN NOT FOUND;
		PERFORM cudal1.finish(c.job_id, c.attempt, jsonb_build_object('outcome', 'successful',
			'score', CASE c.job #>> '{candidate,code}' WHEN 'after it' THEN 1.57 ELSE 1 END));
	END LOOP;
END
$$;
SELECT concat_ws(' ', state, reward, failure, detail) FROM cudal1.candidate WHERE code = 'after it';
MEASURE
	%before = map { $_ => sql($database, $looks{$_}) } grep { $_ ne 'jobs' } keys %looks;
	$node->command_ok(['pg_dump', '-Fc', '-f', $file, '-d', $node->connstr($database)], "$version: a dump of it");
	sql('postgres', "CREATE DATABASE copy_$database");
	$node->command_ok(['pg_restore', '--exit-on-error', '-d', $node->connstr("copy_$database"), $file], 'is restored');
	is(sql("copy_$database", $looks{$_}), $before{$_}, "$version: same $_ after a restore") for sort keys %before;
}

# the comparison sees what it should
sql('fresh', q{COMMENT ON TABLE cudal1.task IS 'other'; ALTER TABLE cudal1.task ADD COLUMN x int; GRANT SELECT ON cudal1.job TO PUBLIC});
(my $any = "from_$released[0]") =~ tr/./_/;
my @seen = differences($any, 'fresh');
is(scalar(grep { /relation cudal1.task:/ } @seen), 2, 'a changed comment is a difference');
is(scalar(grep { /column +of cudal1.task: x / } @seen), 1, 'a new column, too');
is(scalar(grep { /relation cudal1.job:/ } @seen), 2, 'and a grant');

$node->stop;
done_testing();
