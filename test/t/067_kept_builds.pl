# What compilers built for code that compiles itself is kept for that code alone, and out of reach of any.
use strict;
use warnings;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use JSON::PP;
use Measuring;
use Test::More;

plan skip_all => 'no sandbox here, or no PyTorch' if !can_measure('pytorch');

my $reference = <<'END';
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
def get_inputs():
    return [torch.rand(64, 64) - 0.5]
def get_init_inputs():
    return []
END
# PyTorch's headers alone would cost half a minute, so the extension does without them
my $code = <<'END';
import ctypes, os
import torch
from torch.utils.cpp_extension import load
folder = os.environ["TORCH_EXTENSIONS_DIR"]
source = folder + "/own_relu.cpp"
if not os.path.exists(source):
    os.makedirs(folder, exist_ok=True)
    with open(source, "w") as file:
        file.write('extern "C" void run(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0; }')
load(name="own_relu", sources=[source], is_python_module=False)
built = ctypes.CDLL(folder + "/own_relu/own_relu.so")
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        built.run(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), ctypes.c_long(x.numel()))
        return y
END
my %profile = (bucket_seconds => 0.01, window_seconds => 0.0005, looks => [2], pairs => 2, check_seconds => 0.1, half_width_limit => 10);

my $task = $reference;
my $plain_model = $reference =~ s/class Model/class ModelNew/r;

sub measure
{
	my ($scratch, $candidate, @options) = @_;
	my $job = encode_json({ task => { name => 'relu', language => 'pytorch', reference => $task, cores => 1 },
		candidate => { code => $candidate }, profile => \%profile });
	open my $to, '>', "$scratch.job" or die $!;
	print $to $job;
	close $to;
	my @lines = `'$measure' --scratch '$scratch' @options <'$scratch.job'`;
	return decode_json($lines[-1]);
}

