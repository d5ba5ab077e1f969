# Endpoints and who speaks to them: certificates are checked before a key is sent, keys reach one program alone, many requests are
# in flight at once, and what arrives while nobody listens is no stall.
use Testing 'await';
use IPC::Run ();
use JSON::PP ();
use Models;
use Workers;

$ENV{CUDAL1_KEY_mine} = 'sk-of-the-environment';
my $endpoint = start_endpoint('many');
my $node = new_server('endpoints', conf => "cudal1.max_requests = 500\nmax_connections = 40\n");
my $prompt = $node->safe_psql('postgres', "SELECT prompt_id FROM cudal1_prompt('task', kind => 'augment')");

sub ask
{
	my ($model, $n) = @_;
	return $node->safe_psql('postgres', "SELECT string_agg(x::text, ',') FROM cudal1_generate($prompt, '$model', @{[ $n // 1 ]}) AS x");
}

# what a request came to, and the words of its error
sub ending
{
	my ($id) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) FROM cudal1.request WHERE request_id = $id AND state IN ('answered', 'failed')", '1');
	return split /\|/, $node->safe_psql('postgres', "SELECT concat_ws(' ', state, attempt, failures, status), error FROM cudal1.request WHERE request_id = $id");
}

# keys
add_model($node, $endpoint, 'ok', more => ", key_name => 'mine'");
my ($how) = ending(ask('ok'));
is($how, 'answered 1 0 200', 'a key of the server\'s environment is found');
like((endpoint_lines('many', 'requests'))[-1], qr{ ok key }, 'and sent');
my $measured = submit($node, 'surroundings');
wait_for($node, "SELECT decided_at IS NOT NULL FROM cudal1.candidate WHERE candidate_id = $measured", 't', 'another program runs');
is($node->safe_psql('postgres', "SELECT environment ->> 'variables' FROM cudal1.measurement WHERE candidate_id = $measured"), 'HOME LANG LC_ALL PATH TMPDIR',
	'which gets no key');

# certificates
SKIP:
{
	skip 'openssl is not installed', 12 if system('openssl version >/dev/null 2>&1') != 0;
	my $dir = PostgreSQL::Test::Utils::tempdir();

	sub make
	{
		my ($name, $host, @more) = @_;
		append_to_file("$dir/$name.ext", "subjectAltName = $host\n");
		PostgreSQL::Test::Utils::system_log('openssl', 'req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', "/CN=$name",
			'-keyout', "$dir/$name.key", '-out', "$dir/$name.req");
		PostgreSQL::Test::Utils::system_log('openssl', 'x509', '-req', '-in', "$dir/$name.req", '-extfile', "$dir/$name.ext", '-out', "$dir/$name.crt", @more);
		append_to_file("$dir/$name.pem", slurp_file("$dir/$_")) for ("$name.crt", "$name.key");
		return start_endpoint($name, 1, "$dir/$name.pem");
	}

	PostgreSQL::Test::Utils::system_log('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=authority', '-days', '30',
		'-keyout', "$dir/authority.key", '-out', "$dir/authority.crt");
	my @signed = ('-CA', "$dir/authority.crt", '-CAkey', "$dir/authority.key", '-CAcreateserial');
	my %address = (
		good => make('good', 'IP:127.0.0.1', '-days', 30, @signed),
		other => make('other', 'DNS:models.example', '-days', 30, @signed),
		late => make('late', 'IP:127.0.0.1', '-days', 0, @signed),
		own => make('own', 'IP:127.0.0.1', '-days', 30, '-signkey', "$dir/own.key"));

	# the system's authorities know none of these
	add_model($node, $address{good}, 'ok', name => 'unknown', more => ", key_name => 'mine'");
	my ($ended, $error) = ending(ask('unknown'));
	is($ended, 'failed 1 1', 'a certificate of an unknown authority is refused, once and for all');
	like($error, qr/certificate/, 'which is said');
	is(scalar(endpoint_lines('good', 'requests')), 0, 'and nothing was sent');

	configure($node, "cudal1.ca_file = '$dir/authority.crt'\n");
	$node->poll_query_until('postgres', "SELECT current_setting('cudal1.ca_file') <> ''");
	add_model($node, $address{$_}, 'ok', name => $_, more => ", key_name => 'mine'") for sort keys %address;
	($ended) = ending(ask('good'));
	is($ended, 'answered 1 0 200', 'of a known one it is taken');
	for my $case (['other', qr/name|match/, 'another host\'s'], ['late', qr/expired/, 'an expired one'], ['own', qr/self.signed/, 'a self-signed one'])
	{
		($ended, $error) = ending(ask($case->[0]));
		is($ended, 'failed 1 1', "$case->[2] is refused");
		like($error, $case->[1], 'which is said');
		is(scalar(endpoint_lines($case->[0], 'requests')), 0, 'and nothing was sent') if $case->[0] ne 'own';
	}
	stop_endpoint($_) for keys %address;
}

