# What compilers built for code that compiles itself is kept for that code alone, and out of reach of any.
use Testing;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Measuring;

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
# a model that calls what was built
my $calling = <<'END';
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        built.run(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), ctypes.c_long(x.numel()))
        return y
END
# PyTorch's headers alone would cost half a minute, so the extension does without them
my $code = <<'END' . $calling;
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
END
my %profile = (bucket_seconds => 0.01, window_seconds => 0.0005, looks => [2], pairs => 2, check_seconds => 0.1, half_width_limit => 10);

my $task = $reference;
my $plain_model = $reference =~ s/class Model/class ModelNew/r;

# the results of a group of candidates, in their order
sub measure_group
{
	my ($scratch, $codes, @options) = @_;
	my $job = { task => { name => 'relu', language => 'pytorch', reference => $task, cores => 1 }, profile => \%profile };
	return measure_candidates($scratch, $job, $codes, @options);
}

sub measure { my ($scratch, $code, @options) = @_; return (measure_group($scratch, [$code], @options))[0] }

# what was kept of the whole group
sub found { join ' ', @{ $_[0]{environment}{kept_builds} // [] } }

sub is_measured
{
	my ($result, $name) = @_;
	like($result->{outcome}, qr/^(successful|unverified|unstable)$/, $name) or diag $result->{detail};
	unlike($result->{detail} // '', qr/reference fails/, "$name, and so is its reference");
	return;
}

my $root = tempdir(CLEANUP => 1);
my $scratch = "$root/scratch";
mkdir $scratch;
# a reference that compiles itself has what it made itself, whichever code is measured against it
$task = $code =~ s/ModelNew/Model/r =~ s/own_relu/its_relu/gr . $reference =~ s/.*?^(?=def get_inputs)//msr;
my $swapping = <<'END' . $plain_model;
import os, torch.utils.cpp_extension
own = os.environ["TORCH_EXTENSIONS_DIR"] + "/its_relu/its_relu."
try:
    with open(own + "cpp", "w") as file:
        file.write('extern "C" void run(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = -7; }')
    os.remove(own + "so")
    os.system(f"g++ -shared -fPIC -o {own}so {own}cpp")
except OSError:
    pass
END
my @group = measure_group($scratch, [ $code, $plain_model, $swapping ]);
plan skip_all => "no C++ compiler for extensions: $group[0]{detail}" if $group[0]{outcome} eq 'compile_error' || ($group[0]{detail} // '') =~ /ninja/i;
is_measured($group[0], 'code with an extension in C++ is measured');
is_measured($group[1], 'code without an extension is measured against a reference with one');
is_measured($group[2], 'code that leaves another extension in its place is measured');
is(found($group[0]), '', 'all is built for the first time');

my $kept = "$scratch/cudal1-builds-$>";
my @entries = glob "$kept/*";
is(@entries, 3, 'and kept');
is(join(' ', map { sprintf '%o', (stat)[2] & 07777 } $kept, @entries), '700 700 700 700', 'where nobody else reads or writes');

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

# a compiler called by the code itself, each time
my $called = <<'END' . $calling;
import ctypes, os, subprocess
import torch
with open("/tmp/relu.c", "w") as file:
    file.write('void run(const float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0; }')
version = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.split()
subprocess.check_call("gcc -O2 -shared -fPIC -o /tmp/relu.so /tmp/relu.c", shell=True)
os.system("true")
built = ctypes.CDLL("/tmp/relu.so")
END

# as libraries do that keep what they compile in the user's folder
my $writes = <<'END' . $plain_model;
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

# code that builds nothing, looks for what the others of its group have compiled, and tries to write there and where it is built
my $searching = <<'END' . $plain_model =~ s/torch\.relu\(x\)/torch.relu(x) + len(found)/r;
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
for path in glob.glob(os.environ["TORCH_EXTENSIONS_DIR"] + "/**/*", recursive=True) + glob.glob("/compiled/**/*", recursive=True):
    try:
        open(path, "ab").write(b"spoiled")
    except OSError:
        pass
END

my $broken = $code =~ s/extern "C" void run/extern "C" void run run/r;
@group = measure_group($scratch, [ $code, $anywhere, $called, $writes, $searching, $broken, "$code# again\n", "$plain_model# again\n", $swapping ]);
is_measured($group[0], 'the same code is measured again');
is(found($group[0]), 'reference candidate candidate', 'what was there is not built again, and no other code has a part in its build');
is_measured($group[1], 'code that builds in folders of its own, and writes files, is measured');
is_measured($group[2], 'code that calls a compiler itself is measured');
is_measured($group[3], 'code that names no compiler, and writes files, is measured');
is_measured($group[4], 'code that looks for what others compiled, and writes where others are built, is measured, and finds nothing');
is($group[5]{outcome}, 'compile_error', 'code that a compiler refuses fails alone');
is_measured($group[6], 'the same code with another text is measured');
is_measured($group[7], 'and again code without an extension');
is(join(' ', glob "$scratch/*"), $kept, 'nothing is left of them but what is kept');
@group = measure_group($scratch, [ $searching, $code ]);
is(found($group[0]), 'reference candidate candidate', 'code that tried to write there has a build of its own, and the first is there as before');
is_measured($group[1], 'which still works:');

$task =~ s/extern "C" void run/extern "C" void run run/;
my $refused = measure($scratch, $plain_model);
is($refused->{outcome}, 'unverified', 'a reference that a compiler refuses is no reference');
like($refused->{detail}, qr/^the reference does not compile: .*error/s, 'and the compiler says why');
$task = $reference;

# what the kernel may have failed is measured once more; a folder that others could have written is not believed
my $in_build = <<'END';
import os, subprocess
import torch.utils.cpp_extension
own = os.path.dirname(os.environ["TORCH_EXTENSIONS_DIR"])
if subprocess.Popen.__name__ == "Popen":
END
my $full = "$in_build    raise OSError(28, 'No space left on device')\n$plain_model";
my $killed = "$in_build    raise RuntimeError('Error building extension: Killed signal terminated program cc1plus')\n$plain_model";
my $closed = "$in_build    os.chmod(own, 0)\n$plain_model";
chmod 0777, $kept;
@group = measure_group($scratch, [ $code, $full, $killed, $closed ]);
is_measured($group[$_], 'code beside a full disk, a killed compiler and a closed folder is measured') for 0, 1, 3;
is(found($group[0]), '', 'a folder open to others is left alone, and the code built afresh');
is(join(' ', map { $_->{place} } @group), '0 1 3 2', 'what these may have failed is measured once more, after the others');
is($group[2]{outcome}, 'compile_error', 'a compiler that is killed each time fails its code');
like($group[2]{detail}, qr/^a process that builds it was killed, perhaps for want of memory/, 'and this is told');

# an interpreter without setuptools, which PyTorch's module of extensions imports
my $version = `/usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])'`;
chomp $version;
my $site = "$root/plain/lib/$version/site-packages";
make_path("$root/plain/bin", $site);
symlink '/usr/bin/python3', "$root/plain/bin/python3";
write_file("$root/plain/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\n");
write_file("$site/setuptools.py", "raise ImportError('it is not here')\n");
@group = measure_group($scratch, [ "# no torch.compile\n$plain_model", $code ], '--python', "'$root/plain/bin/python3'");
is_measured($group[0], 'code that only names a compiler is measured without setuptools');
is($group[1]{outcome}, 'launch_failure', 'and code that needs it fails by itself');

# A PyTorch without torch.compile gets empty modules.
my $elsewhere = tempdir(DIR => '/var/tmp', CLEANUP => 1);
system('cp', '-a', "$root/plain", "$elsewhere/plain") == 0 or die 'no copy of the interpreter';
unlink "$elsewhere/plain/lib/$version/site-packages/setuptools.py";
write_file("$elsewhere/plain/lib/$version/site-packages/sitecustomize.py", <<'END');
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
$task = "# torch.compile\n$reference";
system('cp', '-a', $library, "$root/library") == 0 or die 'no copy of the runner';
mkdir "$elsewhere/inside";
my $inside = measure("$elsewhere/inside", "# torch.compile\n$plain_model", '--libdir', "'$root/library'", '--python', "'$elsewhere/plain/bin/python3'");
is_measured($inside, 'code is measured by a runner that lies in /tmp');
is($inside->{reference}, 'good', 'and its reference is found good') or diag $inside->{detail};
$task = $reference;

SKIP:
{
	skip 'this PyTorch has no torch.compile', 8 if system(q{/usr/bin/python3 -c 'import sys, torch; sys.exit(not hasattr(torch, "compile"))'}) != 0;
	mkdir "$root/other";
	my $compiling = $reference =~ s/class Model/class ModelNew/r =~ s/torch\.relu\(x\)/compiled(x)/r;
	$compiling .= "compiled = torch.compile(lambda x: torch.relu(x) + 0 * x)\n";
	for my $when ('', 'candidate')
	{
		my $result = measure("$root/other", $compiling);
		is_measured($result, 'code with torch.compile is measured, ' . ($when ? 'kept' : 'new'));
		is(found($result), $when, 'as was said');
	}
	$task = $compiling =~ s/ModelNew/Model/r;
	my $result = measure("$root/other", $plain_model);
	is_measured($result, 'code without it is measured against a reference with it');
}

done_testing();
