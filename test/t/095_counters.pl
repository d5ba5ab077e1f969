# Counters of a code: what perf and ncu tell becomes one line of JSON, and what stands in their way a reason. No GPU is needed: a
# driver of a few functions takes its place, and a script that writes what ncu writes takes ncu's.
use Testing;
use JSON::PP;
use Measuring;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $solve = "#include <fcntl.h>\n#include <unistd.h>\nvoid solve(const float *x, float *y)\n"
  . "{ int f = open(\"$dir/calls\", O_WRONLY | O_CREAT | O_APPEND, 0600); write(f, \"x\", 1); close(f); for (int i = 0; i < 64; i++) y[i] = 2 * x[i]; }\n";
my $task = { language => 'c', reference => $solve, signature => { entry => 'solve', args => [
	{ name => 'x', dtype => 'float32', shape => [64], role => 'in' }, { name => 'y', dtype => 'float32', shape => [64], role => 'out' } ] } };

# status, and what the script says of a job on a device
sub counted
{
	my ($device, $before, $more) = @_;
	write_file("$dir/job.json", encode_json({ task => $task, code => $solve, device => $device, source => 'code.c',
		command => [qw(/usr/bin/gcc -O3 -shared -fPIC -o code.so code.c)] }));
	unlink "$dir/calls";
	my $said = `cd '$dir' && env $before /usr/bin/python3 -I '$library/profile_code.py' any counters @{[ $more // '' ]} <job.json 2>&1`;
	return ($? >> 8, $said);
}
mkdir "$dir/$_" for qw(perf ncu refused none);

# ---- perf ----

# what `perf stat -x,` writes: a processor counts some events, has others not, and the kernel leaves one out
write_file("$dir/perf/perf", <<'END', 0755);
#!/bin/bash
[ "$1" = stat ] || exit 0
while [ "$1" != /bin/sh ]; do case $1 in --control=fd:*) control=${1#*:} ;; -o) out=$2 ;; esac; shift; done
"$@" || exit
read -r said <&"$control"
[ "$said" = enable ] || exit 9
n=$(tail -c +1 "$PWD/calls" | wc -c)
cat >"$out" <<EOF
# started on Sat Nov 28 14:00:00 2026

$n.00,msec,task-clock:u,123,100.00,0.591,CPUs utilized
$((n * 2000)),,cycles:u,123,100.00,,
$((n * 5000)),,instructions:u,123,62.50,2.50,insn per cycle
$((n * 100)),,branches:u,123,62.50,,
$((n * 1)),,branch-misses:u,123,62.50,1.00,of all branches
$((n * 400)),,L1-dcache-loads:u,123,62.50,,
$((n * 20)),,L1-dcache-load-misses:u,123,62.50,5.00,of all L1-dcache accesses
$((n * 20)),,cache-references:u,123,62.50,,
$((n * 5)),,cache-misses:u,123,62.50,25.00,of all cache refs
<not supported>,,dTLB-load-misses:u,0,100.00,,
0,,page-faults:u,123,100.00,0.000,K/sec
<not counted>,,context-switches:u,0,0.00,,
EOF
END
my ($status, $said) = counted('cpu:0', "PATH='$dir/perf:/usr/bin:/bin'", 'unsandboxed');
is($status, 0, 'perf counts') or diag $said;
my $told = eval { decode_json($said) } // {};
is($told->{tool}, 'perf', 'on a CPU');
# the first call is not counted, so a share of one in the calls is missing
my %value = map { $_->{name} => $_ } @{ $told->{counters} };
my $calls = -s "$dir/calls";
my $factor = $calls / ($calls - 1);
cmp_ok($calls, '>', 100, 'the code ran for a second');
my %each = ('core time' => 1e-3, cycles => 2000, instructions => 5000, 'bytes from memory' => 320, 'page faults' => 0);
ok(abs($value{$_}{value} - $each{$_} * $factor) <= 1e-6 * $each{$_}, "$_ of a call") or diag $said for sort keys %each;
my %share = ('instructions a cycle' => 2.5, 'branches missed' => 1, 'L1 hits' => 95, 'last-level hits' => 75);
ok(abs($value{$_}{value} - $share{$_}) < 1e-9, $_) or diag $said for sort keys %share;
is(join(',', map { $_->{name} } grep { $_->{name} =~ /TLB|context/ } @{ $told->{counters} }), '', 'what is not counted is left out');

# ---- ncu ----

write_file("$dir/cuda.c", <<'END', 0755);
#include <stdlib.h>
#include <string.h>
int cuInit(unsigned flags) { return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = context; return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuMemAlloc_v2(void **memory, size_t size) { *memory = malloc(size); return 0; }
int cuMemcpyHtoD_v2(void *to, const void *from, size_t size) { memcpy(to, from, size); return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuProfilerStart(void) { return 0; }
int cuProfilerStop(void) { return 0; }
END
is(system("gcc -shared -fPIC -o '$dir/libcuda.so.1' '$dir/cuda.c'"), 0, 'a driver is built');
my $head = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"';
my @kernels = (
	[ 'sum(const float *, float *)', 'gpu__time_duration.sum,ns,"3,000"', 'dram__bytes_read.sum,byte,"1,048,576"', 'dram__bytes_write.sum,Kbyte,4.10', 'sm__throughput.avg.pct_of_peak_sustained_elapsed,%,20.00',
	  'sm__warps_active.avg.pct_of_peak_sustained_active,%,80.00', 'l1tex__t_sector_hit_rate.pct,,n/a', 'launch__registers_per_thread,register/thread,32' ],
	[ 'scale<4>(float *)', 'gpu__time_duration.sum,us,1.00', 'dram__bytes_read.sum,byte,424', 'dram__bytes_write.sum,byte,900', 'sm__throughput.avg.pct_of_peak_sustained_elapsed,%,60.00',
	  'sm__warps_active.avg.pct_of_peak_sustained_active,%,40.00', 'l1tex__t_sector_hit_rate.pct,,n/a', 'launch__registers_per_thread,register/thread,40' ]);
my $csv = "==PROF== Connected to process 4711 (/usr/bin/python3)\n==PROF== Profiling \"sum\" - 0: 0%....50%....100% - 4 passes\n$head\n";
for my $id (0 .. 1)
{
	my ($name, @metrics) = @{ $kernels[$id] };
	for (@metrics)
	{
		my ($metric, $unit, $value) = /^([^,]*),([^,]*),"?([^"]*)"?$/;
		$csv .= qq("$id","4711","python3","127.0.0.1","$name","1","7","(256, 1, 1)","(1024, 1, 1)","0","9.0","Command line profiler metrics","$metric","$unit","$value"\n);
	}
}
write_file("$dir/kernels.csv", $csv . "==PROF== Disconnected from process 4711\n");
write_file("$dir/denied.csv", "==PROF== Connected to process 4711 (/usr/bin/python3)\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.\n");
write_file("$dir/nothing.csv", "==PROF== Connected to process 4711 (/usr/bin/python3)\n==WARNING== No kernels were profiled.\n");
write_file("$dir/ncu/ncu", <<'END', 0755);
#!/bin/bash
printf '%s\n' "$@" >"$PWD/arguments"
echo "$CUDA_VISIBLE_DEVICES" >"$PWD/visible"
while [ "$1" != /bin/sh ]; do case $1 in --log-file) out=$2 ;; esac; shift; done
"$@" || exit
cat "$SAYS" >"$out"
END
my $ncu = "LD_LIBRARY_PATH='$dir' PATH='$dir/ncu:/usr/bin:/bin'";
($status, $said) = counted('GPU-1234', "SAYS='$dir/kernels.csv' $ncu", 'unsandboxed');
is($status, 0, 'ncu counts') or diag $said;
$told = eval { decode_json($said) } // {};
is($told->{tool}, 'ncu', 'on a GPU');
is(-s "$dir/calls", 2, 'one call after another that warms up');
is(slurp_file("$dir/visible"), "GPU-1234\n", 'the GPU is that of the job');
is(join('; ', map { sprintf '%s %.6g%s', @$_{qw(name value unit)} } @{ $told->{counters} }),
	'kernels 2; GPU time 4e-06s; bytes read 1.049e+06B; bytes written 5000B; use of SMs 30%; occupancy 70%; registers a thread 40',
	'times and bytes of kernels are added, shares weighted by time, what a GPU has not is left out');
