# The agent with cudal1-measure itself: a code that is right, one that is wrong, one that does not compile.
use Testing;
use Time::HiRes qw(sleep);
use Agents;
use Processes;
use Workers;

my $node = new_database('agent_measures');
my $agent = new_agent($node, 'host-a', real => 1);
my $devices = `'@{[ $node->config_data('--bindir') ]}/cudal1-measure' --devices`;

plan skip_all => 'no sandbox here, or no compiler' if $devices !~ /"languages": ?\[[^]]*"c"/ || $devices !~ /"problems": ?\[\]/;
$node->safe_psql('postgres', <<'END');
SELECT cudal1_add_task('scale', $$void solve(const float *a, float *c) { for (int i = 0; i < 4096; i++) c[i] = 2 * a[i]; }$$, 'c',
	'{"entry": "solve", "args": [{"name": "a", "dtype": "float32", "shape": [4096], "role": "in", "init": "normal"},
								 {"name": "c", "dtype": "float32", "shape": [4096], "role": "out"}]}',
	1, '{"profile": "quick", "device": "cpu"}');
SELECT cudal1_submit('scale', $$void solve(const float *a, float *c) { for (int i = 0; i < 4096; i++) c[i] = a[i] + a[i]; }$$);
SELECT cudal1_submit('scale', $$void solve(const float *a, float *c) { for (int i = 0; i < 4096; i++) c[i] = 3 * a[i]; }$$);
SELECT cudal1_submit('scale', $$void solve(const float *a, float *c) { no such language }$$);
END
# without a Python there is no PyTorch to look for
my @quickly = ('--python', '/bin/false');
start_agent($agent, '--until-idle', '--prefetch', '1', @quickly);
agent_ended($agent, 0, 'a pilot measures what is there and leaves');
# on a machine with much else to do a right code may stay unverified; it is never called wrong, nor lost
like(scalar_of($node, "SELECT string_agg(coalesce(failure, state), ' ' ORDER BY candidate_id) FROM cudal1.candidate"),
	qr/^(successful|unverified) wrong_output compile_error$/, 'the verdicts are those of the measuring program');
is(scalar_of($node, "SELECT count(DISTINCT candidate_id) FROM cudal1.measurement WHERE wall_seconds > 0"), '3',
	'with all that it says of the measurement');

# a batch system signals all processes of a job, at worst the code's first: the claim is given back, whatever was going on
my $id = $node->safe_psql('postgres', <<'END');
SELECT cudal1_submit('scale', $$void solve(const float *a, float *c) { for (int i = 4095; i >= 0; i--) c[i] = a[i] + a[i]; }$$)
END
for my $later (0, 0.1, 0.3)
{
	start_agent($agent, @quickly);
	wait_for($node, "SELECT state FROM cudal1.job WHERE candidate_id = $id", 'running', 'a measurement runs');
	sleep $later;
	for my $process (reverse descendants($agent->{pid}))
	{
		# the supervisor is told when it has long seen what became of its executors
		sleep 0.05 if $process->[1] =~ m{^\S*cudal1-measure };
		kill 'TERM', $process->[0];
	}
	sleep 0.3;
	stop_agent($agent, 'all of its processes get SIGTERM, the agent at last');
	is(scalar_of($node, "SELECT concat_ws(' ', state, failures) FROM cudal1.job WHERE candidate_id = $id"), 'queued 0', 'the claim is given back');
}
is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement WHERE candidate_id = $id"), '0', 'no verdict was made of it');
start_agent($agent, '--until-idle', @quickly);
agent_ended($agent, 0, 'a last pilot');
like(state_of($node, $id), qr/^successful|unverified/, 'measures it');
consistent($node);

$node->stop;
done_testing();
