# What a host had too little of is no verdict: not of a code, and not of a reference.
use Testing;
use File::Temp qw(tempdir);
use JSON::PP;
use Measuring;

plan skip_all => 'no sandbox here' if !can_measure('c');

my $folder = tempdir(CLEANUP => 1);
my $head = 'void solve(const float *x, float *y)';
my %file = (
	'reference.c' => "$head { for (int i = 0; i < 64; i++) y[i] = 2 * x[i]; }",
	'candidate.c' => "$head { for (int i = 0; i < 64; i++) y[i] = x[i] + x[i]; }",
	'large.c' => 'const int table[] = {' . join(',', 1 .. 40000) . "};\n$head { for (int i = 0; i < 64; i++) y[i] = 2 * x[i] + 0 * table[i]; }",
	'full.c' => "#error No space left on device\n",
	'processes.c' => "#error vfork: Resource temporarily unavailable\n",
	'signature.json' => '{"args": [{"name": "x", "dtype": "float32", "shape": [64], "role": "in"},'
	  . ' {"name": "y", "dtype": "float32", "shape": [64], "role": "out"}]}');
append_to_file("$folder/$_", $file{$_}) for keys %file;

# the first candidate's result, in a scratch folder on a disk of that size, or on the host's
sub result
{
	my ($size, @files) = @_;
	my $scratch = "$folder/scratch";
	mkdir $scratch;
	my $command = "'$measure' --quick --scratch '$scratch' " . join ' ', map { "'$folder/$_'" } @files;
	$command .= " --signature '$folder/signature.json'" if $files[0] =~ /c$/;
	$command = "unshare -rm sh -c \"mount -t tmpfs -o size=$size tmpfs '$scratch' && $command\"" if $size;
	my ($line) = `$command 2>/dev/null`;
	return decode_json($line // '{}');
}

SKIP:
{
	skip 'no file system of its own can be mounted here', 5 if system("unshare -rm sh -c 'mount -t tmpfs tmpfs /mnt' 2>/dev/null") != 0;
	my $found = result('20k', 'reference.c', 'candidate.c');
	is($found->{outcome}, 'lost', 'a disk without room for the reference says nothing of a code') or diag explain $found;
	isnt($found->{reference}, 'bad', 'nor of the reference');
	$found = result('30k', 'reference.c', 'candidate.c');
	is($found->{outcome}, 'lost', 'one with some room left, but not enough for the code, neither') or diag explain $found;
	$found = result('320k', 'reference.c', 'large.c');
	is($found->{outcome}, 'lost', 'nor one with room for all codes but a large one') or diag explain $found;
	$found = result('400m', 'reference.c', 'full.c');
	is($found->{outcome}, 'compile_error', 'where there is room, code that has its compiler complain is refused') or diag explain $found;
}
my $found = result('', 'processes.c', 'candidate.c');
is($found->{outcome}, 'unverified', 'a compiler that could not start another makes no verdict') or diag explain $found;
isnt($found->{reference}, 'bad', 'and leaves the reference as it was');
is(result('', 'reference.c', 'processes.c')->{outcome}, 'compile_error', 'code that it is said of each time is the cause');

# PyTorch code that compiles itself, with what its compiler would say
SKIP:
{
	skip 'no PyTorch here', 2 if !can_measure('pytorch');
	skip 'no file system of its own can be mounted here', 2 if system("unshare -rm sh -c 'mount -t tmpfs tmpfs /mnt' 2>/dev/null") != 0;
	my $model = "import torch\nclass %s(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n";
	my $build = "import os\nimport torch.utils.cpp_extension\nif os.access(os.path.dirname(os.environ['TORCH_EXTENSIONS_DIR']), os.W_OK):\n"
	  . "    raise RuntimeError('Error building extension: cc1plus: No space left on device')\n";
	append_to_file("$folder/reference.py", sprintf($model, 'Model') . "def get_inputs():\n    return [torch.randn(64)]\ndef get_init_inputs():\n    return []\n");
	append_to_file("$folder/builds.py", $build . sprintf($model, 'ModelNew'));
	is(result('60m', 'reference.py', 'builds.py')->{outcome}, 'lost', 'nor one with too little left for code that compiles itself');
	is(result('400m', 'reference.py', 'builds.py')->{outcome}, 'compile_error', 'with room it is refused');
}
done_testing();
