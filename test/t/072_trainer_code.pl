# The package cudal1 under the calling code of TRL, verl and OpenRLHF themselves: a trainer takes steps, managers rate batches, an executor
# answers, with rewards from a server. TRAINERS_PYTHON names a Python with psycopg and one of them; without it there is nothing to test.
use Testing;
use IPC::Run ();
use JSON::PP ();
use Workers;

my $python = $ENV{TRAINERS_PYTHON};
plan skip_all => 'TRAINERS_PYTHON is not set' unless defined $python;
my $examples = "$ENV{TESTDIR}/examples";
my $node = new_server('code');
$node->safe_psql('postgres', "CREATE ROLE trainer LOGIN; SELECT cudal1_grant('trainer', 'trainer')");

# the object that a script of test/trainers prints
sub outcome
{
	my ($script, $argument) = @_;
	my ($out, $err) = ('', '');
	local $ENV{CUDAL1_DSN} = $node->connstr('postgres') . ' user=trainer';
	IPC::Run::run([ $python, '-B', "$ENV{TESTDIR}/test/trainers/$script", $argument ], '>', \$out, '2>', \$err);
	my ($line) = $out =~ /^(\{"(?:trl|verl|openrlhf)".*\})$/m;
	ok(defined $line, "$script comes to its end") or diag("$out$err");
	return defined $line ? JSON::PP::decode_json($line) : {};
}

sub numbers
{
	return [ map { $_ + 0 } @{ $_[0] // [] } ];
}

my $proposals = "SELECT count(*) || ' ' || count(DISTINCT group_key) FROM cudal1.proposal WHERE group_key IS NOT NULL";

SKIP:
{
	skip 'verl is not installed', 7 if system("$python -c 'import verl' >/dev/null 2>&1") != 0;
	my $found = outcome('verl_rewards.py', "$examples/rewards.py");
	diag("verl $found->{verl}") if $found->{verl};
	is_deeply(numbers($found->{batch}), [ 1.51, 2.5, 0, 0 ], 'verl: a batch is rated in its order');
	is_deeply($found->{measured}, [ (JSON::PP::true) x 4 ], 'all are measured');
	ok($found->{again}, 'and again alike');
	is($node->safe_psql('postgres', $proposals), '4 1', 'a batch that is rated again adds nothing');
	is_deeply($found->{$_}, [ [ 1.51, JSON::PP::true ], [ 2.5, JSON::PP::true ], [ 0, JSON::PP::true ] ], "one by one in the reward loop, $_") for qw(single gathered);
}

SKIP:
{
	skip 'OpenRLHF is not installed', 5 if system("$python -c 'import openrlhf.utils.agent' >/dev/null 2>&1") != 0;
	my $found = outcome('openrlhf_rewards.py', "$ENV{TESTDIR}/python");
	is_deeply(numbers($found->{rewards}), [ 1.51, 2.5, 0, 0 ], 'OpenRLHF: samples have their rewards, one number each');
	is_deeply(numbers($found->{scores}), [ 1, 1, 0, 0 ], 'and scores for its filter');
	is_deeply(numbers($found->{measured}), [ 1, 1, 1, 1 ], 'all are measured');
	is_deeply([ map { numbers($found->{$_}) } qw(cleaned cut) ], [ ([ 1.51, 2.5, 0, 0 ]) x 2 ], 'an answer is told from a prompt with other blanks, or cut off in front');
}

SKIP:
{
	skip 'TRL is not installed', 9 if system("$python -c 'import trl' >/dev/null 2>&1") != 0;
	my $before = $node->safe_psql('postgres', 'SELECT coalesce(max(proposal_id), 0) FROM cudal1.proposal');
	my $found = outcome('trl_steps.py', "$ENV{TESTDIR}/python");
	diag("TRL $found->{trl}, PyTorch $found->{torch}") if $found->{trl};
	is_deeply(numbers($found->{history}), [ 0, 0 ], 'TRL: two steps; noise is malformed, reward 0');
	is_deeply(numbers($found->{rated}), [ 1.51, 2.5, 0, 0 ], 'answers are rated in their order');
	ok($found->{again}, 'and again alike');
	ok($found->{fresh}, 'each read of README\'s data set draws new prompts');
	ok($found->{grouped}, 'and the answers of a group answer one');
	is($node->safe_psql('postgres', "SELECT count(DISTINCT prompt_id) FROM cudal1.proposal WHERE group_key IN (SELECT group_key FROM cudal1.proposal WHERE proposal_id > $before ORDER BY proposal_id LIMIT 8)"),
		'2', 'as in the two steps');
	is_deeply($found->{lost}, [ 1.25, undef ], 'what has no verdict is NaN, which TRL leaves out of its group');
	is($node->safe_psql('postgres', "$proposals AND proposal_id > $before"), '14 4', 'each batch is a group, and one that is rated again adds nothing');
}
$node->safe_psql('postgres', 'SELECT cudal1_cancel(array_agg(candidate_id)) FROM cudal1.candidate WHERE decided_at IS NULL');
$node->stop('fast');
done_testing();
