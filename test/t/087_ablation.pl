# Four switches of a C code, all sixteen combinations measured by the real programs.
use Testing;

# on a busy machine measurements take their turns
$PostgreSQL::Test::Utils::timeout_default = 1200;
my $node = start_server('ablation', "shared_preload_libraries = 'cudal1'\n");
$node->safe_psql('postgres', "CREATE EXTENSION cudal1");
ok($node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM cudal1.device WHERE 'c' = ANY (languages))}), 'a device is there');

my $code = slurp_file("$ENV{TESTDIR}/test/data/switches.c");
my $reference = slurp_file("$ENV{TESTDIR}/demo/tasks/matmul/reference.c");
$node->safe_psql('postgres', <<"END");
-- as quick, but that one attempt has to do, whoever else is busy here: no figure is a verdict
SELECT cudal1_add_profile('once', 'quick', '{"bucket_seconds": 0.04, "pairs": 3, "looks": [3], "attempts": 1, "verify_above": null, "check_seconds": 0.1,
	"half_width_limit": 10, "group_most": 8}', 'for this test');
SELECT cudal1_add_task('matmul', \$r\$$reference\$r\$, 'c', '{"entry": "solve",
	"args": [{"name": "a", "dtype": "float32", "shape": [96, 96], "role": "in", "init": "normal"},
			 {"name": "b", "dtype": "float32", "shape": [96, 96], "role": "in", "init": "normal"},
			 {"name": "c", "dtype": "float32", "shape": [96, 96], "role": "out"},
			 {"name": "n", "dtype": "int32", "role": "scalar", "value": 96}]}', 1, '{"profile": "once", "certify": false}');
END
my $ablation = $node->safe_psql('postgres', <<"END");
SELECT cudal1_ablate(cudal1_submit('matmul', \$c\$$code\$c\$), '{USE_ROW_ORDER,USE_RESTRICT,USE_TILING,USE_UNROLL}');
END
ok($node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM cudal1_ablation_table($ablation) WHERE state IN ('queued', 'measuring', 'verifying'))"),
	'every combination gets a verdict');
is($node->safe_psql('postgres', "SELECT state, count(*), count(DISTINCT candidate_id) FROM cudal1_ablation_table($ablation) GROUP BY 1"),
	'successful|16|16', 'all sixteen compute the product');
is($node->safe_psql('postgres', "SELECT effect, count(*), min(settings), count(lower) FROM cudal1_ablation_effects($ablation, 4) GROUP BY 1 ORDER BY 1"),
	"interaction|11|1|11\nmain|4|8|4", 'effects of every order, each with its interval');
is($node->safe_psql('postgres', "SELECT count(*) FROM cudal1_ablation_gatekeepers($ablation) WHERE gatekeeper IS NOT NULL"), '4',
	'each switch is judged');
is($node->safe_psql('postgres', 'SELECT * FROM cudal1_check()'), '', 'all derived numbers hold');
# figures, no verdicts
diag($node->safe_psql('postgres', "SELECT configuration, round(speedup::numeric, 2) FROM cudal1_ablation_table($ablation)"));
diag($node->safe_psql('postgres', "SELECT * FROM cudal1_ablation_gatekeepers($ablation)"));

$node->stop;
done_testing();
