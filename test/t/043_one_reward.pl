# Answers of one group that compile to the same have one reward, measured by the real programs on a busy host.
use Testing;
use Measuring;

plan skip_all => 'no C on this host' if !can_measure('c');
# on a busy machine measurements take their turns
$PostgreSQL::Test::Utils::timeout_default = 600;
my $node = start_server('one_reward', "shared_preload_libraries = 'cudal1'\ncudal1.certify = off\n");
$node->safe_psql('postgres', 'CREATE EXTENSION cudal1');
$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM cudal1.device WHERE 'c' = ANY (languages))});

my $slow = 'void solve(const float *x, float *y) { for (int i = 0; i < 4096; i++) { volatile float a = x[i]; y[i] = a * 2; } }';
my $quick = 'void solve(const float *x, float *y) { for (int i = 0; i < 4096; i++) y[i] = x[i] * 2; }';
my @codes = ($quick, "// by vectors\n$quick", "/* unrolled\n * by the compiler */\n" . ($quick =~ s/\bi\b/index/gr), ($quick =~ s/; /;\n\n\t/gr) . " // the same\n");
my $answers = join ', ', map { "\$a\$## Performance Analysis\nx\n## Algorithm Design\ny\n## Code Implementation\n```c\n$_\n```\n\$a\$" } @codes, $slow;
$node->safe_psql('postgres', <<"END");
SELECT cudal1_add_task('double', '$slow', 'c', '{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [4096], "role": "in", "init": "normal"},
	{"name": "y", "dtype": "float32", "shape": [4096], "role": "out"}]}', 1, '{"profile": "train"}');
END

# a neighbour on each core, which comes and goes
my @neighbours;
for my $n (1 .. $cores + 1)
{
	my $pid = fork // die $!;
	if ($pid == 0)
	{
		for (;;) { my $x = 0; $x += $_ for 1 .. 1e6; select undef, undef, undef, rand 0.1 }
	}
	push @neighbours, $pid;
}
$node->safe_psql('postgres', <<"END");
SELECT count(cudal1_submit_response(p.prompt_id, a.answer, 'grpo', 'step 1', n::text))
FROM cudal1_prompt('double') AS p, unnest(ARRAY[$answers]) WITH ORDINALITY AS a (answer, n)
END
$node->poll_query_until('postgres', 'SELECT count(*) = 5 FROM cudal1.candidate WHERE decided_at IS NOT NULL');
kill 'KILL', @neighbours;
waitpid $_, 0 for @neighbours;

is($node->safe_psql('postgres', "SELECT string_agg(state, ' ') FROM cudal1.candidate"), join(' ', ('successful') x 5), 'all are right');
is($node->safe_psql('postgres', <<'END'), '4 1 1', 'four answers that compile to the same have one reward of one measurement');
SELECT concat_ws(' ', count(*), count(DISTINCT c.reward), count(DISTINCT c.measurement_id)) FROM cudal1_group_result('step 1') AS g
JOIN cudal1.candidate AS c USING (candidate_id) WHERE g.ordinal < 5
END
is($node->safe_psql('postgres', 'SELECT count(DISTINCT measurement_id) FROM cudal1.candidate'), '2', 'another code has its own');
diag($node->safe_psql('postgres', 'SELECT m.candidate_id, m.score, m.lower, m.upper, m.wide, c.reward FROM cudal1.measurement AS m JOIN cudal1.candidate AS c USING (candidate_id) ORDER BY 1'));
$node->stop;
done_testing();
