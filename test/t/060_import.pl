# cudal1-import: what it takes, what it leaves out, and that no text of a file becomes SQL.
use Testing;
use File::Path qw(make_path);

my $node = start_server('import');
$node->safe_psql('postgres', 'CREATE SCHEMA tools; CREATE EXTENSION cudal1 SCHEMA tools');

my $dir = PostgreSQL::Test::Utils::tempdir;

sub spew
{
	my ($path, $text) = @_;
	(my $folder = "$dir/$path") =~ s{/[^/]*$}{};
	make_path($folder);
	write_file("$dir/$path", $text);
	return;
}

# (exit status, standard output, standard error)
sub import_files
{
	my (@arguments) = @_;
	my ($out, $err) = ('', '');
	local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');
	IPC::Run::run([ 'cudal1-import', @arguments ], '<', \'', '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err);
}
sub value { return $node->safe_psql('postgres', $_[0]); }

my $task = <<'END';
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n))

    def forward(self, x):
        return x * self.weight


N = 64


def get_inputs():
    return [torch.randn(8, N)]


def get_init_inputs():
    return [N]
END

spew('kb/level1/12_Matmul_with_diagonal_matrices_.py', $task);
spew('kb/level1/2_Second.py', $task =~ s/64/32/r);
spew('kb/level2/7_Fused.py', $task =~ s/64/16/r);

# tasks
my ($status, $out, $err) = import_files("$dir/kb");
is($status, 0, 'a folder of task files: exit status');
is($out, "3 tasks added\n", 'a folder of task files: summary');
is( value("SELECT string_agg(concat_ws(' ', name, language, level, problem), ', ' ORDER BY level, problem) FROM cudal1.task"),
	'kernelbench/1/2_Second pytorch 1 2, kernelbench/1/12_Matmul_with_diagonal_matrices_ pytorch 1 12, '
	  . 'kernelbench/2/7_Fused pytorch 2 7',
	'names, levels and problem numbers come from the paths');
is(value("SELECT reference FROM cudal1.task WHERE problem = 12"), $task, 'the reference is the file');
($status, $out, $err) = import_files("$dir/kb");
is("$status $out", "0 3 tasks already there\n", 'importing again adds nothing');

# files that cannot be read are named and skipped, the others are imported
spew('bad/level1/1_Latin1.py', "# caf\xe9\n$task");
spew('bad/level1/2_Syntax.py', "def forward(:\n");
spew('bad/level1/3_NoModel.py', "def get_inputs():\n    return []\n");
spew('bad/level1/4_Empty.py', "\n");
spew('bad/level1/5_Nul.py', "$task\0");
spew('bad/level1/6_Good.py', "# six\n$task");
spew('bad/level1/12_Matmul_with_diagonal_matrices_.py', "# changed\n$task");
($status, $out, $err) = import_files("$dir/bad");
is($status, 1, 'unreadable task files: exit status');
is($out, "1 task added, 6 skipped\n", 'unreadable task files: summary');
like($err, qr{1_Latin1\.py: not UTF-8 \(byte 5\)}, 'another encoding is named');
like($err, qr{2_Syntax\.py: no Python: .*line 1}, 'a syntax error is named');
like($err, qr{3_NoModel\.py: defines no class Model}, 'a file without a model is named');
like($err, qr{4_Empty\.py: empty}, 'an empty file is named');
like($err, qr{5_Nul\.py: contains a NUL}, 'a NUL character is named');
like($err, qr{12_Matmul\S+: .*exists with other content}, 'another text under a task\'s name is refused, not taken');
is(value("SELECT count(*) FROM cudal1.task WHERE reference LIKE '# changed%'"), '0', 'and the reference stays');

# a task file is parsed, never run
spew('evil/level1/9_Runs.py', "open('$dir/was-run', 'w')\n$task");
import_files("$dir/evil");
ok(!-e "$dir/was-run", 'a task file is not executed');

# candidates in the shape of public result files
my $hostile = "class ModelNew: pass  # '; DROP TABLE cudal1.candidate CASCADE; -- \$\$ :HOME :'PATH'\n"
  . "\\! touch $dir/was-run\n\\q\n'; SELECT 1 \\gexec\nE'\\\\'' \\\\ \"\r\n";
