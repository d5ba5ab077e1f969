# No lock that a role without privileges can take stands in the way: it holds all that it can get, and everything goes through.
use Testing;
use Workers;

my $node = new_server('locks', conf => "lock_timeout = '10s'\nmax_locks_per_transaction = 256");
$node->safe_psql('postgres', 'CREATE ROLE nobody LOGIN; CREATE ROLE trainer LOGIN');
$node->safe_psql('postgres', "SELECT cudal1_grant('trainer', 'trainer')");
$node->safe_psql('postgres', "SELECT cudal1_add_task('islands', 'ref', 'pytorch', NULL, NULL, '{\"strategy\": \"island\", \"islands\": 2}')");

# advisory locks in every space that a function names, or once named: of a task, of the extension
my $nobody = $node->background_psql('postgres', extra_params => [ '-U', 'nobody' ]);
$nobody->query_safe('BEGIN');
$nobody->query_safe("SELECT count(pg_advisory_xact_lock(hashint8extended(n, 7166185011))) FROM generate_series(1, 100) AS n");
$nobody->query_safe("SELECT pg_advisory_xact_lock(hashtextextended('cudal1_reverify', 0))");
is( $node->safe_psql('postgres', <<'SQL'), '', 'no function of the extension takes an advisory lock');
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'cudal1'
	WHERE pg_get_functiondef(p.oid) ~ 'advisory'
SQL

# locks on tables and rows: without privileges none at all, and those of a trainer hinder no reader and no writer
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION public.gets(role text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	statement	text;
BEGIN
	FOR statement IN
		SELECT format('LOCK TABLE cudal1.%I IN %s MODE', c.relname, m) FROM pg_class AS c, unnest(ARRAY['ACCESS SHARE', 'ROW SHARE', 'ROW EXCLUSIVE',
				'SHARE UPDATE EXCLUSIVE', 'SHARE', 'SHARE ROW EXCLUSIVE', 'EXCLUSIVE', 'ACCESS EXCLUSIVE']) AS m
			WHERE c.relnamespace = 'cudal1'::regnamespace AND c.relkind = 'r'
		UNION ALL
		SELECT format('SELECT FROM cudal1.%I FOR %s', c.relname, m) FROM pg_class AS c, unnest(ARRAY['KEY SHARE', 'SHARE', 'NO KEY UPDATE', 'UPDATE']) AS m
			WHERE c.relnamespace = 'cudal1'::regnamespace AND c.relkind = 'r'
	LOOP
		BEGIN
			EXECUTE format('SET LOCAL ROLE %I', role);
			EXECUTE statement;
			RAISE SQLSTATE 'OK000';
		EXCEPTION
			WHEN insufficient_privilege THEN
			WHEN SQLSTATE 'OK000' THEN
				RETURN NEXT statement;
		END;
	END LOOP;
END
$$;
SQL
is($node->safe_psql('postgres', "SELECT * FROM public.gets('nobody')"), '', 'a role without privileges locks no table and no row');
is($node->safe_psql('postgres', "SELECT * FROM public.gets('trainer') AS s WHERE s !~ '^LOCK TABLE .* IN ACCESS SHARE MODE\$'"), '',
	'a trainer locks no row, and tables no more than a reader');
my $trainer = $node->background_psql('postgres', extra_params => [ '-U', 'trainer' ]);
$trainer->query_safe('BEGIN');
$trainer->query_safe($_) for split /\n/, $node->safe_psql('postgres', "SELECT s || ';' FROM public.gets('trainer') AS s");

# all that placed and queued under those locks; what waits for one fails after ten seconds
my $id = submit_until($node, 'result 1.5', 'successful', 'a candidate is measured and placed');
is($node->safe_psql('postgres', "SELECT codes FROM cudal1.bucket JOIN cudal1.task USING (task_id) WHERE name = 'task'"), '1', 'in a bucket');
is($node->safe_psql('postgres', "SELECT cudal1_import_result('islands', 'x', 2, 'm', 'd') IS NOT NULL"), 't', 'a score is imported');
is($node->safe_psql('postgres', "SELECT cardinality(exemplars) FROM cudal1_prompt('islands')"), '1', 'a prompt is drawn on its islands');
is($node->safe_psql('postgres', "SELECT cudal1_reverify('0 seconds')"), '1', 'the best is queued again');
wait_for($node, "SELECT count(*) FROM cudal1.measurement WHERE kind = 'reverify' AND accepted", '1', 'and measured');
is($node->safe_psql('postgres', 'SELECT * FROM cudal1.check_of_buckets()'), '', 'buckets agree with their codes');
$nobody->query_safe('COMMIT');
$trainer->query_safe('COMMIT');
$_->quit for $nobody, $trainer;

# of two that place for one task, neither waits for the other
my $first = $node->background_psql('postgres');
$first->query_safe('BEGIN');
$first->query_safe("SELECT cudal1_import_result('islands', 'y', 3, 'm', 'd')");
is($node->safe_psql('postgres', "SET lock_timeout = '1s'; SELECT cudal1_import_result('islands', 'z', 3, 'm', 'd') IS NOT NULL"), 't', 'a score is imported beside another one');
is($node->safe_psql('postgres', "SELECT codes FROM cudal1_bucket_stats('islands') WHERE bucket = 12"), '1', 'and counted before the other one is');
$first->query_safe('COMMIT');
is($node->safe_psql('postgres', "SELECT codes FROM cudal1_bucket_stats('islands') WHERE bucket = 12"), '2', 'then with it');
is($node->safe_psql('postgres', 'SELECT * FROM cudal1.check_of_buckets()'), '', 'in parts that agree with the codes');
$first->quit;

# two calls of cron at once: the second waits for the first and queues nothing
$first = $node->background_psql('postgres');
$first->query_safe('BEGIN');
is($first->query_safe("SELECT cudal1_reverify('0 seconds')"), '1', 'a call of cron');
my $second = $node->background_psql('postgres', on_error_stop => 0);
$second->query_until(qr/started/, "SET client_min_messages = warning;\n\\echo started\nSELECT cudal1_reverify('0 seconds') AS queued;\n");
wait_for($node, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'SELECT cudal1_reverify%'", '1', 'another meets it');
$first->query_safe('COMMIT');
is($second->query_safe('SELECT 1'), "0\n1", 'and queues nothing');
$_->quit for $first, $second;
$node->stop;
done_testing();
