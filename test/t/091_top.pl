# cudal1-top: one plain frame says what is going on, for an analyst and a trainer alike; what others named is no command to a terminal.
use Testing;
use Sys::Hostname;

my $node = start_server('top', "shared_preload_libraries = 'cudal1'\ncudal1.databases = ''\n");
@ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');

sub frame
{
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'cudal1-top', @_ ], '>', \$out, '2>', \$err) or diag $err;
	utf8::decode($out);
	return $out;
}

command_fails_like([ 'cudal1-top', '--once' ], qr/no extension cudal1/, 'a database without the extension is named as such');
is(system('cudal1-top -d "host=/nowhere" 2>/dev/null') >> 8, 3, 'no connection is exit status 3');
is(system('cudal1-top --interval 0 2>/dev/null') >> 8, 2, 'a bad argument is 2');

$node->safe_psql('postgres', 'CREATE EXTENSION cudal1;' . slurp_file("$ENV{TESTDIR}/test/data/tap.sql"));
like(frame(), qr/^postgres .* 0 verdicts in the last minute.* 0 waiting\n.*^Devices\n.*^Best of each task, 0 of 0 solved\n/ms, 'an empty database has a frame');

# a task whose name would move the cursor, one that is measured, two roles that wait
my $host = hostname();
$node->safe_psql('postgres', <<"SQL");
SET client_min_messages = error;
CREATE ROLE anna LOGIN; CREATE ROLE reader LOGIN; CREATE ROLE stranger LOGIN;
SELECT cudal1_grant('anna', 'trainer'), cudal1_grant('reader', 'analyst');
SELECT cudal1.register_device('$host', '{"key": "top:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}');
SELECT cudal1_add_task('softmax', 'r', 'pytorch', NULL, 1, '{"device": "cpu", "certify": false}'), cudal1_add_task('[red]brackets[/red]', 'r', 'pytorch', NULL, 2, '{"device": "cpu", "certify": false}');
DO \$\$
DECLARE
	c	record;
BEGIN
	PERFORM cudal1_submit('softmax', 'good', 'mine');
	PERFORM tap.work(1, '{"outcome": "successful", "score": 1.5, "lower": 1.4, "upper": 1.6, "device_seconds": 90}');
	PERFORM cudal1_submit('[red]brackets[/red]', 'bad', 'mine');
	PERFORM tap.work(1, jsonb_build_object('outcome', 'wrong_output', 'detail', E'element \\u001b[2J3 differs ' || repeat('much ', 60) || E'\\nmore'));
	PERFORM cudal1_submit('softmax', 'now', 'mine');
	SELECT * INTO c FROM cudal1.claim(1, 'w');
	PERFORM cudal1.heartbeat(c.job_id, c.attempt, '{"phase": "measuring", "pairs": 3, "rounds": 41, "estimate": 2.5, "lower": 2.25, "upper": 2.75, "seconds_left": 42}');
	CREATE TABLE held AS SELECT c.job_id, c.attempt;
	PERFORM cudal1_submit('softmax', 'later 1', 'mine'), cudal1_submit('softmax', 'later 2', 'mine');
