# From a model to verdicts: requests are sent, answers stored, candidates measured; whoever fails or is killed, no answer is lost
# or counted twice.
use Testing 'await';
use JSON::PP ();
use Models;
use Time::HiRes qw(sleep);
use Workers;

my $keys = PostgreSQL::Test::Utils::tempdir() . '/keys';
append_to_file($keys, "other = wrong\nmine = sk-very-secret-1\n");
chmod 0600, $keys;
my $endpoint = start_endpoint('models');
my $node = new_server('models', conf => "cudal1.key_file = '$keys'\ncudal1.max_requests = 300\nmax_connections = 40\n");
my $prompt = $node->safe_psql('postgres', "SELECT prompt_id FROM cudal1_prompt('task', kind => 'augment')");
my $final = "SELECT count(*) FROM cudal1.request WHERE state IN ('queued', 'running') OR state = 'answered' AND taken_at IS NULL";

is(scalar generators($node), 0, 'nothing is started where nothing is asked');

sub ask
{
	my ($model, $n) = @_;
	return $node->safe_psql('postgres', "SELECT string_agg(x::text, ',') FROM cudal1_generate($prompt, '$model', @{[ $n // 1 ]}) AS x");
}

sub outcome_of
{
	my ($id) = @_;
	wait_for($node, "$final AND request_id IN ($id)", '0', 'an end is reached');
	return $node->safe_psql('postgres',
		"SELECT string_agg(concat_ws(' ', state, attempt, failures, status), ', ') FROM cudal1.request WHERE request_id IN ($id)");
}

# the thin path: a prompt, an answer, a verdict
add_model($node, $endpoint, 'ok', more => ", prompt_price => 1, completion_price => 2, key_name => 'mine'");
my $id = ask('ok');
is(outcome_of($id), 'answered 1 0 200', 'a request is answered');
is(scalar generators($node), 1, 'by one program');
wait_for($node, "SELECT c.state || ' ' || c.reward FROM cudal1.candidate AS c JOIN cudal1.request USING (candidate_id) WHERE request_id = $id",
	'successful 1.5', 'and its candidate has a verdict');
is($node->safe_psql('postgres', "SELECT concat_ws(' ', finish_reason, prompt_tokens, completion_tokens, cost) FROM cudal1.request WHERE request_id = $id"),
	'stop 100 50 0.0002', 'with tokens and cost');
like((endpoint_lines('models', 'requests'))[-1], qr{ok key /v1/chat/completions}, 'the key was sent');
unlike($node->safe_psql('postgres', 'SELECT string_agg(r::text, chr(10)) FROM cudal1.request AS r') .
	$node->safe_psql('postgres', 'SELECT string_agg(m::text, chr(10)) FROM cudal1.model AS m'), qr/sk-very/, 'and is nowhere in the database');

# what endpoints do
my %cases = (
	'document' => 'answered 1 0 200', 'parts' => 'answered 1 0 200', 'nodone' => 'answered 1 0 200', 'bare' => 'answered 1 0 200', 'utf8' => 'answered 1 0 200',
	'throttle:2' => 'answered 3 0 200', 'later:1' => 'answered 2 0 200', 'busy:2' => 'answered 3 0 200', 'full:2' => 'answered 3 2 200', 'cut:2' => 'answered 3 2 200', 'interrupted:1' => 'answered 2 1 200',
	'void:1' => 'answered 2 1 200',
	'linger' => 'answered 1 0 200', 'chatter' => 'answered 1 0 200', 'endless' => 'answered 1 0 200',
	'error' => 'failed 3 3 500', 'broken' => 'failed 3 3 200', 'complaint' => 'failed 3 3 200', 'stall' => 'failed 1 1 200', 'silent:1' => 'answered 2 1 200',
	'denied' => 'failed 1 1 401', 'redirect' => 'failed 1 1 302', 'comments' => 'failed 1 1 200', 'huge' => 'failed 1 1 200');