my @arguments = split /\n/, slurp_file("$dir/arguments");
my ($metrics) = grep { /gpu__time_duration/ } @arguments;
cmp_ok(scalar(split /,/, $metrics), '>=', 12, 'a dozen metrics are asked for');
is(join(' ', grep { /^--(csv|profile-from-start|log-file|target-processes)$/ } @arguments), '--profile-from-start --target-processes --csv --log-file', 'as ncu is told by its options');
for (['denied', qr/^ncu: ERR_NVGPUCTRPERM - The user does not have permission/], ['nothing', qr/^ncu saw no kernel/])
{
	my ($says, $reason) = @$_;
	($status, $said) = counted('cuda:0', "SAYS='$dir/$says.csv' $ncu", 'unsandboxed');
	is($status, 1, "$says: no counters");
	like($said, $reason, "$says: the reason");
}

# ---- jobs ----

# the result of cudal1-measure for a job of kind profile
sub result_of
{
	my ($path) = @_;
	write_file("$dir/job.json", encode_json({ job_id => 7, attempt => 1, kind => 'profile', task => { %$task, cores => 1 }, candidate => { candidate_id => 1, code => $solve =~ s/int f.*?close\(f\);//r },
		device => { key => "cpu:$core", class => 'cpu' } }));
	my ($line) = grep { /"result"/ } `PATH='$path' '$measure' <'$dir/job.json' 2>&1`;
	return eval { decode_json($line) } // {};
}
my $result = result_of("$dir/none");
is(join(' ', @$result{qw(outcome detail)}), 'lost there is no perf on the PATH (Debian has it in linux-perf)', 'a job that cannot be profiled says why');
SKIP:
{
	skip 'no perf that may count here', 2 if !can_measure('c') || system("perf stat -x, -o /dev/null true >/dev/null 2>&1") != 0;
	$result = result_of('/usr/bin:/bin');
	is($result->{outcome}, 'successful', 'a job is profiled in the sandbox') or diag encode_json($result);
	my ($time) = grep { $_->{name} eq 'core time' } @{ $result->{evidence}{profile}{counters} };
	ok($time && $time->{value} > 0 && $time->{value} < 0.01, 'with the time of a call') or diag encode_json($result);
}
done_testing();
