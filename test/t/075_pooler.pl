# The package cudal1 behind PgBouncer in transaction mode: four trainers share three connections of the server.
use Testing;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use Workers;

my ($pooler) = grep { defined $_ && -x $_ } $ENV{POOLER}, '/usr/sbin/pgbouncer';
plan skip_all => 'pgbouncer is not installed, and POOLER names none' if !$pooler;
plan skip_all => 'python3-psycopg is not installed' if system("/usr/bin/python3 -c 'import psycopg' 2>/dev/null") != 0;

my $node = new_server('pooler');
$node->safe_psql('postgres', "CREATE ROLE trainer LOGIN; SELECT cudal1_grant('trainer', 'trainer')");
my $dir = PostgreSQL::Test::Utils::tempdir_short();
my $port = PostgreSQL::Test::Cluster::get_free_port();
append_to_file("$dir/users", qq{"trainer" ""\n});
append_to_file("$dir/ini", <<"END");
[databases]
postgres = host=@{[ $node->host ]} port=@{[ $node->port ]}
[pgbouncer]
unix_socket_dir = $dir
listen_port = $port
auth_type = trust
auth_file = $dir/users
pool_mode = transaction
default_pool_size = 3
END
my $running = IPC::Run::start([ $pooler, '-q', "$dir/ini" ], '>', "$dir/log", '2>&1');

# as a trainer asks: prompts, a batch, an answer again, until a server's connection was surely another's
my $program = <<'END';
import sys
sys.path.insert(0, sys.argv[1])
import cudal1
import cudal1.trl
answer = "## Performance Analysis\nx\n## Algorithm Design\ny\n## Code Implementation\n```c\nresult 1.25\n// %s %s\n```\n"
for step in range(12):
    ids = [r["prompt_id"] for r in cudal1.prompts(["task"] * 2)]
    print(cudal1.trl.speedup_reward(None, [answer % (sys.argv[2], step), "no code"], prompt_id=ids))
END
my @trainers;
for my $n (1 .. 4)
{
	my %trainer = (out => '', err => '');
	local $ENV{CUDAL1_DSN} = "host=$dir port=$port dbname=postgres user=trainer";
	$trainer{run} = IPC::Run::start([ '/usr/bin/python3', '-B', '-c', $program, "$ENV{TESTDIR}/python", $n ], '>', \$trainer{out}, '2>', \$trainer{err});
	push @trainers, \%trainer;
}
for my $trainer (@trainers)
{
	$trainer->{run}->finish;
	is($trainer->{out}, "[1.25, 0.0]\n" x 12, 'a trainer gets its rewards') or diag($trainer->{err}, slurp_file("$dir/log"));
}
is($node->safe_psql('postgres', "SELECT count(*) <= 3 FROM pg_stat_activity WHERE usename = 'trainer'"), 't', 'of three connections at most');
$running->kill_kill;
$node->stop;
done_testing();