END
\$\$;
SET ROLE anna;
SELECT cudal1_submit('softmax', 'hers', 'hers');
SQL
my $frame = frame();
like($frame, qr/2 verdicts in the last minute, 0\.1 a minute over 15 min   3 waiting, \d/, 'rewards per minute, what waits, and for how long');
like($frame, qr/^\Q$host\E top:1 +M +measuring, 3 pairs, 41 rounds +softmax +3 +2\.50 \[2\.25, 2\.75\] .* 42 s$/m, 'a device with what it measures');
like($frame, qr/^anna +softmax +measure +1 /m, 'the queue by trainer');
like($frame, qr/^postgres +softmax +measure +2 +3 min$/m, 'and task, with the device time that it takes');
like($frame, qr/^\d+ s +softmax +1 +mine +measure +successful +1\.50 \[1\.40, 1\.60\]$/m, 'a verdict');
like($frame, qr/^\d+ s +\[red\]brackets\[\/red\] +2 +mine +measure +wrong_output +0\.00 +element \x{fffd}\[2J3 differs much .*\x{2026}$/m, 'one with its reason, which is cut and cuts nothing else');
unlike($frame, qr/\e/, 'nothing that a terminal obeys');
like($frame, qr/^Best of each task, 1 of 2 solved\n.*\nsoftmax +1 +successful +1\.50 \[1\.40, 1\.60\] +mine\n\[red\]brackets\[\/red\] +2 +wrong_output +0\.00 +mine$/m, 'the best of each task');
is(scalar(() = frame('-n', 1) =~ /^\d+ s  /mg), 1, 'as many rows as asked for');

# another process holds the device
$node->safe_psql('postgres', q{SELECT cudal1.heartbeat(job_id, attempt, '{"phase": "waiting", "held_by": "perl, process 7, begun 22 s ago"}') FROM held});
like(frame(), qr/top:1 +M +waiting, held by perl, process 7, begun 22 s ago, 3 pairs, 41 rounds/, 'what holds a device that a measurement waits for');
$node->safe_psql('postgres', q{SELECT cudal1.heartbeat(job_id, attempt, '{"phase": "measuring"}') FROM held});
unlike(frame(), qr/held by/, 'and nothing holds it once it is taken');

for my $role (qw(anna reader))
{
	local $ENV{PGUSER} = $role;
	like(frame(), qr/^Best of each task/m, "$role sees it, too");
}
{
	local $ENV{PGUSER} = 'stranger';
	is(system('cudal1-top --once 2>/dev/null') >> 8, 3, 'a stranger does not');
}

# without an encoding, names are UTF-8 all the same
{
	local $ENV{PGDATABASE} = 'bytes';
	$node->safe_psql('postgres', q{CREATE DATABASE bytes ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0});
	$node->safe_psql('bytes', q{CREATE EXTENSION cudal1; SELECT cudal1_add_task('t', 'r', 'pytorch', options => '{"device": "cpu", "certify": false}')});
	is($node->safe_psql('bytes', q{SELECT cudal1_submit('t', 'x', E'\xc3\x9cbung')}), '1', 'a method has a letter whose bytes are control characters elsewhere');
	for my $name ('\xe4', '\xc2\x9b', 'a\x1b', '\x7f')
	{
		my (undef, undef, $error) = $node->psql('bytes', "SELECT cudal1_submit('t', 'x', E'${name}b')", extra_params => [ '-v', 'VERBOSITY=sqlstate' ]);
		is($error =~ s/.*ERROR: +//sr, $name eq '\xe4' ? '22021' : '22023', "$name has none");
	}
	my (undef, undef, $error) = $node->psql('bytes', q{SELECT cudal1_import_result('t', 'y', 1.5, 'm', E'\xe4b')}, extra_params => [ '-v', 'VERBOSITY=sqlstate' ]);
	like($error, qr/22021/, 'nor has a device that a score is imported of');
	like(frame(), qr/^postgres +t +measure +1 /m, 'and a frame shows what others submitted');
}
{
	local $ENV{PGCLIENTENCODING} = 'UTF8';
	$node->safe_psql('postgres', q{CREATE DATABASE windows ENCODING 'WIN1252' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0});
	$node->safe_psql('windows', 'CREATE EXTENSION cudal1');
	is($node->safe_psql('windows', q{SELECT cudal1_open_pool(E'5 \u20ac \u0153uvres')}), '2', 'nor are letters of an encoding of Windows');
	my (undef, undef, $error) = $node->psql('postgres', q{SELECT cudal1_open_pool(E'a\u009b2J')}, extra_params => [ '-v', 'VERBOSITY=sqlstate' ]);
	like($error, qr/22023/, 'as the codes are that a terminal obeys');
}

# a code that compiles to the same as an earlier one is paid what that one was
$node->safe_psql('postgres', <<'SQL');
DO $$
BEGIN
	PERFORM cudal1.finish(job_id, attempt, '{"outcome": "wrong_output"}') FROM held;
	FOR i IN 1..2 LOOP
		PERFORM tap.work(1, jsonb_build_object('outcome', 'successful', 'score', 1.1 + i / 10.0, 'protocol', 2, 'code_key', repeat('a', 64)));
	END LOOP;
END
$$;
SQL
like(frame(), qr/^ *\d+ s +softmax +(\d+) +\S+ +measure +successful +1\.20 +compiles to the same as (?!\1)\d+\n *\d+ s +softmax +\d+ +\S+ +measure +successful +1\.20$/m,
	'a code that compiles to the same as another has its reward, and names it');

# on a terminal it goes on until it is interrupted
my ($in, $out) = ('', '');
local $ENV{TERM} = 'xterm';
my $live = IPC::Run::start([ 'cudal1-top', '-i', '0.1' ], '<pty<', \$in, '>pty>', \$out, IPC::Run::timeout(180));
$live->pump until $out =~ /Best of each task.*Best of each task/s;
$live->signal('TERM');
ok($live->finish, 'the live view is drawn anew until it is ended') or diag substr($out, -1000);
like($out, qr/\e\[\?1049l/, 'and gives the terminal back');

# keys, and a terminal of 80 columns
($in, $out) = ('?', '');
$live = IPC::Run::start([ 'cudal1-top', '-i', '100' ], '<pty<', \$in, '>pty>', \$out, IPC::Run::timeout(180));
$live->pump until $out =~ /q quit/;
$in = 'q';
ok($live->finish, '? shows the keys, and q ends it') or diag substr($out, -1000);
like($out, qr/\e\[\?1049l/, 'which gives the terminal back, too');
utf8::decode($out);
is(join('|', grep { length > 80 } map { s/\e\[[?\d;]*[A-Za-z]//gr } split /\r?\n|\e\[H/, $out), '', 'no row is wider than the terminal');
like($out, qr/\d verdicts in the last minute/, 'and none is cut in its middle');

$node->stop;
done_testing();
