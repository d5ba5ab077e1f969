# Certification, really measured: tasks that ask for work pass, a task that asks for none is weak, and bad references are found.
use Testing;

my $dir  = PostgreSQL::Test::Utils::tempdir();
chmod 0755, $dir;
mkdir "$dir/scratch";
my $node = start_server('certification', "shared_preload_libraries = 'cudal1'\ncudal1.certify = on\ncudal1.scratch_dir = '$dir/scratch'\n");

sub certified
{
	my ($task) = @_;
	ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM cudal1.job'), "$task: it is measured");
	return $node->safe_psql('postgres', "SELECT concat_ws(': ', certified, certified_detail) FROM cudal1.task WHERE name = '$task'");
}

$node->safe_psql('postgres', 'CREATE EXTENSION cudal1');
ok($node->poll_query_until('postgres', 'SELECT count(*) > 0 FROM cudal1.device'), 'a device is found');

# every kind of argument
$node->safe_psql('postgres', <<'END');
SELECT cudal1_add_task('work', $$
void solve(const float *x, const int *at, float *y, double *z, int n, float scale)
{
	for (int i = 0; i < n; i++)
	{
		y[i] = scale * x[at[i]] + i;
		z[i] = z[i] * z[i] + y[i];
	}
}
$$, 'c', '{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [8, 32], "role": "in"}, {"name": "at", "dtype": "int32", "shape": [256], "role": "in", "low": 0, "high": 255},
	{"name": "y", "dtype": "float32", "shape": [256], "role": "out"}, {"name": "z", "dtype": "float64", "shape": [256], "role": "inout"},
	{"name": "n", "dtype": "int32", "role": "scalar", "value": 256}, {"name": "scale", "dtype": "float32", "role": "scalar", "value": 3.5}]}', options => '{"certify": true}')
END
is(certified('work'), 'passed', 'work: the task has passed');
is($node->safe_psql('postgres', q{SELECT bytes, operations, seconds > 0 FROM cudal1_light('work')}), '7168||t', 'work: its bytes, and what memory allows');

sub add
{
	my ($task, $body, $options) = @_;
	$node->safe_psql('postgres', "SELECT cudal1_add_task('$task', \$\$static float calls; void solve(const float *x, float *y) { $body }\$\$, 'c', "
		  . q{'{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [64], "role": "in"}, {"name": "y", "dtype": "float32", "shape": [64], "role": "out"}]}', options => '} . "$options')");
}

# nobody asked, and the device has nothing to do
add('unasked', 'for (int i = 0; i < 64; i++) y[i] = 2 * x[i];', '{}');
ok($node->poll_query_until('postgres', q{SELECT certified = 'passed' FROM cudal1.task WHERE name = 'unasked'}), 'unasked: the task has passed in time');
is($node->safe_psql('postgres', q{SELECT reference_state FROM cudal1.task WHERE name = 'unasked'}), 'good', 'and its reference was checked');

# references that no candidate can be compared with
sub checked
{
	my ($task, $body) = @_;
	add($task, $body, '{}');
	$node->poll_query_until('postgres', "SELECT reference_state = 'bad' FROM cudal1.task WHERE name = '$task'");
	return $node->safe_psql('postgres', "SELECT reference_detail FROM cudal1.task WHERE name = '$task'");
}
like(checked('keeps', 'calls++; for (int i = 0; i < 64; i++) y[i] = x[i] + calls;'), qr/does not agree with itself/, 'one that counts its calls is found');
like(checked('ignores', 'for (int i = 0; i < 64; i++) y[i] = i;'), qr/returns the same for other inputs/, 'and one that ignores its inputs');
like(checked('underflows', 'for (int i = 0; i < 64; i++) y[i] = 1e-40f * x[i] * (i < 2);'), qr/the same for other/, 'and one whose few numbers are no normal ones');
like(checked('broken', 'no;'), qr/reference/, 'and one that does not compile');
$node->psql('postgres', q{SELECT cudal1_submit('keeps', 'void solve(const float *x, float *y) {}')}, stderr => \my $refused);
like($refused, qr/the reference of task "keeps" cannot be measured/, 'nothing can be submitted then');

# an output that the tolerance can't tell from a constant, of a task whose inputs are never large
add('idle', 'for (int i = 0; i < 64; i++) y[i] = 100 + 4e-6f * x[i];', '{"certify": true, "probes": {"scale": false, "outliers": false}}');
is(certified('idle'), 'weak: the output for other inputs', 'idle: the task is weak');
add('saturates', 'for (int i = 0; i < 64; i++) y[i] = x[i] > 9 ? x[i] : 0;', '{"certify": true}');
is(certified('saturates'), 'weak: zeros', 'saturates, but for inputs of probes: the task is weak, and its reference good');
add('adds', 'for (int i = 0; i < 64; i++) y[i] = i ? 0 : x[i]; for (int i = 1; i < 64; i++) y[0] += x[i];', '{"certify": true}');
is(certified('adds'), 'passed', 'adds: the mean of a row is the work that its sum takes');
is($node->safe_psql('postgres', q{SELECT success FROM cudal1_speedup_report() WHERE level = 'All'}), '0', 'and the report knows of no success');

SKIP:
{
	skip 'no PyTorch', 6 if ($ENV{PYTORCH} // '') eq 'no'
	  || $node->safe_psql('postgres', q{SELECT count(*) FROM cudal1.device WHERE 'pytorch' = ANY (languages)}) == 0;
	$node->safe_psql('postgres', <<'END');
SELECT cudal1_add_task('model', $$import sys
import types

import torch


class Counter:
    """In place of PyTorch's own, which older versions have not."""

    def __init__(self, display=True):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def get_total_flops(self):
        return 32768


sys.modules["torch.utils.flop_counter"] = types.SimpleNamespace(FlopCounterMode=Counter)


class Model(torch.nn.Module):
    def __init__(self, n):
        super(Model, self).__init__()
        self.linear = torch.nn.Linear(n, n)

    def forward(self, x, y):
        return self.linear(x) * y, x.sum(dim=1)


def get_inputs():
    return [torch.randn(16, 32), torch.randn(16, 32)]


def get_init_inputs():
    return [32]
$$, 'pytorch', options => '{"device": "cpu", "certify": true}')
END
	is(certified('model'), 'passed', 'model: the task has passed');
	is($node->safe_psql('postgres', q{SELECT bytes, operations, seconds > 0 FROM cudal1_light('model')}), '6208|32768|t', 'model: bytes and operations are known');
	$node->safe_psql('postgres', q{SELECT cudal1_submit('model', reference || E'\\nclass ModelNew(Model):\\n    pass\\n') FROM cudal1.task WHERE name = 'model'});
	ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM cudal1.job'), 'a copy of the reference is measured');
	is($node->safe_psql('postgres', q{SELECT state, of_light > 0 AND of_light < 1 FROM cudal1_task_report(tasks => '{model}')}), 'successful|t', 'which does not reach light');
}
$node->stop;
done_testing();
