# An orderly end: programs are ended, claims given back, results at hand stored; the next start takes them up.
use Testing;
use Workers;

my $node = new_server('shutdown', conf => 'cudal1.prefetch = 1');

my $measured = submit($node, "progress measuring 3\nfirst wait never\nresult 1.5");
my $stubborn = submit($node, "stubborn\noffspring\nprogress measuring 4\nfirst wait never\nresult 1.6");
my $queued = submit($node, "result 1.7");
wait_for($node, "SELECT count(*) FROM cudal1.activity WHERE phase = 'measuring'", '2', 'two programs run');
$node->stop('fast');
await_children($node, 0, 'no program is left, stubborn ones and their offspring included');
unlike($node->logfile && slurp_file($node->logfile), qr/PANIC|was terminated by signal/, 'the server ended in peace');

# without workers, to see what they left
$node->append_conf('postgresql.conf', "cudal1.databases = ''");
$node->start;
is(scalar_of($node, "SELECT count(*) FROM cudal1.job WHERE state = 'queued' AND failures = 0 AND worker IS NULL"), '3',
	'the claims were given back without a failure');
is(scalar_of($node, "SELECT count(*) FROM cudal1.candidate WHERE state = 'queued'"), '3', 'the candidates wait');
is(scalar_of($node, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'cudal1 worker'"), '0', 'no database is listed, no worker runs');
is(scalar_of($node, "SELECT count(*) FROM cudal1.worker_state()"), '0', 'nor is one shown');
consistent($node);

# what a dead worker was measuring, and a stranger: only the former is taken back, as a failure once it has killed too many
$node->safe_psql('postgres', <<'END');
UPDATE cudal1.job SET state = 'running', device_id = (SELECT min(device_id) FROM cudal1.device), lease_until = now() + '1 hour',
	worker = CASE rank WHEN 1 THEN 'server 1 worker 7' WHEN 2 THEN 'server 1 worker 8' ELSE 'server 11 worker 7' END,
	attempt = CASE rank WHEN 2 THEN 10 ELSE 1 END
FROM (SELECT job_id AS id, row_number() OVER (ORDER BY job_id) AS rank FROM cudal1.job) r WHERE id = job_id;
END
is(scalar_of($node, "SELECT cudal1.take_back('server 1', 'server 1 worker 9')"), '2', 'jobs of dead workers are taken back');
is( scalar_of($node, "SELECT string_agg(concat_ws(' ', state, failures), ', ' ORDER BY job_id) FROM cudal1.job"),
	'queued 0, queued 1, running 0', 'one that saw ten workers die has failed once, others are untouched');
scalar_of($node, "SELECT cudal1.take_back('server 11', 'server 11 worker 9')");

# a reload brings workers
configure($node, "cudal1.databases = 'postgres, nowhere, template0'");
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE state = 'successful'", '3', 'a listed database gets a worker, which takes all up');
wait_for($node, "SELECT note FROM cudal1.worker_state() WHERE database = 'nowhere'", 'there is no such database', 'a missing one is named');
wait_for($node, "SELECT note FROM cudal1.worker_state() WHERE database = 'template0'", 'the database does not accept connections',
	'a closed one is named');
is(scalar_of($node, "SELECT note FROM cudal1.worker_state() WHERE database = 'postgres'") =~ /^(idle|measuring)/, 1, 'the open one works');

# a reload takes them away
my $id = measuring($node, "progress measuring 3\nfirst wait never\nresult 1.8", 'a program runs');
configure($node, "cudal1.databases = nowhere");
wait_for($node, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'cudal1 worker'", '0', 'a database no longer listed loses its worker');
no_children($node);
is(state_of($node, $id), 'queued', 'what it measured waits again');

# a database that appears
$node->safe_psql('postgres', "CREATE DATABASE nowhere");
wait_for($node, "SELECT count(*) FROM cudal1.worker_state() WHERE database = 'nowhere' AND note = 'waiting for CREATE EXTENSION cudal1'", '1',
	'a created database gets its worker at once');
create_extension($node, 'nowhere');
my $there = submit_until($node, "result 1.4", 'successful', 'and is served', database => 'nowhere');

# what cudal1_status() advises can be done as it stands, whatever the database is called
my $odd = q{Odd, "lab"};
$node->safe_psql('postgres', 'CREATE DATABASE "Odd, ""lab"""');
create_extension($node, $odd);
my ($setting, $reload) = $node->safe_psql($odd, "SELECT hint FROM cudal1_status() WHERE item = 'database'") =~ /^(ALTER SYSTEM .*;) then (SELECT .*)$/;
$node->safe_psql('postgres', $setting);
$node->safe_psql('postgres', $reload);
my $oddly = submit_until($node, "result 1.3", 'successful', 'a name that must be quoted is, in advice', database => $odd);
is(scalar_of($node, "SELECT string_agg(database, ';' ORDER BY database COLLATE \"C\") FROM cudal1.worker_state()"), "$odd;nowhere", 'and leaves out nobody');
$node->safe_psql('postgres', "ALTER SYSTEM RESET cudal1.databases");

# no room for workers
$node->append_conf('postgresql.conf', "cudal1.databases = 'postgres, nowhere'\nmax_worker_processes = 2\nmax_logical_replication_workers = 0");
$node->restart;
wait_for($node, "SELECT count(*) FROM cudal1.worker_state() WHERE note LIKE 'no background worker is free%'", '1',
	'too few background workers are named as the reason');
$node->append_conf('postgresql.conf', "max_worker_processes = 8");
$node->restart;
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $id", 'successful', 'with room all goes on');

# bad settings are refused
my ($ret, $out, $err) = $node->psql('postgres', "ALTER SYSTEM SET cudal1.databases = 'a b'");
like($err, qr/invalid value for parameter "cudal1.databases".*must be a list/s, 'no list of databases is refused');
($ret, $out, $err) = $node->psql('postgres', "ALTER SYSTEM SET cudal1.measure_path = 'bin/cudal1-measure'");
like($err, qr/absolute path/, 'a relative path is refused');
($ret, $out, $err) = $node->psql('postgres', "SET cudal1.allow_unsandboxed = on");
like($err, qr/cannot be changed now/, 'a session cannot lift the sandbox');
($ret, $out, $err) = $node->psql('postgres', "SET cudal1.databasess = 'x'");
like($err, qr/invalid configuration parameter name/, 'a misspelt setting is refused');

consistent($node);
no_children($node);
$node->stop;
await_children($node, 0, 'nothing is left after the server');
done_testing();
