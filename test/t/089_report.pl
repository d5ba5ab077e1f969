# cudal1-report: one page that needs nothing from elsewhere, with the figures of the database and every text as text.
use Testing;
use File::Path ();

my $node = start_server('report', "shared_preload_libraries = 'cudal1'\ncudal1.databases = ''\n");
@ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');
my $dir = PostgreSQL::Test::Utils::tempdir();
my $check = "$ENV{TESTDIR}/test/data/page.py";

command_fails_like(['cudal1-report'], qr/no extension cudal1/, 'a database without the extension is named as such');
is(system('cudal1-report -d "host=/nowhere" >/dev/null 2>&1') >> 8, 3, 'no connection is exit status 3');
is(system('cudal1-report --missing two >/dev/null 2>&1') >> 8, 2, 'a bad argument is 2');

$node->safe_psql('postgres', 'CREATE EXTENSION cudal1;' . slurp_file("$ENV{TESTDIR}/test/data/tap.sql"));
command_ok(['cudal1-report', '-o', "$dir/empty.html"], 'an empty database has a report');
command_ok(['python3', $check, "$dir/empty.html"], 'which is sound');
command_like(['cudal1-report', '--text'], qr/^All\s+0\s/m, 'as text, too');

# the paper's tables, recomputed from imported results by a program that shares nothing with the extension
is(system('python3', "$ENV{TESTDIR}/test/data/tables.py", 'make', "$dir/load.sql"), 0, 'results are made');
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
	my $agrees = run_log(['python3', "$ENV{TESTDIR}/test/data/tables.py", $name, "$dir/$name.rows"], '>', \$said, '2>', \$err);
	ok($agrees, "$name agrees with an independent computation") or diag("$said$err");
}
is($node->safe_psql('postgres', q{SELECT reward, import_device FROM cudal1.candidate WHERE code = 'grpo 1'}),
	$node->safe_psql('postgres', q{SELECT i.reward, i.device FROM cudal1.imported_score AS i JOIN cudal1.candidate USING (candidate_id)
		WHERE code = 'grpo 1' AND device = 'A100'}), 'the first device of a code sets its reward, the others stay on record');
# everything that has a picture, and a name that would like to be markup
$node->safe_psql('postgres', <<'SETUP');
SET cudal1.certify = off;
SELECT cudal1_add_task('<script>alert("x")</script> & ''quotes'' | bars', 'class Model: pass', 'pytorch', NULL, 2, '{"device": "cpu", "profile": "quick"}');
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}');
DO $$
DECLARE
	c	record;
	n	int := 0;
BEGIN
	FOR i IN 1 .. 3 LOOP
		PERFORM cudal1_submit('<script>alert("x")</script> & ''quotes'' | bars', 'better ' || i, '<b>bold</b>');
		PERFORM tap.work(1, jsonb_build_object('outcome', 'successful', 'score', 1 + i * 0.1));
	END LOOP;
	PERFORM cudal1_profile(candidate_id) FROM cudal1.candidate WHERE code = 'better 2';
	PERFORM tap.work(1, '{"outcome": "successful", "evidence": {"profile": {"tool": "perf", "counters": [
		{"name": "core time", "value": 2.8765e-7, "unit": "s"}, {"name": "<i>hits</i>", "value": 98.46, "unit": "%"}]}}}');
	PERFORM cudal1_submit_response(q.prompt_id, E'## Performance Analysis\nx\n## Algorithm Design\nx\n## Code Implementation\n```python\nbetter 1\nand more\n```\n',
		'<b>bold</b>') FROM cudal1_prompt('<script>alert("x")</script> & ''quotes'' | bars') AS q;
	PERFORM tap.work(1, jsonb_build_object('outcome', 'successful', 'score', 1.4));
	PERFORM cudal1_reverify('0 seconds');
	PERFORM tap.work(1, jsonb_build_object('outcome', 'successful', 'score', 1.2, 'lower', 1.19, 'upper', 1.21));
	-- a trainer's groups, the answers to the later ones better
	PERFORM cudal1_open_pool('none-1');
	PERFORM cudal1_add_campaign('<u>run</u>', 'contrastive', tasks => ARRAY['<script>alert("x")</script> & ''quotes'' | bars'],
		options => '{"method": "of the run", "group_size": 2, "exemplars": 0}', pool => 'none-1');
	FOR i IN 1 .. 4 LOOP
		PERFORM cudal1_answer_group(g.group_key, ARRAY[format(E'```python\ntrained %s\n```', i), 'no code']) FROM cudal1_next_group('<u>run</u>') AS g;
		PERFORM tap.work(1, jsonb_build_object('outcome', 'successful', 'score', i * 0.2));
	END LOOP;
	PERFORM cudal1_ablate(cudal1_submit('<script>alert("x")</script> & ''quotes'' | bars', E'A = True\nB = True\n', '<b>bold</b>'), '{A,B}');
	FOR i IN 1 .. 5 LOOP
		PERFORM cudal1_measure_aa();
		LOOP
			SELECT * INTO c FROM cudal1.claim(1, 'w');
			EXIT WHEN NOT FOUND;
			n := n + 1;
			PERFORM cudal1.finish(c.job_id, c.attempt, jsonb_build_object('outcome', 'successful', 'score', 1 + n * 0.0625, 'lower', 0.99 + n * 0.0625,
				'upper', 1.01 + n * 0.0625, 'candidate_seconds', 0.001, 'device_seconds', 60));
		END LOOP;
	END LOOP;
	PERFORM cudal1_ablation_explain(1, '{}', '<i>everything</i>');
