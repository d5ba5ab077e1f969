# An agent measures what is submitted, over a connection with no right but those of kind agent, obeys a cancellation, and leaves
# as it is told to.
use Testing 'await';
use Agents;
use Workers;

my $node = new_database('agents');
my $agent = new_agent($node, 'host-a');

my $first = submit($node, "result 1.5");
start_agent($agent);
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $first", 'successful', 'what was queued before is measured');
is(state_of($node, $first), 'successful 1.5', 'the reward is that of the result');
is(scalar_of($node, "SELECT device_key FROM cudal1.device"), 'host-a cpu:1', 'the device bears the host\'s name');
wait_for($node, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'measurer' AND state = 'idle'",
	'1', 'the agent waits');
my $id = submit($node, "progress building 0\nwait go-building\nprogress measuring 80 1.31\nwait go-measuring\nresult 1.25");
wait_for($node, "SELECT phase FROM cudal1.activity", 'building', 'a submission is claimed, and its first progress is visible');
is(state_of($node, $id), 'measuring', 'the candidate is being measured');
# the transaction that stores progress ends soon
wait_for($node, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'measurer' AND xact_start IS NOT NULL",
	'0', 'no transaction is open while it measures');
touch_for($agent, 'go-building');
wait_for($node, "SELECT concat_ws(' ', phase, rounds, estimate) FROM cudal1.activity", 'measuring 80 1.31', 'progress goes on');
touch_for($agent, 'go-measuring');
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $id", 'successful', 'the result is stored');

$id = measuring($node, "progress measuring 1\nwait never\nresult 1.1", 'one is measured');
is(scalar_of($node, "SELECT cudal1_cancel(ARRAY[$id])"), '1', 'and cancelled');
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $id", 'discarded', 'the agent hears of it');
await(sub { agent_children($agent) == 0 }, 'the measuring program was ended');

# behaviour of the agent alone; test/t/014_programs.pl has that which it shares with a worker
$id = submit_until($node, "surroundings", 'successful', 'a look from within');
is(scalar_of($node, "SELECT environment ->> 'foreign_descriptors' FROM cudal1.measurement WHERE candidate_id = $id"), '',
	'no descriptor of the agent is open in the program');

# misbehaviour is a lost attempt, not an end of the agent
submit_until($node, "garbage 200\nwait never", 'discarded lost', 'nonsense is no result');
$id = submit_until($node, "first die SEGV\nresult 1.3", 'successful 1.3', 'a program that dies is tried again');
like(scalar_of($node, "SELECT detail FROM cudal1.measurement WHERE candidate_id = $id AND outcome = 'lost'"), qr/killed by signal 11/,
	'its death is on record');
submit_until($node, "result 1.2\nlatin\n", 'successful', 'nothing counts after a result');

# leaving: claims are given back without a failure
$id = submit($node, "wait go-pilot\nresult 1.4");
wait_for($node, "SELECT state FROM cudal1.job WHERE candidate_id = $id", 'running', 'one is measured');
stop_agent($agent, 'SIGTERM ends the agent');
is(scalar_of($node, "SELECT concat_ws(' ', state, failures, worker) FROM cudal1.job WHERE candidate_id = $id"), 'queued 0', 'its claim was given back');
await(sub { agent_children($agent) == 0 }, 'no program is left');

# pilots
touch_for($agent, 'go-pilot');
start_agent($agent, '--until-idle');
agent_ended($agent, 0, 'a pilot leaves when the queue is empty');
is(state_of($node, $id), 'successful 1.4', 'and has measured what was there');
my @ids = submit_many($node, "result 1.1\n# 1", "result 1.1\n# 2");
start_agent($agent, '--once');
agent_ended($agent, 0, 'one job and no more');
is(join(', ', map { state_of($node, $_) } @ids), 'successful 1.1, queued', 'the other waits');
my $busy = submit($node, "wait go-drain\nresult 1.6", priority => 5);
start_agent($agent);
wait_for($node, "SELECT state FROM cudal1.job WHERE candidate_id = $busy", 'running', 'a job runs');
kill 'USR1', $agent->{pid};
await(sub { agent_log($agent) =~ /claiming nothing more/ }, 'the agent is told to drain');
touch_for($agent, 'go-drain');
agent_ended($agent, 0, 'it leaves');
is(state_of($node, $busy), 'successful 1.6', 'after its measurement');
is(state_of($node, $ids[1]), 'queued', 'and takes up no other');
consistent($node);

# a device that is not there, options that are wrong, a role that may not
start_agent($agent, '--device', 'cpu:99');
agent_ended($agent, 256, 'an unknown device is an error');
start_agent($agent, '--poll', 'often');
agent_ended($agent, 512, 'so is a number that is none');
start_agent($agent, 'dbname=postgres', 'user=x');
agent_ended($agent, 512, 'and a second connection string');
like(agent_log($agent), qr/^cudal1-agent: "user=x" comes after a connection string/m, 'which it names');
my $owner = scalar_of($node, "WITH was AS (SELECT owner FROM cudal1.device) UPDATE cudal1.device SET owner = current_user RETURNING (SELECT min(owner) FROM was)");
start_agent($agent, '--once', '--patience', '0.2');
agent_ended($agent, 256, 'of another role\'s device a pilot gives up');
like(agent_log($agent), qr/belongs to role .* its members and operators may use it/, 'and says what would help, which is no grant');
start_agent($agent, '--until-idle', '--lease', '4', '--patience', '2.5');
agent_ended($agent, 256, 'also where its patience outlasts what the queue answers it besides');
$node->safe_psql('postgres', "UPDATE cudal1.device SET owner = '$owner'");
$node->safe_psql('postgres', "SELECT cudal1_revoke('measurer', 'agent')");
start_agent($agent, '--once', '--patience', '0.2');
agent_ended($agent, 256, 'without its rights a pilot gives up');
start_agent($agent);
await(sub { agent_log($agent) =~ /permission denied.*cudal1_grant/ }, 'without its rights an agent says so');
$node->safe_psql('postgres', "SELECT cudal1_grant('measurer', 'agent')");
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $ids[1]", 'successful', 'and goes on when it has them');
stop_agent($agent, 'SIGTERM ends an idle agent');

$node->stop;
done_testing();
