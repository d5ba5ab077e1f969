# A scripted endpoint (test/http/scripted-model) on a unix socket, and a server of module Workers that may ask it.
package Models;

use strict;
use warnings;
use Exporter 'import';
use FindBin;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Processes;
use Testing ();
use Test::More;
use Time::HiRes qw(sleep time);
use Workers;

our @EXPORT = qw(start_endpoint stop_endpoint endpoint_lines touch_endpoint add_model generators requests_by_state);

my (%directory, %process);

# name of the address; for a unix socket unless tcp is asked for; with a certificate it speaks TLS there
sub start_endpoint
{
	my ($name, $tcp, $certificate) = @_;
	# the path of a socket is short
	my $dir = PostgreSQL::Test::Utils::tempdir_short();
	my $address = $tcp ? '127.0.0.1' : "$dir/socket";
	chmod 0755, $dir;
	$directory{$name} = $dir;
	$process{$name} = IPC::Run::start([ 'python3', "$FindBin::RealBin/../http/scripted-model", $address, $dir, $certificate // () ], '<', \undef);
	my $until = time() + 60;
	sleep 0.02 while !-e ($tcp ? "$dir/port" : "$dir/socket") && time() < $until;
	return "unix:$dir/socket:/v1" unless $tcp;
	return ($certificate ? 'https' : 'http') . '://127.0.0.1:' . PostgreSQL::Test::Utils::slurp_file("$dir/port") . '/v1';
}

sub stop_endpoint
{
	my ($name) = @_;
	$process{$name}->kill_kill if $process{$name};
	delete $process{$name};
	return;
}

END { local $?; stop_endpoint($_) for keys %process; }

# lines of requests or answers that match
sub endpoint_lines
{
	my ($name, $file, $pattern) = @_;
	my @lines;
	if (open my $in, '<', "$directory{$name}/$file") { @lines = <$in> }
	return grep { !defined $pattern || $_ =~ $pattern } @lines;
}

sub touch_endpoint { return Testing::write_file("$directory{$_[0]}/$_[1]", '') }

# a model that does what its name says; more: further arguments of cudal1_add_model, as SQL
sub add_model
{
	my ($node, $endpoint, $script, %options) = @_;
	my $name = $options{name} // $script;
	my $more = $options{more} // '';
	my $limits = $options{options} // '{}';
	return $node->safe_psql('postgres',
		"SELECT cudal1_add_model('$name', '$endpoint', '$script', options => '{\"backoff_seconds\": 0.05}'::jsonb || '$limits' $more)");
}

# processes of cudal1-generate that belong to this server
sub generators
{
	my ($node) = @_;
	return map { $_->[0] } grep { $_->[1] =~ /cudal1-generate --spool \Q@{[ $node->data_dir ]}\E/ } processes();
}

sub requests_by_state
{
	my ($node, $where) = @_;
	return $node->safe_psql('postgres',
		"SELECT string_agg(state || ' ' || n, ', ' ORDER BY state) FROM (SELECT state, count(*) AS n FROM cudal1.request WHERE @{[ $where // 'true' ]} GROUP BY state) AS x");
}

1;
