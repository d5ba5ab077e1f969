# Pilots under a real Slurm of two nodes, with real measurements: whatever happens to a pilot, its node or the server, nothing is lost and
# nothing is scored twice. Where Slurm is installed; its daemons listen on the loopback of a network that is the test's own.
use Testing;
use PrivateNetwork;
my $private;
# before PostgreSQL's modules turn the output of this process to their log
BEGIN { $private = enter_private_network() }
use Time::HiRes qw(sleep time);
use Slurm;
use Verdicts;

plan skip_all => 'Slurm is not installed: slurm-wlm and munge' if !have_slurm();
plan skip_all => 'no namespaces of its own are to be had here' if !$private;

my $load = $ENV{SLURM_LOAD} // 12;
my $pilot = "$ENV{TESTDIR}/examples/slurm/pilot.sbatch";
my $dir = PostgreSQL::Test::Utils::tempdir();
chmod 0755, $dir;
mkdir "$dir/scratch";

my $node = start_server('slurm', "fsync = on\nrestart_after_crash = on\ncudal1.certify = off\n");

sub await
{
	my ($name, $test) = @_;
	return Testing::await($test, $name, 0.2)
	  || diag(slurm('squeue'), "\n", slurm('sinfo'), "\n", sql('SELECT * FROM cudal1.job'), "\n", map { slurp_file($_) } glob "$dir/pilot-*");
}

begin_work($node, '{"bucket_seconds": 0.001, "window_seconds": 1e-5, "build_seconds": 20, "run_limit_max": 2}');
sql("CREATE ROLE measurer LOGIN; SELECT cudal1_grant('measurer', 'agent')");

sub all_done
{
	my ($when) = @_;
	drained("$when: the queue is worked off");
	nothing_lost($when);
	return;
}

# ---- the cluster ----

my $slurm = start_slurm();
is(node_state('n1') . ' ' . node_state('n2'), 'idle idle', 'a cluster of two nodes');
is(slurm('sh', '-c', q{ss -Hltn | awk '{ print $4 }' | grep -v '^127\.0\.0\.1:' || true}), '', 'which listens on the loopback alone');

my $bindir = $node->config_data('--bindir');
delete @ENV{qw(CUDA_HOME CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES)};
@ENV{qw(PATH PGHOST PGPORT PGDATABASE CUDAL1_LEASE TMPDIR)} =
  ("$bindir:$ENV{PATH}", $node->host, $node->port, 'postgres', 10, "$dir/scratch");

# options of sbatch, then of the agent; the job's number
sub pilot
{
	my ($sbatch, @agent) = @_;
	local $ENV{PGUSER} = 'measurer';
	my $said = slurm('sbatch', '--parsable', "--output=$dir/pilot-%j", @$sbatch, $pilot, '--prefetch', '0', '--poll', '1',
		# each pilot looks for PyTorch, which takes seconds
		'--python', '/bin/false', @agent);
	return $said =~ /^(\d+)/ ? $1 : BAIL_OUT("sbatch: $said");
}
sub pilots_on { my ($where) = @_; return grep { $_->[2] eq $where } pilots() }
# the pilot there whose claim is being worked on
sub measuring
{
	my ($where) = @_;
	for my $one (pilots_on($where))
	{
		return $one if sql("SELECT count(*) FROM cudal1.activity WHERE phase IS NOT NULL AND worker LIKE 'agent $where % pid $one->[0] claim %'");
	}
	return;
}
sub state_of_job { my ($job) = @_; return slurm('scontrol', 'show', 'job', $job) =~ /JobState=(\w+)/ ? $1 : '' }
# keeps work there until the condition holds
sub await_under_load
{
	my ($name, $test) = @_;
	return await($name, sub { submit(4) if sql($undecided) < 6; return $test->() });
}

# ---- work while all is well: an array of pilots, which leave when there is no more ----

submit($load);
my $began = time();
my $array = pilot([ '--array=1-2' ], '--until-idle=2');
await('both nodes measure', sub { measuring('n1') && measuring('n2') });
all_done('two pilots');
note(sprintf '%d candidates in %.1f s', $load, time() - $began);
await('idle pilots leave', sub { slurm('squeue', '--noheader') eq '' });
is(state_of_job("${array}_1") . ' ' . state_of_job("${array}_2"), 'COMPLETED COMPLETED', 'in order');
is(sql("SELECT string_agg(host || ' ' || class, ', ' ORDER BY host) FROM cudal1.device"), 'n1 cpu, n2 cpu', 'devices bear the names of nodes');

# ---- an agent is killed ----

my (%met, @killed);
submit($load);
pilot([ '--array=1-4' ]);
for my $where ('n1', 'n2', 'n1')
{
	my $victim = await_under_load("$where measures", sub { measuring($where) });
	kill 'KILL', $victim->[0];
	push @killed, $victim->[0];
	$met{'agents killed'}++;
	await("the job of the agent killed on $where has failed", sub { state_of_job($victim->[1]) eq 'FAILED' });
	pilot([]) if $where eq 'n1';
}
await_under_load('the next pilot measures', sub { measuring('n1') });
await('and no claim of a killed agent is left', sub { !grep { sql("SELECT count(*) FROM cudal1.job WHERE worker LIKE 'agent % pid $_ claim %'") } @killed });

