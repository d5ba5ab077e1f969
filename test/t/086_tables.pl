# The paper's tables, recomputed from imported results by a program that shares nothing with the extension.
use strict;
use warnings;
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('tables');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'cudal1'\ncudal1.databases = ''\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION cudal1');

my $dir = PostgreSQL::Test::Utils::tempdir();
is(system('python3', "$FindBin::RealBin/../data/tables.py", 'make', "$dir/load.sql"), 0, 'results are made');
$node->safe_psql('postgres', slurp_file("$dir/load.sql"));

my %reports = (
	levels => "SELECT 'any', x.* FROM cudal1_level_report() AS x",
	levels_one => "SELECT 'any', x.* FROM cudal1_level_report(missing => 'one') AS x",
	levels_drop => "SELECT 'any', x.* FROM cudal1_level_report(missing => 'drop') AS x",
	levels_unrounded => "SELECT 'any', x.* FROM cudal1_level_report(missing => 'one', faster_than => 1.01, unrounded => true) AS x",
	devices_unrounded => q{SELECT device, level, tasks, mean, max, p75, p50, p25, success, speedup, geometric_mean, trimmed_mean, convention, evaluated, weak
		FROM cudal1_device_report(method => 'grpo', unrounded => true)},
	without_weak => "SELECT 'any', x.* FROM cudal1_level_report(without_weak => true) AS x",
	methods => 'SELECT method, level, tasks, mean, max, p75, p50, p25, success, speedup, geometric_mean, trimmed_mean, convention, evaluated, weak FROM cudal1_method_report()',
	devices => q{SELECT device, level, tasks, mean, max, p75, p50, p25, success, speedup, geometric_mean, trimmed_mean, convention, evaluated, weak
		FROM cudal1_device_report(method => 'grpo')},
	histogram => 'SELECT level, lower, upper, speedup_from, speedup_to, tasks, share FROM cudal1_speedup_histogram()',
	top => 'SELECT rank, task, speedup FROM cudal1_top_tasks(12)',
	compare => q{SELECT level, tasks, a_better, b_better, ratio, lower, upper, signed_rank_p, sign_p FROM cudal1_compare('grpo', 'evolve')},
	compare_drop => q{SELECT level, tasks, a_better, b_better, ratio, lower, upper, signed_rank_p, sign_p FROM cudal1_compare('grpo', 'evolve', missing => 'drop')},
	compare_zero => q{SELECT level, tasks, a_better, b_better, ratio, lower, upper, signed_rank_p, sign_p FROM cudal1_compare('grpo', 'evolve', missing => 'zero')},
	compare_devices => q{SELECT level, tasks, a_better, b_better, ratio, lower, upper, signed_rank_p, sign_p FROM cudal1_compare('grpo', 'grpo', 'A100', 'L40')},
);
for my $name (sort keys %reports)
{
	my $out = $node->safe_psql('postgres', $reports{$name});
	append_to_file("$dir/$name.rows", "$out\n");
	my ($said, $err) = ('', '');
	my $agrees = run_log(['python3', "$FindBin::RealBin/../data/tables.py", $name, "$dir/$name.rows"], '>', \$said, '2>', \$err);
	ok($agrees, "$name agrees with an independent computation") or diag("$said$err");
}
is($node->safe_psql('postgres', q{SELECT reward, import_device FROM cudal1.candidate WHERE code = 'grpo 1'}),
	$node->safe_psql('postgres', q{SELECT i.reward, i.device FROM cudal1.imported_score AS i JOIN cudal1.candidate USING (candidate_id)
		WHERE code = 'grpo 1' AND device = 'A100'}), 'the first device of a code sets its reward, the others stay on record');

# an imported failure, then a success, and the other way round
is($node->safe_psql('postgres', q{SELECT cudal1_import_result('t1', 'moody', NULL, 'm', 'H20'); SELECT cudal1_import_result('t1', 'moody', 2, 'm', 'H20');
	SELECT string_agg(i.device || ' ' || i.reward, ',') FROM cudal1.imported_score AS i JOIN cudal1.candidate USING (candidate_id) WHERE code = 'moody'}) =~ s/^.*\n//gmr,
	'H20 2', 'an import over an import of the device replaces it');

$node->stop;
done_testing();
