# Both sides of a PyTorch task are called as get_inputs and get_init_inputs say: strides, shared memory, gradients and numbers of each call are kept.
use Testing;
use Measuring;

plan skip_all => 'no PyTorch' if !have_torch();

python_checks(<<'END', $library);
import collections, os, pathlib, struct, sys, tempfile, types
import numpy, torch
from torch import nn
sys.path.insert(0, sys.argv[1])
import torch_arguments as calls, torch_builds as builds, torch_common as common

def say(good, name):
    print("ok" if good else "not ok", "-", name, flush=True)

def handed(*given, drawn=None, fixed=()):
    """What a model gets in two slots of the calls of get_inputs that are given."""
    torch.set_grad_enabled(False)
    calls.check(given[0])
    drawn = {i for i, value in enumerate(given[0]) if not isinstance(value, torch.Tensor) and value is not None} - set(fixed)
    layout = calls.Layout(given[0], drawn)
    memory = bytearray(layout.bytes * len(given) or 1)
    def view(dtype, count, offset):
        return torch.frombuffer(memory, dtype=dtype, count=count, offset=offset)
    got = calls.map_arguments(layout.entries, layout.traits, len(given), layout.bytes, view, "cpu")
    for slot, values in enumerate(given):
        tensors, numbers = layout.split(values)
        for offset, value in tensors:
            view(value.dtype, value.numel(), slot * layout.bytes + offset).as_strided(value.shape, value.stride()).copy_(value)
        for offset, number in numbers:
            memory[slot * layout.bytes + offset:slot * layout.bytes + offset + 8] = number
    return [got[slot] for slot in range(len(given))] if not isinstance(got, calls.Arguments) else [list(got[slot]) for slot in range(len(given))]

def refused(make):
    try:
        make()
    except common.Unsupported as error:
        return str(error)
    return ""

ways = {
    "a dense tensor": lambda: torch.rand(6, 8), "a scalar tensor": lambda: torch.rand(()), "a transposed one": lambda: torch.rand(6, 8).t(),
    "a permuted one": lambda: torch.rand(2, 3, 4, 5).permute(0, 3, 1, 2), "every other column": lambda: torch.rand(6, 8)[:, ::2],
    "a slice": lambda: torch.rand(6, 8)[1:, 3:], "an expanded row": lambda: torch.rand(8).expand(6, 8), "sliding windows": lambda: torch.rand(20).unfold(0, 5, 2),
    "channels_last": lambda: torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last), "the diagonal": lambda: torch.rand(6, 6).diagonal(),
    "booleans": lambda: (torch.rand(7) > 0.5)[::3], "integers": lambda: torch.randint(-9, 9, (4, 4), dtype=torch.int8).t(), "none of its elements": lambda: torch.rand(3, 0, 2).transpose(0, 2),
    "half precision": lambda: torch.rand(9).half()[2:], "an imaginary part": lambda: torch.randn(6, dtype=torch.complex64).conj().imag,
}
for name, make in ways.items():
    given = [[torch.rand(3), make()], [torch.rand(3), make()]]
    for (_, value), (_, got) in zip(given, handed(*given)):
        say(got.dtype == value.dtype and got.shape == value.shape and got.stride() == value.stride() and torch.equal(got, value), f"{name} has its values and strides")
one = torch.rand(8, 8)
q, k = handed([one, one])[0]
say(calls.Layout([torch.rand(64)[3:]], set()).offsets[0] % 64 == 12, "a slice begins where it did in a line of caches")
say(q is k, "two arguments that are one tensor stay one")
q, k = handed([one, one.t()])[0]
q[0, 1] = 5
say(k[1, 0] == 5 and q is not k, "those that share memory still do")
q, k = handed([one[:4], one[4:]])[0]
q.fill_(5)
say(not (k == 5).any() and torch.equal(k, one[4:]), "halves of a tensor share nothing")
q, k = handed([one[:, ::2], one[:, 1::2]])[0]
say(torch.equal(k, one[:, 1::2]) and k.data_ptr() - q.data_ptr() == 4, "columns in turn lie as they did")
for name, parts, first in (("columns in turn", [one[:, ::2], one[:, 1::2]], 0), ("halves of rows", one.chunk(2, 1), 0), ("halves of columns", one.chunk(2, 0), 0), ("a part before the whole", [one[4:], one], 1)):
    say(all(torch.equal(value.as_strided((8, 8), (8, 1), got[first].storage_offset()), one) for got in handed(parts) for value in got), f"{name} reach all of their storage")
