# What a candidate in C can't see of its own sandbox: limits, filters, namespaces and cores of an executor, looked at from outside while it
# runs. That it is found out where it is awake outside its turn. And that nothing is measured where no sandbox can be made.
use Testing;
use JSON::PP;
use Measuring;
use Processes;
use POSIX ':sys_wait_h';
use Time::HiRes qw(sleep time);

plan skip_all => 'no sandbox here' if !can_measure('c');

my $dir = PostgreSQL::Test::Utils::tempdir();
chmod 0755, $dir;
mkdir "$dir/scratch";
my %text = (
	'signature.json' => '{"args": [{"name": "x", "dtype": "float32", "shape": [64], "role": "in"},'
	  . ' {"name": "y", "dtype": "float32", "shape": [64], "role": "out"}]}',
	'profile.json' => '{"memory_mb": 256, "run_limit_max": 60}',
	'profile-short.json' => '{"bucket_seconds": 0.01, "looks": [2], "pairs": 2, "check_seconds": 0.05}',
	'reference.c' => 'void solve(const float *x, float *y) { for (int i = 0; i < 64; i++) y[i] = 2 * x[i]; }',
	'crash.c' => 'void solve(const float *x, float *y) { *(volatile int *) 8 = 1; }',
	'profile-long.json' => '{"bucket_seconds": 0.5, "looks": [4], "pairs": 4, "check_seconds": 0.05, "half_width_limit": 10}',
	# a thread that is at work whenever nobody stops it
	'spinning.c' => "#include <pthread.h>\nstatic void *spin(void *x) { for (volatile int i = 0;;) i++; return x; }\n"
	  . '__attribute__((constructor)) static void begin(void) { pthread_t t; pthread_create(&t, 0, spin, 0); }'
	  . "\nvoid solve(const float *x, float *y) { for (int i = 0; i < 64; i++) y[i] = 2 * x[i]; }",
	'endless.c' => 'void solve(const float *x, float *y) { for (volatile int i = 0;;) i++; }',
);
write_file("$dir/$_", $text{$_}) for keys %text;
my @arguments = ('--scratch', "$dir/scratch", '--signature', "$dir/signature.json", '--profile', "$dir/profile.json");

# a measurement whose candidate is in an endless run: the supervisor, the executor, and what of bubblewrap's is above it
sub start_endless
{
	my (@options) = @_;
	my $pid = fork // die "fork: $!";
	if ($pid == 0)
	{
		open STDOUT, '>', "$dir/result" or die $!;
		# what the supervisor is started with is none of a sandbox's business
		$ENV{SECRET_OF_THE_SERVER} = 'yes';
		exec $measure, @arguments, "$dir/reference.c", "$dir/endless.c", @options or die "exec: $!";
	}
	my $until = time() + 60;
	while (time() < $until)
	{
		my %found = map { $_->[0] => $_->[1] } descendants($pid);
		for my $executor (grep { $found{$_} =~ m{^\S*/exec-c \S+/candidate(-\d+)?/} } keys %found)
		{
			# in a run: filters are set, and it is let go
			my $status = read_all("/proc/$executor/status");
			return ($pid, $executor, grep { $found{$_} =~ /^bwrap / } keys %found)
			  if $status =~ /^Seccomp_filters:\s+([3-9]|\d\d)/m && $status =~ /^State:\s+R/m;
		}
		sleep 0.01;
	}
	kill 'KILL', $pid;
	waitpid $pid, 0;
	die 'no executor came to its run';
}

sub field { return read_all("/proc/$_[0]/status") =~ /^$_[1]:\s+(.*)$/m ? $1 : ''; }

sub limit_of
{
	my ($pid, $name) = @_;
	return read_all("/proc/$pid/limits") =~ /^\Q$name\E\s+(\S+)\s+(\S+)/m ? "$1 $2" : '';
}

