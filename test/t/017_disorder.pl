# What is not the candidates' doing costs them nothing: a host in disorder, others' open transactions, a database's encoding.
use Testing;
use Time::HiRes ();
use Workers;

my $node = new_server('disorder', conf => "cudal1.idle_poll = 100ms");
my $states = "SELECT string_agg(DISTINCT state, ' ' ORDER BY state) FROM cudal1.candidate";

# one that is lost for its own reasons, as often as its profile says
my $id = submit($node, "exit 1\n# alone");
wait_for($node, $states, 'discarded', 'a candidate that is lost each time is discarded');
is(scalar_of($node, "SELECT lost || ' ' || enabled FROM cudal1.device WHERE class = 'cpu'"), '1 true', 'its device goes on');
submit_until($node, "result 1.5", 'successful', 'it goes on');
is(scalar_of($node, "SELECT lost FROM cudal1.device WHERE class = 'cpu'"), '0', 'and what was lost before is forgotten');

# a host that loses whatever it is given, until it is mended
my @many = submit_many($node, map { "unless mended outcome lost no space left on device\nresult 1.2\n# $_" } 1 .. 12);
my $mine = "candidate_id = ANY ('{" . join(',', @many) . "}')";
wait_for($node, "SELECT lost || ' ' || enabled FROM cudal1.device WHERE class = 'cpu'", '5 false', 'five candidates in a row are lost, which disables the device');
is(scalar_of($node, "SELECT count(*) FROM cudal1.candidate WHERE $mine AND state <> 'discarded'"), '8', 'four spend their attempts');
is(scalar_of($node, "SELECT max(failures) FROM cudal1.job"), '1', 'the others have theirs');
like(
	scalar_of($node, "SELECT concat_ws(' ', value, hint) FROM cudal1_status() WHERE item ~ '^device .*cpu'"),
	qr/disabled.*SELECT cudal1_enable_device.*in a row were lost here: no space left on device\./,
	'the status says why, and what to do');
like(scalar_of($node, "SELECT string_agg(DISTINCT waits_for, '; ') FROM cudal1.queue"), qr/no enabled device/, 'and the queue what it waits for');
like(slurp_file($node->logfile), qr/LOG:  5 candidates in a row were lost on device \S+ cpu:1, which is disabled: no space left on device/,
	'the log, too');
touch_file($node, 'mended');
$node->safe_psql('postgres', "SELECT cudal1_enable_device(device_key, true) FROM cudal1.device WHERE class = 'cpu'");
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE $mine AND state = 'successful'", '8', 'mended, it measures all of them');
is(scalar_of($node, "SELECT lost FROM cudal1.device WHERE class = 'cpu'"), '0', 'and what was lost is forgotten');

# a trainer that keeps the transaction open in which it asked for prompts of a task with islands
$node->safe_psql('postgres', "SELECT FROM cudal1_prompt('task', 1, strategy => 'island')");
my $session = $node->background_psql('postgres');
$session->query_safe("BEGIN");
$session->query_safe("SELECT FROM cudal1_prompt('task', 1, strategy => 'island')");
submit_until($node, "result 1.6", 'successful', 'a verdict does not wait for a prompt\'s transaction');
$session->query_safe("COMMIT");

# one that holds what a verdict needs: it waits, and is stored
my $held = submit_until($node, "wait go-held\nresult 1.7", 'measuring', 'another is measured');
$session->query_safe("BEGIN");
$session->query_safe("LOCK TABLE cudal1.measurement IN SHARE MODE");
my $offset = -s $node->logfile;
touch_file($node, 'go-held');
my $refused = 0;
for (1 .. 1200)
{
	$refused = () = slurp_file($node->logfile, $offset) =~ /canceling statement due to lock timeout/g;
	last if $refused > 3;
	Time::HiRes::sleep(0.1);
}
cmp_ok($refused, '>', 3, 'its verdict is tried again and again');
$session->query_safe("COMMIT");
wait_for($node, "SELECT state || ' ' || reward FROM cudal1.candidate WHERE candidate_id = $held", 'successful 1.7', 'and stored in the end');
is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement WHERE candidate_id = $held"), '1', 'once');

# one that cancels and does not commit: the others' measurements go on
touch_file($node, 'devices', join '', map { qq({"key": "cpu:$_", "class": "cpu", "model": "Scripted", "cores": 1, "languages": ["c"], "details": {}}\n) } 1, 2);
configure($node, "cudal1.devices = 'cpu:1,cpu:2'");
wait_for($node, "SELECT count(*) FROM cudal1.device WHERE class = 'cpu'", '2', 'a second device');
my $cancelled = measuring($node, "progress measuring 1\nwait go-never\nresult 1.1", 'one is measured');
$session->query_safe("BEGIN");
is($session->query_safe("SELECT cudal1_cancel(ARRAY[$cancelled])"), '1', 'it is cancelled in a transaction that stays open');
$offset = -s $node->logfile;
submit_until($node, join("\n", (map { "progress measuring $_\nsleep 1.1" } 1 .. 4), "result 1.8"), 'successful', 'another one is measured meanwhile');
unlike(slurp_file($node->logfile, $offset), qr/lock timeout/, 'no heartbeat waits for the open transaction');
is(scalar_of($node, "SELECT state FROM cudal1.job WHERE candidate_id = $cancelled"), 'running', 'the first is still measured');
$session->query_safe("COMMIT");
$session->quit;
wait_for($node, "SELECT state || ' ' || failure FROM cudal1.candidate WHERE candidate_id = $cancelled", 'discarded cancelled', 'and cancelled by the commit');

# a database whose encoding lacks what a compiler says
$node->safe_psql('postgres', "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
create_extension($node, 'latin');
configure($node, "cudal1.databases = 'postgres,latin'");
submit_until($node, "result 1.9\n# caf\xc3\xa9", 'successful', 'code in LATIN1 is measured', database => 'latin');
$id = submit($node, "quote caf", database => 'latin');
wait_for($node, "SELECT state || ' ' || failure || ' ' || detail FROM cudal1.candidate WHERE candidate_id = $id",
	'failed compile_error unknown type name ?caf?', 'what it lacks of a compiler\'s words is replaced', 'latin');
no_children($node);
consistent($node);
consistent($node, 'latin');
$node->stop;
done_testing();
