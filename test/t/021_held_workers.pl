# Workers go on while transactions of a trainer stay open: others' candidates are measured and answers of models come to their
# verdicts, and what the transactions hold is stored when they have ended.
use Testing;
use Models;
use Time::HiRes qw(sleep);
use Workers;

my $endpoint = start_endpoint('held');
my $node = new_server('held', conf => 'max_connections = 40');
$node->safe_psql('postgres', q{CREATE ROLE anna LOGIN; SELECT cudal1_grant('anna', 'trainer')});
add_model($node, $endpoint, 'ok');
add_model($node, $endpoint, 'wait:answer');

# anna's: one that is measured, one that a model is asked for
my @sessions = map { $node->background_psql('postgres', extra_params => [ '-U', 'anna' ]) } 1 .. 4;
my $id = $sessions[0]->query_safe(q{SELECT cudal1_submit('task', E'progress measuring\nwait go\nresult 1.3')});
my $prompt = $sessions[0]->query_safe(q{SELECT prompt_id FROM cudal1_prompt('task', kind => 'augment')});
my $request = $sessions[0]->query_safe("SELECT cudal1_generate($prompt, 'wait:answer')");
wait_for($node, "SELECT phase FROM cudal1.activity WHERE candidate_id = $id", 'measuring', 'a candidate is measured');
wait_for($node, "SELECT state FROM cudal1.request WHERE request_id = $request", 'running', 'a request is in flight');

my @calls = ("SELECT cudal1_certify_task('task')", "SELECT cudal1_cancel(ARRAY[$id])", "SELECT cudal1_cancel_requests(ARRAY[$request])",
	"SELECT cudal1_submit_response($prompt, E'## Code Implementation\\n\\n```c\\nresult 1.1\\n```\\n')");
for my $i (0 .. 3)
{
	$sessions[$i]->query_safe('BEGIN');
	$sessions[$i]->query_safe($calls[$i]);
}
touch_file($node, 'go');
touch_endpoint('held', 'answer');

my @others = submit_many($node, map { "result 1.2$_" } 1 .. 20);
my $asked = $node->safe_psql('postgres', "SELECT string_agg(x::text, ',') FROM cudal1_generate((SELECT prompt_id FROM cudal1_prompt('task', kind => 'augment')), 'ok', 20) AS x");
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE candidate_id IN (@{[ join ',', @others ]}) AND state = 'successful'", '20', 'twenty candidates of others are measured');
wait_for($node, "SELECT count(*) FROM cudal1.request JOIN cudal1.candidate USING (candidate_id) WHERE request_id IN ($asked) AND candidate.state = 'successful'", '20',
	'twenty answers for others have their verdicts');
is($node->safe_psql('postgres', "SELECT state FROM cudal1.candidate WHERE candidate_id = $id"), 'measuring', 'what is being cancelled waits');
is($node->safe_psql('postgres', "SELECT state FROM cudal1.request WHERE request_id = $request"), 'running', 'so does what is asked');
unlike(slurp_file($node->logfile), qr/lock timeout/, 'no call of the worker waited for a second');

$_->query_safe('ROLLBACK') for @sessions;
wait_for($node, "SELECT state || reward FROM cudal1.candidate WHERE candidate_id = $id", 'successful1.3', 'the verdict is stored when the transaction has ended');
wait_for($node, "SELECT state FROM cudal1.request WHERE request_id = $request", 'answered', 'the answer, too');
wait_for($node, 'SELECT count(*) FROM cudal1.job', '0', 'the queue is empty');
consistent($node);
$_->quit for @sessions;

# answers whose table a session holds are offered again and again: after 0.2 s, 0.4 s, 0.8 s, each offer waiting a second for the table
add_model($node, $endpoint, 'wait:late');
$request = $node->safe_psql('postgres', "SELECT cudal1_generate((SELECT prompt_id FROM cudal1_prompt('task', kind => 'augment')), 'wait:late')");
wait_for($node, "SELECT state FROM cudal1.request WHERE request_id = $request", 'running', 'a request is in flight');
my $operator = $node->background_psql('postgres');
$operator->query_safe('BEGIN; LOCK TABLE cudal1.request IN EXCLUSIVE MODE');
touch_endpoint('held', 'late');
my $offers = 0;
for (1 .. 250)
{
	$offers = () = slurp_file($node->logfile) =~ /function cudal1.finish_requests/g;
	last if $offers >= 4;
	sleep 0.1;
}
cmp_ok($offers, '>=', 4, 'an answer that could not be stored is soon offered again');
$operator->query_safe('ROLLBACK');
wait_for($node, "SELECT state FROM cudal1.request WHERE request_id = $request", 'answered', 'and stored when it can be');
$operator->quit;

$node->stop;

done_testing();
