# For tests that start cudal1-measure by hand: where it is, and what it finds on this host.
package Measuring;

use strict;
use warnings;
use Exporter 'import';
use File::Temp ();
use JSON::PP;
use Test::More;

our @EXPORT = qw($measure $library $core $cores $python can_measure have_torch measure_candidates python_checks);
our ($measure, $library, $core, $cores, $python);

# the program, and the folder of its executors and their modules
chomp(($measure, $library) = `${\($ENV{PG_CONFIG} || 'pg_config')} --bindir --pkglibdir`);
$_ .= '/cudal1' for $measure, $library;
$measure .= '-measure';

my $devices = `'$measure' --devices`;
# the core that a CPU device of this host is, how many the host has, and the interpreter with PyTorch
($core) = $devices =~ /"key": ?"cpu:(\d+)"/;
($python) = $devices =~ /"python": ?"([^"]+)"/;
($cores) = $devices =~ /"host_cores": ?(\d+)/;

# whether a device does so in a sandbox; for PyTorch, without a problem
sub can_measure
{
	my ($language) = @_;
	return $devices =~ /"languages": ?\[[^]]*"$language"/ && ($language ne 'pytorch' || $devices =~ /"problems": ?\[\]/);
}

# whether there is a PyTorch, with a sandbox or without
sub have_torch { return ($ENV{PYTORCH} // '') ne 'no' && $devices =~ /"torch"/ }

# the results of a job (task, profile, device) whose candidates are measured together, in the order of the candidates; place: when each came
sub measure_candidates
{
	my ($scratch, $job, $codes, @options) = @_;
	my $number = 0;
	my $file = File::Temp->new;
	print $file encode_json({ %$job, candidates => [map { { job_id => ++$number, attempt => 1, candidate_id => $number, code => $_ } } @$codes] });
	close $file;
	my $place = 0;
	my %result = map { $_->{job_id} => { %$_, place => $place++ } } grep { $_->{type} eq 'result' }
	  map { decode_json($_) } `'$measure' --scratch '$scratch' @options <'$file' 2>/dev/null`;
	return map { $result{$_} // { outcome => "none, status $?", detail => '' } } 1 .. $number;
}

# a Python program that prints a line for each promise, "ok - promise" or "not ok - promise"
sub python_checks
{
	my ($program, @arguments) = @_;
	open my $pipe, '-|', '/usr/bin/python3', '-c', $program, @arguments or die "python3: $!";
	while (my $line = <$pipe>)
	{
		ok(!$1, $2) if $line =~ /^(not )?ok - (.*)/;
	}
	ok(close $pipe, 'the program ends well');
	return;
}

1;
