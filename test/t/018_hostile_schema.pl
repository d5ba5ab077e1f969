# Whatever lies in the target schema, in public and in the search_path: nothing of it is called, by the script of CREATE EXTENSION, by the
# extension's functions or by its worker.
use Testing;
use Workers;

my $node = new_server('hostile', conf => "cudal1.databases = 'postgres, trapped'\nlog_statement = none");
chomp(my $share = `pg_config --sharedir`);
my ($version) = slurp_file("$share/extension/cudal1.control") =~ /^default_version = '(.*)'/m;
my $script = "$share/extension/cudal1--$version.sql";
my $clean = '-c search_path=pg_catalog,pg_temp';

sub clean_psql
{
	my ($database, $sql) = @_;
	local $ENV{PGOPTIONS} = $clean;
	return $node->safe_psql($database, $sql);
}

# what was called since the last time, each function once
my $read = 0;
sub sprung
{
	my %names = map { $_ => 1 } substr(slurp_file($node->logfile), $read) =~ /trap: (.*)/g;
	$read = -s $node->logfile;
	return join "\n", sort keys %names;
}

# overloads with fewer arguments of what users call, as they stand where the extension is
my $fewer = clean_psql('postgres', <<'SQL');
SELECT f.proname, k, coalesce((SELECT string_agg(format_type(a.t, NULL), ', ' ORDER BY a.i) FROM unnest(f.proargtypes::oid[]) WITH ORDINALITY AS a (t, i) WHERE a.i <= k), '')
	FROM pg_proc AS f CROSS JOIN LATERAL generate_series(f.pronargs - f.pronargdefaults, f.pronargs - 1) AS k
	WHERE f.pronamespace = 'public'::regnamespace AND f.proname LIKE 'cudal1%'
SQL

