# Dropping what a worker works on: the extension, the database; renaming and copying the database.
use Testing;
use Workers;

my $node = new_server('drop', conf => "cudal1.databases = 'postgres, lab'");

# the extension, while it measures
my $worker = worker_pid($node);
submit($node, "progress measuring 3\nwait never");
submit($node, "result 1.1");
wait_for($node, "SELECT phase FROM cudal1.activity", 'measuring', 'a program runs');
$node->safe_psql('postgres', "DROP EXTENSION cudal1; DROP SCHEMA IF EXISTS cudal1");
no_children($node);
create_extension($node, 'postgres');
my $id = submit_until($node, "result 1.2", 'successful', 'a new extension is served');
is(worker_pid($node), $worker, 'by the same worker');
is(scalar_of($node, "SELECT count(*) FROM cudal1.device"), '1', 'which registered its device again');

# dropped and created in one transaction: the worker must not mistake one for the other
submit($node, "progress measuring 4\nwait never\n# again");
wait_for($node, "SELECT phase FROM cudal1.activity", 'measuring', 'a program runs again');
$node->safe_psql('postgres', "BEGIN; DROP EXTENSION cudal1; CREATE EXTENSION cudal1; COMMIT");
no_children($node);
is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement"), '0', 'nothing of the old one reaches the new one');
$node->safe_psql('postgres', "DROP EXTENSION cudal1");
create_extension($node, 'postgres');

# a call of the worker locks the extension before any table, as DROP EXTENSION does: no deadlock
{
	my $busy = $node->background_psql('postgres');
	$busy->query_safe('BEGIN; LOCK TABLE cudal1.job IN ACCESS EXCLUSIVE MODE');
	$node->reload;
	wait_for($node, <<'SQL', 't', 'a call that waits for a table holds the extension');
SELECT count(*) = 1 FROM pg_locks AS held JOIN pg_locks AS wanted USING (pid) JOIN pg_stat_activity AS a USING (pid)
	WHERE a.backend_type = 'cudal1 worker' AND held.granted AND held.classid = 'pg_extension'::regclass
		AND NOT wanted.granted AND wanted.relation = 'cudal1.job'::regclass
SQL
	$busy->query_safe('COMMIT');
	$busy->quit;
}

# a dropped extension that comes back by rollback
$id = measuring($node, "progress measuring 5\nwait go-on\nresult 1.3", 'and again');
$node->safe_psql('postgres', "BEGIN; DROP EXTENSION cudal1; ROLLBACK");
touch_file($node, 'go-on');
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $id", 'successful', 'a DROP that is rolled back changes nothing');
is(scalar_of($node, "SELECT max(attempt) FROM cudal1.measurement WHERE candidate_id = $id"), '1', 'the program ran on');

# the database, while it measures
sub occupy
{
	my ($database) = @_;
	create_extension($node, $database);
	my $candidate = measuring($node, "stubborn\nprogress measuring 6\nwait never-$database\nresult 1.4", "a program runs for $database", database => $database);
	return $candidate;
}
for my $command ('DROP DATABASE lab', 'DROP DATABASE lab WITH (FORCE)')
{
	$node->safe_psql('postgres', "CREATE DATABASE lab");
	occupy('lab');
	my ($ret, $out, $err) = $node->psql('postgres', $command);
	is($ret, 0, "$command succeeds though a worker measures in it") or diag($err);
	is(scalar_of($node, "SELECT count(*) FROM pg_database WHERE datname = 'lab'"), '0', 'the database is gone');
	no_children($node);
	wait_for($node, "SELECT note FROM cudal1.worker_state() WHERE database = 'lab'", 'there is no such database', 'its worker too');
}

# someone else is connected: the command fails, and the worker comes back
$node->safe_psql('postgres', "CREATE DATABASE lab");
my $candidate = occupy('lab');
my $session = $node->background_psql('lab');
my ($ret, $out, $err) = $node->psql('postgres', "SET statement_timeout = '60s'; ALTER DATABASE lab RENAME TO lab2");
like($err, qr/being accessed by other users/, 'a session still blocks it');
like($err, qr/There is 1 other session/, 'the session alone');
$session->quit;
touch_file($node, 'never-lab');
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $candidate", 'successful', 'the worker came back to its work', 'lab');

# copying and renaming
($ret, $out, $err) = $node->psql('postgres', "CREATE DATABASE copy TEMPLATE lab");
is($ret, 0, 'the database can be copied') or diag($err);
($ret, $out, $err) = $node->psql('postgres', "BEGIN; ALTER DATABASE lab RENAME TO lab2; ALTER DATABASE lab2 RENAME TO lab; COMMIT");
is($ret, 0, 'and renamed') or diag($err);
submit_until($node, "result 1.5", 'successful', 'under its old name it is served', database => 'lab');
$node->safe_psql('postgres', "ALTER DATABASE lab RENAME TO lab3");
wait_for($node, "SELECT note FROM cudal1.worker_state() WHERE database = 'lab'", 'there is no such database', 'under another it is not');
$node->safe_psql('postgres', "ALTER DATABASE copy RENAME TO lab");
submit_until($node, "result 1.6", 'successful', 'another database of the name is', database => 'lab');

# who may not drop a database does not disturb its worker
$node->safe_psql('postgres', "CREATE ROLE nobody LOGIN");
$worker = worker_pid($node, 'lab');
for my $command ('DROP DATABASE lab', 'ALTER DATABASE lab RENAME TO mine', 'CREATE DATABASE mine TEMPLATE lab')
{
	($ret, $out, $err) = $node->psql('postgres', "SET ROLE nobody; $command");
	like($err, qr/must be owner|permission denied/, "a stranger gets nowhere with $command");
}
is(worker_pid($node, 'lab'), $worker, 'and the worker stays');

# creating the extension where no worker comes
$node->safe_psql('postgres', "CREATE DATABASE elsewhere");
($ret, $out, $err) = $node->psql('elsewhere', "CREATE EXTENSION cudal1");
like($err, qr/WARNING:  database "elsewhere" has no worker.*cudal1\.databases/s, 'CREATE EXTENSION in a database without a worker warns');

consistent($node);
consistent($node, 'lab');
no_children($node);
$node->stop;
done_testing();