# ---- a pilot is told to finish (as before its time limit), cancelled, requeued: no failure is counted in any of these ----

my $failures = q{SELECT count(*) FROM cudal1.measurement WHERE outcome IN ('lost', 'cancelled')};
my $before = sql($failures);

# drained: nothing new begins on the node, the pilot there ends what it measures when it is told to
slurm('scancel', '--state=PENDING', '--user', scalar getpwuid $<);
pilot([ "--nodelist=$_" ]) for grep { !pilots_on($_) } 'n1', 'n2';
await_under_load('n2 measures', sub { measuring('n2') });
slurm('scontrol', 'update', 'nodename=n2', 'state=drain', 'reason=test');
$met{'nodes drained'}++;
await('a node is drained', sub { node_state('n2') =~ /^dr/ });
pilot([]);
my ($last) = pilots_on('n2');
ok($last, 'its pilot goes on');
slurm('scancel', '--batch', '--signal=USR1', $last->[1]);
await_under_load('until it is told to finish', sub { !pilots_on('n2') });
await('its job ends in order', sub { state_of_job($last->[1]) eq 'COMPLETED' });
await_under_load('others work meanwhile', sub { measuring('n1') });
is(node_state('n2'), 'drain', 'nothing runs on the drained node');
is(scalar(pilots_on('n2')), 0, 'and no pilot was begun there, though one waits');
slurm('scancel', '--state=PENDING', '--user', scalar getpwuid $<);
slurm('scontrol', 'update', 'nodename=n2', 'state=resume');
like(slurp_file("$dir/pilot-$last->[1]"), qr/claiming nothing more/, 'it was told by the signal of pilot.sbatch');

for (1 .. 2)
{
	pilot([ '--nodelist=n1' ]) if slurm('squeue', '--noheader', '--states=PENDING') eq '';
	my $victim = await_under_load('n1 measures', sub { measuring('n1') });
	slurm('scancel', $victim->[1]);
	$met{'jobs cancelled'}++;
	await('the cancelled pilot is gone', sub { !grep { $_->[0] == $victim->[0] } pilots() });
	await('as Slurm says', sub { state_of_job($victim->[1]) eq 'CANCELLED' });
}
pilot([ '--nodelist=n1' ]) if !pilots_on('n1') && slurm('squeue', '--noheader', '--states=PENDING') eq '';
my $victim = await_under_load('n1 measures', sub { measuring('n1') });
slurm('scancel', '--state=PENDING', '--user', scalar getpwuid $<);
slurm('scontrol', 'requeue', $victim->[1]);
$met{'jobs requeued'}++;
await_under_load('a requeued pilot comes back', sub { grep { $_->[1] == $victim->[1] && $_->[0] != $victim->[0] } pilots() });

is(sql($failures), $before, 'none of these was anybody\'s failure');

# ---- the server restarts under load ----

pilot([ '--array=1-3' ]);
for my $mode ('fast', 'immediate')
{
	await_under_load("both nodes measure before a stop, $mode", sub { measuring('n1') && measuring('n2') });
	$node->stop($mode);
	sleep 0.5;
	$node->start;
	$met{"servers stopped, $mode"}++;
	pilot([]) if slurm('squeue', '--noheader', '--states=PENDING') eq '';
}

# ---- what is left ----

pilot([]);
all_done('after all of it');
is(sql($failures), $before, 'no restart cost an attempt');
note(join ', ', (map { "$met{$_} $_" } sort keys %met), "$submitted candidates", sql(q{SELECT string_agg(outcome || ' ' || n, ', ' ORDER BY outcome)
	FROM (SELECT outcome, count(*) AS n FROM cudal1.measurement GROUP BY 1) AS x}), sql('SELECT max(attempt) FROM cudal1.measurement') . ' attempts at most');
slurm('scancel', '--user', scalar getpwuid $<);
await('all jobs end', sub { slurm('squeue', '--noheader') eq '' && !pilots() });
# swept by a later measurement, a minute after (050_faults.pl)
cmp_ok(scalar(my @left = glob "$dir/scratch/*"), '<=', $met{'agents killed'}, 'no working files are left but those of killed agents');
is(slurm('sh', '-c', q{ps -eo args | grep -E '^[^ ]*(cudal1-measure|exec-c) ' || true}), '', 'no process of a measurement is left');

# ---- GPUs: two jobs on one node, each with the GPU that Slurm gave it ----

mkdir "$dir/gpus";
append_to_file("$dir/gpus/devices", join '',
	map { qq({"key": "GPU-$_", "class": "cuda", "model": "G", "cores": 1, "languages": ["cuda"], "details": {"index": $_}}\n) } 0, 1);
my $two = pilot([ '--array=1-2', '--gres=gpu:1', '--cpus-per-task=1' ], '--measure', "$ENV{TESTDIR}/test/perl/scripted-measure", '--scratch', "$dir/gpus",
	'--until-idle=600');
await('each of two pilots serves its GPU', sub { sql("SELECT string_agg(device_key, ', ' ORDER BY device_key) FROM cudal1.device WHERE class = 'cuda'") eq 'n1 GPU-0, n1 GPU-1' });
is(scalar(pilots_on('n1')), 2, 'on one node');
slurm('scancel', $two);
await('both leave', sub { !pilots() });
nothing_lost('at the end');
$node->stop;
done_testing();
