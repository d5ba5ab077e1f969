# What stands in examples/ works: queries, an evolve run on an endpoint, cron lines, a dashboard, a notebook; and the
# server for trying them says how to connect.
use Testing;
use JSON::PP ();
use Models;
use Workers;

my $examples = "$ENV{TESTDIR}/examples";
my $endpoint = start_endpoint('examples');
my $node = new_server('examples');
@ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
$node->safe_psql('postgres', <<'END');
SELECT cudal1_submit_batch(array_fill('task'::text, ARRAY[3]), ARRAY['result 1.5', 'result 1.25 # again', 'outcome wrong_output three elements'], method => 'by hand');
END

# an evolve run to its end; a second call finds the campaign
my @evolve = ('python3', "$examples/evolve.py", $endpoint, 'ok', '--candidates', 3, '--every', 0.2);
my ($said, $err);
ok(IPC::Run::run([ @evolve, '--tasks', 'nothing%' ], '>', \$said, '2>', \$err) == 0, 'no task, no campaign');
like($err, qr/no task is like 'nothing%'/, 'and it says so');
is($node->safe_psql('postgres', 'SELECT count(*) FROM cudal1.model'), 0, 'and no model, so that the next call may say more of it');
ok(IPC::Run::run(\@evolve, '>', \$said, '2>', \$err), 'a model evolves a code') or diag($err);
like($said, qr/begins with 1 task.*\d+ asked for.*\nfinished: .*the best code of each task, .*:\n  task: 1\.50x \(candidate \d+\)/s, 'with progress, and the best code') or diag($err);
ok(IPC::Run::run(\@evolve, '>', \$said, '2>', \$err), 'the same call again');
like($said, qr/is there already\n\d.*\nfinished/s, 'finds the campaign');
IPC::Run::run([ @evolve, '--candidates', 40, '--temperature', 0.1 ], '>', \$said, '2>', \$err);
like($said, qr/is there already\n  it keeps its own candidates: 3; --name.*\n  it keeps its own temperature: 0\.8; .*\n\d/, 'one with other arguments says that they are not used');
is($node->safe_psql('postgres', 'SELECT count(*) FROM cudal1.campaign'), 1, 'and adds none');
IPC::Run::run([ 'python3', "$examples/evolve.py", $endpoint, 'text:none', qw(--name wordy --candidates 1 --every 0.2) ], '>', \$said, '2>', \$err);
like($said, qr/^\nanswers that failed, .*:\n  1 malformed \(candidate \d+\)\n\z/m, 'where nothing is right, the reasons are counted');

sub slurp { return slurp_file("$examples/$_[0]") }

# every query runs, as an analyst, and tells nothing of candidates that are there to try the task
$node->safe_psql('postgres', "CREATE ROLE ann LOGIN; SELECT cudal1_grant('ann', 'analyst')");
$node->safe_psql('postgres', "SELECT cudal1_submit('task', 'outcome wrong_output of a null candidate', purpose => 'null', method => 'null')");
$node->poll_query_until('postgres', "SELECT bool_and(state = 'failed') FROM cudal1.candidate WHERE purpose = 'null'");
for my $query (split /;\n/, slurp('queries.sql'))
{
	my ($title) = $query =~ /^-- (.*)$/m;
	next unless $query =~ /^SELECT/m;
	my ($ret, $out, $stderr) = $node->psql('postgres', $query, extra_params => [ '-U', 'ann' ]);
	is($ret . $stderr, '0', $title);
	unlike($out, qr/null candidate|^null\|/m, "$title: without null candidates");
}
for my $panel (@{ JSON::PP::decode_json(slurp('grafana/dashboard.json'))->{panels} })
{
	my $query = $panel->{targets}[0]{rawSql};
	$query =~ s/\$__timeGroupAlias\((.*?), \$__interval\)/date_bin('1 minute', $1, 'epoch') AS time/g;
	$query =~ s/\$__timeFilter\((.*?)\)/$1 BETWEEN now() - interval '1 day' AND now()/g;
	my ($ret, $out, $stderr) = $node->psql('postgres', $query, extra_params => [ '-U', 'ann' ]);
	is($ret . $stderr, '0', "dashboard: $panel->{title}");
}

