# Agents beside a server that measures nothing itself, and what tests of agents ask of them. An agent's working files lie in
# its own folders, so two of them stand for two hosts.
package Agents;

use strict;
use warnings;
use Exporter 'import';
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Processes;
use Testing ();
use Test::More;
use Time::HiRes qw(sleep time);
use Workers ();

our @EXPORT = qw(new_database new_agent start_agent stop_agent kill_agent agent_ended agent_log agent_trace agent_children
  touch_for);

my %started;

END
{
	local $?;
	kill 'KILL', keys %started if %started;
}

# a started server that has the extension, no preloaded library and a role of kind agent
sub new_database
{
	my ($name) = @_;
	my $node = Workers::new_server($name, preload => 0);

	Workers::create_extension($node, 'postgres');
	$node->safe_psql('postgres', "CREATE ROLE measurer LOGIN; SELECT cudal1_grant('measurer', 'agent')");
	return $node;
}

# real => 1: with cudal1-measure itself
sub new_agent
{
	my ($node, $name, %options) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir();

	return { name => $name, node => $node, dir => $dir, scratch => Workers::place_scripted($dir), real => $options{real} };
}

# environment and conninfo of the agent's hash are its own, where they are set
sub start_agent
{
	my ($agent, @options) = @_;
	my @command = (
		$agent->{node}->config_data('--bindir') . '/cudal1-agent', '--host', $agent->{name},
		'--scratch', $agent->{scratch}, '--prefetch', '0', '--poll', '0.5',
		($agent->{real} ? () : ('--measure', "$agent->{dir}/scripted-measure")),
		@options, $agent->{conninfo} // $agent->{node}->connstr('postgres') . ' user=measurer');
	my $pid = fork;

	die "fork: $!" unless defined $pid;
	if ($pid == 0)
	{
		delete @ENV{qw(CUDA_HOME CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES)};
		%ENV = (%ENV, %{ $agent->{environment} // {} });
		open STDERR, '>>', "$agent->{dir}/log";
		open STDIN, '<', '/dev/null';
		exec @command or POSIX::_exit(127);
	}
	$started{$pid} = 1;
	$agent->{pid} = $pid;
	$agent->{status} = undef;
	return;
}

# the exit status once the agent has ended by itself, within three minutes
sub agent_ended
{
	my ($agent, $wanted, $name) = @_;
	my $until = time() + 180;

	while (!defined $agent->{status} && time() < $until)
	{
		if (waitpid($agent->{pid}, POSIX::WNOHANG()) > 0)
		{
			$agent->{status} = $?;
			delete $started{ $agent->{pid} };
		}
		sleep 0.02;
	}
	is($agent->{status}, $wanted, $name) or diag(agent_log($agent));
	return;
}

sub stop_agent
{
	my ($agent, $name) = @_;
	kill 'TERM', $agent->{pid};
	agent_ended($agent, 0, $name);
	return;
}

sub kill_agent
{
	my ($agent, $name) = @_;
	kill 'KILL', $agent->{pid};
	agent_ended($agent, 9, $name);
	return;
}

sub agent_log { return PostgreSQL::Test::Utils::slurp_file("$_[0]{dir}/log") }

sub agent_trace
{
	my ($agent, $pattern) = @_;
	return Workers::trace_in($agent->{scratch}, $pattern);
}

sub agent_children
{
	my ($agent) = @_;
	return grep { $_->[1] =~ /^cudal1-scripted-measure \Q$agent->{scratch}\E/ } processes();
}

sub touch_for { return Testing::write_file("$_[0]{scratch}/$_[1]", '') }

1;
