# A measurement has its device to itself, whichever lock files other users of the host may write to. The seconds that it
# reports for the device are those for which it held the device.
use Testing;
use Fcntl qw(:DEFAULT :flock);
use JSON::PP;
use Measuring;

plan skip_all => 'no sandbox here' if !can_measure('c');

my $dir = PostgreSQL::Test::Utils::tempdir();
sub job
{
	my ($name, $code, $device, $number) = @_;
	write_file("$dir/$name.json", encode_json({
		task => { name => $name, language => 'c', cores => $number // 1, reference => 'void solve(const float *x, float *y) { for (int i = 0; i < 64; i++) y[i] = 2 * x[i]; }',
			signature => { args => [ { name => 'x', dtype => 'float32', shape => [64], role => 'in' }, { name => 'y', dtype => 'float32', shape => [64], role => 'out' } ] } },
		candidate => { code => $code }, device => { key => $device // "cpu:$core" },
		profile => { bucket_seconds => 0.01, looks => [2], pairs => 2, check_seconds => 0.05 } }));
	return "$dir/$name.json";
}

# progress lines as they come, then the result
sub start
{
	my ($job) = @_;
	my $pid = open my $lines, '-|', "exec '$measure' --scratch '$dir' <'$job' 2>/dev/null" or die "measure: $!";
	return $lines;
}

my $held_by;
sub next_phase
{
	my ($lines) = @_;
	while (my $line = <$lines>)
	{
		my $said = decode_json($line);
		$held_by = $said->{held_by};
		return $said->{type} eq 'result' ? $said : $said->{phase} if $said->{type} eq 'result' || $said->{phase} ne 'building';
	}
	return 'nothing';
}

sub result_of
{
	my ($lines) = @_;
	my $said;
	1 until ref($said = next_phase($lines)) || $said eq 'nothing';
	return $said;
}

my $lines;
my $result = result_of(start(job('whole', 'void solve(const float *x, float *y) { for (int i = 63; i >= 0; i--) y[i] = x[i] + x[i]; }')));
is(ref $result, 'HASH', 'a measurement of its own');
cmp_ok($result->{device_seconds}, '<=', $result->{wall_seconds}, 'held the device no longer than it took');

for my $folder ('/run/lock', '/tmp')
{
	SKIP:
	{
		# a user without write access to the first folder has the second file alone
		my ($lock, $file) = (undef, "$folder/cudal1-cpu-$core.lock");
		open($lock, '<', $file) || sysopen($lock, $file, O_RDONLY | O_CREAT, 0444) or skip "no lock files in $folder here", 5;
		flock($lock, LOCK_EX) or die "$folder: $!";
		$lines = start("$dir/whole.json");
		is(next_phase($lines), 'waiting', "the device is held by its file in $folder: it is waited for");
		is(next_phase($lines), 'waiting', 'and goes on being waited for');
		like($held_by, qr/^[\w.-]+, process $$, begun \d+ s ago$/, 'held by a process that it names');
		# lines come every half second, so the age of the holder grows within three of them
		my $before = $held_by;
		for (1 .. 3) { last if $held_by ne $before; next_phase($lines) }
		isnt($held_by, $before, 'and looks for anew before each line');
		close $lock;
		$result = result_of($lines);
		is(ref $result, 'HASH', 'until it is free');
	}
}

SKIP:
{
	# a device that nobody else has
	skip 'a single core', 5 if $cores < 2;
	my $key = 'cpu:' . join ',', 0, $core;
	my @files = map { "$_/cudal1-" . $key =~ s/[^A-Za-z0-9]/-/gr . '.lock' } '/run/lock', '/tmp';
	my $job = job('shared', 'void solve(const float *x, float *y) { for (int i = 0; i < 64; i++) y[i] = x[i] + x[i]; }', $key);
	unlink @files;
	# as workers and agents start it
	my $mask = umask 077;
	$result = result_of(start($job));
	umask $mask;
	my @made = grep { -e } @files;
	ok(scalar(@made), 'lock files are made');
	is(join(' ', map { sprintf '%o', (stat)[2] & 07777 } @made), join(' ', ('444') x @made), 'that users other than their maker can open');
	chmod 0400, @made;
	$result = result_of(start($job));
	is(join(' ', map { sprintf '%o', (stat)[2] & 07777 } @made), join(' ', ('444') x @made), 'as their maker sees to later, too');
	SKIP:
	{
		skip 'root may open all', 2 if $> == 0;
		chmod 0, $made[-1];
		$result = result_of(start($job));
		is($result->{outcome}, 'lost', 'a device whose lock cannot be seen is not measured on');
		like($result->{detail}, qr/^the lock file \Q$made[-1]\E can't be opened: Permission denied/, 'which is said');
	}
	unlink @files;
}

$result = result_of(start(job('broken', 'this is no C')));
is($result->{outcome}, 'compile_error', 'code that does not compile');
# a few cores build while the device is held, more of them before
cmp_ok($result->{device_seconds}, $cores < 4 ? '>=' : '==', $cores < 4 ? $result->{build_seconds} : 0, 'took the device as long as it held it');
cmp_ok(abs($result->{evidence}{seconds}{build} - ($cores < 4 ? $result->{build_seconds} : 0)), '<', 0.001, 'as its evidence says');

$result = result_of(start(job('wide', 'as good as any', undef, 2)));
is($result->{outcome}, 'lost', 'a task of more cores than its device has is not measured');
is($result->{detail}, "the task asks for 2 cores, device cpu:$core has 1; a device of more is written cpu:2-3", 'and both numbers are named');

done_testing();