my $json_hostile = $hostile =~ s/\\/\\\\/gr =~ s/"/\\"/gr =~ s/\n/\\n/gr =~ s/\r/\\r/gr;
spew('a100.json', join '', map { "$_\n" }
	'{"level_id": 1, "task_id": 12, "custom_code": "class ModelNew: one", "score_default": 3.5}',
	'{"level_id": 1, "task_id": 2, "custom_code": null, "score_default": null}',
	'{"level_id": 1, "task_id": 2, "custom_code": "None", "score_default": 1.25}',
	'{"level_id": 2, "task_id": 7, "custom_code": "class ModelNew: two", "score_default": null}',
	qq({"level_id": 2, "task_id": 7, "custom_code": "$json_hostile", "score_default": 0.5}),
	'');
($status, $out, $err) = import_files('--candidates', "$dir/a100.json", '--method', 'stage2');
is($status, 0, 'JSON lines: exit status');
is($out, "3 candidates submitted, 2 rows without a candidate\n", 'null and the text None are no candidates');
is(value("SELECT count(DISTINCT candidate_id) FROM cudal1.proposal WHERE method = 'stage2'"), '3', 'method of the proposals');
is(value("SELECT count(*) FROM cudal1.candidate WHERE code = 'None' OR code = ''"), '0', 'no candidate is empty or None');
is(value("SELECT encode(sha256(convert_to(code, 'UTF8')), 'hex') FROM cudal1.candidate WHERE code LIKE '%DROP%'"),
	value("SELECT encode(sha256('\\x" . unpack('H*', $hostile =~ s/\r\n/\n/gr) . "'::bytea), 'hex')"),
	'quotes, backslashes, variables and psql commands arrive byte for byte, CRLF apart');
ok(!-e "$dir/was-run", 'and run nothing');
($status, $out, $err) = import_files('--candidates', "$dir/a100.json", '--method', 'stage2');
is("$status $out", "0 3 candidates already there, 2 rows without a candidate\n", 'submitting again adds nothing');

# bad rows do not stop the good ones
spew('mixed.jsonl', join "\n",
	'{"level": 1, "problem": 2, "code": "class ModelNew: three"}', '{broken', '[1]', '{"level": 1, "problem": 99, "code": "x"}',
	'{"level": 1, "problem": 2}', '{"level": 1, "problem": 2, "code": 7}', '{"level": 1, "problem": 2, "code": "\ud800"}',
	'{"task": "no such", "code": "x"}', '{"task": "kernelbench/2/7_Fused", "code": "class ModelNew: four"}');
($status, $out, $err) = import_files('--candidates', "$dir/mixed.jsonl");
is($status, 1, 'bad rows: exit status');
is($out, "2 candidates submitted, 7 skipped\n", 'bad rows: summary');
like($err, qr{mixed\.jsonl:2: no JSON},                       'a broken line is named');
like($err, qr{mixed\.jsonl:4: no tasks of level 1, problem 99}, 'an unknown problem is named');
like($err, qr{mixed\.jsonl:7: contains half of a surrogate}, 'half a character is named');
like($err, qr{mixed\.jsonl:8: .*"no such"}, 'an unknown task is named');

# one JSON array; another key
spew('array.json', '[{"level_id": 1, "task_id": 2, "cudnn_code": "class ModelNew: five"}]');
($status, $out, $err) = import_files('--candidates', "$dir/array.json", '--code-key', 'cudnn_code');
is("$status $out", "0 1 candidate submitted\n", 'a JSON array, and the code under another key');

# a folder of files
spew('runs/level_1_problem_2_sample_0_kernel.py', "class ModelNew: six\n");
spew('runs/level1/12 mine.py', "```python\nclass ModelNew: seven\n```\n");
spew('runs/notes.md', "not a candidate\n");
($status, $out, $err) = import_files('--candidates', "$dir/runs", '--method', 'runs');
is("$status $out", "0 2 candidates submitted\n", 'a folder of candidates');
is(value("SELECT string_agg(concat_ws(' ', t.problem, p.proposal_key, btrim(c.code, E'\\n')), ', ' ORDER BY t.problem) FROM cudal1.proposal p"
		. " JOIN cudal1.candidate c USING (candidate_id) JOIN cudal1.task t ON t.task_id = c.task_id WHERE p.method = 'runs'"),
	'2 runs:level_1_problem_2_sample_0_kernel.py class ModelNew: six, 12 runs:level1/12 mine.py class ModelNew: seven',
	'files find their tasks by level and problem');