$node->safe_psql('postgres', 'CREATE ROLE attacker LOGIN');
$node->safe_psql('postgres', 'CREATE DATABASE trapped OWNER attacker');
my $copy = PostgreSQL::Test::Utils::tempdir() . '/script.sql';
append_to_file($copy, slurp_file($script));
chmod 0644, $copy;
clean_psql('trapped', "CREATE SCHEMA home AUTHORIZATION attacker; GRANT CREATE ON SCHEMA public TO attacker;
CREATE TABLE public.script AS SELECT pg_read_file('$copy') AS text; GRANT SELECT ON public.script TO attacker;");
clean_psql('trapped', <<"SQL");
SET ROLE attacker;
CREATE FUNCTION public.plant(home text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS \$plant\$
DECLARE
	types	CONSTANT text[] := '{bool,int2,int4,int8,numeric,float4,float8,text,name,bytea,timestamptz,interval,jsonb,oid,regclass,text[],int4[],int8[],float8[]}';
	second	CONSTANT text[] := '{int4,int8,float8,text,jsonb,interval,text[],int8[]}';
	script	CONSTANT text := (SELECT s.text FROM public.script AS s);
	-- says that it was called, takes what it can get, and gives nothing
	body	CONSTANT text := 'LANGUAGE plpgsql SET search_path = pg_catalog AS \$trap\$ BEGIN RAISE LOG \$\$trap: %s as %%\$\$, current_user;
		IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN EXECUTE \$\$ALTER ROLE attacker SUPERUSER\$\$; END IF; RETURN NULL; END \$trap\$';
	results	text[];
	r		record;
	what	text;
BEGIN
	-- operators: every name that occurs, between all types, also those that pg_catalog has
	FOREACH what IN ARRAY ARRAY['bool', 'text', 'jsonb', 'numeric', 'float8', 'int8'] LOOP
		FOR r IN SELECT a, b FROM unnest(types) AS a, unnest(types) AS b LOOP
			EXECUTE format('CREATE FUNCTION %I.trap_%s(%s, %s) RETURNS %s ', home, what, r.a, r.b, what) || format(body, format('%s %s %s', r.a, what, r.b));
		END LOOP;
	END LOOP;
	FOR r IN
		SELECT o.oprname, a, b, o.result
			FROM (SELECT p.oprname, mode() WITHIN GROUP (ORDER BY p.oprresult::regtype::text) AS result FROM pg_operator AS p
				  WHERE p.oprkind = 'b' AND strpos(script, p.oprname) > 0 GROUP BY p.oprname) AS o, unnest(types) AS a, unnest(types) AS b
	LOOP
		EXECUTE format('CREATE OPERATOR %I.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = %I.trap_%s)', home, r.oprname, r.a, r.b, home,
			CASE WHEN r.result = 'boolean' THEN 'bool' WHEN r.result IN ('text', 'jsonb', 'numeric') THEN r.result WHEN r.result = 'double precision' THEN 'float8' ELSE 'int8' END);
	END LOOP;
	-- functions: every name that occurs, with the arguments that pg_catalog's take and with those that fit better than "any" and its like
	FOR r IN
		SELECT DISTINCT v.proname, v.args FROM (
			SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS args FROM pg_proc AS p
				WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a', 'w') AND p.pronargs <= 6 AND strpos(script, p.proname || '(') > 0
					AND NOT EXISTS (SELECT FROM unnest(p.proargtypes::oid[]) AS t (oid) WHERE t.oid = 'internal'::regtype OR t.oid = '"any"'::regtype)
					AND coalesce(p.proargmodes, '{i}') <@ '{i,o}' AND p.pronargs > 0 AND pg_get_function_identity_arguments(p.oid) NOT LIKE '%ORDER BY%'
			UNION ALL
			SELECT n.proname, a FROM (SELECT DISTINCT p.proname::text FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a', 'w')
									  AND p.pronargs >= 1 AND strpos(script, p.proname || '(') > 0) AS n (proname), unnest(types) AS a
			UNION ALL
			SELECT n.proname, a || ', ' || b FROM (SELECT DISTINCT p.proname::text FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a', 'w')
									  AND (p.pronargs = 2 OR p.provariadic <> 0) AND strpos(script, p.proname || '(') > 0) AS n (proname), unnest(types) AS a, unnest(second) AS b
			UNION ALL
			SELECT n.proname, x.list FROM (SELECT DISTINCT p.proname::text FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace
									  AND p.provariadic <> 0 AND strpos(script, p.proname || '(') > 0) AS n (proname),
				(SELECT rtrim(repeat(t || ', ', k), ', ') FROM unnest(types) AS t, generate_series(3, 5) AS k) AS x (list)) AS v
	LOOP
		BEGIN
			EXECUTE format('CREATE FUNCTION %I.%I(%s) RETURNS text ', home, r.proname, r.args) || format(body, format('%s(%s)', r.proname, r.args));
		EXCEPTION WHEN duplicate_function OR duplicate_object OR invalid_function_definition THEN
			NULL;
		END;
	END LOOP;
	-- tables and types of pg_catalog's names
	EXECUTE format('CREATE FUNCTION %I.trap_table() RETURNS bool ', home) || format(body, 'a table or a type');
	FOR r IN SELECT c.relname, c.oid::regclass AS name FROM pg_class AS c WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v') AND strpos(script, c.relname) > 0
				AND has_table_privilege(c.oid, 'SELECT') LOOP
		EXECUTE format('CREATE VIEW %I.%I AS SELECT %s FROM pg_catalog.%I WHERE %I.trap_table()', home, r.relname,
			(SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute AS a WHERE a.attrelid = r.name AND a.attnum > 0 AND a.atttypid <> 'anyarray'::regtype),
			r.relname, home);
	END LOOP;
	FOR r IN SELECT t.typname FROM pg_type AS t WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype = 'b' AND t.typelem = 0 AND t.oid < 16384 AND strpos(script, t.typname) > 0
		AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.relname = t.typname) LOOP
		EXECUTE format('CREATE DOMAIN %I.%I AS pg_catalog.%I CHECK (%I.trap_table())', home, r.typname, r.typname, home);
	END LOOP;
	-- overloads of the extension's own functions that need fewer defaults
	FOR r IN SELECT split_part(l, '|', 1) AS name, split_part(l, '|', 3) AS args FROM unnest(string_to_array(\$list\$$fewer\$list\$, E'\\n')) AS l LOOP
		EXECUTE format('CREATE FUNCTION %I.%I(%s) RETURNS text ', home, r.name, r.args) || format(body, format('%s(%s)', r.name, r.args));
	END LOOP;
END
\$plant\$;
SELECT public.plant('home');
SELECT public.plant('public');
ALTER DATABASE trapped SET search_path = home, public, pg_catalog;
SQL

# the traps work: an operator that fits better than pg_catalog's, as a superuser who looks here meets it
$node->safe_psql('trapped', 'SELECT 1::numeric / 2::int, 1::numeric > 1::float8');
like(sprung(), qr/numeric \w+ int4 as postgres/, 'a superuser who resolves names here steps into traps');
clean_psql('postgres', 'ALTER ROLE attacker NOSUPERUSER');

# what lies in the way of an object of ours is an error, and nothing of ours is left
my ($code, $out, $err) = ('', '', '');
clean_psql('trapped', 'CREATE SCHEMA cudal1 AUTHORIZATION attacker');
($code, $out, $err) = $node->psql('trapped', 'CREATE EXTENSION cudal1 SCHEMA home');
like($err, qr/schema "cudal1" already exists/, 'a schema of another owner is not taken over');
clean_psql('trapped', 'DROP SCHEMA cudal1');
clean_psql('trapped', 'SET ROLE attacker; CREATE FUNCTION home.cudal1_reward(candidate_id bigint) RETURNS float8 LANGUAGE sql AS $$SELECT 1.0::float8$$');
($code, $out, $err) = $node->psql('trapped', 'CREATE EXTENSION cudal1 SCHEMA home');
like($err, qr/function "cudal1_reward" already exists/, 'nor is a function');
clean_psql('trapped', 'DROP FUNCTION home.cudal1_reward(bigint)');
($code, $out, $err) = $node->psql('trapped', "SET standard_conforming_strings = off; CREATE EXTENSION cudal1 SCHEMA home");
like($err, qr/ERROR: .*(standard_conforming_strings must be on|invalid byte sequence)/, 'texts are not read in another way than they were written');
is(clean_psql('trapped', "SELECT count(*) FROM pg_namespace WHERE nspname = 'cudal1'"), '0', 'what failed left nothing');
is(sprung(), '', 'nothing was called until it failed');

# a copy for the other target schema
$node->safe_psql('postgres', 'CREATE DATABASE public_trapped TEMPLATE trapped');
for my $place ([ 'trapped', 'home' ], [ 'public_trapped', 'public' ])
{
	my ($database, $schema) = @$place;
	$node->safe_psql('postgres', "ALTER DATABASE $database SET search_path = $schema, home, public, pg_catalog");
	$node->safe_psql($database, "CREATE EXTENSION cudal1 SCHEMA $schema");
	is(sprung(), '', "CREATE EXTENSION in schema $schema calls none");

	# constraints, defaults, indexes, views and bodies refer to pg_catalog (which pg_depend leaves out), the extension and its surroundings
	is( clean_psql($database, <<'SQL'), '', 'nothing of it refers to an object of others');
WITH RECURSIVE ours (classid, objid) AS (
	SELECT d.classid, d.objid FROM pg_depend AS d JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
		WHERE e.extname = 'cudal1' AND d.deptype = 'e'
	UNION
	SELECT d.classid, d.objid FROM ours AS o JOIN pg_depend AS d ON d.refclassid = o.classid AND d.refobjid = o.objid AND d.deptype IN ('a', 'i'))
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) || ': ' || pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)
	FROM ours AS o JOIN pg_depend AS d USING (classid, objid)
	WHERE (d.refclassid, d.refobjid) NOT IN (SELECT classid, objid FROM ours)
		AND NOT (d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cudal1'))
		AND NOT (d.refclassid = 'pg_namespace'::regclass AND d.refobjid = (SELECT extnamespace FROM pg_extension WHERE extname = 'cudal1'))
		AND NOT (d.refclassid = 'pg_language'::regclass AND d.refobjid = (SELECT oid FROM pg_language WHERE lanname = 'plpgsql'))
	ORDER BY 1
SQL
}

# each function, with arguments of its own types, from a session that looks everywhere else first; a statement of its own each
my $calls = clean_psql('trapped', <<'SQL');
SELECT format('SELECT * FROM %s(%s);', f.oid::regproc, coalesce(string_agg(format('%s::%s',
		coalesce(regexp_replace(pg_get_function_arg_default(f.oid, a.i::int), '::[a-z ]+(\[\])?$', ''),
			CASE f.proargnames[a.i] WHEN 'missing' THEN '$$zero$$' WHEN 'variant' THEN '$$paper$$' WHEN 'strategy' THEN '$$bucket$$' WHEN 'kind' THEN '$$contrastive$$'
				WHEN 'score_scale' THEN '$$linear$$' WHEN 'confidence' THEN '0.95' WHEN 'cut' THEN '0.1' END,
			CASE WHEN t.typcategory = 'A' THEN '$${1}$$' WHEN t.typcategory = 'S' THEN '$$task$$' WHEN t.typname = 'jsonb' THEN '$${}$$' WHEN t.typname = 'bytea' THEN '$$x$$'
				WHEN t.typname = 'bool' THEN 'true' WHEN t.typname = 'interval' THEN '$$1 ms$$' WHEN t.typcategory = 'D' THEN '$$2030-01-01$$'
				WHEN t.typtype = 'c' THEN format('(SELECT x FROM %s AS x LIMIT 1)', t.oid::regtype) ELSE '1' END),
		CASE WHEN t.typcategory = 'A' THEN 'pg_catalog.' || e.typname || '[]' ELSE t.typnamespace::regnamespace || '.' || quote_ident(t.typname) END), ', ' ORDER BY a.i) FILTER (WHERE a.i > 0), ''))
	FROM pg_proc AS f JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = f.oid AND d.deptype = 'e'
		JOIN pg_extension AS x ON x.oid = d.refobjid AND x.extname = 'cudal1'
		LEFT JOIN (LATERAL unnest(f.proargtypes::oid[]) WITH ORDINALITY AS a (t, i) JOIN pg_type AS t ON t.oid = a.t LEFT JOIN pg_type AS e ON e.oid = t.typelem) ON true
	WHERE f.prorettype <> 'trigger'::regtype
	GROUP BY f.oid, f.pronamespace, f.proname
	ORDER BY f.pronamespace = 'cudal1'::regnamespace, f.oid
SQL

# the worker measures there; its session looks nowhere else, whatever the database's owner set
clean_psql('trapped', <<'SQL');
SELECT home.cudal1_add_task('task', 'void solve(const float *a, float *c) {}', 'c',
	'{"entry": "solve", "args": [{"name": "a", "dtype": "float32", "shape": [4], "role": "in", "init": "normal"},
								 {"name": "c", "dtype": "float32", "shape": [4], "role": "out"}]}', 1, '{"profile": "quick", "device": "cpu"}');