END
$$;
SETUP
for my $options ([], ['--missing', 'one'], ['--missing', 'drop'], ['--method', 'grpo', '--device', 'L40'], ['--without-weak'], ['--title', '<T>'], ['--pool', 'main', '--tasks', 't1%', 't2'])
{
	command_ok(['cudal1-report', '-o', "$dir/page.html", @$options], "a page with @$options");
	command_ok(['python3', $check, "$dir/page.html"], 'is sound');
}
command_ok(['cudal1-report', '-o', "$dir/page.html"], 'the whole page');
command_ok(['python3', $check, "$dir/page.html", 'By level', 'By method', 'By device', 'Speedup distribution', 'Speedup of each task', 'Top tasks', 'Progress', 'Training',
	'Outcomes of proposals', 'Noise of measurements', 'Devices measured against themselves', 'Measured again', 'Ablation of candidate', 'Codes'], 'has every part');
like(slurp_file("$dir/page.html"), qr/"code": "better 2"/, 'and the codes');
(my $tile = $node->safe_psql('postgres', <<'SQL')) =~ s/\s//g;
SELECT to_char(geometric_mean, CASE WHEN geometric_mean < 100 THEN 'FM990.00' ELSE 'FM999,990' END)
FROM cudal1_level_report(missing => 'drop') WHERE level = 'All'
SQL
like(slurp_file("$dir/page.html"), qr/<b>\Q$tile\E<\/b><span>geo\. mean, solved/, 'one figure is the same in its tile and in its table');
# a code that is larger than all the room hides no other
my $shown = `python3 - <<'END'
import importlib.machinery, importlib.util
loader = importlib.machinery.SourceFileLoader("report", "$ENV{TESTDIR}/runner/tools/cudal1-report")
report = importlib.util.module_from_spec(importlib.util.spec_from_loader("report", loader))
loader.exec_module(report)
code = {"state": "successful", "reward": 2.0, "failure": None, "method": "m", "prompt": None,
	"exemplars": None, "language": "c"}
data = {"prompts": [], "codes": [{**code, "candidate_id": 1, "task": "large", "code": "<" * 2000000}, {**code, "candidate_id": 2, "task": "small", "code": "x"}]}
page = report.Report()
report.show_codes(page, data)
print(sorted(page.codes), page.sections[-1]["note"])
END`;
like($shown, qr/^\[2\] .*cudal1 show ID prints those .* no room: 1 of large\./, 'a code without room is named, and the next ones are shown');
my $mean = $node->safe_psql('postgres', q{SELECT to_char(mean, 'FM990.00') FROM cudal1_level_report() WHERE level = 'All'});
# in a real browser: a copy of the page that says of itself what does not fit, and a picture in each theme
my ($browser) = grep { -x } map { ("$_/chromium", "$_/chromium-browser", "$_/google-chrome") } split /:/, $ENV{PATH};
SKIP:
{
	skip 'no chromium here', 8 unless $browser;
	my @headless = ($browser, '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', "--user-data-dir=$dir/profile");
	my $probe = slurp_file("$ENV{TESTDIR}/test/data/probe.html");
	append_to_file("$dir/probe.html", slurp_file("$dir/page.html") =~ s{</body>}{$probe</body>}r);
	for my $width (1400, 700, 390)
	{
		my ($dom, $said) = ('', '');
		IPC::Run::run([@headless, "--window-size=$width,900", '--dump-dom', "file://$dir/probe.html"], '>', \$dom, '2>', \$said);
		is(($dom =~ m{<title>looked: (.*?)</title>})[0], '', "$width pixels wide, nothing lies outside of its place") or diag(substr($said, -500));
	}
	my %size;
	for my $theme ([light => '1'], [dark => '0'])
	{
		my $picture = "$dir/$theme->[0].png";
		run_log([@headless, "--blink-settings=preferredColorScheme=$theme->[1]", '--window-size=1200,6000', "--screenshot=$picture", "file://$dir/page.html"],
			'>', \my $out, '2>', \my $err);
		ok(-s $picture, "a picture of it, $theme->[0]");
		my $png = -s $picture ? slurp_file($picture) : '';
		is(join(' ', unpack('x16 N N', $png)), '1200 6000', 'as large as asked for');
		$size{$theme->[0]} = length $png;
	}
	# a page without content is some 20 kB
	cmp_ok($size{light}, '>', 100_000, 'with something on it');
}
like(slurp_file("$dir/page.html"), qr/<b>\Q$mean\E<\/b><span>mean speedup/, 'with the mean of the database');
my ($text, $err) = ('', '');
run_log(['cudal1-report', '--text'], '>', \$text, '2>', \$err);
like($text, qr/^All\s+53\s+\Q$mean\E\s/m, 'as has the text');
like($text, qr/\d unsolved, counted as 0\./, 'which says its convention');
like($text, qr/Ablation of candidate/, 'and shows ablations');
IPC::Run::run([ 'script', '-qec', 'stty cols 80; cudal1-report --text', '/dev/null' ], '<', \undef, '>', \my $narrow);
my @lines = map { tr/\r//dr =~ s/…/./gr } map { split /\n/ } $narrow =~ /^(-+ -.*?)(?:^\s*$|\z)/gms;
cmp_ok(scalar @lines, '>', 10, 'a terminal gets tables');
is(join("\n", grep { length > 80 } @lines), '', 'as wide as it is');
command_like(['cudal1-report', '--text', '--tasks', 't1', 't2_'], qr/^All\s+11\s/m, 'over tasks of one\'s choice');
command_like(['cudal1-report', '--text'], qr/^<u>run<\/u>\s+4\s+8\s+0\.100\s+0\.400$/m, 'what a run was paid, from its first groups to its last');
command_like(['cudal1-report', '--text', '--pool', 'none-1'], qr/Outcomes of proposals(?:(?!\n\n\S).)*of the run\s+8\s+4(?:(?!<b>bold).)*\z/s,
	'of a pool what was proposed there');
# a run of examples/train/compare that was cut off in its fifth step
for my $file (
	[ 'done/evaluate-base.json', '{"answers": 4, "right": 0, "interval": [0, 0.49], "reward": 0, "best": 0, "tasks": {"a": {"best": 0}, "b": {"best": null}}}' ],
	[ 'done/evaluate-none-1-4.json', '{"answers": 4, "right": 2, "interval": [0.15, 0.85], "reward": 1, "best": 3, "tasks": {"a": {"best": 3}, "b": {"best": 0}}}' ],
	[ 'none-1/steps/3-0.json', '{"groups": [{}]}' ],
	[ 'none-1/checkpoint-4/trainer_state.json', '{"global_step": 4, "log_history": [' . join(', ', map {
		qq({"step": $_, "reward": @{[ $_ / 10 ]}, "outcome/successful": 0.5, "device_seconds": 2, "frac_reward_zero_std": 0, "entropy": 1,
			"answers/distinct": 1}) } 1 .. 4) . ']}' ],
	[ 'none-1/checkpoint-5/README.md', '' ])
{
	my ($path) = "$dir/compared/$file->[0]" =~ m{^(.*)/} or die;
	File::Path::make_path($path);
	append_to_file("$dir/compared/$file->[0]", $file->[1]);
}
command_like([ "$ENV{TESTDIR}/bench/training", "$dir/compared", '--host', 'h', '--model', 'm', '--settings', 's', '--commit', 'c', '--into', "$dir/results" ],
	qr/stages.json: 2 rows\n.*curves.json: 1 rows\n.*steps.json: 1 rows\n\z/, 'a training run has results');
like(slurp_file("$dir/results/training-stages.json"),
	qr/"the same, GRPO none, seed 1, 4 steps", "2 of 4", "0.150 to 0.850", "1.00", "1 of 2", "1", "1.50", "3.00", "2.25", "1.50", "0.75"/, 'a row for each stage');
like(slurp_file("$dir/results/training-curves.json"), qr/\["none", "1", "4", "8", "2", "0.15", "0.35", "0.1\d\d", "0.50"/,
	'and one for each run, with the chance that groups in any order would rise as much');
like(slurp_file("$dir/results/training-steps.json"), qr/\["none-1", "0.10 0.20 0.30 0.40", "0.50 0.50 0.50 0.50", "- - - -", "- - - -", [^\n]*"2 4 6 8"\]/,
	'and the steps of each in one row');
my @compare = ('python3', '-B', "$ENV{TESTDIR}/examples/train/compare", '--model', '/nowhere', '--output', "$dir/compared", '--tasks', 'a',
	'--held-out', 'b', '--strategies', 'none', '--steps', '4');
command_like([ @compare, '--minutes', '0' ], qr/^base +0\/ +4 .*^none-1-4 +2\/ +4 .*^none-1 +4 +8 /ms, 'a comparison prints what is there');
($text, $err) = ('', '');
run_log(\@compare, '>', \$text, '2>', \$err);
like($err, qr{^compare: sft failed; the end of \S+/sft\.log:\n.+}m, 'and the end of the log of a program that failed');
append_to_file("$dir/compared/done/$_.json", '{}') for qw(sft self evaluate-sft evaluate-self none-2-4);
($text, $err) = ('', '');
run_log([ @compare[0 .. $#compare - 3], 'bucket,none', '--steps', '4', '--every', '4', '--seeds', '2' ], '>', \$text, '2>', \$err);
like($text, qr/^\S+ bucket-2-4\n\S+ evaluate-none-2-4$/m, 'a run that fails leaves the others their evaluations');
command_fails_like(['cudal1-report', '--method', 'contrastve'], qr/method "contrastve" does not exist. Did you mean "contrastive"\?/, 'a mistyped method is an error');
($text, $err) = ('', '');
run_log(['cudal1-report', '--text', '--method', 'contrastive'], '>', \$text, '2>', \$err);
like($err, qr/^NOTICE: nothing was proposed by method "contrastive"/m, 'what the server notes is on standard error');
is(system("cudal1-report -o $dir/no/such/folder/x 2>/dev/null") >> 8, 2, 'a file that cannot be written is said');
$node->safe_psql('postgres', 'CREATE ROLE reader LOGIN; SELECT cudal1_grant($$reader$$, $$analyst$$)');
{
	local $ENV{PGUSER} = 'reader';
	command_ok(['cudal1-report', '-o', "$dir/page.html"], 'an analyst needs no more rights');
}
$node->safe_psql('postgres', 'CREATE ROLE stranger LOGIN');
{
	local $ENV{PGUSER} = 'stranger';
	is(system("cudal1-report -o $dir/page.html 2>/dev/null") >> 8, 3, 'a stranger gets none');
}

# an imported failure, then a success, and the other way round
is($node->safe_psql('postgres', q{SELECT cudal1_import_result('t1', 'moody', NULL, 'm', 'H20'); SELECT cudal1_import_result('t1', 'moody', 2, 'm', 'H20');
	SELECT string_agg(i.device || ' ' || i.reward, ',') FROM cudal1.imported_score AS i JOIN cudal1.candidate USING (candidate_id) WHERE code = 'moody'}) =~ s/^.*\n//gmr,
	'H20 2', 'an import over an import of the device replaces it');

$node->stop;
done_testing();
