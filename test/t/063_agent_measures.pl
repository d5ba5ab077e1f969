# The agent with cudal1-measure itself: a code that is right, one that is wrong, one that does not compile.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../perl";
use Test::More;
use Agents;
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
start_agent($agent, '--until-idle', '--prefetch', '1');
agent_ended($agent, 0, 'a pilot measures what is there and leaves');
# on a machine with much else to do a right code may stay unverified; it is never called wrong, nor lost
like(scalar_of($node, "SELECT string_agg(coalesce(failure, state), ' ' ORDER BY candidate_id) FROM cudal1.candidate"),
	qr/^(successful|unverified) wrong_output compile_error$/, 'the verdicts are those of the measuring program');
is(scalar_of($node, "SELECT count(DISTINCT candidate_id) FROM cudal1.measurement WHERE wall_seconds > 0"), '3',
	'with all that it says of the measurement');
consistent($node);

$node->stop;
done_testing();
