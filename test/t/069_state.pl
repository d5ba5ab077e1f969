# A reference that keeps state in its attributes is a function once each run begins with the state after construction; what stays no function is named,
# and so are outputs that are rounding errors.
use Testing;
use Measuring;

plan skip_all => 'no PyTorch' if !have_torch();

python_checks(<<'END', $library);
import sys
import torch
sys.path.insert(0, sys.argv[1])
import torch_probes as probes, torch_state as part

class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(4))
        self.quiet = torch.ones(2)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.hidden = Inner(), torch.ones(4)

    def forward(self, x):
        inner = self.inner
        self.hidden = self.hidden * 2 + x
        inner.cache += self.hidden
        return torch.cat((self.hidden, inner.cache))

def say(good, name):
    print("ok" if good else "not ok", "-", name, flush=True)

x = torch.arange(4.0)
fresh = Model()(x)
for blocks, writes in (((1, 3, 2), True), ((3, 1, 2), False)):
    state, right = part.State(model := Model(), writes), []
    quiet = model.inner.quiet
    for runs in blocks:
        run = state.restored(model)
        right += [torch.equal(run(x), fresh) for _ in range(runs)]
    say(all(right), f"blocks of {blocks} runs begin each with the state after construction")
    say(sorted(state.names().split(", ")) == ["self.hidden", "self.inner.cache"], f"what runs change has names: {state.names()}")
    say(model.inner.quiet is quiet, "what they leave alone is what it was")
say(not torch.equal(model(x), fresh), "which the model alone would not have")

class Elsewhere(torch.Tensor):
    device = "elsewhere"

here, part.SMALL_BYTES = torch.Tensor.to, 0
torch.Tensor.to = lambda self, device: (here(self, device) if device != "elsewhere" else self if self.device == device else self.clone().as_subclass(Elsewhere))