say(all(map(torch.equal, handed(both := [one[1:3, 3:], one.view(torch.uint8)[:, 17:]])[0], both)), "views of two types share a stretch")
say(handed([torch.rand(1024), torch.rand(1024)])[0][0].storage().nbytes() == 4096, "tensors that follow each other by chance share no storage")
weight, input_, plain = handed([nn.Parameter(torch.rand(3)), torch.rand(3, requires_grad=True), nn.Parameter(torch.rand(3), requires_grad=False)])[0]
say(isinstance(weight, nn.Parameter) and weight.requires_grad, "a Parameter stays one")
say(type(input_) is torch.Tensor and input_.requires_grad and input_.is_leaf, "requires_grad is kept")
say(isinstance(plain, nn.Parameter) and not plain.requires_grad, "a Parameter without it has none")
say(handed([torch.rand(2), 3, 0.1, True, None], [torch.rand(2), -4, -0.0, False, None])[0][1:] == [3, 0.1, True, None], "numbers come with their call")
got = handed([torch.rand(2), 3, 0.1, True, None], [torch.rand(2), -4, -0.5, False, None])[1][1:]
say(got == [-4, -0.5, False, None] and list(map(type, got)) == [int, float, bool, type(None)], "and another call's with another")
got = handed([numpy.float32(3), numpy.int64(-2), numpy.bool_(True), numpy.float64(0.5)])[0]
say(got == [3.0, -2, True, 0.5] and list(map(type, got)) == [float, int, bool, float], "numbers of NumPy are handed over as Python's")
say(handed([7, torch.rand(2)], [7, torch.rand(2)], fixed=[0])[1][0] == 7, "a number that is always the same is told once")
say("argument 0 of get_inputs was 7 in all first calls and is 8 now" in refused(lambda: handed([7], [8], fixed=[0])), "and its change is an error")
for name, words, make in (
    ("complex numbers", "type torch.complex64; supported are float64, float32", lambda: handed([torch.rand(2, dtype=torch.complex64)])),
    ("sparse tensors", "layout torch.sparse_coo; dense ones are supported", lambda: handed([torch.rand(2, 2).to_sparse()])),
    ("a subclass", "gives an object of type Sub, a subclass of Tensor; plain tensors", lambda: handed([torch.rand(2).as_subclass(type("Sub", (torch.Tensor,), {}))])),
    ("no memory", "a tensor on the device meta", lambda: handed([torch.empty(2, device="meta")])),
    ("nine dimensions", "9 dimensions; up to 8", lambda: handed([torch.rand(*[1] * 9)])),
    ("a text", "gives a str; tensors are supported, numbers that are real, and None", lambda: handed(["text"])),
    ("a complex number", "gives a complex; tensors", lambda: handed([1j])),
    ("a long integer", "the integer 18446744073709551616; up to 64 bits", lambda: handed([1 << 64])),
    ("seventeen arguments", "gives 17 arguments; up to 16", lambda: handed([1] * 17)),
    ("changing shapes", "argument 0 is torch.float32 [3] in one call, torch.float32 [4] in another", lambda: handed([torch.rand(3)], [torch.rand(4)])),
    ("changing strides", "with strides [4, 1] in one call, torch.float32 [4, 4] with strides [1, 4] in another", lambda: handed([torch.rand(4, 4)], [torch.rand(4, 4).t()])),
    ("a number or None", "argument 0 is int in one call, NoneType in another", lambda: handed([1], [None])),
    ("changing numbers of arguments", "1 in one call, 2 in another", lambda: handed([torch.rand(1)], [torch.rand(1)] * 2)),
    ("memory shared in some calls", "arguments 0 and 1 of get_inputs share memory in some calls only", lambda: handed([one, one], [one, one.clone()]))):
    words_of = refused(make)
    say(words in words_of, f"{name}: {words_of}")

class Two(nn.Module):
    def __init__(self, sizes, options):
        super().__init__()
        self.given = [len(sizes), dict(options)]
class Rest(nn.Module):
    def __init__(self, sizes, options, **rest):
        super().__init__()
        self.given = [len(sizes), options["bias"]]
class Plain(nn.Module):
    def __init__(self, n=1, bias=True):
        super().__init__()
        self.given = [n + 0, bias]
class Nothing(nn.Module):
    given = []
