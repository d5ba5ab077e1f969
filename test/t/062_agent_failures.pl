# Nothing is lost or measured twice when the connection is cut, the server restarts, the agent is killed or two agents work on
# one queue.
use Testing 'await';
use Agents;
use Workers;

my $node = new_database('agent_failures');
my $a = new_agent($node, 'host-a');
my $b = new_agent($node, 'host-b');
my $backends = "FROM pg_stat_activity WHERE usename = 'measurer'";

# two agents, one queue: each job is measured by one of them
my @ids = submit_many($node, map { "wait both\nresult 1.1\n# $_" } 1 .. 40);
start_agent($a);
start_agent($b, '--prefetch', '2');
await(sub { agent_trace($a, qr/^start/) && agent_trace($b, qr/^start/) }, 'both have work');
touch_for($_, 'both') for $a, $b;
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE state = 'successful'", '40', 'two agents empty a queue');
is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement"), '40', 'each candidate was measured once');
is(scalar(agent_trace($a, qr/^start/)) + scalar(agent_trace($b, qr/^start/)), 40, 'by one of them');
stop_agent($b, 'one leaves');

# the connection is cut while a measurement runs: the program goes on, its result arrives by the next connection
my $id = measuring($node, "progress measuring 1\nwait go-cut\nresult 1.21", 'a measurement runs');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $backends");
touch_for($a, 'go-cut');
wait_for($node, "SELECT concat_ws(' ', state, reward) FROM cudal1.candidate WHERE candidate_id = $id", 'successful 1.21',
	'the result outlives the connection');
is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement WHERE candidate_id = $id"), '1', 'it was measured once');
is(scalar_of($node, "SELECT max(attempt) FROM cudal1.measurement WHERE candidate_id = $id"), '1', 'by one claim');

# the server stops while a measurement runs, which ends while there is none
for my $mode ('fast', 'immediate')
{
	$id = measuring($node, "progress measuring 1\nwait go-$mode\nresult 1.22\n# $mode", "a measurement runs before a stop, $mode");
	$node->stop($mode);
	touch_for($a, "go-$mode");
	await(sub { agent_children($a) == 0 }, 'it ends without a server');
	$node->start;
	wait_for($node, "SELECT concat_ws(' ', state, reward) FROM cudal1.candidate WHERE candidate_id = $id", 'successful 1.22',
		'the result outlives the server');
	is(scalar_of($node, "SELECT string_agg(attempt::text, ' ') FROM cudal1.measurement WHERE candidate_id = $id"), '1', 'it was measured once');
}

# killed in the middle of a measurement: the program dies with it, and its lease ends
stop_agent($a, 'agent a restarts, with a short lease');
start_agent($a, '--lease', '2');
$id = measuring($node, "progress measuring 1\nfirst wait never\nresult 1.23", 'a measurement runs');
kill_agent($a, 'kill -9 of the agent');
await(sub { agent_children($a) == 0 }, 'ends its program');
is(scalar_of($node, "SELECT state FROM cudal1.job WHERE candidate_id = $id"), 'running', 'the claim is left');
start_agent($a, '--lease', '4');
wait_for($node, "SELECT concat_ws(' ', state, reward) FROM cudal1.candidate WHERE candidate_id = $id", 'successful 1.23',
	'the next agent measures it when the lease has ended');
is(scalar_of($node, "SELECT max(attempt) FROM cudal1.measurement WHERE candidate_id = $id"), '2', 'as a second attempt');

# the lease runs out while the connection is down: another has the job, and the late result is refused
stop_agent($a, 'agent a restarts');
start_agent($a, '--lease', '2');
$id = measuring($node, "progress measuring 1\nfirst wait go-late\nresult 1.25", 'agent a measures, with a short lease');
$node->safe_psql('postgres', "ALTER ROLE measurer NOLOGIN; SELECT pg_terminate_backend(pid) $backends");
await(sub { agent_log($a) =~ /no connection: .*not permitted to log in/ }, 'agent a is shut out');
wait_for($node, "SELECT lease_until < clock_timestamp() FROM cudal1.job WHERE candidate_id = $id", 't', 'its lease runs out');
is(scalar_of($node, "SELECT cudal1.expire_leases()"), '1', 'and is expired');
# the attempt of another agent, which is still measuring
my $claim = scalar_of($node, "SELECT attempt FROM cudal1.claim((SELECT device_id FROM cudal1.device WHERE host = 'host-b'), 'another', '600 s')");
is($claim, '2', 'another claims it');
$node->safe_psql('postgres', "ALTER ROLE measurer LOGIN");
touch_for($a, 'go-late');
await(sub { agent_log($a) =~ /(given to another|came too late)/ }, 'agent a learns that it is too late');
is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement WHERE candidate_id = $id"), '0', 'its result is not stored');
is(scalar_of($node, "SELECT cudal1.finish((SELECT job_id FROM cudal1.job WHERE candidate_id = $id), 2, '{\"outcome\": \"successful\", \"score\": 1.26}')"),
	'stored', 'the other reports');
is(state_of($node, $id), 'successful 1.26', 'and its result counts');

# the connection is cut in the middle of claims, again and again; leases outlast that
stop_agent($a, 'agent a restarts, with a long lease');
start_agent($a);
@ids = submit_many($node, map { "result 1.3\n# cut $_" } 1 .. 60);
start_agent($b);
for (1 .. 15)
{
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $backends; SELECT pg_sleep(0.1)");
}
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE state = 'successful' AND code LIKE '%# cut%'", '60', 'all is measured');
is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement m JOIN cudal1.candidate c USING (candidate_id) WHERE c.code LIKE '%# cut%' AND m.outcome = 'successful'"),
	'60', 'and nothing stored twice');
is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement WHERE outcome = 'lost'"), '0', 'no attempt was lost');
consistent($node);

stop_agent($a, 'agent a leaves');

# the extension is created anew under an agent that runs, and its device's number is that of another device
my $number = scalar_of($node, "SELECT device_id FROM cudal1.device WHERE host = 'host-b'");
$node->safe_psql('postgres', <<"END");
BEGIN;
DROP EXTENSION cudal1;
CREATE EXTENSION cudal1;
SELECT cudal1_grant('measurer', 'agent');
SET LOCAL ROLE measurer;
SELECT cudal1.register_device('other ' || n, '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["c"]}') FROM generate_series(1, $number) AS n;
RESET ROLE;
SELECT cudal1_add_task('task', 'void solve(const float *a, float *c) {}', 'c', '{"entry": "solve",
	"args": [{"name": "a", "dtype": "float32", "shape": [4], "role": "in"}, {"name": "c", "dtype": "float32", "shape": [4], "role": "out"}]}');
SELECT cudal1_submit('task', 'result 1.4');
COMMIT;
END
agent_ended($b, 256, 'agent b ends, as after a connection to another database');
like(agent_log($b), qr/another installation of the extension/, 'and says why');
is(scalar_of($node, "SELECT string_agg(state || ' ' || failures, ' ') FROM cudal1.job"), 'queued 0', 'it measured nothing for the other device');
$node->stop;
done_testing();
