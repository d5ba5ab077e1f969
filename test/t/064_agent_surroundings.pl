# What surrounds an agent: the GPUs that a batch system gave it, signals that reach its program as well, a database of another version,
# passwords, a server that stays away, and the unit of the service manager.
use Testing 'await';
use Agents;
use Workers;

my $node = new_database('agent_surroundings');
my $host = new_agent($node, 'host');

# ---- devices ----

my $two_gpus = join '', qq({"key": "cpu:1", "class": "cpu", "model": "C", "cores": 1, "languages": ["c"], "details": {}}\n),
  map { qq({"key": "GPU-$_->[1]", "class": "cuda", "model": "G", "cores": 1, "languages": ["cuda"], "details": {"index": $_->[0]}}\n) }
  [ 0, 'aaaa-0000' ], [ 1, 'bbbb-1111' ];
my $hosts = 0;

# the devices that a pilot registers, or its complaint
sub served
{
	my ($visible, @options) = @_;
	my $name = 'gpus-' . ++$hosts;
	my $agent = new_agent($node, $name);
	write_file("$agent->{scratch}/devices", $two_gpus);
	$agent->{environment} = { CUDA_VISIBLE_DEVICES => $visible } if defined $visible;
	start_agent($agent, '--until-idle', @options);
	my $shown = $visible // 'unset';
	agent_ended($agent, $shown eq 'NoDevFiles' ? 256 : 0, "CUDA_VISIBLE_DEVICES=$shown @options");
	return $node->safe_psql('postgres', "SELECT string_agg(substr(device_key, length(host) + 2), ' ' ORDER BY device_key)"
		  . " FROM cudal1.device WHERE host = '$name'") || agent_log($agent);
}
is(served(undef), 'GPU-aaaa-0000 GPU-bbbb-1111 cpu:1', 'all devices are served');
is(served(undef, '--device', 'cuda'), 'GPU-aaaa-0000 GPU-bbbb-1111', 'those of a class');
is(served(undef, '--device', 'cpu'), 'cpu:1', 'those of the other class');
is(served('1', '--device', 'cuda'), 'GPU-bbbb-1111', 'of the GPUs only the one that the batch system gave');
is(served('1,0', '--device', 'cuda'), 'GPU-aaaa-0000 GPU-bbbb-1111', 'or those');
is(served('GPU-aaaa'), 'GPU-aaaa-0000 cpu:1', 'by the beginning of a UUID');
is(served(''), 'cpu:1', 'none where it gave none');
is(served('0,7,1', '--device', 'cuda'), 'GPU-aaaa-0000', 'a number that is none ends the list');
like(served('NoDevFiles', '--device', 'cuda'), qr/finds no device for --device cuda that CUDA_VISIBLE_DEVICES shows/,
	'with none an agent of GPUs ends and says why');

# one agent a GPU, with the folder of one host
my @pair = map { { %$host, name => 'pair', environment => { CUDA_VISIBLE_DEVICES => $_ }, node => $node } } 0, 1;
write_file("$host->{scratch}/devices", $two_gpus);
start_agent($_, '--device', 'cuda') for @pair;
wait_for($node, "SELECT count(*) FROM cudal1.device WHERE host = 'pair'", '2', 'two agents share a host, each with its GPU');
stop_agent($_, 'one of them leaves') for @pair;
unlink "$host->{scratch}/devices";
$node->safe_psql('postgres', "SELECT cudal1_enable_device(device_key, false) FROM cudal1.device");

# ---- signals that the program gets as well ----

sub program_of
{
	my ($candidate) = @_;
	my $job = scalar_of($node, "SELECT job_id FROM cudal1.job WHERE candidate_id = $candidate");
	my ($line) = reverse agent_trace($host, qr/^start $job /);
	return (split ' ', $line)[3];
}
my $id = submit($node, "progress measuring 1\nfirst wait never\nresult 1.31");
start_agent($host);
wait_for($node, "SELECT phase FROM cudal1.activity WHERE candidate_id = $id", 'measuring', 'a measurement runs');
kill 'TERM', program_of($id);
await(sub { agent_children($host) == 0 }, 'its program gets the signal first, and gives up');
stop_agent($host, 'then the agent');
is(scalar_of($node, "SELECT concat_ws(' ', state, attempt, failures) FROM cudal1.job WHERE candidate_id = $id"), 'queued 1 0',
	'the claim is given back, no failure is counted');
is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement WHERE candidate_id = $id"), '0', 'and no measurement');
start_agent($host);
wait_for($node, "SELECT concat_ws(' ', state, reward) FROM cudal1.candidate WHERE candidate_id = $id", 'successful 1.31', 'the next one measures it');

for my $number ('TERM', 'KILL')
{
	$id = measuring($node, "progress measuring 1\nfirst wait never\nresult 1.32\n# $number", 'another runs');
	kill $number, program_of($id);
	wait_for($node, "SELECT concat_ws(' ', state, reward) FROM cudal1.candidate WHERE candidate_id = $id", 'successful 1.32',
		"a program that alone gets SIG$number is run again");
	is(scalar_of($node, "SELECT string_agg(outcome, ' ' ORDER BY measurement_id) FROM cudal1.measurement WHERE candidate_id = $id"),
		($number eq 'TERM' ? 'cancelled' : 'lost') . ' successful', 'and the attempt is on record');
}
stop_agent($host, 'the agent leaves');

