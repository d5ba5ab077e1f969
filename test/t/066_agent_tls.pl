# An agent on another host: TLS with both certificates checked, and a password, in a network that is the test's own.
use Testing;
use PrivateNetwork;
my $private;
# before PostgreSQL's modules turn the output of this process to their log
BEGIN { $private = enter_private_network() }
use Agents;
use Workers;

plan skip_all => 'no namespaces of its own are to be had here' if !$private;
plan skip_all => 'no openssl here' if system('openssl version >/dev/null 2>&1') != 0;

my $node = new_database('agent_tls');
my $agent = new_agent($node, 'host');
my $dir = $agent->{dir};

sub certificate
{
	my ($file, $name) = @_;
	my $log = "2>>$dir/openssl.log >>$dir/openssl.log";
	system("openssl req -new -nodes -newkey rsa:2048 -keyout $dir/$file.key -out $dir/$file.req -subj /CN=$name $log && openssl x509 -req"
		  . " -in $dir/$file.req -CA $dir/ca.crt -CAkey $dir/ca.key -CAcreateserial -days 2 -out $dir/$file.crt $log") == 0 or die 'openssl';
	chmod 0600, "$dir/$file.key";
	return;
}
system("openssl req -x509 -nodes -newkey rsa:2048 -keyout $dir/ca.key -out $dir/ca.crt -days 2 -subj /CN=authority 2>>$dir/openssl.log") == 0 or die 'openssl';
certificate('server', 'localhost');
certificate('measurer', 'measurer');

$node->safe_psql('postgres', "ALTER ROLE measurer PASSWORD 'secret'");
$node->append_conf('postgresql.conf', <<"END");
listen_addresses = '127.0.0.1'
ssl = on
ssl_ca_file = '$dir/ca.crt'
ssl_cert_file = '$dir/server.crt'
ssl_key_file = '$dir/server.key'
END
my $hba = slurp_file($node->data_dir . '/pg_hba.conf');
write_file($node->data_dir . '/pg_hba.conf', "hostssl all measurer 127.0.0.1/32 scram-sha-256 clientcert=verify-full\nhost all all all reject\n$hba");
write_file("$dir/passwords", "localhost:@{[ $node->port ]}:postgres:measurer:secret\n", 0600);
$node->restart;

my $server = "host=localhost port=@{[ $node->port ]} dbname=postgres user=measurer sslrootcert=$dir/ca.crt";
my $certificate = "sslcert=$dir/measurer.crt sslkey=$dir/measurer.key";
$agent->{environment} = { PGPASSFILE => "$dir/passwords" };

my $id = submit($node, "progress measuring 1\nwait go\nresult 1.41");
$agent->{conninfo} = "$server sslmode=verify-full $certificate";
start_agent($agent);
wait_for($node, "SELECT phase FROM cudal1.activity WHERE candidate_id = $id", 'measuring', 'an agent measures over TLS, by a password file');
is(scalar_of($node, "SELECT ssl, client_dn FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'measurer'"),
	't|/CN=measurer', 'with both certificates checked');
$node->restart;
touch_for($agent, 'go');
wait_for($node, "SELECT concat_ws(' ', state, reward) FROM cudal1.candidate WHERE candidate_id = $id", 'successful 1.41', 'and connects again');
is(scalar_of($node, "SELECT string_agg(concat_ws(' ', outcome, attempt), ', ') FROM cudal1.measurement"), 'successful 1', 'with the result it has');
stop_agent($agent, 'it leaves');

# what is not in order is refused by one side or the other, and said, also where nobody listens at a server's first address
my $two = $server =~ s/host=localhost port=(\d+)/host=localhost,localhost port=1,$1/r;
for my $case ([ "$two sslmode=disable", qr/no pg_hba\.conf entry|pg_hba\.conf rejects/, 'without TLS' ],
	[ "$server sslmode=verify-full", qr/valid client certificate/, 'without a certificate' ],
	[ ($server =~ s/host=localhost/host=127.0.0.1/r) . " sslmode=verify-full $certificate", qr/does not match host name/, 'by another name than the server\'s' ])
{
	$agent->{conninfo} = $case->[0];
	start_agent($agent, '--until-idle', '--patience', '0.5');
	agent_ended($agent, 256, "$case->[2] there is no work");
	like(agent_log($agent), $case->[1], 'and the log says why');
}
consistent($node);
$node->stop;
done_testing();