# cron's lines, as /etc/cron.d has them, but for the page
local $ENV{PGOPTIONS} = (slurp('crontab') =~ /^PGOPTIONS=(.*)$/m)[0];
for my $line (grep { /^[^#].*psql/ } split /\n/, slurp('crontab'))
{
	like($line, qr{^(?:[\d*/]+\s+){5}postgres\s+psql [^%]*$}, 'a line has times, a user and a command');
	my ($command) = $line =~ /(psql.*)$/;
	my $output = `$command 2>&1`;
	is($? . $output, '0', $command);
}

SKIP:
{
	my @needs = qw(nbclient ipykernel pandas matplotlib psycopg);
	skip 'the notebook is executed where jupyter, pandas and matplotlib are', 1
	  if system('python3', '-c', 'import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in sys.argv[1:]))', @needs) != 0;
	local $ENV{MPLBACKEND} = 'agg';
	local $ENV{HOME} = PostgreSQL::Test::Utils::tempdir();
	my $run = IPC::Run::run([ 'python3', '-c', <<'END', "$examples/results.ipynb" ], '>', \$said, '2>', \$err);
import sys, nbclient, nbformat
nbclient.NotebookClient(nbformat.read(sys.argv[1], 4), timeout=120, kernel_name="python3").execute()
END
	ok($run, 'the notebook runs to its end') or diag($err);
}

$node->stop;

SKIP:
{
	skip 'no script here, which makes a terminal', 6 if system('script --version >/dev/null 2>&1') != 0;
	my ($server, $dir) = ("$ENV{TESTDIR}/tools/server", PostgreSQL::Test::Utils::tempdir_short() . '/s');
	like(`$server env $dir 2>&1`, qr/^server: there is none in $dir; \S+ start/, 'tools/server names what is missing');
	like(`$server start $dir port 2>&1`, qr/^server: 'port' is no setting: name=value/, 'tools/server refuses what is no setting');
	like(`cd $dir/.. && script -qc "$server start s" /dev/null`, qr/To connect:.*psql -h '$dir' -U postgres/s, 'tools/server says how to connect');
	like(`script -qc "$server start $dir" /dev/null`, qr/runs already/, 'and what runs already');
	is(`eval "\$($server env $dir)"; psql -XAtc "SELECT 'connected'"; command -v cudal1-measure >/dev/null && echo found`, "connected\nfound\n",
		'psql and the programs find it');
	system($server, 'stop', $dir);
	is(system($server, 'start', $dir), 0, 'what was stopped starts again');
	system($server, 'stop', $dir);

	# a start keeps what was edited since, and replaces a setting that it is given
	my $conf = slurp_file("$dir/data/postgresql.conf");
	is(scalar(() = $conf =~ /^shared_preload_libraries = /mg), 1, 'a second start writes no settings again');
	system('sed', '-i', 's/^max_connections = 50/max_connections = 41/', "$dir/data/postgresql.conf");
	system($server, 'start', $dir, "work_mem=${_}MB") == 0 && ($_ == 7 || system($server, 'stop', $dir) == 0) for 5, 7;
	is(`eval "\$($server env $dir)"; psql -XAt -c 'SHOW max_connections' -c 'SHOW work_mem'`, "41\n7MB\n", 'nor undoes what was edited');
	is(scalar(() = slurp_file("$dir/data/postgresql.conf") =~ /^work_mem = /mg), 1, 'a setting has one line');

	# README's first commands; its pause is as long as the worker needs here
	my ($block) = slurp_file("$ENV{TESTDIR}/README.md") =~ /^    tools\/server start \/tmp\/try\n((?:    .*\n)+)/m;
	$block =~ s{/tmp/try}{$dir}g;
	$block =~ s{tools/server}{$server}g;
	is($block =~ s{sleep 5.*}{for i in \$(seq 60); do psql -XAtc 'SELECT count(*) FROM cudal1.device' | grep -q '^[1-9]' && break; sleep 1; done}, 1, 'README waits for devices');
	write_file("$dir/readme.sh", "set -e\n$block");
	my $status = `bash $dir/readme.sh 2>&1`;
	is($?, 0, 'README begins with commands that work') or diag $status;
	like($status, qr{^item +\| device }m, 'after which a device is there');
	system($server, 'stop', $dir);
}
done_testing();
