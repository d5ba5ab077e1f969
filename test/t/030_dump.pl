# A dump holds everything but the queue: the restored database gives the same rewards, buckets, draws and prompts, and
# measures what was unfinished. A worker that serves the database does not disturb the restore, as docs/operation.md says.
use Testing;
use Workers;

my $node = new_server('dump', conf => "cudal1.databases = 'served_custom, served_slow, served_again'\ncudal1.certify = off\ncudal1.idle_poll = '100ms'");

sub sql
{
	my ($database, $query) = @_;
	return $node->safe_psql($database, $query);
}

$node->safe_psql('postgres', 'CREATE DATABASE origin');
$node->safe_psql('origin', <<'SETUP');
SET client_min_messages = error;
CREATE EXTENSION cudal1;
CREATE ROLE trainer_of_dump;
SELECT cudal1_grant('trainer_of_dump', 'trainer');
SELECT cudal1_add_profile('own', 'quick', '{"bucket_seconds": 0.05}', 'for this test');
SELECT cudal1_add_task('t', E'class Model:\n    pass', 'pytorch', NULL, 1, '{"profile": "own", "device": "cpu"}');
SELECT cudal1_add_task('l', 'class Model: pass', 'pytorch', NULL, 2, '{"score_scale": "log", "bucket_width": 0.1, "device": "cpu", "strategy": "island"}');
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}');
SELECT count(*) FROM generate_series(1, 60) AS n, LATERAL cudal1_submit(CASE WHEN n % 3 = 0 THEN 'l' ELSE 't' END, 'code ' || n, 'method ' || n % 2, NULL, 'g' || n % 5, 'key ' || n);
SELECT cudal1_submit('l', 'code of an island', 'method 0', prompt_id, priority => 5) FROM cudal1_prompt('l', strategy => 'island', seed => 9);
DO $$
DECLARE
	c		record;
	n		int := 0;
BEGIN
	LOOP
		SELECT * INTO c FROM cudal1.claim(1, 'w');
		EXIT WHEN NOT FOUND OR n >= 40;
		n := n + 1;
		PERFORM cudal1.finish(c.job_id, c.attempt, CASE WHEN n % 7 = 0 THEN '{"outcome": "crash", "detail": "signal 11"}'::jsonb
			ELSE jsonb_build_object('outcome', 'successful', 'score', 0.5 + n * 0.04, 'samples', '[[1.0]]'::jsonb, 'evidence', '{"x": 1}'::jsonb) END);
	END LOOP;
END
$$;
SELECT cudal1_import_result('t', 'elsewhere', 2.2, 'published', 'A100');
SELECT cudal1_add_prompt_template('own', 'augment', '{reference}');
SELECT cudal1_open_pool('seeded', 'main'), cudal1_open_pool('own'), cudal1_prompt('t', seed => 4, pool => 'seeded');
SELECT cudal1_submit('t', code, pool => 'own') FROM cudal1.candidate WHERE candidate_id < 20;
SELECT cudal1.place_waiting() FROM generate_series(1, 20);
SELECT cudal1_prompt('t', seed => 5), cudal1_prompt('l', strategy => 'island', seed => 6);
SELECT cudal1_cancel(ARRAY[58]);
SELECT cudal1_ablation_explain(cudal1_ablate(cudal1_submit('t', E'A = True\nB = True\n'), '{A,B}'), '{A}', 'found by looking');
SELECT cudal1_measure_aa(), cudal1_prune('0 days');
SELECT cudal1_set_quota('trainer_of_dump', 5), cudal1_set_quota(NULL, requests => 7);
SETUP

