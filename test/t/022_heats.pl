# Candidates of a task that are measured together by one program: each comes to its own verdict, and what ends one, or the program, takes
# none with it.
use Testing;
use Workers;

my $node = new_server('heats');
$node->safe_psql('postgres', <<'END');
SELECT cudal1_add_profile('warm', 'quick', '{"group_most": 8}', 'eight at once');
SELECT cudal1_add_task('warm', reference, language, signature, 1, '{"profile": "warm", "device": "cpu"}') FROM cudal1.task WHERE name = 'task';
END

# submits scripts in one transaction, and returns the candidates' ids
sub heat
{
	my (@codes) = @_;
	my $all = join ' ', map { "SELECT cudal1_submit('warm', E'$_');" } @codes;
	return split /\n/, $node->safe_psql('postgres', "BEGIN; $all COMMIT");
}

sub states
{
	my (@ids) = @_;
	return "SELECT string_agg(concat_ws(' ', state, reward, failure), ', ' ORDER BY candidate_id) FROM cudal1.candidate WHERE candidate_id IN (@{[ join ',', @ids ]})";
}

my @ids = heat('result 1.2', 'outcome wrong_output bad', 'wait go\nresult 1.3', 'result 1.4', 'result 1.5');
wait_for($node, states(@ids), 'successful 1.2, failed 0 wrong_output, measuring, measuring, measuring', 'verdicts come one by one, while others are measured');
is(scalar(trace($node, qr/^start /)), 1, 'by one program');
is(scalar_of($node, 'SELECT count(DISTINCT heat) || \' \' || count(*) FROM cudal1.activity'), '1 3', 'cudal1.activity shows those that are left');
$node->safe_psql('postgres', "SELECT cudal1_cancel(ARRAY[$ids[3]])");
wait_for($node, states($ids[3]), 'discarded cancelled', 'one is cancelled');
touch_file($node, 'go');
wait_for($node, states(@ids), 'successful 1.2, failed 0 wrong_output, successful 1.3, discarded cancelled, successful 1.5', 'and the others go on');

@ids = heat('result 1.11', 'first die KILL\nresult 1.12', 'result 1.13');
wait_for($node, states(@ids), 'successful 1.11, successful 1.12, successful 1.13', 'a program that is killed takes no verdict with it');
is(scalar(trace($node, qr/^heat /)), 2, 'what was claimed before is measured by itself');

@ids = heat('late\nresult 1.41', 'outcome wrong_output worse', 'result 1.42');
wait_for($node, states(@ids), 'successful 1.41, failed 0 wrong_output, successful 1.42', 'verdicts come together');

@ids = heat('late\nresult 1.51', 'first outcome wrong_output \\\\u0000\nresult 1.52', 'result 1.53');
wait_for($node, states(@ids), 'successful 1.51, successful 1.52, successful 1.53', 'one that the server refuses takes no other with it');

@ids = heat('wait later\nresult 1.21', 'result 1.22');
wait_for($node, states(@ids), 'measuring, measuring', 'a heat is measured');
$node->safe_psql('postgres', "SELECT cudal1_cancel(ARRAY[@{[ join ',', @ids ]}])");
wait_for($node, states(@ids), 'discarded cancelled, discarded cancelled', 'once all of it is cancelled, the program is stopped');

@ids = heat('wait never\nresult 1.31', 'result 1.32');
wait_for($node, states(@ids), 'measuring, measuring', 'a heat is measured');
touch_file($node, 'never');
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(pid) FROM cudal1.worker_state()');
wait_for($node, states(@ids), 'successful 1.31, successful 1.32', 'a worker that ends gives back what it has claimed');
wait_for($node, 'SELECT count(*) FROM cudal1.job', '0', 'the queue is empty');
consistent($node);
$node->stop;

done_testing();