my %ids;
for my $case (sort keys %cases)
{
	# short only where the case ends by silence, because any endpoint on a busy machine is silent for a moment
	my $stall = $case =~ /^(stall|silent:1|linger|chatter)$/ ? 2 : 120;
	# libcurl takes nine seconds to call a transfer too slow
	my $tries = $case eq 'stall' ? 1 : 3;
	add_model($node, $endpoint, $case,
		options => qq({"max_tries": $tries, "stall_seconds": $stall, "max_answer_bytes": 20000, "max_body_bytes": 200000}),
		more => $case eq 'denied' ? ", key_name => 'mine'" : '');
	$ids{$case} = ask($case);
}
is(outcome_of($ids{$_}), $cases{$_}, "an endpoint that does $_") for sort keys %cases;
is($node->safe_psql('postgres', "SELECT answer FROM cudal1.request WHERE request_id = $ids{utf8}"),
	"caf\xef\xbf\xbd \xf0\x9f\x98\x80 \xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 'broken characters are replaced, the others kept');
like($node->safe_psql('postgres', "SELECT answer FROM cudal1.request WHERE request_id = $ids{parts}"), qr/\S.*result 1\.5/s, 'parts of a text are one text');
like($node->safe_psql('postgres', "SELECT error FROM cudal1.request WHERE request_id = $ids{denied}"), qr/wrong key: Bearer \*\*\*/,
	'a key that an endpoint repeats is taken out');
is($node->safe_psql('postgres', "SELECT answer FROM cudal1.request WHERE request_id = $ids{stall}"), 'the beginning', 'what had come is kept');
is($node->safe_psql('postgres', "SELECT concat_ws(' ', r.finish_reason, length(r.answer), c.state, c.failure) FROM cudal1.request AS r JOIN cudal1.candidate AS c USING (candidate_id) WHERE request_id = $ids{endless}"),
	'max_answer_bytes 20000 failed malformed', 'a text without end is a malformed answer');
is($node->safe_psql('postgres', "SELECT string_agg(tokens_estimated::text, ' ') FROM cudal1.request WHERE request_id IN ($ids{bare}, $ids{utf8})"), 'true true',
	'tokens that nobody counted are estimated');
is($node->safe_psql('postgres', "SELECT count(*) FROM cudal1.request WHERE state = 'answered' AND candidate_id IS NULL"), '0', 'each answer is a candidate');
is(scalar(endpoint_lines('models', 'requests', qr/ throttle:2 /)), 3, 'a throttled request was sent as often as it was answered');

add_model($node, $endpoint, 'echo', more => ", key_name => 'mine'");
$id = ask('echo');
is(outcome_of($id), 'answered 1 0 200', 'an answer may be anything');
is($node->safe_psql('postgres', "SELECT answer FROM cudal1.request WHERE request_id = $id"), 'Bearer **************** and once more Bearer ****************', 'but a key that it repeats is taken out');

# addresses and keys that lead nowhere
add_model($node, 'http://127.0.0.1:9/v1', 'nobody', options => '{"max_tries": 2}');
add_model($node, 'http://name.invalid/v1', 'nowhere', options => '{"max_tries": 2}');
add_model($node, $endpoint, 'keyless', more => ", key_name => 'absent'");
is(outcome_of(ask('nobody')), 'failed 2 2', 'nobody listens');
is(outcome_of(ask('nowhere')), 'failed 2 2', 'no such host');
$id = ask('keyless');
is(outcome_of($id), 'failed 1 1', 'no such key');
like($node->safe_psql('postgres', "SELECT error FROM cudal1.request WHERE request_id = $id"), qr/key "absent": the file of keys has none/, 'which is said');
chmod 0644, $keys;
is(outcome_of(ask('denied')), 'failed 1 1', 'a file of keys that others can read is not used');
chmod 0600, $keys;

# plain TCP, and TLS where there is none
my $tcp = start_endpoint('tcp', 1);
add_model($node, $tcp, 'same', name => 'by tcp');
is(outcome_of(ask('by tcp', 2)), 'answered 1 0 200, answered 1 0 200', 'an endpoint on 127.0.0.1');
(my $tls = $tcp) =~ s/^http:/https:/;
add_model($node, $tls, 'ok', name => 'by tls', options => '{"max_tries": 2}');
is(outcome_of(ask('by tls')), 'failed 2 2', 'no TLS where it was asked for');
is($node->safe_psql('postgres', "SELECT count(DISTINCT candidate_id) FROM cudal1.request JOIN cudal1.model USING (model_id) WHERE name = 'by tcp'"),
	'1', 'the same code twice is one candidate');
stop_endpoint('tcp');

# cancelling
add_model($node, $endpoint, 'wait:never', more => ', concurrency => 2');
$id = ask('wait:never', 4);
wait_for($node, "SELECT count(*) FROM cudal1.request WHERE request_id IN ($id) AND state = 'running'", '2', 'two are in flight, as the model takes no more');
# hundredths of a second that the worker has spent
sub spent { my @stat = split ' ', slurp_file("/proc/$_[0]/stat") =~ s/.*\) //sr; return $stat[11] + $stat[12] }
my $worker = worker_pid($node);
my $spent = spent($worker);
sleep 2;
cmp_ok(spent($worker) - $spent, '<', 20, 'while it waits for answers the worker sleeps');
$node->safe_psql('postgres', "SELECT cudal1_cancel_requests(ARRAY[$id])");
wait_for($node, "SELECT count(*) FROM cudal1.request WHERE request_id IN ($id) AND state = 'cancelled'", '4', 'all are cancelled, also in flight');

# the program is killed with requests in flight
add_model($node, $endpoint, 'wait:go', more => ', concurrency => 50');
add_model($node, $endpoint, 'slow:0.3', more => ', concurrency => 300');
$id = ask('wait:go', 50);
wait_for($node, "SELECT count(*) FROM cudal1.request WHERE request_id IN ($id) AND state = 'running'", '50', 'fifty in flight');
my ($pid) = generators($node);
kill 'KILL', $pid;
wait_for($node, "SELECT count(*) FROM cudal1.request WHERE request_id IN ($id) AND attempt = 2 AND state = 'running'", '50', 'after a kill they are sent again');
isnt((generators($node))[0], $pid, 'by another program');
touch_endpoint('models', 'go');
wait_for($node, "SELECT count(*) FROM cudal1.request WHERE request_id IN ($id) AND candidate_id IS NOT NULL", '50', 'each is answered');
is($node->safe_psql('postgres', <<"END"), '50 50', 'and proposed once');
SELECT count(*) || ' ' || count(DISTINCT p.proposal_key)
FROM cudal1.proposal AS p JOIN cudal1.request AS r ON p.proposal_key = 'request ' || r.request_id WHERE r.request_id IN ($id)
END

# killed again and again while answers come
$id = ask('slow:0.3', 240);
for my $round (1 .. 4)
{
	my $enough = $round * 40;
	$node->poll_query_until('postgres', "SELECT count(*) >= $enough FROM cudal1.request WHERE request_id IN ($id) AND state = 'answered'");
	kill 'KILL', generators($node);
}
# and the worker itself, which takes the server with it
$node->poll_query_until('postgres', "SELECT count(*) >= 180 FROM cudal1.request WHERE request_id IN ($id) AND state = 'answered'");
kill 'KILL', worker_pid($node);
wait_for($node, "$final AND request_id IN ($id)", '0', 'all of them come to an end');
is(requests_by_state($node, "request_id IN ($id)"), 'answered 240', 'with an answer each');
is($node->safe_psql('postgres', <<"END"), '240 240 240', 'a candidate each, proposed once');
SELECT count(DISTINCT r.candidate_id) || ' ' || count(DISTINCT p.proposal_id) || ' ' || count(*)
FROM cudal1.request AS r JOIN cudal1.proposal AS p ON p.proposal_key = 'request ' || r.request_id WHERE r.request_id IN ($id)
END
is($node->safe_psql('postgres', "SELECT sum(prompt_tokens) FROM cudal1.request WHERE request_id IN ($id)"), '24000', 'and no answer is counted twice');

# an answer that was kept, but not stored, when the server went down
add_model($node, $endpoint, 'wait:held');
$id = ask('wait:held');
wait_for($node, "SELECT state FROM cudal1.request WHERE request_id = $id", 'running', 'one in flight');
kill 'STOP', worker_pid($node);
touch_endpoint('models', 'held');
my $spool = $node->data_dir . '/cudal1';
await(sub { scalar(() = glob("$spool/*/$id-1.json")) }, 'its answer is kept by the program while the worker does not listen');
$node->stop('immediate');
kill 'CONT', $_ for generators($node);
$node->start;
wait_for($node, "SELECT concat_ws(' ', state, attempt, candidate_id IS NOT NULL) FROM cudal1.request WHERE request_id = $id", 'answered 1 t',
	'after a crash of the server the answer is there, without another request');
is(scalar(endpoint_lines('models', 'requests', qr/ wait:held /)), 1, 'it was paid for once');

# a campaign, carried out by the worker alone, over a restart in its middle; its codes are measured before the 240 above
add_model($node, $endpoint, 'slow:0.1');
$node->safe_psql('postgres', "SELECT cudal1_add_campaign('five', 'vanilla', '{ok,slow:0.1}', options => '{\"ahead\": 2, \"priority\": 1}')");
$node->poll_query_until('postgres', "SELECT trials > 2 FROM cudal1.campaign_progress WHERE name = 'five'");
$node->restart;
wait_for($node, "SELECT concat_ws(' ', state, done, trials) FROM cudal1.campaign_progress WHERE name = 'five'", 'finished 2 10', 'a campaign is carried out');
is($node->safe_psql('postgres', "SELECT count(DISTINCT candidate_id) FROM cudal1.proposal JOIN cudal1.candidate USING (candidate_id) WHERE method LIKE 'vanilla: %' AND state = 'successful'"),
	'10', 'each answer has a verdict');
is($node->safe_psql('postgres', "SELECT success FROM cudal1_speedup_report('vanilla: ok') WHERE level = 'All'"), '1', 'and the report shows the method');

# what trainers read, one JSON object a line
$node->safe_psql('postgres', q{SELECT cudal1_submit('task', E'result 1.25\n# \\\\ \\\\t " caf\u00e9', 'odd', priority => 1)});
wait_for($node, "SELECT count(*) FROM cudal1_sft_dataset(methods => '{odd}')", '1', 'a code with marks in it');
for my $how ('SELECT cudal1_sft_dataset()', q{COPY (SELECT cudal1_sft_dataset()) TO STDOUT (FORMAT csv, QUOTE e'\x01', DELIMITER e'\x02')})
{
	my @lines = split /\n/, $node->safe_psql('postgres', $how);
	my @rows = map { eval { JSON::PP->new->utf8->decode($_) } } @lines;
	is(scalar @rows, scalar @lines, 'each line is an object');
	is((grep { $_->{method} eq 'odd' } @rows)[0]->{messages}[1]{content}, "```c\nresult 1.25\n# \\ \\t \" caf\x{e9}\n```\n",
		'as it was: ' . substr $how, 0, 6);
}

# switched off
$node->safe_psql('postgres', 'ALTER SYSTEM SET cudal1.enabled = off');
$node->reload;
$node->poll_query_until('postgres', "SELECT note LIKE 'paused%' FROM cudal1.worker_state()");
$id = ask('ok');
sleep 0.5;
is($node->safe_psql('postgres', "SELECT state FROM cudal1.request WHERE request_id = $id"), 'queued', 'nothing is sent while cudal1.enabled is off');
is($node->safe_psql('postgres', "SELECT value FROM cudal1_status() WHERE item = 'measuring'"), 'switched off, as are requests to models', 'which cudal1_status() says');
$node->safe_psql('postgres', 'ALTER SYSTEM RESET cudal1.enabled');
$node->reload;
is(outcome_of($id), 'answered 1 0 200', 'and then it is');

# the extension goes
$node->safe_psql('postgres', "SELECT cudal1_generate($prompt, 'wait:never', 2)");
wait_for($node, "SELECT count(*) FROM cudal1.request WHERE state = 'running'", '2', 'in flight again');
$node->safe_psql('postgres', 'DROP EXTENSION cudal1 CASCADE');
await(sub { generators($node) == 0 }, 'the program ends with the extension');
$node->stop;
done_testing();
