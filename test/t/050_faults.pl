# Whatever is killed, frozen, full or late while real measurements run: nothing is lost, nothing is scored twice, nothing is left over.
#
# The kills follow a fixed random sequence: who, and how long after the one before. FAULTS=300 makes that many; by default it
# is 24, so that the file ends within a few minutes.
use Testing 'await';
use List::Util qw(sum0);
use Measuring;
use Processes;
use Time::HiRes qw(sleep time);
use Verdicts;

my $kills = $ENV{FAULTS} // 24;

my $dir     = PostgreSQL::Test::Utils::tempdir();
my $scratch = "$dir/scratch";
chmod 0755, $dir;
mkdir $scratch;

my $node = start_server('faults', <<"END");
shared_preload_libraries = 'cudal1'
restart_after_crash = on
cudal1.measure_path = '$measure'
cudal1.scratch_dir = '$scratch'
cudal1.idle_poll = 500ms
cudal1.lease_seconds = 20
cudal1.child_grace = 2
log_min_messages = log
END

# ---- processes ----

# descendants of the postmaster: [pid, command line, the supervisor they belong to]
sub belonging
{
	my %supervisor;
	return map {
		my ($pid, $line, $parent) = @$_;
		$supervisor{$pid} = $supervisor{$parent} || ($line =~ m{^\S*cudal1-measure } ? $pid : 0);
		[ $pid, $line, $supervisor{$pid} ]
	} descendants($_[0]);
}

my %pattern = (
	launcher => qr{^postgres: .*cudal1 launcher},
	worker   => qr{^postgres: .*cudal1 worker},
	session  => qr{^postgres: .*pg_sleep|^postgres: .*idle},
	measure  => qr{^\S*cudal1-measure(?! --devices)\b},
	sandbox  => qr{^bwrap },
	executor => qr{^\S*/exec-c },
	compiler => qr{^\S*(gcc|cc1|as|collect2|ld) },
);

sub postmaster
{
	open my $in, '<', $node->data_dir . '/postmaster.pid' or return 0;
	my $pid = <$in> // 0;
	close $in;
	chomp $pid;
	return $pid;
}

# Code that is killed twice in one measurement is held to have done it itself (docs/reliability.md), so the test takes at most one
# process of a measurement away from under its supervisor.
my %struck;

sub candidates
{
	my ($kind) = @_;
	my $root = postmaster() or return ();
	my $spare = $kind =~ /^(sandbox|executor|compiler)$/;
	return grep { $_->[1] =~ $pattern{$kind} && !($spare && $struck{ $_->[2] }) } belonging($root);
}
sub victims { return map { $_->[0] } candidates(@_); }

