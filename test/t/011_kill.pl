# Whoever is killed, nothing is lost and nothing is scored twice.
use Testing;
use Workers;

my $node = new_server('kill');

sub measured_once
{
	my ($id) = @_;
	is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement WHERE candidate_id = $id AND accepted"), '1', 'scored once');
	return;
}

# the measuring program: an attempt is lost, and another one made
my $id = measuring($node, "progress measuring 1\nfirst wait never\nresult 1.5", 'a program measures');
my ($pid) = children($node);
kill 'KILL', $pid;
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $id", 'successful', 'another attempt is made');
is(scalar_of($node, "SELECT string_agg(outcome, ' ' ORDER BY measurement_id) FROM cudal1.measurement WHERE candidate_id = $id"),
	'lost successful', 'the lost attempt is on record');
like(scalar_of($node, "SELECT detail FROM cudal1.measurement WHERE candidate_id = $id AND outcome = 'lost'"), qr/signal 9/,
	'it says what happened');
measured_once($id);

# as often as the profile says, then it is discarded
$id = submit_until($node, "die KILL", 'discarded', 'a program that always dies is given up');
is(state_of($node, $id), 'discarded lost', 'as lost, without a reward');
is(scalar_of($node, "SELECT count(*) = (SELECT attempts FROM cudal1.profile WHERE name = 'quick') FROM cudal1.measurement WHERE candidate_id = $id"),
	't', 'after the attempts of the profile');

# the worker, by a signal that the server survives: its claims are given back, not failed
my $survivor = submit($node, "progress measuring 1\nfirst wait never\nresult 1.6");
my $next = submit($node, "result 1.7");
wait_for($node, "SELECT phase FROM cudal1.activity WHERE candidate_id = $survivor", 'measuring', 'a program measures again');
my $worker = worker_pid($node);
scalar_of($node, "SELECT pg_terminate_backend($worker)");
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE candidate_id IN ($survivor, $next) AND state = 'successful'", '2',
	'a terminated worker comes back');
isnt(worker_pid($node), $worker, 'as another process');
is(scalar_of($node, "SELECT max(attempt) || ' ' || count(*) FROM cudal1.measurement WHERE candidate_id = $survivor"), '2 1',
	'the claim was given back without a failure');
measured_once($survivor);

# the launcher comes back, and leaves the worker alone
my $launcher = scalar_of($node, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'cudal1 launcher'");
$worker = worker_pid($node);
scalar_of($node, "SELECT pg_terminate_backend($launcher)");
wait_for($node, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'cudal1 launcher' AND pid <> $launcher", '1',
	'a terminated launcher comes back');
is(worker_pid($node), $worker, 'the worker stays');

# the worker, by a signal that takes the server through recovery
sub kill_hard
{
	my ($what, $victim) = @_;
	my $candidate = submit($node, "progress measuring 1\nfirst wait never\nresult 1.8\n# $what");
	my $waiting = submit($node, "result 1.9\n# $what");
	wait_for($node, "SELECT phase FROM cudal1.activity WHERE candidate_id = $candidate", 'measuring', "$what: a program measures");
	my ($program) = children($node);
	my $previous = worker_pid($node);
	$victim->();
	wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE candidate_id IN ($candidate, $waiting) AND state = 'successful'", '2',
		"$what: both are measured in the end");
	isnt(worker_pid($node), $previous, "$what: by another worker");
	ok(!grep({ $_ == $program } children($node)), "$what: the old program is gone");
	is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement WHERE candidate_id = $candidate"), '1', "$what: no failure was counted");
	measured_once($candidate);
	measured_once($waiting);
	return;
}
kill_hard('killed worker', sub { kill 'KILL', worker_pid($node) });
kill_hard('killed session', sub {
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $backend = $session->query('SELECT pg_backend_pid()');
	kill 'KILL', $backend;
	eval { $session->quit };
});
kill_hard('killed server', sub { $node->stop('immediate'); $node->start });
kill_hard('fast restart', sub { $node->restart });

# at random moments of many short measurements
my @many = submit_many($node, map { "progress building 1\nsleep 0.05\nresult 1.$_\n# many" } 1 .. 60);
my $list = join ',', @many;
for my $done (10, 25, 40)
{
	wait_for($node, "SELECT count(*) >= $done FROM cudal1.candidate WHERE candidate_id IN ($list) AND state = 'successful'", 't',
		"$done are measured");
	kill 'KILL', $done == 25 ? children($node) : worker_pid($node);
}
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE candidate_id IN ($list) AND state = 'successful'", '60',
	'all are measured in spite of kills between');
is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement WHERE candidate_id IN ($list) AND accepted"), '60', 'each once');
is( scalar_of($node, "SELECT count(*) FROM cudal1.candidate c JOIN cudal1.measurement m USING (measurement_id) WHERE c.candidate_id IN ($list) AND c.reward = m.reward"),
	'60', 'with its own reward');

# a claim of a worker that is gone for good: the lease ends it
$id = measuring($node, "progress measuring 1\nfirst wait never\nresult 1.5\n# stopped", 'a program measures once more');
# in one transaction, because the worker would prolong the lease in between
is(scalar_of($node, "BEGIN; UPDATE cudal1.job SET lease_until = '-infinity', worker = 'agent elsewhere' WHERE candidate_id = $id; SELECT cudal1.expire_leases(); COMMIT"),
	'1', 'its lease ends');
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $id", 'successful', 'the fenced program is ended and another one measures');
measured_once($id);

consistent($node);
no_children($node);
$node->stop;
await_children($node, 0, 'nothing is left after the server');
done_testing();