# results measured elsewhere
value("SELECT tools.cudal1_cancel(array_agg(candidate_id)) FROM cudal1.candidate");
($status, $out, $err) = import_files('--results', "$dir/a100.json", '--method', 'published', '--device', 'NVIDIA A100');
is("$status $out", "0 3 results imported, 1 row without a candidate, 1 score imported without code\n", 'results');
is(value("SELECT string_agg(t.problem || ' ' || c.state || ' ' || c.reward, ', ' ORDER BY c.reward) FROM cudal1.proposal p"
		. " JOIN cudal1.candidate c USING (candidate_id) JOIN cudal1.task t ON t.task_id = c.task_id WHERE method = 'published'"),
	'7 failed 0, 7 successful 0.5, 2 successful 1.25, 12 successful 3.5', 'a null score is a failure, the others are rewards');
($status, $out, $err) = import_files('--results', "$dir/a100.json", '--method', 'published', '--device', 'NVIDIA A100');
is("$status $out", "0 4 results already there, 1 row without a candidate\n", 'importing results again adds nothing');

# public result files as they come: one a device, named after it, with the references of their tasks
sub reference { return "class Model:\n    size = $_[0]\n\n\ndef get_inputs():\n    return []\n" =~ s/\n/\\n/gr; }
sub rows_of
{
	my (@rows) = @_;
	return join '', map { my ($level, $problem, $code, $score) = @$_;
		sprintf qq({"level_id": %d, "task_id": %d, "ref_code": "%s", "custom_code": %s, "cudnn_code": "x", "score_default": %s, "score_cudnn": 9}\n),
		  $level, $problem, reference($problem), $code, $score } @rows;
}
my $fast = '"class ModelNew: fast"';
spew('public/a100.json', rows_of([1, 31, $fast, 3.456], [1, 32, 'null', 'null'], [1, 33, '"None"', 1.5], [3, 31, '"class ModelNew: deep"', 449.129]));
spew('public/rtx_3090.json', rows_of([1, 31, $fast, 2.5], [1, 32, '"class ModelNew: small"', 1.018], [1, 33, 'null', 'null'], [3, 31, 'null', 'null']));
my @public = ('--results', "$dir/public/a100.json", "$dir/public/rtx_3090.json", '--method', 'public', '--prefix', 'public');
($status, $out, $err) = import_files(@public);
is("$status $out", "0 4 tasks added, 4 results imported, 3 rows without a candidate, 1 score imported without code\n", 'public files: one command');
is(value("SELECT string_agg(format('%s %s %s', name, level, problem), ', ' ORDER BY level, problem) FROM cudal1.task WHERE name LIKE 'public/%'"),
	'public/1/31 1 31, public/1/32 1 32, public/1/33 1 33, public/3/31 3 31', 'their tasks come from them, solved or not');
is(value("SELECT string_agg(concat_ws(' ', t.name, i.device, i.score), ', ' ORDER BY t.name, i.device) FROM cudal1.imported_score i"
		. " JOIN cudal1.candidate c USING (candidate_id) JOIN cudal1.task t ON t.task_id = c.task_id WHERE t.name LIKE 'public/%'"),
	'public/1/31 A100 3.456, public/1/31 RTX 3090 2.5, public/1/32 RTX 3090 1.018, public/1/33 A100 1.5, public/3/31 A100 449.129', 'and each score its device from the name of its file');
($status, $out, $err) = import_files(@public);
is("$status $out", "0 5 results already there, 3 rows without a candidate\n", 'again: nothing new');
is(value("SELECT count(*) FROM cudal1.proposal WHERE method = 'public'"), '5', 'no proposal either');
is(value("SELECT concat_ws(' ', c.state, c.purpose, c.reward, c.code = '', (SELECT count(*) FROM cudal1.pool_code s WHERE s.candidate_id = c.candidate_id))"
		. " FROM cudal1.candidate c JOIN cudal1.task t USING (task_id) WHERE t.name = 'public/1/33'"), 'successful withheld 1.5 t 0', 'a score without its code is sampled by nobody');
