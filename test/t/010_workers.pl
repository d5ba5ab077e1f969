# A worker measures what is submitted: woken by the commit, visible while it measures, cancelled when asked to.
use Testing;
use Workers;

my $node = new_server('workers');

# nothing but the commit can wake this worker: its fallback poll is an hour away
my $id = submit_until($node, "result 1.5", 'successful', 'a commit wakes the worker');
is(state_of($node, $id), 'successful 1.5', 'the reward is that of the result');

my $session = $node->background_psql('postgres');
$session->query_safe("BEGIN");
my $hidden = $session->query_safe("SELECT cudal1_submit('task', 'result 1.6')");
is(scalar_of($node, "SELECT count(*) FROM cudal1.job"), '0', 'an open transaction shows nothing');
$session->query_safe("ROLLBACK");
is(scalar(trace($node, qr/^start/)), 1, 'a rolled back submission is not measured');
$session->query_safe("SELECT cudal1_submit('task', 'result 1.7')");
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE state = 'successful'", '2', 'the session can still submit');
$session->quit;

# progress
$id = submit($node, "progress building 0\nwait go-building\nprogress measuring 80 1.31\nwait go-measuring\nresult 1.25");
wait_for($node, "SELECT phase FROM cudal1.activity", 'building', 'the first progress is visible');
is(state_of($node, $id), 'measuring', 'the candidate is being measured');
# the transaction that stores progress ends soon
wait_for($node, "SELECT count(*) FROM pg_stat_activity a JOIN cudal1.worker_state() w USING (pid) WHERE a.xact_start IS NOT NULL",
	'0', 'the worker has no transaction open while it measures');
touch_file($node, 'go-building');
wait_for($node, "SELECT concat_ws(' ', phase, rounds, estimate) FROM cudal1.activity", 'measuring 80 1.31', 'progress goes on');
like(scalar_of($node, "SELECT note FROM cudal1.worker_state()"), qr/^measuring, jobs: 1/, 'the worker says what it does');
touch_file($node, 'go-measuring');
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $id", 'successful', 'the result is stored');
like(scalar_of($node, "SELECT note FROM cudal1.worker_state()"), qr/^(idle|measuring)/, 'the worker is idle again');

# priorities; the first keeps the device busy until all are queued
my $first = submit_until($node, "wait go-priority\nresult 1.1", 'measuring', 'the device is busy');
my $low = submit($node, "result 1.2\n# low");
my $high = submit($node, "result 1.3\n# high", priority => 10);
touch_file($node, 'go-priority');
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE candidate_id IN ($low, $high) AND state = 'successful'", '2',
	'both are measured');
is(scalar_of($node, "SELECT string_agg(candidate_id::text, ' ' ORDER BY measurement_id) FROM cudal1.measurement WHERE candidate_id IN ($low, $high)"),
	"$high $low", 'the more urgent one first');

# more codes are proposed in another pool than one claim places
place_known($node, 1500, 'claims follow each other until all are placed');

# cancelling: one that is measured, one that waits
$id = submit($node, "progress measuring 1\nwait never\nresult 1.1");
my $queued = submit($node, "result 1.1\n# queued");
wait_for($node, "SELECT phase FROM cudal1.activity WHERE candidate_id = $id", 'measuring', 'one is measured, one waits');
is(scalar_of($node, "SELECT cudal1_cancel(ARRAY[$id, $queued])"), '2', 'both are cancelled');
wait_for($node, "SELECT count(*) FROM cudal1.job", '0', 'the queue is empty');
is(state_of($node, $id), 'discarded cancelled', 'the measured one is discarded');
is(state_of($node, $queued), 'discarded cancelled', 'the waiting one is discarded');
is(scalar(trace($node, qr/^stopped/)), 1, 'the program was asked to stop');
no_children($node);

# a program that does not listen is killed
$id = measuring($node, "stubborn\nprogress measuring 1\nwait never", 'a stubborn one is measured');
scalar_of($node, "SELECT cudal1_cancel(ARRAY[$id])");
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $id", 'discarded', 'a stubborn one is cancelled too');
no_children($node);

# switched off: nothing new begins
configure($node, "cudal1.enabled = off");
wait_for($node, "SELECT note FROM cudal1.worker_state()", 'paused: cudal1.enabled is off', 'the worker says that it pauses');
$id = submit($node, "result 1.9");
is(state_of($node, $id), 'queued', 'nothing begins while it pauses');
configure($node, "cudal1.enabled = on");
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $id", 'successful', 'it goes on');

# building ahead
configure($node, "cudal1.prefetch = 2");
my @many = submit_many($node, map { "progress building 1\nwait go-many\nresult 1.$_" } 1 .. 5);
await_children($node, 3, 'two are built ahead of the one that is measured');
touch_file($node, 'go-many');
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE candidate_id = ANY ('{@{[ join ',', @many ]}}') AND state = 'successful'", '5',
	'all are measured');

# a second device gets its job before the first builds ahead
touch_file($node, 'devices', <<'END');
{"key": "cpu:1", "class": "cpu", "model": "Scripted", "cores": 1, "languages": ["c"], "details": {"problems": []}}
{"key": "cpu:2", "class": "cpu", "model": "Scripted", "cores": 1, "languages": ["c"], "details": {"problems": []}}
not a device
END
configure($node, "cudal1.devices = 'cpu:1,cpu:2'");
wait_for($node, "SELECT note FROM cudal1.worker_state()", 'idle, devices: 2; some devices could not be registered',
	'a changed list of devices is followed');
@many = submit_many($node, map { "progress building 1\nwait go-two\nresult 1.${_}5" } 1 .. 2);
wait_for($node, "SELECT count(DISTINCT device_id) FROM cudal1.job WHERE state = 'running'", '2', 'each device has a job');
touch_file($node, 'go-two');
wait_for($node, "SELECT count(*) FROM cudal1.job", '0', 'both are measured');
$node->append_conf('postgresql.conf', "cudal1.devices = 'cpu:2'");
touch_file($node, 'devices', <<'END');
{"key": "cpu:1", "class": "cpu", "model": "Scripted", "cores": 1, "languages": ["c"], "details": {"problems": []}}
{"key": "cpu:2", "class": "cpu", "model": "Scripted", "cores": 1, "languages": ["c"], "details": {"problems": []}}
END
$node->reload;
wait_for($node, "SELECT note FROM cudal1.worker_state()", 'idle, devices: 1', 'a device can be left out');
$id = submit($node, "result 1.95");
wait_for($node, "SELECT device_key LIKE '% cpu:2' FROM cudal1.measurement m JOIN cudal1.device d USING (device_id) WHERE candidate_id = $id",
	't', 'the other one measures');

consistent($node);
no_children($node);
$node->stop;
done_testing();