my %looks = (
	profiles => 'SELECT * FROM cudal1.profile ORDER BY name',
	tasks => 'SELECT * FROM cudal1.task ORDER BY task_id',
	devices => 'SELECT * FROM cudal1.device ORDER BY device_id',
	candidates => 'SELECT * FROM cudal1.candidate ORDER BY candidate_id',
	proposals => 'SELECT * FROM cudal1.proposal ORDER BY proposal_id',
	'stored bytes' => 'SELECT role, sum(bytes) FROM cudal1.stored GROUP BY role ORDER BY role',
	quotas => 'SELECT * FROM cudal1.quota ORDER BY role',
	'imported scores' => 'SELECT * FROM cudal1.imported_score ORDER BY candidate_id, device',
	ablations => 'SELECT a.*, r.* FROM cudal1.ablation AS a JOIN cudal1.ablation_run AS r USING (ablation_id) ORDER BY a.ablation_id, r.mask',
	prompts => 'SELECT * FROM cudal1.prompt ORDER BY prompt_id',
	measurements => 'SELECT * FROM cudal1.measurement ORDER BY measurement_id',
	buckets => 'SELECT * FROM cudal1_bucket_stats($$t$$) UNION ALL SELECT * FROM cudal1_bucket_stats($$l$$)',
	codes => 'SELECT * FROM cudal1.pool_code ORDER BY candidate_id, pool_id, island',
	islands => 'SELECT * FROM cudal1.island ORDER BY task_id, pool_id, island',
	templates => 'SELECT * FROM cudal1.prompt_template WHERE NOT shipped',
	pools => 'SELECT * FROM cudal1.pool WHERE pool_id <> 1 ORDER BY pool_id',
	'draws from a pool' => 'SELECT s, e.* FROM generate_series(1, 20) AS s, cudal1_sample_exemplars($$t$$, 2, $$bucket$$, NULL, s, $$seeded$$) AS e',
	draws => 'SELECT s, e.* FROM generate_series(1, 20) AS s, cudal1_sample_exemplars($$t$$, 2, $$bucket$$, NULL, s) AS e',
	'draws at random' => 'SELECT s, e.* FROM generate_series(1, 20) AS s, cudal1_sample_exemplars($$t$$, 2, $$random$$, NULL, s) AS e',
	'island draws' => 'SELECT s, e.* FROM generate_series(1, 20) AS s, cudal1_sample_exemplars($$l$$, 2, $$island$$, NULL, s) AS e',
	report => 'SELECT * FROM cudal1_speedup_report(missing => $$one$$)',
	grants => q{SELECT has_function_privilege('trainer_of_dump', 'cudal1_submit(text, text, text, bigint, text, text, int, timestamptz, text, text)', 'EXECUTE'),
		has_column_privilege('trainer_of_dump', 'cudal1.measurement', 'evidence', 'SELECT'), has_table_privilege('trainer_of_dump', 'cudal1.task', 'SELECT')});
my %before = map { $_ => sql('origin', "SET client_min_messages = error; $looks{$_}") } keys %looks;
isnt($before{$_}, '', "there are $_") for sort keys %looks;

my $unfinished = sql('origin', q{SELECT count(*) FROM cudal1.candidate WHERE state IN ('queued', 'measuring', 'verifying')});
cmp_ok($unfinished, '>', 10, 'and unfinished candidates');

my $folder = PostgreSQL::Test::Utils::tempdir();

