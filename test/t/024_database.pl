# A database in which something is set up otherwise goes on, or cudal1_status() says what to do.
use Testing;
use Cwd ();
use Workers;

my $node = new_server('database', conf => "cudal1.idle_poll = 100ms");
sub status { return scalar_of($node, "SELECT concat_ws(' -> ', value, hint) FROM cudal1_status() WHERE item = '$_[0]'"); }
sub says
{
	my ($item, $words, $name) = @_;
	wait_for($node, "SELECT bool_or(concat_ws(' -> ', value, hint) LIKE '$words') FROM cudal1_status() WHERE item = '$item'", 't', $name);
	return;
}

# a publication of all tables: each has a key, so no claim is refused the rows that it deletes
is(scalar_of($node, "SELECT string_agg(c.relname, ' ') FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
	WHERE n.nspname = 'cudal1' AND c.relkind = 'r' AND NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisprimary)"), '', 'each table has a key');
$node->safe_psql('postgres', "SET client_min_messages = error; CREATE PUBLICATION everything FOR ALL TABLES");
$node->safe_psql('postgres', "SELECT cudal1_open_pool('run 1')");
my $id = submit_until($node, 'result 1.5', 'successful', 'a code is measured beside a publication of all tables');
$node->safe_psql('postgres', "SELECT cudal1_submit('task', code, pool => 'run 1') FROM cudal1.candidate WHERE candidate_id = $id");
submit_until($node, 'result 1.6', 'successful', 'and another, after the first went to another pool');

# a worker whose claims fail
is(status('worker') =~ /->/, '', 'a worker that works has no hint');
$node->safe_psql('postgres', "ALTER TABLE cudal1.turn RENAME TO gone");
$id = submit($node, 'result 1.7');
says('worker', '%claims fail since 20%: relation "cudal1.turn" does not exist%->%', 'claims that fail are told, with the error and since when');
$node->safe_psql('postgres', "ALTER TABLE cudal1.gone RENAME TO turn");
wait_for($node, "SELECT state FROM cudal1.candidate WHERE candidate_id = $id", 'successful', 'and go on once that is mended');
wait_for($node, "SELECT bool_or(hint IS NULL) FROM cudal1_status() WHERE item = 'worker'", 't', 'when nothing is told any more');

# programs that are missing on this host, in a name space where nothing is in their place
my $dir = PostgreSQL::Test::Utils::tempdir();
my $real = $node->config_data('--bindir');
sub without
{
	my ($hidden) = @_;
	append_to_file("$dir/without-$hidden",
		"#!/bin/sh\nexec bwrap --dev-bind / / --ro-bind /dev/null '" . Cwd::realpath("/usr/bin/$hidden") . "' -- '$real/cudal1-measure' \"\$\@\"\n");
	chmod 0755, "$dir/without-$hidden", $dir;
	return "cudal1.measure_path = '$dir/without-$hidden'";
}
my $scripted = scalar_of($node, "SHOW cudal1.measure_path");
my ($devices) = `'$real/cudal1-measure' --devices 2>&1`;
my @programs = ([ "cudal1.python = '/bin/true'", '%/bin/true has no PyTorch: %set cudal1.python%' ], [ "cudal1.python = '/opt/nope'", "%/opt/nope can''t be run: %" ],
	[ "cudal1.scratch_dir = '/opt/nope'", '%languages: none%scratch folder /opt/nope: No such file%' ]);
# those that bubblewrap can hide
if ($devices =~ /"sandbox": ?"bubblewrap/)
{
	push @programs, [ without('gcc'), '%no gcc: %install the package gcc%' ], [ without('bwrap'), '%languages: none%bubblewrap is missing; install%' ];
	push @programs, [ without('c++'), '%no c++: PyTorch code that compiles itself fails; install%' ], [ without('ninja'), '%no ninja: PyTorch code%' ] if $devices =~ /"torch"/ && -e '/usr/bin/ninja';
}
for my $case (@programs)
{
	my $setting = $case->[0] =~ s/ .*//r;
	my $before = scalar_of($node, "SHOW $setting");
	configure($node, "cudal1.measure_path = '$real/cudal1-measure'\n$case->[0]");
	wait_for($node, "SELECT bool_or(concat_ws(' -> ', value, hint) LIKE '$case->[1]') FROM cudal1_status() WHERE item LIKE 'device %'", 't', ($case->[0] =~ s{$dir}{}r) . ' has a hint');
	configure($node, "$setting = '$before'\ncudal1.measure_path = '$scripted'");
	wait_for($node, "SELECT bool_or(value LIKE '%Scripted%') AND count(hint) = 0 FROM cudal1_status() WHERE item LIKE 'device %'", 't', 'which goes with it');
}

# requests to models that are not sent
$node->safe_psql('postgres', "SELECT cudal1_add_model('m', 'http://127.0.0.1:1/v1', 'm', 'k')");
for my $text ('exit 3', 'yes garbage')
{
	append_to_file("$dir/$text", "#!/bin/sh\n$text\n");
	chmod 0755, "$dir/$text";
}
append_to_file("$dir/keys", "other = x\n");
chmod 0644, "$dir/keys";
for my $case ([ 'worker', "cudal1.generate_path = '/opt/nope'", '%no requests are sent: cannot run "/opt/nope"%-> %cudal1.generate_path%' ],
	[ 'worker', "cudal1.generate_path = '$dir/exit 3'", '%cudal1-generate ended with exit status 3%-> %' ],
	[ 'worker', "cudal1.generate_path = '$dir/yes garbage'", '%not of its protocol%-> %' ],
	[ 'requests', "cudal1.max_requests = 0", 'none are sent%-> ALTER SYSTEM RESET cudal1.max_requests;%' ],
	[ 'model m', "cudal1.key_file = '/opt/nope'", '%-> %the file of keys (cudal1.key_file) cannot be read%' ], [ 'model m', "cudal1.key_file = '$dir/keys'", '%-> %can be read by others%chmod 600%' ])
{
	my ($item, $set, $words) = @$case;
	my $setting = $set =~ s/ .*//r;
	my $before = scalar_of($node, "SHOW $setting");
	configure($node, $set);
	wait_for($node, "SELECT current_setting('$setting') = '" . ($set =~ s/.*? = //r =~ s/'//gr) . "'", 't', $set =~ s{$dir}{}r);
	$node->safe_psql('postgres', "SELECT cudal1_generate(p.prompt_id, 'm', 1) FROM cudal1_prompt('task', kind => 'augment') AS p");
	says($item, $words, 'has a hint');
	$node->safe_psql('postgres', "SELECT cudal1_cancel_requests(array_agg(request_id)) FROM cudal1.request");
	configure($node, "$setting = '$before'");
}
chmod 0600, "$dir/keys";
wait_for($node, "SELECT bool_or(hint IS NULL) FROM cudal1_status() WHERE item = 'worker'", 't', 'none is left of requests that were cancelled');

# settings that are wrong
for my $case ([ "cudal1.measure_path = '/opt/nope'", '%cannot run "/opt/nope"%-> Mend what it says%' ], [ "cudal1.devices = 'cuda:7'", '%no device of cudal1.devices (cuda:7) was found%-> Mend what it says%' ])
{
	my $setting = $case->[0] =~ s/ .*//r;
	my $before = scalar_of($node, "SHOW $setting");
	configure($node, $case->[0]);
	says('worker', $case->[1], "$case->[0] has a hint");
	configure($node, "$setting = '$before'");
	wait_for($node, "SELECT bool_or(hint IS NULL) FROM cudal1_status() WHERE item = 'worker'", 't', 'which goes with it');
}
my $offset = -s $node->logfile;
configure($node, "cudal1.databases = 'postgers'");
says('database', 'postgres is not listed%', 'a list of databases that was mistyped');
like(status('database'), qr/-> ALTER SYSTEM SET cudal1\.databases = 'postgres';/, 'has a hint without the slip');
like(slurp_file($node->logfile, $offset), qr/WARNING:  cudal1\.databases names what does not exist: "postgers"/, 'and a line in the log');
configure($node, "cudal1.databases = 'postgres'");
says('worker', 'process%', 'the right one a worker');

# an operator pauses and resumes
$node->safe_psql('postgres', "CREATE ROLE ops LOGIN; SELECT cudal1_grant('ops', 'operator')");
is(($node->psql('postgres', "ALTER SYSTEM SET cudal1.enabled = off", extra_params => [ '-U', 'ops' ]))[0], 0, 'an operator pauses');
is(($node->psql('postgres', "SELECT pg_reload_conf()", extra_params => [ '-U', 'ops' ]))[0], 0, 'at once');
says('measuring', 'switched off%->%', 'which the status says');
$node->safe_psql('postgres', "ALTER SYSTEM RESET cudal1.enabled; SELECT pg_reload_conf(), cudal1_revoke('ops', 'operator')");
$node->safe_psql('postgres', "REASSIGN OWNED BY ops TO postgres; DROP ROLE ops");

# defaults of sessions
for my $case ([ 'default_transaction_isolation', 'serializable', 'isolation' ], [ 'standard_conforming_strings', 'off', 'strings' ])
{
	$node->safe_psql('postgres', "ALTER DATABASE postgres SET $case->[0] = '$case->[1]'");
	like(status($case->[2]), qr/-> .*ALTER DATABASE postgres SET $case->[0]/, "$case->[0] $case->[1] has a hint");
	$node->safe_psql('postgres', "ALTER DATABASE postgres RESET $case->[0]");
}
my ($ret, $out, $err) = $node->psql('postgres', "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM cudal1_wait(ARRAY[$id])");
like($err, qr/cudal1_wait\(\) needs transaction isolation level read committed.*default_transaction_isolation/s, 'waiting in a serializable transaction says what it needs');
$node->safe_psql('postgres', "CREATE DATABASE strings");
($ret, $out, $err) = $node->psql('strings', "SET standard_conforming_strings = off; SET client_min_messages = error; CREATE EXTENSION cudal1");
like($err, qr/standard_conforming_strings must be on while cudal1 is installed/, 'CREATE EXTENSION without standard_conforming_strings names the setting');

# a copy of the worker's own database, by a session in it
($ret, $out, $err) = $node->psql('postgres', "CREATE DATABASE copy TEMPLATE postgres");
is($ret, 0, 'the database of a worker can be copied from within') or diag($err);
submit_until($node, 'result 1.8', 'successful', 'and the worker comes back');

no_children($node);
$node->stop;
done_testing();