is(value("SELECT string_agg(concat_ws(' ', device, level, tasks, success, speedup, round(mean::numeric, 6), max), ', ' ORDER BY device, level)"
		. " FROM tools.cudal1_device_report(method => 'public', missing => 'one', faster_than => 1.02, unrounded => true)"
		. " WHERE level = 'All'"), 'A100 All 9 3 3 51.120556 449.129, NVIDIA A100 All 9 0 0 1.000000 1, RTX 3090 All 9 2 1 1.168667 2.5', 'and counts in reports, which know what was not rounded');
is(value('SELECT count(*) FROM tools.cudal1_check()'), '0', 'all derived numbers hold');
# the title of a task comes later, or its reference is another one
spew('titles/level1/31_With_a_title.py', reference(31) =~ s/\\n/\n/gr . "# layout and comments do not count\n");
($status, $out, $err) = import_files("$dir/titles", '--prefix', 'public');
is("$status $out", "0 1 task already there\n", 'a task file of a known reference adds no second task');
spew('public/h100.json', rows_of([1, 31, $fast, 4]) =~ s/size = 31/size = 30/r);
($status, $out, $err) = import_files('--results', "$dir/public/h100.json", '--prefix', 'public');
is($status, 1, 'a score over another reference');
like($err, qr{h100\.json:1: the reference of public/1/31 is another one}, 'is left out');
# older files: an object of lists by level, another name of the score; and files that no device names
spew('public/l40.json', '{"1": [{"task_id": 31, "ref_code": "' . reference(31) . '", "custom_code": ' . $fast . ', "score": 2.25}], "3": []}');
($status, $out, $err) = import_files('--results', "$dir/public/l40.json", '--prefix', 'public');
is("$status $out", "0 1 result imported\n", 'lists by level');
spew('public/step_400.json', rows_of([1, 31, $fast, 2]));
($status, $out, $err) = import_files('--results', "$dir/public/step_400.json", '--prefix', 'public');
is($status, 1, 'a file that is not named after a device');
like($err, qr{step_400\.json: is not named after a device, say it by --device}, 'wants to be told');

# tables make texts and floats of numbers, and texts of what is none; answers keep their fences
spew('tables/b200.jsonl', join "\n",
	'{"level": "1", "problem_id": 12.0, "code": "class ModelNew: table", "speedup": "1.75"}',
	'{"level_id": 1.0, "task_id": "2", "code": "```python\\nclass ModelNew: fenced\\n```\\n", "score": 1.5}',
	(map { qq({"level": 1, "problem": 2, "code": $_, "score": 3}) } '"null"', '"nan"', 'NaN', '" None "', '"N/A"'),
	'{"level": 1, "problem": 2, "code": "class ModelNew: slow", "score": NaN}', '{"level": 1.5, "problem": 2, "code": "x", "score": 1}',
	'{"level": 1, "problem": "two", "code": "x", "score": 1}', '{"level": 1, "problem": 2, "code": "' . reference(2) . '"}');
($status, $out, $err) = import_files('--results', "$dir/tables/b200.jsonl", '--method', 'tables');
is("$status $out", "1 3 results imported, 1 score imported without code, 4 results already there, 3 skipped\n", 'rows of tables');
is(value("SELECT string_agg(concat_ws(' ', t.problem, c.code, c.reward), ', ' ORDER BY c.reward) FROM cudal1.proposal p JOIN cudal1.candidate c USING (candidate_id)"
		. " JOIN cudal1.task t ON t.task_id = c.task_id WHERE method = 'tables' AND c.purpose = 'normal'"),
	'2 class ModelNew: slow 0, 2 class ModelNew: fenced 1.5, 12 class ModelNew: table 1.75', 'numbers are numbers, and codes have no fences');
like($err, qr{:9: level must be an integer, not 1\.5}, 'a level that is none is named');
like($err, qr{:10: problem must be an integer, not "two"}, 'and so is a problem');
like($err, qr{:11: "code" is a reference, not a candidate}, 'a reference is no candidate');

# the data set of KernelBench, as rows; a Model in a try; many rows with the same fault
spew('set/level_3.jsonl', join "\n", (map { sprintf '{"code": "%s", "level": 3, "name": "%d_Net", "problem_id": %d}', reference($_), $_, $_ } 5, 6),
	'{"code": "try:\\n    class Model:\\n        pass\\nexcept ImportError:\\n    raise\\ndef get_inputs():\\n    return []\\n", "level": "3", "problem_id": 7}');
