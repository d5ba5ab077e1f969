# The library of today works for a database of each released version, and ALTER EXTENSION UPDATE disturbs no measurement.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use Test::More;
use Workers;

my $share = `$ENV{PG_CONFIG} --sharedir`;
chomp $share;
my ($newest) = slurp_file("$share/extension/cudal1.control") =~ /^default_version = '(.*)'/m;
my @released = grep { $_ ne $newest } map { m{cudal1--([\d.]+)\.sql$} ? $1 : () } glob("$share/extension/cudal1--*.sql");
my $node = new_server('running');

for my $version (@released)
{
	$node->safe_psql('postgres', 'DROP EXTENSION cudal1 CASCADE');
	create_extension($node, 'postgres', $version);
	is(scalar_of($node, q{SELECT extversion FROM pg_extension WHERE extname = 'cudal1'}), $version, "a database of $version");
	my $first = submit($node, 'result 1.5');
	wait_for($node, "SELECT state || ' ' || reward FROM cudal1.candidate WHERE candidate_id = $first", 'successful 1.5',
		"$version: the worker of $newest measures in it");
	my $held = submit($node, "progress measuring 1\nwait $version\nresult 1.6");
	my $queued = submit($node, 'result 1.7');
	wait_for($node, "SELECT phase FROM cudal1.job WHERE state = 'running' AND candidate_id = $held", 'measuring', "$version: another is being measured");
	$node->safe_psql('postgres', 'ALTER EXTENSION cudal1 UPDATE');
	is(scalar_of($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $held"), 'measuring', "$version: still, after the update");
	touch_file($node, $version);
	wait_for($node, "SELECT string_agg(state || ' ' || reward, ', ' ORDER BY candidate_id) FROM cudal1.candidate WHERE candidate_id IN ($held, $queued)",
		'successful 1.6, successful 1.7', "$version: both are measured");
	is(scalar_of($node, 'SELECT count(*) FROM cudal1.measurement'), '3', "$version: each once");
	is(scalar_of($node, 'SELECT count(*) FROM cudal1_check()'), '0', "$version: all derived numbers hold");
}
$node->stop;
unlike(slurp_file($node->logfile), qr/ERROR: /, 'and the log has no error');
done_testing();
