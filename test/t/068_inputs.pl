# What get_inputs draws: on a CPU from the kernel's keys, whichever way it asks; on a GPU there, for many slots at once, whatever it says or leaves open.
# The latter is shown on PyTorch's device without data.
use Testing;
use Measuring;

plan skip_all => 'no PyTorch' if !have_torch();

# each program gets the folder of the modules and of the guard
sub run_program
{
	my $program = shift;
	my $start = <<'END';
import contextlib, ctypes, os, random, sys, types
import numpy, torch
sys.path.insert(0, sys.argv[1])
import torch_common as common, torch_inputs as part
guard = common.load_guard(sys.argv[1])

def say(good, name):
    print("ok" if good else "not ok", "-", name, flush=True)

END
	python_checks($start . $program, $library);
}

run_program(<<'END');
cipher = part.CipherRandom(guard)

ways = {
    "torch.rand": lambda: torch.rand(3, 40), "torch.rand of float64": lambda: torch.rand((3, 40), dtype=torch.float64),
    "torch.randn": lambda: torch.randn([3, 40]), "torch.randn of float64": lambda: torch.randn(120, dtype=torch.float64),
    "torch.randint": lambda: torch.randint(1000, (120,)), "torch.randint of int32": lambda: torch.randint(-9, 2000000, (3, 40), dtype=torch.int32),
    "torch.randint of uint8": lambda: torch.randint(0, 256, (120,), dtype=torch.uint8),
    "torch.randint beyond a double": lambda: torch.randint(-2 ** 63, 2 ** 63 - 1, (120,)),
    "torch.rand of bfloat16": lambda: torch.rand(120, dtype=torch.bfloat16), "torch.randperm": lambda: torch.randperm(120),
    "torch.bernoulli": lambda: torch.bernoulli(torch.full((120,), 0.5)), "torch.normal": lambda: torch.normal(0.0, 1.0, (120,)),
    "torch.randn_like": lambda: torch.randn_like(torch.empty(120)), "Tensor.normal_": lambda: torch.empty(120).normal_(),
    "Tensor.uniform_": lambda: torch.empty(120).uniform_(), "Tensor.random_": lambda: torch.empty(120, dtype=torch.int64).random_(),
    "Tensor.exponential_": lambda: torch.empty(120).exponential_(), "dropout": lambda: torch.nn.functional.dropout(torch.ones(120)),
    "random": lambda: torch.tensor([random.random() for _ in range(120)]), "random.randrange": lambda: torch.tensor([random.randrange(1000) for _ in range(120)]),
    "random.gauss": lambda: torch.tensor([random.gauss(0, 1) for _ in range(121)]), "random.sample": lambda: torch.tensor(random.sample(range(1000), 120)),
}
for name, make in ways.items():
    first = make()
    cipher.renew()
    say(not torch.equal(first, make()) and not torch.equal(make(), make()), f"{name} is another each time")

def after_seed(make):
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    return make()

ways["numpy.random.rand"] = lambda: torch.from_numpy(numpy.random.rand(120))
ways["numpy.random.randint"] = lambda: torch.from_numpy(numpy.random.randint(0, 1000, 120))
ways["numpy.random.randn"] = lambda: torch.from_numpy(numpy.random.randn(120))
ways["torch.Generator"] = lambda: torch.rand(120, generator=torch.Generator().manual_seed(0))
ways["torch.randn with one"] = lambda: torch.randn((3, 40), generator=torch.Generator().manual_seed(0))
ways["torch.randperm with one"] = lambda: torch.randperm(120, generator=torch.Generator().manual_seed(0))
ways["Tensor.normal_ with one"] = lambda: torch.empty(120).normal_(generator=torch.Generator().manual_seed(0))
ways["random.Random"] = lambda: torch.tensor([value for r in [random.Random(0)] for value in (r.random(), r.randrange(1000), r.gauss(0, 1)) * 9])
ways["numpy.random.default_rng"] = lambda: torch.from_numpy(numpy.random.default_rng(seed=0).random(120))
ways["numpy.random.RandomState"] = lambda: torch.from_numpy(numpy.random.RandomState(0).rand(120))
ways["numpy.random.Generator"] = lambda: torch.from_numpy(numpy.random.Generator(numpy.random.PCG64(0)).normal(size=120))
say([name for name, make in ways.items() if torch.equal(after_seed(make), after_seed(make))] == [], "a seed that get_inputs sets fixes nothing")

