# The processes of this host, as /proc shows them.
package Processes;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(read_all processes descendants);

# '' where the file, or its process, is gone by now
sub read_all
{
	my ($path) = @_;
	open my $in, '<', $path or return '';
	local $/;
	return <$in> // '';
}

# all but zombies: [pid, command line, parent]
sub processes
{
	my @found;
	for my $stat (glob '/proc/[0-9]*/stat')
	{
		my ($pid, $state, $parent) = read_all($stat) =~ /^(\d+) \(.*\) (\S) (\d+)/s or next;
		push @found, [ $pid, read_all("/proc/$pid/cmdline") =~ s/\0/ /gr, $parent ] if $state ne 'Z';
	}
	return @found;
}

# processes that a process started, and theirs, children after their parents
sub descendants
{
	my ($root) = @_;
	my %children;
	push @{ $children{ $_->[2] } }, $_ for processes();
	my @found = @{ $children{$root} // [] };
	for (my $i = 0; $i < @found; $i++)
	{
		push @found, @{ $children{ $found[$i][0] } // [] };
	}
	return @found;
}

1;