SELECT home.cudal1_submit('task'::text, 'result 1.5'::text, 'm'::text, NULL::bigint, 'g'::text, 'k'::text, 0, NULL::timestamptz, 'normal'::text, 'main'::text);
SQL
{
	local $ENV{PGOPTIONS} = $clean;
	wait_for($node, "SELECT state FROM cudal1.candidate", 'successful', 'the worker measures', 'trapped');
}
is(sprung(), '', 'and calls none');

# the functions, called by a superuser who looks everywhere else first
append_to_file(my $file = PostgreSQL::Test::Utils::tempdir() . '/calls.sql', "$calls\n"
	  . clean_psql('trapped', "SELECT format('SELECT * FROM %s;', oid::regclass) FROM pg_class WHERE relnamespace = 'cudal1'::regnamespace AND relkind = 'v'") . "\n");
($code, $out, $err) = ('', '', '');
IPC::Run::run([ 'psql', '-Xq', '-f', $file, $node->connstr('trapped') ], '>', \$out, '2>', \$err);
my @failed = $err =~ /ERROR:/g;
my @called = $calls =~ /;$/mg;
cmp_ok(scalar(@called), '>', 150, 'every function is called');
cmp_ok(scalar(@failed), '<', @called / 3, 'most of them do something');
is(sprung(), '', 'none of them calls one');
# the programs that an operator runs there
mkdir(my $tasks = PostgreSQL::Test::Utils::tempdir() . '/tasks');
append_to_file("$tasks/1_Double.py", "import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return 2 * x\n\n\n"
	  . "def get_inputs():\n    return [torch.randn(64)]\n\n\ndef get_init_inputs():\n    return []\n");
# overloads in the extension's schema make calls of users ambiguous, which is an error; without them
my $bare = $node->connstr('public_trapped');
clean_psql('public_trapped', <<'SQL');
DO $$
DECLARE
	f	regprocedure;
BEGIN
	FOR f IN SELECT p.oid FROM pg_proc AS p WHERE p.proname LIKE 'cudal1%' AND p.pronamespace = 'public'::regnamespace
				AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') LOOP
		EXECUTE format('DROP FUNCTION %s', f);
	END LOOP;
END
$$
SQL
for my $command ([ 'cudal1-import', '-d', $bare, $tasks ], [ 'cudal1-report', '-d', $bare, '-o', "$tasks/report.html" ])
{
	my $said;
	ok(IPC::Run::run($command, '<', \'', '>', \$said, '2>&1'), "$command->[0] does its work") or diag $said;
}
is(sprung(), '', 'nor do the programs');

is($node->safe_psql('postgres', "SELECT rolsuper FROM pg_roles WHERE rolname = 'attacker'"), 'f', 'the attacker is no superuser');
done_testing();
