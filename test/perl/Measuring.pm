# For tests that start cudal1-measure by hand: where it is, and what it finds on this host.
package Measuring;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw($measure $core $cores can_measure);
our ($measure, $core, $cores);

my $bindir = `${\($ENV{PG_CONFIG} || 'pg_config')} --bindir`;
chomp $bindir;
$measure = "$bindir/cudal1-measure";

my $devices = `'$measure' --devices`;
# the core that a CPU device of this host is, and how many the host has
($core) = $devices =~ /"key": ?"cpu:(\d+)"/;
($cores) = $devices =~ /"host_cores": ?(\d+)/;

# whether a device does so in a sandbox; for PyTorch, without a problem
sub can_measure
{
	my ($language) = @_;
	return $devices =~ /"languages": ?\[[^]]*"$language"/ && ($language ne 'pytorch' || $devices =~ /"problems": ?\[\]/);
}

1;
