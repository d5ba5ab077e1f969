# Runs a test once more where the network and the processes are its own: nothing it starts listens on an interface of the host, and all
# of it ends with the test.
package PrivateNetwork;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(enter_private_network);

# false where namespaces are not to be had; else does not return the first time, and returns true the second
sub enter_private_network
{
	return 1 if $ENV{CUDAL1_PRIVATE_NETWORK};
	# a check of the syntax alone
	return 0 if $^C;
	local $ENV{PATH} = "$ENV{PATH}:/usr/sbin:/sbin";
	my ($gid) = split ' ', $(;
	# an address that is none of the loopback's, without which names are not resolved; it belongs to documentation and leads nowhere
	my @command = (
		'unshare', '--map-root-user', '--net', 'sh', '-c', 'ip link set lo up && ip addr add 192.0.2.1/32 dev lo && exec "$@"', 'sh',
		'bwrap', '--unshare-user', '--uid', $<, '--gid', $gid, '--unshare-uts', '--hostname', 'localhost', '--unshare-pid',
		'--die-with-parent', '--dev-bind', '/', '/', '--proc', '/proc');

	# the sandbox of measurements within it is to be had as well
	open my $saved, '>&', \*STDERR or return 0;
	open STDERR, '>', '/dev/null';
	my $status = system(@command, 'bwrap', '--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true');
	open STDERR, '>&', $saved;
	return 0 if $status != 0;
	$ENV{CUDAL1_PRIVATE_NETWORK} = 1;
	exec @command, $^X, $0, @ARGV;
}

1;