# five hundred in flight, and a kill in their middle
add_model($node, $endpoint, 'wait:all', more => ', concurrency => 500');
my $ids = ask('wait:all', 700);
wait_for($node, "SELECT count(*) FROM cudal1.request WHERE request_id IN ($ids) AND state = 'running'", '500', 'five hundred are in flight');
await(sub { endpoint_lines('many', 'requests', qr/ wait:all /) == 500 }, 'and at the endpoint, all at once');
kill 'KILL', generators($node);
await(sub { endpoint_lines('many', 'requests', qr/ wait:all /) >= 1000 }, 'and all again after a kill');
touch_endpoint('many', 'all');
wait_for($node, "SELECT count(*) FROM cudal1.request WHERE request_id IN ($ids) AND candidate_id IS NOT NULL", '700', 'each is answered');
is(requests_by_state($node, "request_id IN ($ids)"), 'answered 700', 'by an answer');
is($node->safe_psql('postgres', <<"END"), '700 700 700 70000', 'that is proposed once and counted once');
SELECT concat_ws(' ', count(DISTINCT r.candidate_id), count(DISTINCT p.proposal_id), count(*), sum(r.prompt_tokens))
FROM cudal1.request AS r JOIN cudal1.proposal AS p ON p.proposal_key = 'request ' || r.request_id WHERE r.request_id IN ($ids)
END
$node->safe_psql('postgres', 'SELECT cudal1_cancel(array_agg(candidate_id)) FROM cudal1.candidate WHERE decided_at IS NULL');
$node->stop;

# the program by itself: nobody reads its output for longer than a stall, while answers come that fill the pipe
(my $socket = $endpoint) =~ s/^unix:(.*):.*$/$1/;
my $jobs = qq(x\n{"type": "job"}\n);
for my $id (1 .. 13)
{
	$jobs .= JSON::PP::encode_json({ type => 'job', request_id => $id, attempt => 1, endpoint => $endpoint, connect_seconds => 10, stall_seconds => 2,
		total_seconds => 1800, max_answer_bytes => 1 << 20, max_body_bytes => 1 << 26,
		body => { model => $id < 13 ? 'long:100000' : 'drip:4', messages => [ { role => 'user', content => 'x' } ], stream => JSON::PP::true } }) . "\n";
}
my $bindir = $node->config_data('--bindir');
pipe my $from, my $to or die $!;
my $pid = fork // die $!;
if ($pid == 0)
{
	open STDOUT, '>&', $to or die $!;
	open my $feed, '-|', 'printf', '%s', $jobs or die $!;
	open STDIN, '<&', $feed or die $!;
	exec "$bindir/cudal1-generate" or die $!;
}
close $to;
await(sub { endpoint_lines('many', 'answers', qr/ drip:4/) == 1 }, 'an answer has come to its end meanwhile');
my %outcome;
while (my $line = <$from>)
{
	my $answer = JSON::PP::decode_json($line);
	$outcome{ $answer->{request_id} } = "$answer->{outcome} " . length($answer->{text} // '') if $answer->{type} eq 'answer';
}
waitpid $pid, 0;
is($?, 0, 'the program ends when all is written');
is(scalar(grep { $outcome{$_} eq 'answered 100000' } 1 .. 12), 12, 'answers that nobody took for a while are whole');
is($outcome{13}, 'answered 83', 'and what came meanwhile was not taken for a stall');
is(scalar(keys %outcome), 13, 'lines that are no messages come to nothing');

# what servers send, however it is marked, cut, packed or ended
$ENV{PATH} = "$bindir:$ENV{PATH}";
for my $line (split /\n/, `'$ENV{TESTDIR}/test/http/replay' '$ENV{TESTDIR}/test/data/endpoints.jsonl'`)
{
	if ($line =~ /^(not )?ok \d+ - (.*)/) { ok(!$1, $2) }
	elsif ($line =~ /^1\.\.(\d+)/) { cmp_ok($1, '>', 50, 'each case of test/data/endpoints.jsonl is tried') }
	else { diag($line) }
}
done_testing();