sub look_at
{
	my ($pid, $executor, $how) = @_;
	is(read_all("/proc/$executor/oom_score_adj"), "1000\n", "$how: the first to go where memory is short");
	is(field($executor, 'NoNewPrivs'), '1', "$how: no new privileges");
	is(field($executor, 'Seccomp'), '2', "$how: its system calls are filtered");
	is(field($executor, 'Cpus_allowed_list'), $core, "$how: on the core of its device alone");
	isnt(field($pid, 'Cpus_allowed_list'), $core, "$how: where the supervisor is not") if $cores > 1;
	my %most = ('Max pending signals' => 128, 'Max msgqueue size' => 0,
		'Max nice priority' => 0, 'Max realtime priority' => 0, 'Max processes' => 64,
		'Max open files' => 64, 'Max core file size' => 0, 'Max locked memory' => 0,
		'Max file size' => 16 << 20);
	is(limit_of($executor, $_), "$most{$_} $most{$_}", "$how: $_") for sort keys %most;
	my ($soft, $hard) = split / /, limit_of($executor, 'Max stack size');
	ok($soft =~ /^\d+$/ && $hard =~ /^\d+$/ && $hard <= 64 << 20 && $soft <= $hard, "$how: Max stack size") or diag "$soft $hard";
	my %memory = ('Max address space' => 256 + 1024 + 512, 'Max data size' => 256 + 1);
	ok(limit_of($executor, $_) =~ /^\d+ (\d+)$/ && $1 <= $memory{$_} << 20, "$how: $_") for sort keys %memory;
	my @open = map { readlink($_) // '' } glob "/proc/$executor/fd/*";
	is(scalar(grep { !m{^(/dev/null|/memfd:log \(deleted\)|socket:\[\d+\])$} } @open), 0, "$how: no descriptor beyond its own") or diag "@open";
	is(scalar(grep { /^socket/ } @open), 1, "$how: one socket");
	unlike(read_all("/proc/$executor/environ"), qr/SECRET/, "$how: nothing of the supervisor's environment");
	return;
}

# ended with its supervisor, however that ends
sub end
{
	my ($pid, $how, @others) = @_;
	kill 'KILL', $pid;
	waitpid $pid, 0;
	my $until = time() + 30;
	my @left;
	sleep 0.05 while (@left = grep { -e "/proc/$_" && field($_, 'State') !~ /^Z/ } @others) && time() < $until;
	is("@left", '', "$how: gone with a supervisor that was killed");
	return;
}

my ($pid, $executor, @bubblewrap) = start_endless();
look_at($pid, $executor, 'in a sandbox');
for my $space (qw(user pid mnt net ipc uts cgroup))
{
	isnt(readlink "/proc/$executor/ns/$space", readlink "/proc/self/ns/$space", "a namespace of its own: $space");
}
is(join(' ', map { hex(field($executor, $_)) } qw(CapInh CapPrm CapEff CapBnd CapAmb)), '0 0 0 0 0', 'no capability, and none to be had');
is(field($executor, 'NSpid') =~ s/^\d+\s+//r, 2, 'the second process of its sandbox, the first is bubblewrap');
ok(scalar(@bubblewrap), 'processes of bubblewrap are there');
for my $above (@bubblewrap)
{
	is(read_all("/proc/$above/oom_score_adj"), "1000\n", 'bubblewrap goes as early');
	unlike(read_all("/proc/$above/environ"), qr/SECRET/, "nothing of the supervisor's environment is in bubblewrap's");
}
end($pid, 'in a sandbox', $executor, @bubblewrap);

# limits and filters are an administrator's who goes without
($pid, $executor, @bubblewrap) = start_endless('--allow-unsandboxed');
is("@bubblewrap", '', 'without a sandbox there is no bubblewrap');
look_at($pid, $executor, 'without a sandbox');
end($pid, 'without a sandbox', $executor);

# ---- woken ----

# A measurement during which another process wakes those whose command line matches, in a sandbox or outside, after they
# were stopped for a moment, and that many times.
sub wake
{
	my ($which, $times, $supervisor_too) = @_;
	my $pid = fork // die "fork: $!";
	if ($pid == 0)
	{
		open STDOUT, '>', "$dir/woken" or die $!;
		exec $measure, @arguments, "$dir/reference.c", "$dir/spinning.c", '--profile', "$dir/profile-long.json" or die "exec: $!";
	}
	my ($woken, $until) = (0, time() + 120);
	while (waitpid($pid, WNOHANG) == 0)
	{
		kill 'KILL', $pid if time() > $until;
		my %found = map { $_->[0] => $_->[1] } descendants($pid);
		my @stopped = grep { $found{$_} =~ $which && field($_, 'State') =~ /^T/ } keys %found;
		sleep 0.002;
		@stopped = grep { field($_, 'State') =~ /^T/ } @stopped;
		next if !@stopped || $woken >= $times;
		kill 'CONT', @stopped, $supervisor_too ? $pid : ();
		$woken++;
		sleep 0.1;
	}
	my $result = decode_json((grep { /"type": ?"result"/ } split /\n/, read_all("$dir/woken"))[-1] // '{}');
	return ($woken, $result->{outcome} // 'none', $result->{detail} // '', $result->{evidence}{detector} // '');
}

my ($woken, $outcome, $detail, $detector) = wake(qr{/exec-c \S+/candidate(-\d+)?/}, 1000);
is("$outcome: $detail", 'cheat: the code had itself woken: it was at work while it was stopped, outside its turn', 'code that is awake outside its turn is found out');
is($detector, 'awake', 'and by what');
($woken, $outcome, $detail) = wake(qr{/exec-c \S+/reference/}, 1000);
like("$outcome: $detail", qr/^unverified: the reference had itself woken/, 'a reference that is awake is no fault of the candidate');
# each time costs a look of 0.3 s, so that without an end the measurement has none
($woken, $outcome, $detail) = wake(qr{/exec-c }, 20, 1);
cmp_ok($woken, '>', 0, 'whoever wakes all');
unlike($outcome, qr/cheat|none|lost/, 'accuses nobody') or diag $detail;

# ---- no sandbox ----

sub result_of
{
	my ($before, @options) = @_;
	my $command = join ' ', map { "'$_'" } $measure, @arguments, "$dir/reference.c", "$dir/reference.c", @options;
	my @lines = grep { /"type": ?"result"/ } `$before $command 2>/dev/null`;
	my $result = @lines ? decode_json($lines[-1]) : {};
	return ($result->{outcome} // 'none') . ': ' . ($result->{detail} // '');
}

unlike(result_of("cd '$dir' && ", '--profile', 'profile-short.json', '--scratch', 'scratch'), qr/^none|^lost|compile/,
	'a scratch folder may be named from where one is');

# whoever may write to the folder that a measurement is started in, /tmp for a worker, runs nothing as its user
SKIP:
{
	my ($planted, $ran) = ("$dir/planted", "$dir/ran");
	mkdir $planted;
	write_file("$planted/$_.py", "open('$ran', 'w').close()\nraise ImportError('planted')\n") for qw(csv email zipfile);
	system("cd '$planted' && /usr/bin/python3 -c 'import importlib.metadata' 2>/dev/null");
	skip 'this interpreter looks for none of them', 1 if !-e $ran;
	unlink $ran;
	write_file("$dir/planted.json", encode_json({ task => { name => 'planted', language => 'pytorch', reference => '', cores => 1 }, candidate => { code => '' } }));
	system("cd '$planted' && '$measure' --scratch '$dir/scratch' '$dir/planted.json' >/dev/null 2>&1");
	ok(!-e $ran, 'a module planted where a measurement is started is not run');
}

my ($crashed) = map { decode_json($_) } grep { /"type": ?"result"/ } `@{[ join ' ', map { "'$_'" } $measure, @arguments, "$dir/reference.c", "$dir/crash.c" ]} 2>/dev/null`;
is($crashed->{outcome}, 'crash', 'code that ends in its first run crashes');
is_deeply([ grep { !($crashed->{$_} >= 0 && $crashed->{$_} <= $crashed->{wall_seconds}) } qw(device_seconds startup_seconds clock_seconds) ], [],
	'and no time of it is longer than all of it');

# what comes back of a code's own words, of its compiler's and of ours names no folder of the host
$text{'telling.c'} = <<'C';
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void solve(const float *x, float *y)
{
	Dl_info i;
	char b[4096];
	dladdr(solve, &i);
	printf("from %s, library %s, in %s\\n", __FILE__, i.dli_fname, getcwd(b, sizeof(b)));
	fflush(stdout);
	abort();
}
C
$text{'asserting.c'} = "#include <assert.h>\nvoid solve(const float *x, float *y) { assert(!x); }\n";
$text{'refused.c'} = "#include \"none.h\"\nvoid solve(const float *x, float *y) { int i = \"x\" * 2; }\n";
$text{'unlinked.c'} = "extern void nowhere(void);\nvoid solve(const float *x, float *y) { nowhere(); }\n__asm__(\".include \\\"none.s\\\"\");\n";
for my $name (qw(telling.c asserting.c refused.c unlinked.c))
{
	write_file("$dir/$name", $text{$name});
	my ($result) = map { decode_json($_) } grep { /"type": ?"result"/ } `@{[ join ' ', map { "'$_'" } $measure, @arguments, "$dir/reference.c", "$dir/$name" ]} 2>/dev/null`;
	like($result->{detail}, qr/code\.(c|so)|none\.s/, "$name is told where in the code it fails");
	unlike($result->{detail}, qr/\Q$dir\E|scratch|cudal1-/, 'and not where that lay') or diag $result->{detail};
}
unlike(result_of('', '--scratch', "$dir/none"), qr/\Q$dir\E/, 'a scratch folder that is not there is not named either');

# everything but bubblewrap
mkdir "$dir/bin";
for my $folder ('/usr/local/bin', '/usr/bin', '/bin')
{
	symlink $_, "$dir/bin/" . s{.*/}{}r for grep { !m{/bwrap$} } glob "$folder/*";
}
my $without = "env PATH='$dir/bin'";
like(result_of($without), qr/^lost: bubblewrap is missing; install the package bubblewrap$/, 'without bubblewrap nothing is measured');
my ($listed) = grep { /"class": ?"cpu"/ } `$without '$measure' --devices`;
like($listed, qr/"languages": ?\[\]/, 'and the device offers no language');
like($listed, qr/bubblewrap is missing; install the package bubblewrap/, 'with a hint');

SKIP:
{
	# within a user namespace of its own that may have no further ones
	my $closed = 'unshare -Ur sh -c \'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"\' closed';
	skip 'user namespaces cannot be closed here', 2 if system("$closed true 2>/dev/null") != 0;
	like(result_of($closed), qr/^lost: bubblewrap can't make its namespaces; allow unprivileged user namespaces/, 'nor where the kernel refuses namespaces');
	like(join('', `$closed '$measure' --devices`), qr/"languages": ?\[\].*bubblewrap can't make its namespaces/, 'and the device says so');
}
done_testing();
