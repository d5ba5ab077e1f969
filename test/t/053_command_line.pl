# cudal1-measure for people: what names a task, what a verdict looks like, what its exit status is, and what a terminal gets of a code's words.
use Testing;
use File::Temp qw(tempdir);
use JSON::PP;
use Measuring;

my $dir = tempdir('people-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $profile = "$dir/profile.json";
my $signature = '{"args": [{"name": "x", "dtype": "float32", "shape": [64], "role": "in"}, {"name": "y", "dtype": "float32", "shape": [64], "role": "out"}]}';
my $loop = 'for (int i = 0; i < 64; i++)';
my %text = (
	'profile.json' => '{"bucket_seconds": 0.01, "window_seconds": 0.0005, "looks": [2], "pairs": 2, "half_width_limit": null, "check_seconds": 0.05}',
	'fixed.json' => '{"bucket_seconds": 0.01, "window_seconds": 0.0005, "precision_goal": 0, "looks": [2, 4], "pairs": 2, "half_width_limit": null, "check_seconds": 0.05}',
	'twice.c' => "/* $signature */\nvoid solve(const float *x, float *y) { $loop y[i] = 2 * x[i]; }\n",
	'twice.cu' => "/* $signature */\nextern \"C\" void solve(const float *x, float *y);\n",
	'bare.c' => "void solve(const float *x, float *y) { $loop y[i] = 2 * x[i]; }\n",
	'sum.c' => "void solve(const float *x, float *y) { $loop y[i] = x[i] + x[i]; }\n",
	'thrice.c' => "void solve(const float *x, float *y) { $loop y[i] = 3 * x[i]; }\n",
	'count.c' => '/* {"args": [{"name": "x", "dtype": "int32", "shape": [64], "role": "in", "low": 1, "high": 9},'
	  . ' {"name": "y", "dtype": "int32", "shape": [64], "role": "out"}]} */' . "\nvoid solve(const int *x, int *y) { $loop y[i] = x[i]; }\n",
	'level.c' => '/* {"args": [{"name": "x", "dtype": "float32", "shape": [4, 64], "role": "in"}, {"name": "y", "dtype": "float32", "shape": [4, 64], "role": "out"}]} */'
	  . "\nvoid solve(const float *x, float *y) { for (int r = 0; r < 4; r++) { float sum = 0; $loop sum += x[r * 64 + i]; $loop y[r * 64 + i] = sum + 1e-7f * x[r * 64 + i]; } }\n",
	'total.c' => '/* {"args": [{"name": "x", "dtype": "float32", "shape": [4, 64], "role": "in", "init": "uniform", "low": 1, "high": 1.05}, {"name": "y", "dtype": "float32", "shape": [4], "role": "out"}]} */'
	  . "\nvoid solve(const float *x, float *y) { for (int r = 0; r < 4; r++) { float sum = 0; $loop sum += x[r * 64 + i] * x[r * 64 + i]; y[r] = sum; } }\n",
	'ratios.c' => '/* {"args": [{"name": "x", "dtype": "float32", "shape": [256], "role": "in", "init": "uniform", "low": 1, "high": 2},'
	  . ' {"name": "y", "dtype": "float32", "shape": [64], "role": "out"}]} */' . "\nvoid solve(const float *x, float *y) { $loop y[i] = x[4 * i] / (x[4 * i + 2] + 1e-4f); }\n",
	'fading.c' => '/* {"args": [{"name": "x", "dtype": "float32", "shape": [4, 64, 4], "role": "in"}, {"name": "y", "dtype": "float32", "shape": [16], "role": "out"}]} */'
	  . "\nvoid solve(const float *x, float *y) { for (int r = 0; r < 16; r++) { float state = 0; $loop state = 0.5f * state + x[r / 4 * 256 + i * 4 + r % 4]; y[r] = state; } }\n",
	'dawdle.c' => "#include <unistd.h>\nvoid solve(const float *x, float *y) { usleep(700000); $loop y[i] = 2 * x[i]; }\n",
	'miscount.c' => "void solve(const int *x, int *y) { $loop y[i] = x[i] + 1; }\n",
	'painter.c' => "#include <stdio.h>\n#include <stdlib.h>\nvoid solve(const float *x, float *y)\n"
	  . '{ printf("\033]0;title\007\033[2J\xc2\x9b31m right\n"); fflush(stdout); abort(); }' . "\n",
	'broken.c' => "void solve(const float *x, float *y) { this is no C }\n",
	'empty.c' => '',
	'model.py' => "class Model:\n    pass\n",
	'sine.py' => "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.sin(x)\n"
	  . "def get_inputs():\n    return [torch.randn(64, 64)]\ndef get_init_inputs():\n    return []\n",
	# with the mark of byte order that some editors write
	'sine_new.py' => "\xef\xbb\xbfimport torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x.sin()\n",
	'folder/task.json' => qq({"language": "c", "reference": "bare.c", "signature": $signature}),
	'folder/bare.c' => "void solve(const float *x, float *y) { $loop y[i] = 2 * x[i]; }\n",
	'mistaken/task.json' => '{"language": "c"}',
	'mistaken.json' => '{"bucket_second": 1}',
	'refused/perf' => "#!/bin/sh\necho 'Error: \033[31mno permission'; exit 255\n",
	'refused/ncu' => "#!/bin/sh\n",
	'failing/perf' => "#!/bin/sh\ncase \$* in *control*) echo 'no memory'; exit 3;; esac\n",
);
mkdir "$dir/$_" for qw(folder mistaken scratch refused failing none);
write_file("$dir/$_", $text{$_}) for keys %text;
write_file("$dir/signature.json", $signature);
chmod 0755, glob "$dir/{refused,failing}/*";
my $perf = system("perf record -q -o '$dir/tried' true >/dev/null 2>&1") == 0;
my $options = "--scratch '$dir/scratch' --profile '$profile'";

# exit status and both outputs of a command line, run in the test's folder
sub outcome
{
	my ($line, $before) = @_;
	my $said = `cd '$dir' && @{[ $before // '' ]} '$measure' $options $line 2>&1`;
	return ($? >> 8, $said);
}

# runs a command on a terminal, and gives what it shows there
sub on_terminal
{
	my ($line, $before) = @_;
	my $said = `cd '$dir' && @{[ $before // '' ]} script -qec "'$measure' $options $line" /dev/null </dev/null 2>&1`;
	return ($? >> 8, $said);
}

# ---- what every program says of itself ----

for my $program (qw(measure agent generate import report top))
{
	my $path = $measure =~ s/measure$/$program/r;
	my $help = `COLUMNS=80 '$path' --help`;
	cmp_ok(length $help, '>', 400, "cudal1-$program has a help");
	is(join("\n", grep { length > 80 } split /\n/, $help), '', 'of lines that fit a terminal');
	is(`COLUMNS=80 '$path' -h`, $help, 'which -h shows, too');
	like($help, qr/--version/, 'and lists --version');
	like(`'$path' --version`, qr/^cudal1-$program \d+\.\d+\.\d+$/, 'which it has');
}

# ---- usage, before anything is measured ----

for my $case (
	['twice.c', qr/names a task; name candidates after it/],
	['twice.c none.c', qr/can't read none\.c: No such file/],
	['none.c sum.c', qr/can't read none\.c/],
	['twice.c empty.c', qr/empty\.c is empty/],
	['bare.c sum.c', qr/bare\.c: no comment holds a signature, such as \{"args"/],
	['painter.txt sum.c', qr/can't read painter\.txt/],
	['profile.json sum.c', qr/profile\.json is no task: a folder with a task\.json, or a file with one of these endings:.* \.py/],
	['model.py sum.c', qr/model\.py is no KernelBench file/],
	['mistaken sum.c', qr/needs a "language" and a "reference"/],
	['scratch sum.c', qr/can't read scratch\/task\.json/],
	['--quik twice.c sum.c', qr/\A\S+: unrecognized option '--quik'\s\S+: --help lists the options\s*\z/],
	['--cores abc twice.c sum.c', qr/--cores must be a number between 1 and/],
	['--profile-with gdb twice.c sum.c', qr/takes perf, ncu, timeline/],
	['--profile quick twice.c sum.c', qr/--profile takes a file with JSON.*--quick/],
	['--signature signature.json twice.c model.py', qr/model\.py is no candidate of a task in c/],
	['--signature profile.json bare.c sum.c', qr/"signature" must be an object with "args"/])
{
	my ($status, $said) = outcome($case->[0]);
	is($status, 2, "$case->[0]: wrong usage") or diag $said;
	like($said, $case->[1], "$case->[0]: said so");
}
for my $case (
	['perf twice.c sum.c', 'none', qr/there is no perf on the PATH/],
	['ncu twice.c sum.c', 'none', qr/there is no ncu on the PATH|ncu profiles codes on a GPU/],
	['ncu twice.c sum.c', 'refused', qr/ncu profiles codes on a GPU, and this task is measured on a CPU/],
	['timeline twice.c sum.c', 'none', qr/a timeline is PyTorch's, and this task is in another language/],
	['ncu twice.cu sum.c', 'refused', -e '/dev/nvidiactl' ? undef : qr/there is no GPU here/],
	['perf twice.c sum.c', 'refused', qr/perf may not sample here: Error: \?\[31mno permission/])
{
	my ($line, $path, $why) = @$case;
	next if !$why;
	my ($status, $said) = outcome("--profile-with $line", "/usr/bin/env PATH='$dir/$path'");
	is($status, 2, "a profiler that can't be had here ends a command before a measurement: $line, $path");
	like($said, qr/\Acudal1-measure: --profile-with \w+: $why/, 'and says why') or diag $said;
}

SKIP:
{
	skip 'no C on this host', 36 if !can_measure('c');

	# ---- verdicts ----

	my ($status, $said) = outcome('twice.c sum.c thrice.c');
	my @lines = map { decode_json($_) } grep { /^\{/ } split /\n/, $said;
	is($status, 1, 'one of two is wrong');
	is(join(' ', map { "$_->{file} $_->{outcome}" } @lines), 'sum.c successful thrice.c wrong_output', 'a pipe gets a line of JSON for each') or diag $said;
	ok(!(grep { $_->{evidence}{weak} } @lines), 'the task tells work from none');
	($status, $said) = outcome('count.c miscount.c');
	like($said, qr/"weak":"a copy of an input"/, 'another does not, and says so');
	($status, $said) = outcome('level.c miscount.c');
	like($said, qr/"weak":"the means of the outputs along an axis"/, 'nor does one whose outputs hardly differ along an axis');
	($status, $said) = outcome('total.c miscount.c');
	like($said, qr/"weak":"work on the means of an input's rows"/, 'nor one that adds up what is nearly linear');
	($status, $said) = outcome('ratios.c miscount.c');
	like($said, qr/"weak":"work on half of an input, which counts twice"/, 'nor one that needs half of its input');
	($status, $said) = outcome('fading.c miscount.c');
	like($said, qr/"weak":"work on the second half of an input's steps"/, 'nor one that forgets the first steps');
	($status, $said) = outcome('twice.c dawdle.c');
	my $slow = decode_json($said);
	is("$slow->{outcome} $slow->{evidence}{cause} " . ($slow->{evidence}{seconds}{window} // 0), 'timeout slow_run 0', 'code that is too slow by far is not timed')
	  or diag $said;
	($status, $said) = outcome('--profile mistaken.json twice.c sum.c');
	is($status, 0, 'a profile with an unknown member measures by the others');
	like($said, qr/mistaken\.json: member "bucket_second" is ignored, because it is no column/, 'and names it');
	($status, $said) = outcome('folder sum.c');
	is($status, 0, 'a task folder, and a right candidate') or diag $said;
	($status, $said) = outcome('--signature signature.json bare.c broken.c');
	is($status, 1, 'a signature beside the source, and code that does not compile') or diag $said;
	($status, $said) = outcome('--text --signature signature.json bare.c broken.c');
	like($said, qr/^compile error: [^\n]*\n(?:    [^\n]*\n)*     +\d+ \| [^\n]*\n     +\| +\^/m, 'the lines of a compiler, as it wrote them');
	($status, $said) = outcome('--device cpu:999 twice.c sum.c');
	is($status, 3, 'a device that is not there') or diag $said;
	like($said, qr/"outcome":"lost".*cudal1-measure --devices prints/, 'is no verdict, and says which are');

	($status, $said) = outcome('--profile fixed.json twice.c sum.c');
	is($status, 0, 'a measurement without a goal') or diag $said;
	like($said, qr/"pairs":4\b/, 'has all its pairs');
	like($said, qr/"protocol":2\b/, 'and says which clock it is of');

	# ---- a terminal ----

	($status, $said) = on_terminal('twice.c sum.c thrice.c 2>/dev/null', 'env -u NO_COLOR TERM=xterm');
	is($status, 1, 'on a terminal, too');
	like($said, qr/^sum\.c     \e\[32m\d+\.\d\dx\e\[0m \(\d+\.\d\d to \d+\.\d\d\), right, 2 pairs, \d+ s(: .*)?\r?$/m, 'a right one');
	like($said, qr/^thrice\.c  \e\[31mwrong output\e\[0m: output 0, float32 \[64\]: /m, 'a wrong one, with the reason');
	for my $plain ('env NO_COLOR=1 TERM=xterm', 'env -u NO_COLOR TERM=dumb')
	{
		($status, $said) = on_terminal('twice.c thrice.c', $plain);
		like($said, qr/^(\r\e\[K[^\r]*)*wrong output: output 0/m, "$plain: no colour");
		unlike($said, qr/\e\[\d*m/, "$plain: none at all");
	}
	($status, $said) = on_terminal('twice.c sum.c', 'env TERM=xterm');
	my @progress = $said =~ /\r\e\[K\e\[\?7l([^\r\n]+)/g;
	cmp_ok(scalar(grep { /^measuring/ } @progress), '>', 0, 'progress is shown');
	is(join(' | ', grep { !/\e\[\?7h$/ } @progress), '', 'on one row, however narrow');
	($status, $said) = outcome('--text twice.c sum.c 2>/dev/null');
	like($said, qr/\A[0-9.]+x.*right/, 'a pipe gets text where that is asked for');
	($status, $said) = on_terminal('--json twice.c thrice.c 2>/dev/null');
	like($said, qr/^\{"type":"result"/m, 'JSON if asked for');

	# what a code prints reaches a terminal as text alone, in either form
	for my $json ('', '--json')
	{
		($status, $said) = on_terminal("$json twice.c painter.c 2>/dev/null", 'env NO_COLOR=1 TERM=xterm');
		is($status, 1, "code that prints and ends$json");
		like($said, qr/crash.*it printed:.*title/, "$json: its words are shown");
		unlike($said, qr/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]/, "$json: and move nothing") or diag $said;
	}

	# ---- a profile ----

  SKIP:
	{
		skip 'no perf that may sample here', 2 if !$perf;
		($status, $said) = outcome('--profile-with perf twice.c sum.c');
		like($said, qr/"profile":"sum\.c\.perf\.data"/, 'a profile is kept');
		my $report = `cd '$dir' && perf report --stdio -i sum.c.perf.data 2>/dev/null`;
		like($report, qr/code\.so/, 'which shows the code');
	}
	($status, $said) = outcome('--profile-with perf twice.c sum.c', "/usr/bin/env PATH='$dir/failing:/usr/bin'");
	is($status, 0, 'a profiler that fails takes nothing from the verdict') or diag $said;
	like($said, qr/"no_profile":"perf ended with status 3: no memory"/, 'and is named') or diag $said;
}

my ($fails, $told) = outcome('count.c miscount.c');
like($told, qr/expected \d+, found \d+\. It is wrong/, 'integers have no tolerances to be off by') or diag $told;

# ---- an environment in which PyTorch finds dill, which it imports ----

SKIP:
{
	skip 'no PyTorch on this host', 3 if !can_measure('pytorch');
	my ($home, $version) = split ' ', `'$python' -c 'import os, sys; print(os.path.dirname(sys.executable), "python%d.%d" % sys.version_info[:2])'`;
	my $libraries = "$dir/venv/lib/$version/site-packages";
	system("mkdir -p '$dir/venv/bin' '$libraries' && ln -s '$python' '$dir/venv/bin/python3'"
		  . " && printf 'home = %s\ninclude-system-site-packages = true\n' '$home' >'$dir/venv/pyvenv.cfg'") == 0 or die;
	skip 'PyTorch is no library of the system', 3
	  if system("'$dir/venv/bin/python3' -c 'import importlib.util as u, sys; sys.exit(u.find_spec(\"torch\") is None)'") != 0;
	for my $case ([ "import tempfile\nTEMPDIR = tempfile.gettempdir()\ndef extend(use_dill):\n    pass\n", qr/"outcome":"successful"/, 'a library may ask where temporary files go' ],
		[ "import sys\nsys.stderr.write('word ' * 2000)\nraise RuntimeError('its last words')\n", qr/can't import PyTorch: .*RuntimeError: its last words/, 'the end of a traceback is told' ],
		[ "import os\nraise RuntimeError('beside it ' + ' '.join(os.listdir('$dir')))\n", qr/RuntimeError: beside it venv["\\]/, 'of the folders around an environment nothing is shown' ])
	{
		my ($library, $verdict, $name) = @$case;
		write_file("$libraries/dill.py", $library);
		my ($status, $said) = outcome("--python '$dir/venv/bin/python3' sine.py sine_new.py");
		like($said, $verdict, $name) or diag $said;
	}
}

# ---- PyTorch under its own profiler ----

SKIP:
{
	skip 'no PyTorch on this host', 3 if !can_measure('pytorch');
	my ($status, $said) = outcome('--profile-with timeline sine.py sine_new.py');
	my ($trace) = $said =~ /"outcome":"successful".*"profile":"([^"]+\.trace\.json)"/;
	ok(defined $trace, 'code is measured with a timeline') or skip $said, 1;
	my $kept = decode_json(slurp_file("$dir/$trace"));
	system("rm '$dir/$trace' && mkdir '$dir/$trace'") == 0 or die;
	(undef, my $told) = outcome('--profile-with timeline sine.py sine_new.py');
	like($told, qr/"no_profile":"the profile could not be made: .*Is a directory/, 'a place that can not be written to is named') or diag $told;
	ok((grep { ($_->{name} // '') =~ /^aten::/ } @{ ref $kept eq 'ARRAY' ? $kept : $kept->{traceEvents} }), 'of what PyTorch called');
}
done_testing();