sub found { join ' ', @{ $_[0]{environment}{kept_builds} // [] } }

my $root = tempdir(CLEANUP => 1);
my $scratch = "$root/scratch";
mkdir $scratch;
my $first = measure($scratch, $code);
plan skip_all => "no C++ compiler for extensions: $first->{detail}" if $first->{outcome} eq 'compile_error' || ($first->{detail} // '') =~ /ninja/i;
like($first->{outcome}, qr/^(successful|unverified|unstable)$/, 'code with an extension in C++ is measured') or diag $first->{detail};
is(found($first), '', 'built for the first time');

my $kept = "$scratch/cudal1-builds-$>";
my @entries = glob "$kept/*";
is(@entries, 1, 'and kept');
is(join(' ', map { sprintf '%o', (stat)[2] & 07777 } $kept, @entries), '700 700', 'where nobody else reads or writes');
is(join(' ', grep { !m{/cudal1-builds-} } glob "$scratch/*"), '', 'nothing else is left');

my $second = measure($scratch, $code);
like($second->{outcome}, qr/^(successful|unverified|unstable)$/, 'the same code again') or diag $second->{detail};
is(found($second), 'candidate', 'is not built again');

# code finds in each process what its build has written, wherever that was, and may write again
my $anywhere = <<'END' . $reference =~ s/class Model/class ModelNew/r =~ s/torch\.relu\(x\)/run(x)/r;
import ctypes, os, pathlib, tempfile
import torch
from torch.utils.cpp_extension import load
SOURCE = 'extern "C" void %s(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0; }'
os.makedirs("here", exist_ok=True)
with open("here/one.cpp", "w") as file:
    file.write(SOURCE % "one")
load(name="one", sources=["here/one.cpp"], build_directory="here", is_python_module=False)
place = tempfile.mkdtemp()
with tempfile.NamedTemporaryFile("w", suffix=".cpp", delete=False) as file:
    file.write(SOURCE % "two")
load(name="two", sources=[file.name], build_directory=place, is_python_module=False)
os.environ["TORCH_EXTENSIONS_DIR"] = "/tmp/own"
home = pathlib.Path(os.path.expanduser("~")) / "kept"
home.mkdir(exist_ok=True)
(home / "three.cpp").write_text(SOURCE % "three")
load(name="three", sources=[str(home / "three.cpp")], is_python_module=False)
built = [ctypes.CDLL("here/one.so").one, ctypes.CDLL(place + "/two.so").two, ctypes.CDLL("/tmp/own/three/three.so").three]
calls = 0
def run(x):
    global calls
    calls += 1
    y = torch.empty_like(x)
    built[calls % 3](ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), ctypes.c_long(x.numel()))
    with open("calls.txt", "a") as log:
        log.write(f"{calls}\n")
    assert open("calls.txt").read().split()[-1] == str(calls) and os.path.exists("calls.txt")
    return y
END
my $found_there = measure($scratch, $anywhere);
like($found_there->{outcome}, qr/^(successful|unverified|unstable)$/, 'code may build in folders of its own, and write files') or diag $found_there->{detail};

# a compiler called by the code itself, each time
my $called = measure($scratch, <<'END');
import ctypes, os, subprocess
import torch
with open("/tmp/relu.c", "w") as file:
    file.write('void run(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0; }')
version = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.split()
subprocess.check_call("gcc -O2 -shared -fPIC -o /tmp/relu.so /tmp/relu.c", shell=True)
os.system("true")
built = ctypes.CDLL("/tmp/relu.so")
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        built.run(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), ctypes.c_long(x.numel()))
        return y
END
like($called->{outcome}, qr/^(successful|unverified|unstable)$/, 'code may call a compiler itself') or diag $called->{detail};

# as libraries do that keep what they compile in the user's folder
my $writes = measure($scratch, <<'END' . $plain_model);
import os, tempfile
kept = os.path.expanduser("~/.library/cache")
os.makedirs(kept, exist_ok=True)
with tempfile.NamedTemporaryFile(dir=kept, delete=False) as file:
    file.write(b"compiled")
os.replace(file.name, kept + "/kernel")
assert open(kept + "/kernel", "rb").read() == b"compiled" and os.listdir(kept) == ["kernel"]
with open("/tmp/note", "w") as file:
    file.write("more")
assert os.path.getsize("/tmp/note") == 4
END
like($writes->{outcome}, qr/^(successful|unverified|unstable)$/, 'code that names no compiler may write files') or diag $writes->{detail};
is(found($writes), '', 'and has no build');

# code that builds nothing, and tries to write where it is built
my $vandal = <<'END';
import glob, os
import torch
import torch.utils.cpp_extension
for path in glob.glob(os.environ["TORCH_EXTENSIONS_DIR"] + "/**/*", recursive=True):
    try:
        open(path, "ab").write(b"spoiled")
    except OSError:
        pass
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
END
my $other = measure($scratch, $vandal);
is(found($other), '', 'other code has no part in it');
my $again = measure($scratch, $vandal);
is(found($again), 'candidate', 'but has its own');
my $third = measure($scratch, $code);
is(found($third), 'candidate', 'the first is there as before');
like($third->{outcome}, qr/^(successful|unverified|unstable)$/, 'and works') or diag $third->{detail};

# a reference that compiles itself has what it made itself, whoever is measured against it
$task = $code =~ s/ModelNew/Model/r . $reference =~ s/.*?^(?=def get_inputs)//msr;
my $built = measure($scratch, $plain_model);
like($built->{outcome}, qr/^(successful|unverified|unstable)$/, 'a reference with an extension, and code without one') or diag $built->{detail};
unlike($built->{detail} // '', qr/reference fails/, 'which is there for both');
my $swapping = <<'END' . $plain_model;
import os, torch.utils.cpp_extension
own = os.environ["TORCH_EXTENSIONS_DIR"] + "/own_relu/own_relu."
try:
    with open(own + "cpp", "w") as file:
        file.write('extern "C" void run(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = -7; }')
    os.remove(own + "so")
    os.system(f"g++ -shared -fPIC -o {own}so {own}cpp")
except OSError:
    pass
END
for my $when ('reference', 'reference candidate')
{
	my $result = measure($scratch, $swapping);
	like($result->{outcome}, qr/^(successful|unverified|unstable)$/, "what code leaves in its place, the reference doesn't find") or diag $result->{detail};
	unlike($result->{detail} // '', qr/reference fails/, 'nor does it miss its own');
	is(found($result), $when, $when eq 'reference' ? 'only the candidate is built' : 'then nothing');
}
$task =~ s/extern "C" void run/extern "C" void run run/;
my $refused = measure($scratch, $plain_model);
is($refused->{outcome}, 'unverified', 'a reference that a compiler refuses is no reference');
like($refused->{detail}, qr/^the reference does not compile: .*error/s, 'and the compiler says why');
$task = $reference;

# members of a heat that compile themselves, each with what it compiled; one looks for that of the others
my $searching = <<'END';
import glob, os, re
import torch
from torch.utils.cpp_extension import load
def listed(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []
def told(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode("latin-1")
    except OSError:
        return ""
text = "".join(told(path) for pattern in ("mountinfo", "maps", "environ", "cmdline", "status") for path in glob.glob("/proc/[0-9]*/" + pattern)
    + glob.glob("/proc/self/" + pattern))
found = listed("/compiled") + [path for path in set(re.findall(r"/compiled/[\w-]+", text)) if listed(path)]
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + len(found)
END
my @ended;
sub heat
{
	my ($folder, @candidates) = @_;
	my $number = 0;
	my $job = encode_json({ task => { name => 'relu', language => 'pytorch', reference => $task, cores => 1 }, profile => \%profile,
		candidates => [map { { job_id => ++$number, attempt => 1, candidate_id => $number, code => $_ } } @candidates] });
	open my $to, '>', "$folder.job" or die $!;
	print $to $job;
	close $to;
	my @results = grep { $_->{type} eq 'result' } map { decode_json($_) } `'$measure' --scratch '$folder' <'$folder.job'`;
	my %result = map { $_->{job_id} => $_ } @results;
	@ended = map { $_->{job_id} } @results;
	return map { $result{$_} } 1 .. @candidates;
}
mkdir "$root/heat";
my $broken = $code =~ s/extern "C" void run/extern "C" void run run/r;
sub lasting { $_[0] =~ s/^    def forward.*\n\K/        until = time.perf_counter() + 5e-4\n        while time.perf_counter() < until: pass\n/mr =~ s/^/import time\n/r }
$task = lasting($reference);
my @together = heat("$root/heat", map { lasting($_) } $code, $plain_model, "$code# again\n", $searching, $broken, $code);
$task = $reference;
is(join(' ', map { $_->{outcome} =~ s/^(successful|unverified|unstable)$/measured/r } @together),
	'measured measured measured measured compile_error measured', 'members of a heat that compile themselves come to their verdicts, and none finds what another compiled')
	or diag explain [map { $_->{detail} } @together];
is(join(' ', glob "$root/heat/*"), "$root/heat/cudal1-builds-$>", 'nothing is left of them but what is kept');

# the results of code that returns the same tensor each time are copied on both sides; a reference that slows down takes another time whenever it is asked
my $slowing = "import time\ncalls = [0]\n"
  . $reference =~ s/^    def forward.*\n\K/        calls[0] += 1\n        until = time.perf_counter() + 1e-4 + 1e-6 * calls[0]\n        while time.perf_counter() < until: pass\n/mr;
my $same = $slowing =~ s/class Model/class ModelNew/r
  =~ s/^    def forward/    def __init__(self):\n        super().__init__()\n        self.result = torch.empty(64, 64)\n$&/mr
  =~ s/return torch.relu\(x\)/return torch.clamp(x, min=0, out=self.result)/r;
$task = $slowing;
@together = heat("$root/heat", map { "$same# $_\n" } 1 .. 4);
$task = $reference;
is(join(' ', map { $_->{outcome} =~ s/^(successful|unverified|unstable)$/measured/r } @together), 'measured measured measured measured',
	'members of a heat that return the same tensor are right');

# what builds of others, or the kernel, may have failed is built again by itself
my $in_build = <<'END';
import os, subprocess
import torch.utils.cpp_extension
own = os.path.dirname(os.environ["TORCH_EXTENSIONS_DIR"])
if subprocess.Popen.__name__ == "Popen":
END
my $full = "$in_build    raise OSError(28, 'No space left on device')\n$plain_model";
my $killed = "$in_build    raise RuntimeError('Error building extension: Killed signal terminated program cc1plus')\n$plain_model";
my $closed = "$in_build    os.chmod(own, 0)\n$plain_model";
@together = heat("$root/heat", $code, $full, $killed, $closed);
is(join(' ', map { $_->{outcome} =~ s/^(successful|unverified|unstable)$/measured/r } @together),
	'measured measured compile_error measured', 'a full disk, a killed compiler and a closed folder fail no other code')
	or diag explain [map { $_->{detail} } @together];
is("@ended", '1 4 2 3', 'what these may have failed is built again by itself, after the others');
like($together[2]{detail}, qr/^a process that builds it was killed, perhaps for want of memory/, 'and told if it happens again');

# a folder that others could have written is not believed
chmod 0777, $kept;
my $open = measure($scratch, $vandal);
is(found($open), '', 'a folder open to others is left alone');
like($open->{outcome}, qr/^(successful|unverified|unstable)$/, 'and the code built afresh') or diag $open->{detail};

# an interpreter without setuptools, which PyTorch's module of extensions imports
my $version = `/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])'`;
chomp $version;
my $site = "$root/plain/lib/$version/site-packages";
make_path("$root/plain/bin", $site);
symlink '/usr/bin/python3', "$root/plain/bin/python3";
for my $file (['plain/pyvenv.cfg', "home = /usr/bin\ninclude-system-site-packages = true\n"],
	["plain/lib/$version/site-packages/setuptools.py", "raise ImportError('it is not here')\n"])
{
	open my $to, '>', "$root/$file->[0]" or die $!;
	print $to $file->[1];
	close $to;
}
my @plain = ('--python', "'$root/plain/bin/python3'");
my $named = measure($scratch, "# no torch.compile\n" . $reference =~ s/class Model/class ModelNew/r, @plain);
like($named->{outcome}, qr/^(successful|unverified|unstable)$/, 'code that only names a compiler is measured without setuptools') or diag $named->{detail};
is(measure($scratch, $code, @plain)->{outcome}, 'launch_failure', 'and code that needs it fails by itself');

# A PyTorch without torch.compile gets empty modules.
my $elsewhere = tempdir(DIR => '/var/tmp', CLEANUP => 1);
system('cp', '-a', "$root/plain", "$elsewhere/plain") == 0 or die 'no copy of the interpreter';
unlink "$elsewhere/plain/lib/$version/site-packages/setuptools.py";
open my $site_file, '>', "$elsewhere/plain/lib/$version/site-packages/sitecustomize.py" or die $!;
print $site_file <<'END';
import importlib.abc, importlib.machinery, sys
class Empty(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.startswith(("torch._inductor", "torch._dynamo")):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        if module.__name__.endswith(".cpu_vec_isa"):
            module.VecISA = type("VecISA", (), {"check_build": lambda self, code: False})
sys.meta_path.append(Empty())
END
close $site_file;
$task = "# torch.compile\n$reference";
chomp(my $installed = `@{[$ENV{PG_CONFIG} // 'pg_config']} --pkglibdir`);
system('cp', '-a', "$installed/cudal1", "$root/library") == 0 or die 'no copy of the runner';
mkdir "$elsewhere/inside";
my $inside = measure("$elsewhere/inside", "# torch.compile\n$plain_model", '--libdir', "'$root/library'", '--python', "'$elsewhere/plain/bin/python3'");
like($inside->{outcome}, qr/^(successful|unverified|unstable)$/, 'a runner that lies in /tmp builds, too') or diag $inside->{detail};
is($inside->{reference}, 'good', 'and its reference is found good') or diag $inside->{detail};
$task = $reference;

SKIP:
{
	skip 'this PyTorch has no torch.compile', 6 if system(q{/usr/bin/python3 -c 'import sys, torch; sys.exit(not hasattr(torch, "compile"))'}) != 0;
	mkdir "$root/other";
	my $compiling = $reference =~ s/class Model/class ModelNew/r =~ s/torch\.relu\(x\)/compiled(x)/r;
	$compiling .= "compiled = torch.compile(lambda x: torch.relu(x) + 0 * x)\n";
	for my $when ('', 'candidate')
	{
		my $result = measure("$root/other", $compiling);
		like($result->{outcome}, qr/^(successful|unverified|unstable)$/, 'torch.compile finds what it compiled, ' . ($when ? 'kept' : 'new')) or diag $result->{detail};
		is(found($result), $when, 'as was said');
	}
	$task = $compiling =~ s/ModelNew/Model/r;
	my $result = measure("$root/other", $plain_model);
	like($result->{outcome}, qr/^(successful|unverified|unstable)$/, 'so does a reference') or diag $result->{detail};
	unlike($result->{detail} // '', qr/reference fails/, 'which code without it is measured against');
}

done_testing();