class Most(nn.Module):
    def __init__(self, *sizes, **options):
        super().__init__()
        self.given = [sizes, options]
def constructed(model, *given):
    task = types.SimpleNamespace(Model=model)
    if given:
        task.get_init_inputs = lambda: given[0]
    arguments, keywords = common.init_arguments(task)
    return model(*arguments, **keywords).given

for name, wanted, found in (
    ("no get_init_inputs", [1, True], lambda: constructed(Plain)), ("None", [1, True], lambda: constructed(Plain, None)), ("an empty list", [1, True], lambda: constructed(Plain, [])),
    ("an empty dict", [], lambda: constructed(Nothing, {})), ("a dict", [3, False], lambda: constructed(Plain, {"n": 3, "bias": False})),
    ("an OrderedDict", [3, False], lambda: constructed(Plain, collections.OrderedDict(bias=False, n=3))), ("a number alone", [5, True], lambda: constructed(Plain, 5)),
    ("a tuple", [5, False], lambda: constructed(Plain, (5, False))), ("a generator", [5, False], lambda: constructed(Plain, (value for value in (5, False)))),
    ("a list and keywords", [5, False], lambda: constructed(Plain, [[5], {"bias": False}])), ("keywords alone, as in KernelBook", [5, True], lambda: constructed(Plain, [[], {"n": 5}])),
    ("an empty pair", [], lambda: constructed(Nothing, [[], {}])), ("a list of two, and no keywords", [5, False], lambda: constructed(Plain, [[5, False], {}])),
    ("two positional parameters, a list and a dict", [2, {"bias": 1}], lambda: constructed(Two, [[8, 4], {"bias": 1}])),
    ("two positional parameters, an empty dict", [2, {}], lambda: constructed(Two, [[8, 4], {}])), ("of which the list is empty", [0, {}], lambda: constructed(Two, [[], {}])),
    ("two of them, and keywords", [2, 1], lambda: constructed(Rest, [[8, 4], {"bias": 1}])),
    ("whose options are named like parameters", [1, {"sizes": 1}], lambda: constructed(Two, [[8], {"sizes": 1}])),
    ("any parameters", [(5,), {"bias": 1}], lambda: constructed(Most, [[5], {"bias": 1}]))):
    try:
        got = found()
    except Exception as error:
        got = error
    say(got == wanted, f"get_init_inputs gives {name}: {got}")

say(list(map(len, map(common.unpacked, (iter([1, 2]), (1, 2), {1: 2, 3: 4}, "ab", torch.ones(2), 5)))) == [2, 2, 1, 1, 1, 1], "arguments come one by one, a tensor as one")
for mark in ("\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"):
    module = common.make_module("candidate", f"# one{mark}two\nimport torch\n@torch.jit.script\ndef f(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\ndef g():\n    raise ValueError\n")
    try:
        module.g()
    except ValueError as error:
        told = common.explain(error)
    say("line 7, in g: raise ValueError" in told and module.f(torch.ones(1)) == 2, f"lines are Python's beside U+{ord(mark):04X}")
with torch.no_grad():
    try:
        torch.autograd.grad(torch.ones(1, requires_grad=True).tanh().sum(), torch.ones(1))
    except RuntimeError as error:
        say("models run under torch.no_grad()" in common.explain(error), "what needs gradients is told that there are none")
compiled = []
def compile_library(**wanted):
    compiled.append(wanted["name"])
    if wanted["name"] == "bad":
        raise RuntimeError("Error building extension")
with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder, "main.cpp")
    for name, text in ("bad", "1"), ("good", "1"), ("bad", "1"), ("good", "1"), ("bad", "2"):
        sys.modules["torch.utils.cpp_extension"] = extensions = types.SimpleNamespace(_write_ninja_file_and_build_library=compile_library)
        builds.compile_once()
        source.write_text(text)
        try:
            extensions._write_ninja_file_and_build_library(name=name, sources=[source], build_directory=folder)
        except RuntimeError:
            compiled.append("refused")
say(compiled == ["bad", "refused", "good", "refused", "bad", "refused"], "an extension is compiled once, or refused again without a compiler, until it is another")
class Lazy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 4)
    def forward(self, x, n):
        y = torch.relu(self.layer(x.cuda().contiguous())) + torch.ones(4, device=x.device)
        if y.is_cuda and y.shape == (2, 4) and n == 3:
            extensions._write_ninja_file_and_build_library(name="lazy", sources=[], build_directory=".")
        return y