# every process that has to do with our scratch folder, whoever its parent is by now
sub strays
{
	return map { "$_->[0] $_->[1]" } grep { index("$_->[1] " . (readlink("/proc/$_->[0]/cwd") // ''), $scratch) >= 0 && $_->[0] != $$ && $_->[1] !~ /^perl/ } processes();
}

# ---- work ----

begin_work($node, '{"bucket_seconds": 0.01, "window_seconds": 0.001, "build_seconds": 4, "run_limit_max": 0.1, "budget_seconds": 3}');

my $running = q{SELECT count(*) FROM cudal1.activity WHERE phase IS NOT NULL};

await(sub { sql('SELECT count(*) FROM cudal1.device') > 0 }, 'a device is found');
submit(4);
drained('work is done while all is well');
nothing_lost('untouched');

# ---- kills ----

srand 20250618;
my @weights = (measure => 30, executor => 22, sandbox => 14, worker => 9, compiler => 8, server => 7, launcher => 5, session => 5);
my %killed;

sub draw_kind
{
	my $at = rand 100;
	for (my $i = 0; $i < @weights; $i += 2)
	{
		return $weights[$i] if ($at -= $weights[ $i + 1 ]) < 0;
	}
	return 'measure';
}

# as soon as a victim of the kind is there; a supervisor where none comes
sub strike
{
	my ($kind) = @_;
	my $pick = rand;
	if ($kind eq 'server')
	{
		if ($pick < 0.5) { $node->stop('immediate'); }
		else { $node->kill9; }
		$killed{ $pick < 0.5 ? 'server stopped at once' : 'postmaster' }++;
		# its processes notice within moments; until then their shared memory is in the way
		my $until = time() + 60;
		until ($node->start(fail_ok => 1) || time() > $until)
		{
			# a start that failed takes the dead server's file for one that runs
			$node->{_pid} = undef;
			sleep 0.2;
		}
		return;
	}
	my $session;
	if ($kind eq 'session')
	{
		$session = $node->background_psql('postgres', on_error_stop => 0);
		eval { $session->query('SELECT 1') };
	}
	my $until = time() + 3;
	my @found;
	sleep 0.002 until (@found = candidates($kind)) || time() > $until;
	if (!@found)
	{
		# on a busy machine it may be long until a measurement begins
		$kind = 'measure';
		$until = time() + 60;
		until ((@found = candidates($kind)) || time() > $until)
		{
			submit(4) if sql($undecided) == 0;
			sleep 0.002;
		}
	}
	if (@found)
	{
		my ($pid, undef, $supervisor) = @{ $found[ int($pick * @found) ] };
		$struck{$supervisor} = 1;
		kill 'KILL', $pid;
		$killed{$kind}++;
	}
	else
	{
		$killed{'nobody there'}++;
	}
	eval { $session->quit } if $session;
	return;
}

my $start = time();
my ($done, $missed) = (0, 0);
while ($done < $kills && $missed < $kills)
{
	submit(8) if sql($undecided) < 4;
	sql(q{SELECT cudal1_enable_device(device_key, true) FROM cudal1.device WHERE NOT enabled});	# five codes that are lost in a row disable it
	sleep rand 0.5;
	strike(draw_kind());
	$missed = $killed{'nobody there'} // 0;
	$done = sum0(values %killed) - $missed;
}
delete $killed{'nobody there'};
note(sprintf '%d kills in %.0f s: %s', $done, time() - $start, join ', ', map { "$killed{$_} $_" } sort keys %killed);
cmp_ok($missed, '<=', $kills / 10, 'the sequence of kills found its victims');

drained('all work is done after the kills');
nothing_lost("after $done kills");
note('measurements: ' . sql(q{SELECT string_agg(outcome || ' ' || n, ', ' ORDER BY outcome) FROM (SELECT outcome, count(*) AS n FROM cudal1.measurement GROUP BY 1) x}));

# ---- frozen ----

# a supervisor ends an executor that does not answer; t/014 has supervisors that are stopped
submit(1) until $submitted % 4 == 3;
drained('the queue is empty');
submit(1);
my @frozen;
await(sub { @frozen = victims('executor') }, 'an executor to freeze');
kill 'STOP', @frozen;
drained('a frozen executor stops nobody for ever');
ok(!grep({ my $pid = $_; grep { $_ == $pid } victims('executor') } @frozen), 'and is gone');
nothing_lost('after freezes');

# a worker that stops: its lease ends, another claims the job, and the first, awake again, is fenced off
submit(1) until $submitted % 4 == 3;
drained('the queue is empty again');
submit(1);
await(sub { sql("SELECT count(*) FROM cudal1.job WHERE state = 'running'") == 1 }, 'a claim');
my ($worker) = victims('worker');
# not within a transaction, for whose locks others would wait
await(
	sub {
		kill 'STOP', $worker;
		return 1 if sql("SELECT count(*) FROM pg_stat_activity WHERE pid = $worker AND xact_start IS NOT NULL") == 0;
		kill 'CONT', $worker;
		return 0;
	},
	'the worker stops between transactions');
my ($job, $attempt, $device) = split /\|/, sql("SELECT job_id, attempt, device_id FROM cudal1.job WHERE state = 'running'");
SKIP:
{
	skip 'the worker was faster', 5 unless defined $device;
	# a step of the clock, as seen by a lease
	sql("UPDATE cudal1.job SET lease_until = now() - interval '1 day'");
	is(sql('SELECT cudal1.expire_leases()'), '1', 'the lease of a frozen worker ends');
	my ($claimed, $number) = split /\|/, sql("SELECT job_id, attempt FROM cudal1.claim($device, 'another')");
	is("$claimed|$number", "$job|" . ($attempt + 1), 'another worker claims its job');
	is(sql("SELECT cudal1.heartbeat($job, $attempt)"), 'lost', 'the first claim is over');
	is(sql(qq{SELECT cudal1.finish($job, $attempt, '{"outcome": "successful", "score": 7}')}), 'lost', 'its result is refused');
	kill 'CONT', $worker;
	is(sql(qq{SELECT cudal1.finish($job, @{[ $attempt + 1 ]}, '{"outcome": "successful", "score": 1.5}')}), 'stored', 'that of the second counts');
}
kill 'CONT', $worker;
drained('the woken worker changes nothing');
nothing_lost('after two claims of one lease');

# clock steps: a lease that lies far ahead ends with its worker, one that lies far behind with the next look
submit(1) until $submitted % 4 == 3;
drained('the queue is empty once more');
for my $step ('1 year', '-1 year')
{
	submit(2);
	await(sub { sql($running) >= 1 }, 'a claim');
	sql("UPDATE cudal1.job SET lease_until = now() + interval '$step', claimed_at = now() + interval '$step', enqueued_at = now() + interval '$step'"
		  . " WHERE state = 'running'");
	kill 'KILL', victims('worker') if $step eq '1 year';
	drained("a clock that stepped by $step");
}
nothing_lost('after clock steps');

# ---- a full disk under the scratch folder ----

SKIP:
{
	my $full = "$dir/full";
	mkdir $full;
	my $mount = "mount -t tmpfs -o size=16k,nr_inodes=64 tmpfs $full";
	skip 'no file system of its own can be mounted here', 3 if system("unshare -rm sh -c '$mount' 2>/dev/null") != 0;
	write_file("$dir/reference.c", 'void solve(const float *x, float *y) { for (int i = 0; i < 64; i++) y[i] = 2 * x[i]; }');
	write_file("$dir/candidate.c", 'void solve(const float *x, float *y) { for (int i = 0; i < 64; i++) y[i] = x[i] + x[i]; }');
	write_file("$dir/signature.json", '{"args": [{"name": "x", "dtype": "float32", "shape": [64], "role": "in"},'
		  . ' {"name": "y", "dtype": "float32", "shape": [64], "role": "out"}]}');
	for my $left (0, 2, 4)
	{
		my $fill = $left == 0 ? "cat /dev/zero >$full/fill" : "dd if=/dev/zero of=$full/fill bs=4k count=@{[ 4 - $left ]}";
		my $command = "$measure --quick --scratch $full --signature $dir/signature.json $dir/reference.c $dir/candidate.c";
		my $out = `unshare -rm sh -c '$mount && { $fill 2>/dev/null; $command; }' 2>&1`;
		like($out, qr/"outcome":"(lost|unverified)"/, "a disk with $left pages left is nobody's verdict");
	}
}

# ---- what is left over ----

# what killed supervisors left is swept by later ones, a minute after
my @left = glob "$scratch/cudal1-measure-*";
note(scalar(@left) . ' folders of killed supervisors');
utime time() - 120, time() - 120, $_ for @left;
submit(1);
drained('a last measurement');
is(join(' ', glob "$scratch/* $scratch/.[!.]*"), '', 'no file is left in the scratch folder');
await(sub { !grep { !/^\d+ postgres: / } strays() }, 'no process of a measurement is left') or diag(join "\n", strays());
nothing_lost('at the end');
$node->stop;
is(join("\n", strays()), '', 'no process is left after the server');
done_testing();