($status, $out, $err) = import_files("$dir/set");
is("$status $out", "0 3 tasks added\n", 'rows of a data set are tasks') or diag $err;
is(value("SELECT string_agg(concat_ws(' ', name, level, problem, options ->> 'certify'), ', ' ORDER BY problem) FROM cudal1.task WHERE level = 3 AND name LIKE 'kernelbench/%'"),
	'kernelbench/3/5_Net 3 5 false, kernelbench/3/6_Net 3 6 false, kernelbench/3/7 3 7 false', 'with names and numbers, and no device certifies them unasked');
spew('set/h100.jsonl', join '', map { qq({"level": 9, "problem": $_, "code": "x", "score": 1}\n) } 1 .. 454);
($status, $out, $err) = import_files('--results', "$dir/set/h100.jsonl");
is($status, 1, 'hundreds of rows without a task');
is(scalar(() = $err =~ /^skipped: /mg), 3, 'name three');
like($err, qr{^\.\.\. and 451 more: no tasks of level 9, problem 454}m, 'and count the others');
for my $device ('t4:T4', 'rtx4090:RTX 4090', 'titan_v:TITAN V', 'nvidia_a100-sxm4-80gb:NVIDIA A100 SXM4 80GB', 'jetson_agx_orin:JETSON AGX ORIN', 'arc_a770:ARC A770', 'v2:', '2025-11-28:')
{
	my ($name, $is) = split /:/, $device, 2;
	spew("devices/$name.jsonl", qq({"level": 1,\n"problem": 2, "code": "x", "score": 1}\n));
	($status, $out, $err) = import_files('--dry-run', '-v', '--results', "$dir/devices/$name.jsonl");
	like("$out$err", $is ? qr{^results on \Q$is\E: .*\n1 result read$}m : qr{is not named after a device}, "$name.jsonl is of " . ($is || 'no device'));
}
my @certified = ("$dir/kb/level2", '--prefix', 'certified');
import_files(@certified, '--certify');
is(value("SELECT options FROM cudal1.task WHERE name LIKE 'certified/%'"), '{"problem": 7}', '--certify leaves the choice to devices');

# task folders
spew('own/double/task.json', '{"language": "c", "level": 1, "reference": "reference.c", "options": {"profile": "quick"}, '
	  . '"signature": {"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [64], "role": "in"}, '
	  . '{"name": "y", "dtype": "float32", "shape": [64], "role": "out"}]}}');
spew('own/double/reference.c',
	"void solve(const float *x, float *y)\n{\n\tfor (int i = 0; i < 64; i++)\n\t\ty[i] = 2 * x[i];\n}\n");
spew('own/double/candidates/added.c',
	"void solve(const float *x, float *y)\n{\n\tfor (int i = 0; i < 64; i++)\n\t\ty[i] = x[i] + x[i];\n}\n");
($status, $out, $err) = import_files("$dir/own", '--candidates', "$dir/own");
is("$status $out", "0 1 task added, 1 candidate submitted\n", 'task folders with their candidates');
($status, $out, $err) = import_files('--candidates', (glob "$dir/own/*/candidates")[0]);
is("$status $out", "0 1 candidate already there\n", 'whose folder may be named, too') or diag($err);
is(value("SELECT language || ' ' || profile FROM cudal1.task WHERE name = 'double'"),
	'c quick', 'language and options of a folder');

# usage, connection
is((import_files())[0], 2, 'nothing named: usage');
is((import_files('--options', '[', "$dir/kb"))[0], 2, 'options that are no JSON: usage');
is((import_files('-d', 'template1', "$dir/kb"))[0], 3, 'a database without cudal1');
($status, $out, $err) = import_files('-d', "host=$dir dbname=postgres", "$dir/kb");
is($status, 3, 'no server');
like($err, qr{server \Q$dir\E, port \d+: }, 'which is named');
($status, $out, $err) = import_files('--results', "$dir/none.json");
like($err, qr{none\.json: no such file}, 'results that are not there');
($status, $out, $err) = import_files('--help');
like($out, qr{exit status}, '--help says what the exit status means');
is((import_files('--dry-run', '-d', "host=$dir", "$dir/kb"))[0], 0, 'a dry run connects to nothing');

$node->stop;
done_testing();