# ---- versions ----

my $version = scalar_of($node, "SELECT extversion FROM pg_extension WHERE extname = 'cudal1'");
my ($series) = $version =~ /^(\d+\.\d+)/;
sub upgrade { return $node->safe_psql('postgres', "UPDATE pg_extension SET extversion = '$_[0]' WHERE extname = 'cudal1'") }

upgrade('77.1.0');
start_agent($host);
agent_ended($host, 256, 'an agent of another version than the database\'s ends');
like(agent_log($host), qr/the database has version 77\.1\.0 of the extension cudal1, this agent is of version \Q$version\E: install the same/,
	'and says which they are');
upgrade("$series.99");
start_agent($host, '--until-idle');
agent_ended($host, 0, 'the last number may differ');
upgrade($version);
$id = submit($node, "progress measuring 1\nwait go-upgrade\nresult 1.33");
my $next = submit($node, "result 1.34");
start_agent($host);
wait_for($node, "SELECT phase FROM cudal1.activity WHERE candidate_id = $id", 'measuring', 'a measurement runs');
upgrade('77.1.0');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'measurer'");
await(sub { agent_log($host) =~ /nothing more is claimed/ }, 'the database is upgraded meanwhile, and the agent notices');
touch_for($host, 'go-upgrade');
agent_ended($host, 256, 'it ends');
is(state_of($node, $id), 'successful 1.33', 'when what it measured is stored');
is(state_of($node, $next), 'queued', 'and takes up nothing more');
upgrade($version);

# ---- a password in a file ----

$node->safe_psql('postgres', "ALTER ROLE measurer PASSWORD 'right'");
$node->append_conf('postgresql.conf', "authentication_timeout = 10s");
my $hba = slurp_file($node->data_dir . '/pg_hba.conf');
write_file($node->data_dir . '/pg_hba.conf', "local all measurer scram-sha-256\n$hba");
$node->reload;
write_file("$host->{dir}/passwords", "*:*:*:measurer:wrong\n", 0600);
write_file("$host->{dir}/services", "[queue]\nhost=@{[ $node->host ]}\nport=@{[ $node->port ]}\ndbname=postgres\nuser=measurer\n");
my $keeper = { %$host, conninfo => 'service=queue',
	environment => { PGPASSFILE => "$host->{dir}/passwords", PGSERVICEFILE => "$host->{dir}/services" } };
start_agent($keeper);
await(sub { agent_log($keeper) =~ /no connection: .*password authentication failed/ }, 'a wrong password is told');
write_file("$host->{dir}/passwords", "*:*:*:measurer:right\n", 0600);
wait_for($node, "SELECT concat_ws(' ', state, reward) FROM cudal1.candidate WHERE candidate_id = $next", 'successful 1.34',
	'and the file is read again: the agent connects by a service file and a password file');
unlike(agent_log($keeper), qr/\b(right|wrong)\b/, 'no password is logged');
# a server that refuses is not asked in a loop
my $refusals = () = slurp_file($node->logfile) =~ /password authentication failed for user "measurer"/g;
note("$refusals refused connections");
$id = submit_until($node, "surroundings", 'successful', 'a look from within its program');
is(scalar_of($node, "SELECT environment ->> 'variables' FROM cudal1.measurement WHERE candidate_id = $id"), 'HOME LANG LC_ALL PATH TMPDIR',
	'which knows of neither file');
stop_agent($keeper, 'the agent leaves');
write_file($node->data_dir . '/pg_hba.conf', $hba);
$node->reload;

# ---- patience of pilots ----

$id = submit($node, "progress measuring 1\nwait go-patience\nresult 1.35");
start_agent($host, '--until-idle', '--patience', '1');
wait_for($node, "SELECT phase FROM cudal1.activity WHERE candidate_id = $id", 'measuring', 'a pilot measures');
$node->stop;
my $second = new_agent($node, 'host-b');
start_agent($second, '--until-idle', '--patience', '1');
agent_ended($second, 256, 'a pilot that finds no server does not keep its device');
like(agent_log($second), qr/gave up: /, 'and says so');
ok(kill(0, $host->{pid}), 'one that measures goes on');
touch_for($host, 'go-patience');
$node->start;
agent_ended($host, 0, 'and leaves when its result is stored and the queue is empty');
is(state_of($node, $id), 'successful 1.35', 'which is not lost');

consistent($node);
is(scalar_of($node, 'SELECT count(*) FROM cudal1_check()'), '0', 'every derived number agrees');
$node->stop;

# ---- the service manager's unit ----

SKIP:
{
	my $unit = "$ENV{TESTDIR}/examples/systemd/cudal1-agent.service";
	my $text = slurp_file($unit);
	skip 'no systemd-analyze here', 1 if system('systemd-analyze --version >/dev/null 2>&1') != 0;
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my $bindir = $node->config_data('--bindir');
	$text =~ s{/usr/\S*/cudal1-agent}{$bindir/cudal1-agent};
	write_file("$dir/cudal1-agent.service", $text);
	my $said = `systemd-analyze --man=no verify '$dir/cudal1-agent.service' 2>&1`;
	is($said =~ s/^(?!.*cudal1-agent).*\n//gmr, '', 'the service manager finds nothing wrong with the unit');
}
done_testing();
