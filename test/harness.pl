#!/usr/bin/perl
# Runs programs that print TAP, a few at a time, each with its own time limit, and shows what failed.
#
#   harness.pl --label NAME [--jobs N] [--limit SECONDS] --tally FILE -- FILE... [:: COMMAND WORD... with {}]
#
# Each FILE is run as COMMAND with {} replaced by it ({n} by its number). A file that fails without a failed assertion
# (no plan, early end, exit status) counts as one failure more. "passed failed skipped" is appended to the tally.
use strict;
use warnings;
use Getopt::Long qw(:config no_permute);
use POSIX qw(WNOHANG);
use TAP::Parser;
use Time::HiRes qw(time sleep);

my ($label, $jobs, $limit, $tally) = ('tests', 1, 600, undef);
GetOptions('label=s' => \$label, 'jobs=i' => \$jobs, 'limit=i' => \$limit, 'tally=s' => \$tally)
  or die "harness: bad usage\n";
my (@files, @command);
{
	my $seen = 0;
	for my $word (@ARGV)
	{
		if    ($word eq '::' && !$seen) { $seen = 1; }
		elsif ($seen)                   { push @command, $word; }
		else                            { push @files, $word; }
	}
}
@command = ('{}') unless @command;

my $logs = $ENV{HARNESS_LOGS} || '/tmp';
my ($passed, $failed, $skipped) = (0, 0, 0);
my (%running, $number);
$| = 1;

while (@files || %running)
{
	while (@files && keys %running < $jobs)
	{
		my $file = shift @files;
		$number++;
		(my $name = $file) =~ s{/}{_}g;
		my $base = "$logs/$label-$name";
		my @words = map { (my $w = $_) =~ s/\{\}/$file/g; $w =~ s/\{n\}/$number/g; $w } @command;
		my $pid = fork // die "fork: $!";
		if ($pid == 0)
		{
			setpgrp(0, 0);
			open STDIN,  '<', '/dev/null'  or POSIX::_exit(127);
			open STDOUT, '>', "$base.out" or POSIX::_exit(127);
			open STDERR, '>', "$base.err" or POSIX::_exit(127);
			exec { $words[0] } @words or POSIX::_exit(127);
		}
		$running{$pid} = { file => $file, base => $base, start => time };
	}
	my $done = 0;
	while ((my $pid = waitpid(-1, WNOHANG)) > 0)
	{
		my $status = $?;
		my $run    = delete $running{$pid} or next;
		report($run, $status);
		$done = 1;
	}
	for my $pid (keys %running)
	{
		next if time - $running{$pid}{start} < $limit;
		next if $running{$pid}{stopped} && time - $running{$pid}{start} < $limit + 10;
		kill($running{$pid}{stopped} ? 'KILL' : 'TERM', -$pid);
		$running{$pid}{stopped} = 1;
	}
	sleep 0.05 unless $done;
}

if (defined $tally)
{
	open my $out, '>>', $tally or die "$tally: $!";
	print $out "$passed $failed $skipped\n";
	close $out;
}
exit($failed ? 1 : 0);

sub slurp
{
	my ($path) = @_;
	open my $in, '<', $path or return '';
	local $/;
	return scalar <$in> // '';
}

sub report
{
	my ($run, $status) = @_;
	my $seconds = sprintf '%.1f s', time - $run->{start};
	my $text    = slurp("$run->{base}.out");
	my (@bad, $keep);
	my $parser = TAP::Parser->new({ tap => $text =~ /\S/ ? $text : "\n" });
	my ($ok, $skip, $all) = (0, 0, undef);
	while (my $result = $parser->next)
	{
		if ($result->is_plan) { $all = $result->explanation || 'skipped' if $result->has_skip; }
		elsif ($result->is_test)
		{
			$keep = !$result->is_ok;
			if    ($keep)              { push @bad, $result->raw; }
			elsif ($result->has_skip)  { $skip++; }
			else                       { $ok++; }
		}
		elsif ($result->is_comment && $keep) { push @bad, $result->raw; }
	}
	my $broken = grep { /^not ok/ } @bad;
	my @why;
	push @why, "stopped after $limit s" if $run->{stopped};
	my @errors = defined $all ? () : map { lcfirst } $parser->parse_errors;
	splice @errors, 3, @errors, '...' if @errors > 4;
	push @why, @errors;
	push @why, $status & 127 ? 'died of signal ' . ($status & 127) : 'exit status ' . ($status >> 8)
	  if $status && !$run->{stopped};
	$passed  += $ok;
	$skipped += $skip + (defined $all ? 1 : 0);
	$failed  += $broken ? $broken : @why ? 1 : 0;

	if (!$broken && !@why)
	{
		printf "ok      %-44s %s (%s)\n", $run->{file},
		  defined $all ? "skipped: $all" : "$ok passed" . ($skip ? ", $skip skipped" : ''), $seconds;
		return;
	}
	printf "FAILED  %-44s %s (%s)\n", $run->{file}, join(', ', "$ok passed, $broken failed", @why), $seconds;
	print "    $_\n" for map { split /\n/ } @bad;
	my @err = split /\n/, slurp("$run->{base}.err");
	# what led there: the last lines of standard error, or of the output where nothing was said there
	@err = grep { !/^ok / } split /\n/, $text if !@err && !@bad;
	splice @err, 0, @err - 40 if @err > 40;
	print "    | $_\n" for @err;
}
