# The programs of examples/train: two steps of each stage, with a tiny model made on the spot and scripted verdicts, and a trainer
# that is killed at twelve places and goes on. TRAINERS_PYTHON names a Python with what examples/train/requirements.txt lists.
use Testing;
use IPC::Run ();
use JSON::PP ();
use Workers;

my $python = $ENV{TRAINERS_PYTHON};
plan skip_all => 'TRAINERS_PYTHON is not set' unless defined $python;
plan skip_all => 'TRAINERS_PYTHON has no trl and peft' if system("$python -c 'import trl, peft, psycopg' >/dev/null 2>&1") != 0;
my $node = new_server('training');
$node->safe_psql('postgres', "CREATE ROLE trainer LOGIN; SELECT cudal1_grant('trainer', 'trainer')");
$node->safe_psql('postgres', "SELECT cudal1_submit('task', 'result ' || n, 'by hand') FROM generate_series(1, 4) n");
$node->poll_query_until('postgres', "SELECT count(*) = 4 FROM cudal1.candidate WHERE state = 'successful'") or die 'no verdicts';

my $folder = PostgreSQL::Test::Utils::tempdir();
my ($out, $err) = ('', '');
{
	local $ENV{CUDAL1_DSN} = $node->connstr('postgres') . ' user=trainer';
	IPC::Run::run([ $python, '-B', "$ENV{TESTDIR}/test/trainers/stages.py", "$ENV{TESTDIR}/examples/train", $folder ],
		'>', \$out, '2>', \$err);
}
my ($line) = $out =~ /^(\{"trl".*\})$/m;
ok(defined $line, 'all stages come to their end') or BAIL_OUT($out . $err . (slurp_file("$folder/log") // ''));
my $found = JSON::PP::decode_json($line);
diag("TRL $found->{trl}, PyTorch $found->{torch}");
is($found->{alike}, 6, 'what a GPU captures draws the answers of generate(), whose likeliest tokens end at different lengths');
is($found->{$_}, 0, $_) or diag(slurp_file("$folder/log")) for 'not finite', qw(model sft self_supervised evaluate grpo again);
is_deeply([ @$found{qw(finite trained)} ], [ (JSON::PP::true) x 2 ], 'a step whose gradient is not finite is left out, and the next one is taken');
like(slurp_file("$folder/log"), qr/^step 1 is left out: its gradient is not finite$/m, 'which is said');
is($found->{killed}{$_}, -9, "killed: $_") for sort keys %{ $found->{killed} };
is_deeply($found->{steps}, [ 1, 2 ], 'two steps were taken, each once');
is(scalar @{ $found->{figures} }, 6, 'beside what TRL logs are outcomes, device seconds and exemplars');
ok($found->{adapter}, 'an adapter is left');
my ($config, $difference) = @{ $found->{paper} // [] };
is_deeply($config, { loss_type => 'grpo', beta => 0.04, epsilon => 0.1, scale_rewards => 'group' }, 'grpo.py --paper: the paper\'s loss, beside what the line says')
	or diag(slurp_file("$folder/log"));
cmp_ok($difference // 1, '<', 1e-5, 'which is eq. 5');
is($node->safe_psql('postgres', <<'END'), '16 16 4', 'each group that was answered has its four answers, each once');
SELECT count(*) || ' ' || count(DISTINCT (p.group_key, p.proposal_key)) || ' ' || count(DISTINCT p.group_key)
FROM cudal1.proposal AS p JOIN cudal1.pool USING (pool_id) WHERE pool.name = 'run'
END
is($node->safe_psql('postgres', <<'END'), '2 of 2', 'half of them are to plain prompts');
SELECT count(*) FILTER (WHERE cardinality(coalesce(p.exemplars, '{}')) = 0) || ' of ' || count(*)
FROM cudal1.campaign_group AS g JOIN cudal1.campaign_lane USING (lane_id) JOIN cudal1.campaign AS c USING (campaign_id) JOIN cudal1.prompt AS p ON p.prompt_id = g.prompt_id
WHERE c.name = 'grpo run plain' AND g.answered_at IS NOT NULL
END
is($node->safe_psql('postgres', "SELECT count(*) FROM cudal1.campaign_group WHERE answered_at IS NULL"), '1',
	'a group that was drawn and not yet written down stays without answers');
$node->stop('fast');
done_testing();