class Moving(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.buffer, self.moved, self.runs = torch.ones(4), None, False, type("Counter", (), {"n": 0})

    def forward(self, x):
        self.runs.n += 1
        if not self.moved or self.hidden.device != x.device:
            self.hidden, self.buffer, self.moved = self.hidden.to(x.device), torch.empty(4), True
        torch.add(self.hidden, x, out=self.buffer)
        if self.runs.n < self.bound:
            self.hidden = torch.tanh(self.buffer)
        else:
            torch.tanh(self.buffer, out=self.hidden)
        return self.hidden * 1

for name, first, there in (("state that is taken to where the inputs are", 0, x.as_subclass(Elsewhere)), ("state that later runs write to", 5, x)):
    for blocks in ((1, 3, 4), (3, 1, 4), (2, 6)):
        Moving.bound = first
        state = part.State(model := Moving(), True)
        right = []
        for runs in blocks:
            run = state.restored(model)
            right += [torch.equal(run(there).as_subclass(torch.Tensor), torch.tanh(1 + x)) for _ in range(runs)]
        say(all(right), f"{name} is restored in blocks of {blocks} runs")

state = part.State(model := torch.nn.LazyLinear(4), True)
for _ in range(3):
    state.restored(model)(x)
say(state.names() == "" and model.in_features == 4, "what the first run makes of a lazy module stays")
state = part.State(model := Model(), False)
for _ in range(3):
    result = state.restored(model)(x)
torch.Tensor.to = here
state = part.State(model := torch.nn.Sequential(torch.nn.BatchNorm1d(4)), False)
state.restored(model)(torch.rand(3, 4))
say(state.names() == "self.0.running_mean, self.0.running_var, self.0.num_batches_tracked", f"statistics that training writes have names: {state.names()}")
vars(model := Inner()).update(calls=0, seen=[], late=None)
state = part.State(model, False)
vars(model).update(calls=1, seen=[x], late=x, new=2.0)
say(state.names() == "self.calls, self.seen, self.late, self.new", f"and so have numbers and lists: {state.names()}")
say(torch.equal(result[:4], fresh[:4]) and not torch.equal(result[4:8], fresh[4:8]), "a reference gets back what it binds, not what it writes to, unless that is small")
probes.move(root := torch.full((8,), 0.1))
say(probes.is_constant(torch.eye(16), 2) and not probes.is_constant(torch.rand(64), 2) and bool((root > 0.1).all()), "an identity is moved, too, and what a model may divide by goes away from 0")
with probes.Moving(True) as moving:
    say(0.05 < torch.nn.init.normal_(torch.empty(64, 192), std=0.02).std() < 0.2 and torch.nn.init.normal_(torch.empty(64, 64)).std() > 0.9
        and moving.moved == 1, "a matrix that shrinks what it is given is enlarged")
END
SKIP:
{
	skip 'no sandbox here', 17 if !can_measure('pytorch');
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my $result;
	my $top = "import time\nimport torch\n\n\nclass Model%s(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n";
	my $inputs = "def get_inputs():\n    return [torch.randn(64)]\n";
	my $lazy = "        self.first = torch.nn.Linear(64, 64)\n        self.layer = torch.nn.LazyLinear(8)\n\n    def forward(self, x):\n        return self.layer(self.first(x))\n";
	my $labels = "\n    def forward(self, x):\n        return (x == 1).float() + x.long()\n";
	my $poles = "\n    def forward(self, x):\n        return x / x%s.sum(-1, keepdim=True)\n";
	my $turns = "\n    def forward(self, x):\n        return (8000 * x%s).sin()";
	# a candidate writes to a buffer where the reference binds an attribute
	my $writing = "        self.register_buffer('state', torch.zeros(64))\n\n    def forward(self, x):\n        self.state.add_(x).tanh_()\n        return self.state * 1\n";
	for my $case ([ 'keeps sparse', "        self.hidden = torch.zeros(64)\n\n    def forward(self, x):\n        self.hidden = torch.tanh(self.hidden + x)\n        return self.hidden\n",
			$writing, "\n    def forward(self, x):\n        return (x * 2).to_sparse()\n" ],
		[ 'moves', "        self.calls = torch.zeros(())\n\n    def forward(self, x):\n        self.calls = self.calls + 1\n        return x + time.time_ns() % 1000\n" ],
		[ 'cancels', "\n    def forward(self, x):\n        return torch.stack([(x.roll(i) - x.mean()).sum() for i in range(8)])\n" ],
		[ 'scripted', "        self.cell = torch.jit.script(Cell())\n\n    def forward(self, x):\n        return self.cell(x)\n\n\n"
			. "class Cell(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('state', torch.zeros(64))\n\n"
			. "    def forward(self, x):\n        self.state = torch.tanh(self.state + x)\n        return self.state * 1\n" ],
		[ 'writes', "        self.register_buffer('center', torch.zeros(512, 64))\n\n    def forward(self, x):\n        self.center.mul_(0.9).add_(x, alpha=0.1)\n        return x - self.center\n" ],
		[ 'turns', sprintf($turns, ''), sprintf($turns, '.double()') . ".float()\n" ],
		[ 'poles part', sprintf($poles, '') . "\n" . $inputs =~ s/64/256, 256/r, sprintf($poles, '.flip(-1)'), sprintf($poles, '[:, :-32]') ],
		[ 'lazy eager', $lazy, $lazy, $lazy =~ s/LazyLinear\(8/Linear(64, 8/r ],
		[ 'turned', $lazy =~ s/Linear\(64, /LazyLinear(/r, $lazy =~ s/( *self.first = .*\n)( *self.layer = .*\n)/$2$1/r =~ s/LazyLinear\(8/Linear(64, 8/r ],
		[ 'half', map { "        self.w = torch.nn.Linear(64, 64).bfloat16().weight\n\n    def forward(self, x):\n        return $_\n" } '(self.w @ x.bfloat16()).float()', 'self.w.float() @ x' ],
		[ 'open', map { "\n    def forward(self, x, mask):\n        return $_.cumsum(-1)\n" . $inputs =~ s/4\)/4), torch.ones(64, dtype=torch.bool)/r } '(x * mask)', 'x' ],
		[ 'labels', "$labels\n" . $inputs =~ s/randn\(64/randint(0, 3, (64,)).float(/r, $labels ])
	{
		my ($names, $body, @codes) = @$case;
		my $job = {
			task => { name => $names, language => 'pytorch', cores => 1, reference => sprintf($top, '') . "$body\n" . ($body =~ /get_inputs/ ? '' : $inputs) },
			device => { key => "cpu:$core" },
			profile => { bucket_seconds => 0.01, window_seconds => 0.0005, looks => [2], pairs => 2, check_seconds => 0.05, half_width_limit => 10 } };
		@$result{ split / /, $names } = measure_candidates($dir, $job, [ map { sprintf($top, 'New') . $_ } @codes ? @codes : $writing ]);
	}
	is("$result->{$_->[0]}{outcome} $result->{$_->[0]}{evidence}{restored}", "successful $_->[1]", "a candidate keeps $_->[1] in another way") for [ 'keeps', 'self.hidden' ], [ 'scripted', 'self.cell.state' ];
	is("$result->{moves}{outcome} $result->{moves}{reference}", 'unverified bad', 'a reference that is no function is bad');
	like($result->{moves}{detail}, qr/its runs change self\.calls/, 'and what its runs change is named');
	is("$result->{cancels}{outcome} $result->{cancels}{reference}", 'unverified bad', 'and so is one whose sums cancel');
	like($result->{cancels}{detail}, qr/made of rounding errors: \d of 8 elements/, 'which is told');
	is("$result->{writes}{outcome} $result->{writes}{reference}", 'unverified bad', 'and one that writes to its state');
	like($result->{writes}{detail}, qr/its runs change self\.center/, 'which is named');
	is("$result->{turns}{outcome} $result->{turns}{reference}", 'successful good', 'one that rounding moves has a tolerance as wide as that');
	is("$result->{poles}{outcome} $result->{part}{outcome}", 'successful wrong_output', 'and one whose quotients have poles may miss near them');
	is("$result->{half}{outcome} $result->{half}{reference}", 'successful good', 'where its weights are half precision, single precision is right');
	is("$result->{open}{outcome} $result->{open}{evidence}{probe}", 'wrong_output zeros', 'code that leaves out a mask of ones is wrong');
	is("$result->{lazy}{outcome} $result->{lazy}{reference}", 'successful good', 'weights of lazy modules come from the seed of all others');
	is("$result->{eager}{outcome} $result->{eager}{evidence}{weights}", 'successful by name', 'and are given by name to modules that are not lazy');
	is("$result->{turned}{outcome} $result->{turned}{evidence}{weights}", 'successful by name', 'also where the reference has no others');
	is("$result->{sparse}{outcome} $result->{sparse}{evidence}{cause}", 'launch_failure unsupported', 'a lone result that has no memory is not supported');
	is("$result->{labels}{outcome} $result->{labels}{reference}", 'successful good', 'what are integers stay integers');
}
done_testing();