# what follows from PyTorch's own state, were it not renewed
def follows(make, native):
    make()
    state = torch.get_rng_state()
    cipher.renew()
    found = make()
    torch.set_rng_state(state)
    return torch.equal(found, native())

say(not follows(ways["torch.randperm"], ways["torch.randperm"]), "what one call of get_inputs drew does not tell the next")
kept = torch.Generator()
seed = kept.initial_seed()
cipher.renew()
say(kept.initial_seed() != seed, "nor does a generator that it keeps")
state = torch.get_rng_state()
for name in ("torch.rand", "torch.randn", "torch.randint", "random", "numpy.random.rand"):
    ways[name]()
say(torch.equal(state, torch.get_rng_state()), "most draw nothing of PyTorch's own generator")
x = torch.rand(1000, 100)
say(0 <= x.min() and x.max() < 1 and abs(x.mean() - 0.5) < 0.01, "uniform numbers lie between 0 and 1")
x = torch.randn(1000, 100, dtype=torch.float64)
say(abs(x.mean()) < 0.02 and abs(x.std() - 1) < 0.02 and x.dtype == torch.float64, "normal ones have mean 0 and deviation 1")
x = torch.randint(-3, 4, (1000, 100))
say(x.min() == -3 and x.max() == 3 and x.dtype == torch.int64, "integers reach both bounds")
say(torch.rand(()).shape == () and torch.rand(2, 0).shape == (2, 0) and torch.randn(torch.Size([2, 3])).shape == (2, 3) and torch.rand(size=(2, 3)).shape == (2, 3)
    and torch.randint(high=5, size=(2, 3)).shape == (2, 3), "shapes are as they are asked for, in all ways to say them")
say(torch.randint(0, 2, (9,), dtype=torch.float32).dtype == torch.float32 and torch.rand(2, requires_grad=True).requires_grad, "and so are types and options")
def refused(make):
    try:
        make()
    except RuntimeError:
        return True
say(refused(lambda: torch.randint(5, 5, (3,))) and refused(lambda: torch.randint(0, 300, (3,), dtype=torch.uint8)), "what PyTorch refuses is refused")
END

run_program(<<'END');
made = []
def count(original):
    def make(*size, **keywords):
        made.append(size)
        return original(*size, **keywords)
    return make

torch.rand, torch.randn, torch.randint = count(torch.rand), count(torch.randn), count(torch.randint)
random = part.BatchedRandom("meta")
# PyTorch before 2.0 has no such context; what is tested must not need it
with torch.device("meta") if hasattr(torch.device, "__enter__") else contextlib.nullcontext():
    random.begin(3)
    arrays = [torch.rand(4, 2) for _ in range(3)]
    say(all(x.device.type == "meta" and x.shape == (4, 2) and x.is_contiguous() for x in arrays), "arrays of the slots lie on the device")
    say(made == [((3, 4, 2),)], "and are made by one call")
    say(torch.randn((4, 2)).device.type == "meta" and made[1:] == [((3, 4, 2),)], "other numbers and another way to say the size: another call")
    say(torch.randint(5, (4, 2)).device.type == "meta" and torch.randint(0, 5, (4,)).shape == (4,) and made[2:] == [(5, (3, 4, 2)), (0, 5, (3, 4))], "whole numbers likewise")
    del made[:]
    say(torch.rand(4, 2, device="cpu").device.type == "cpu", "an array that get_inputs wants elsewhere is made there")
    say(torch.rand(4, 2, dtype=torch.float64).dtype == torch.float64 and torch.rand(2, 0).shape == (2, 0), "a type or an empty size is kept")
    say(made == [(4, 2), (4, 2), (2, 0)], "and made by itself")
    random.begin(1)
    del made[:]
    say(torch.rand(4, 2).device.type == "meta" and made == [(4, 2)], "a single slot's lies there too")
    random.begin(3)
    del made[:]
    say(torch.rand(1 << 13, 1 << 10).device.type == "meta" and made == [(1 << 13, 1 << 10)], "a large one is made by itself")
random.device = None
say(torch.rand(4, 2).device.type == "cpu", "without a device, all are on the CPU")
END
is(Test::More->builder->current_test, 44, 'nothing was left out');
done_testing();