sub restore
{
	my ($format, $copy, @single) = @_;
	$node->command_ok(
		$format eq 'custom'
		? [ 'pg_restore', '--exit-on-error', @single, '-d', $node->connstr($copy), "$folder/custom" ]
		: [ 'psql', '-Xq', @single, '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($copy), '-f', "$folder/$format" ],
		"$copy: restored without an error");
	return;
}

# with a worker, which has registered the one device of its host beside those of the dump
sub served_is_same
{
	my ($copy) = @_;
	wait_for($node, 'SELECT count(*) FROM cudal1.device WHERE device_id > 1', '1', "$copy: its worker registers a device once all is there", $copy);
	is(sql($copy, 'SELECT * FROM cudal1.device WHERE device_id = 1'), $before{devices}, "$copy: those of the dump stay");
	is(sql($copy, "SET client_min_messages = error; $looks{$_}"), $before{$_}, "$copy: same $_") for grep { $_ ne 'devices' } sort keys %looks;
	is(sql($copy, q{SELECT DISTINCT subject FROM cudal1_check()}), 'undecided without a job', "$copy: all that is off is the queue");
	return;
}

for my $format ('custom', 'plain')
{
	my $copy = "copy_$format";
	$node->command_ok([ 'pg_dump', '-F', substr($format, 0, 1), '-f', "$folder/$format", '-d', $node->connstr('origin') ], "a $format dump is made");
	sql('postgres', "CREATE DATABASE $copy");
	restore($format, $copy);
	is(sql($copy, "SET client_min_messages = error; $looks{$_}"), $before{$_}, "$format: same $_") for sort keys %looks;
	is(sql($copy, 'SELECT * FROM cudal1.check_of_buckets()'), '', "$format: buckets agree with their codes");
	is(sql($copy, q{SELECT DISTINCT subject FROM cudal1_check()}), 'undecided without a job', "$format: all that is off is the queue");
	is(sql($copy, 'SELECT count(*) FROM cudal1.job'), '0', "$format: the queue is empty");
	is(sql($copy, 'SELECT cudal1_requeue()'), $unfinished, "$format: unfinished work is queued again");
	is(sql($copy, q{SELECT count(*) FROM cudal1.candidate AS c LEFT JOIN cudal1.job AS j USING (candidate_id)
		WHERE c.state = 'queued' AND (j.kind, j.profile, j.state) IS DISTINCT FROM ('measure',
			CASE c.purpose WHEN 'reference' THEN 'certify' ELSE (SELECT profile FROM cudal1.task AS t WHERE t.task_id = c.task_id) END, 'queued')}),
		'0', "$format: each waits for its measurement");
	# ids go on where they were
	is(sql($copy, q{SELECT cudal1_open_pool('another') > max(pool_id) FROM cudal1.pool WHERE name <> 'another'}), 't', "$format: new pools, too");
	is(sql($copy, q{SELECT cudal1_submit('t', 'a new one') > max(candidate_id) FROM cudal1.candidate}), 't', "$format: new candidates get new ids");
	is(sql($copy, q{SELECT cudal1_submit('t', 'other code', 'm', NULL, 'g1', 'key 1')}), '1', "$format: keys used before are known");
}
is(sql('copy_plain', q{SELECT shipped FROM cudal1.profile WHERE name = 'default'}), 't',
	'shipped profiles come with the extension');

# In one transaction, while a worker serves the database. A large dump takes long before its devices: long enough for a
# worker that sees the extension to register its own.
my $slow = slurp_file("$folder/plain");
is($slow =~ s/^(?=COPY cudal1\.device )/<<'WAIT'/em, 1, 'devices are loaded after what holds up the restore');
DO $$
BEGIN
	FOR i IN 1 .. 20 LOOP
		EXIT WHEN EXISTS (SELECT FROM cudal1.device);
		PERFORM pg_sleep(0.1);
	END LOOP;
END
$$;
WAIT
append_to_file("$folder/slow", $slow);
for my $format ('custom', 'slow')
{
	my $copy = "served_$format";
	sql('postgres', "CREATE DATABASE $copy");
	worker_pid($node, $copy);
	restore($format, $copy, '-1');
	served_is_same($copy);
}

# in steps, while the database is not listed
sql('postgres', 'CREATE DATABASE served_again');
worker_pid($node, 'served_again');
sql('postgres', $_) for q{ALTER SYSTEM SET cudal1.databases = ''}, 'SELECT pg_reload_conf()';
wait_for($node, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'cudal1 worker'", '0', 'databases that are not listed lose their workers');
restore('custom', 'served_again');
sql('postgres', $_) for 'ALTER SYSTEM RESET cudal1.databases', 'SELECT pg_reload_conf()';
served_is_same('served_again');

$node->stop;
done_testing();