if torch.backends.cuda.is_built():
    builds.call_without_device(Lazy(), types.SimpleNamespace(get_inputs=lambda: [torch.ones(2, 8), 3]))
    say(compiled[-1] == "lazy", "a model for a GPU is called where there is none, for what it compiles")
else:
    print("ok # skip a model for a GPU is called where there is none: this PyTorch knows of no GPU", flush=True)
END
SKIP:
{
	skip 'no sandbox here', 11 if !can_measure('pytorch');
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my $measured = sub {
		my ($reference, @codes) = @_;
		return measure_candidates($dir, { task => { name => 'calls', language => 'pytorch', cores => 1, reference => $reference }, device => { key => "cpu:$core" },
				profile => { bucket_seconds => 0.01, window_seconds => 0.0005, looks => [2], pairs => 2, check_seconds => 0.05, half_width_limit => 10 } }, \@codes);
	};
	my $class = "import argparse, numpy, random, torch\nw = torch.rand(1) + random.random()\nclass %s(torch.nn.Module):\n    first = None\n    def __init__(self):\n"
	  . "        super().__init__()\n        self.w = w + random.random() + numpy.random.rand()\n    def forward(self, x, n, q, k):\n        %s\n";
	my $reference = sprintf($class, 'Model', "q.mul_(2)\n        return x.contiguous() * n + q + k + self.w")
	  . "def get_inputs():\n    q = torch.rand(32, 64)\n    return [torch.rand(64, 32).t(), random.randrange(1, 200), q, q]\n";
	my @found = $measured->($reference, (map { sprintf($class, 'ModelNew', $_) } 'return x * n + q * 4 + self.w', 'self.first = self.first or n; return x * self.first + q * 4 + self.w',
		'return x * n + q * 3 + self.w', 'return torch.as_strided(x, x.shape, (32, 1)) * n + q * 4 + self.w', 'argparse.ArgumentParser().parse_args(); return x * n + q * 4 + self.w'),
		"from torch.utils.cpp_extension import load_inline\nload_inline(name='cu', cpp_sources=[''], cuda_sources=['int f;'], functions=[])\n" . sprintf($class, 'ModelNew', 'return x * n + q * 4'));
	is($found[0]{outcome}, 'successful', 'right code for a transposed tensor, a number that is drawn, two arguments that are one, and constants from each generator') or diag explain $found[0];
	is($found[1]{outcome}, 'wrong_output', 'code that keeps the first number is wrong');
	is($found[2]{outcome}, 'wrong_output', 'and so is what takes one argument for two');
	is($found[3]{outcome}, 'wrong_output', 'and what takes a transposed tensor for a dense one');
	is($found[4]{outcome}, 'successful', 'code that reads its command line finds none') or diag explain $found[4];
	like("$found[5]{outcome} $found[5]{detail}", qr/^compile_error no CUDA compiler here/, 'code for a GPU is told that there is no CUDA compiler') or diag explain $found[5];
	my $plain = "import torch\nclass %s(torch.nn.Module):\n    def forward(self, x):\n        return %s\ndef get_inputs():\n    return [%s]\n";
	my $reason = sub { my ($body, $input) = @_; return ($measured->(sprintf($plain, 'Model', $body, $input), sprintf($plain, 'ModelNew', $body, $input)))[0]; };
	like($reason->('x * 2', $_)->{detail}, qr/^each call of get_inputs gives the same inputs/, "inputs that code knows before are refused: $_")
		for 'torch.arange(4096.0)', 'torch.arange(4096.0) + (globals().setdefault("calls", []).append(1) or len(calls))';
	like($reason->('x[x > 0.5]', 'torch.rand(4096)')->{detail}, qr/for one input and float32 \[\d+\] for another; outputs whose type or shape depends on the values of inputs/, 'and outputs of varying shape');
	like($reason->($_->[0], 'torch.rand(4096)')->{detail}, qr/^the reference: a run returns $_->[1]$/, "and so is $_->[1]")
		for ['x.to("meta")', 'a tensor on the device meta, which holds no elements'], ['x[:0]', 'no elements'];
	my $random = $reason->('torch.dropout(x, 0.5, True)', 'torch.ones(4096)');
	is($random->{outcome}, 'successful', 'a task whose runs draw random numbers may have constant inputs') or diag explain $random;
}
done_testing();
