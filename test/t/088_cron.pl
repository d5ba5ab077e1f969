# pg_cron calls what docs/operation.md tells it to: the best of each task is measured again, devices against themselves.
use Testing;
use Workers;

chomp(my $libraries = `$ENV{PG_CONFIG} --pkglibdir`);
plan skip_all => 'pg_cron is not installed (postgresql-15-cron)' unless -e "$libraries/pg_cron.so";

my $node = new_server('cron', conf => <<'END');
shared_preload_libraries = 'cudal1, pg_cron'
cron.database_name = 'postgres'
cron.use_background_workers = on
max_worker_processes = 24
END
$node->safe_psql('postgres', 'CREATE EXTENSION pg_cron');

# a reference that the stand-in measures as itself
$node->safe_psql('postgres', <<'END');
SELECT cudal1_add_task('reference', 'result 1.0', 'c',
	'{"entry": "solve", "args": [{"name": "c", "dtype": "float32", "shape": [4], "role": "inout"}]}', 1, '{"profile": "quick", "device": "cpu"}');
END

# a verdict of yesterday
my $id = submit_until($node, 'result 1.5', 'successful 1.5', 'a candidate is measured');
$node->safe_psql('postgres', "UPDATE cudal1.candidate SET decided_at = now() - interval '1 day' WHERE candidate_id = $id");
$node->safe_psql('postgres', <<'END');
SELECT cron.schedule('reverify', '* * * * *', $$SELECT cudal1_reverify('12 hours')$$);
SELECT cron.schedule('devices', '* * * * *', $$SELECT cudal1_measure_aa($a$reference$a$)$$);
END
# cron begins with the next minute
wait_for($node, "SELECT count(*) FROM cudal1.measurement WHERE candidate_id = $id AND kind = 'reverify' AND accepted", '1', 'cron has it measured again');
wait_for($node, "SELECT state || ' ' || reward FROM cudal1.candidate WHERE candidate_id = $id", 'successful 1.5', 'and it keeps its state');
wait_for($node, 'SELECT EXISTS (SELECT FROM cudal1.aa_chart)', 't', 'a device has a point in its chart');
is(scalar_of($node, "SELECT count(*) FROM cudal1.drift WHERE candidate_id = $id AND previous_reward = 1.5"), '1', 'the view of drift has both scores');
is(scalar_of($node, "SELECT count(*) FROM cron.job_run_details WHERE status = 'failed'"), '0', 'no run of cron failed');
# the example's jobs, each run once by hand
my ($ret, $out, $err) = $node->psql('postgres', slurp_file("$ENV{TESTDIR}/examples/cron.sql"));
is($ret . $err, '0', 'the example schedules its jobs');
for my $job (split /\x1e/, $node->safe_psql('postgres',
	"SELECT string_agg(command, chr(30) ORDER BY jobname) FROM cron.job WHERE jobname LIKE 'cudal1 %'"))
{
	($ret, $out, $err) = $node->psql('postgres', $job);
	$err =~ s/^.*NOTICE:  nothing was queued: .*\n?//m;
	is($ret . $err, '0', "which run: " . substr $job, 0, 40);
}
is(scalar_of($node, 'SELECT count(*) FROM cudal1_check()'), '0', 'all derived numbers hold');

# a database with pg_cron is restored where pg_cron can't be, as docs/operation.md has it
my $dump = PostgreSQL::Test::Utils::tempdir() . '/lab.dump';
$node->safe_psql('postgres', 'CREATE TABLE own AS SELECT 1 AS x');
$node->safe_psql('postgres', 'CREATE DATABASE lab');
$node->command_ok([ 'pg_dump', '--extension=cudal1', '-Fc', '-f', $dump, '-d', $node->connstr('postgres') ], 'a dump beside pg_cron');
$node->command_ok([ 'pg_restore', '-1', '-d', $node->connstr('lab'), $dump ], 'is restored into another database');
is($node->safe_psql('lab', "SELECT state, reward, x FROM cudal1.candidate, own WHERE candidate_id = $id"), 'successful|1.5|1', 'with its rewards, and the tables beside them');

# without background workers no job may run, so the example schedules none
$node->append_conf('postgresql.conf', "cron.use_background_workers = off\n");
$node->restart;
($ret, $out, $err) = $node->psql('postgres', slurp_file("$ENV{TESTDIR}/examples/cron.sql"));
like($err, qr/cron\.use_background_workers is not on\nHINT:  Set it to on in postgresql\.conf/, 'cron.sql says which setting is missing');
isnt($ret, 0, 'and fails');

$node->stop;
done_testing();
