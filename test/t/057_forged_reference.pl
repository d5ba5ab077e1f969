# A reference is a task's own code, as little trusted as a candidate: one that lies about what it returns spoils its task, and nothing else.
use Testing;
use File::Temp qw(tempdir);
use Measuring;

plan skip_all => 'no sandbox here, or no PyTorch' if !can_measure('pytorch');

my $scratch = tempdir(CLEANUP => 1);
my $candidate = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n";

sub measure
{
	my ($name, $reference) = @_;
	my $job = { task => { name => $name, language => 'pytorch', reference => $reference, cores => 1 },
		profile => { bucket_seconds => 0.01, window_seconds => 0.0005, looks => [2], pairs => 2, memory_mb => 4096 } };
	return (measure_candidates($scratch, $job, [$candidate]))[0];
}

# a table that says what the reference has not: type, elements of each output
sub forging
{
	my (@outputs) = @_;
	my $list = join ', ', map { "($_->[0], $_->[1])" } @outputs;
	return <<"END";
import ctypes, struct, sys
import torch

data = ctypes.create_string_buffer(b"A" * (1 << 20), 1 << 20)
outputs_said = [$list]

def forged(self, result, run=0):
    main = sys.modules["__main__"]
    pad = (0,) * 7
    for i, (dtype, elements) in enumerate(outputs_said):
        main.TENSOR.pack_into(self.control.memory, main.wire.TABLE_AT + (run * len(outputs_said) + i) * main.TENSOR.size,
                              ctypes.addressof(data), dtype, 1, elements, *pad, 1, *pad)
    struct.pack_into("=I", self.control.memory, main.wire.TENSORS_AT, len(outputs_said))

class Model(torch.nn.Module):
    def forward(self, x):
        sys.modules["__main__"].Executor.write_table = forged
        return x + 1

def get_inputs():
    return [torch.randn(4, 32)]

def get_init_inputs():
    return []
END
}

# bytes of uint8, and of float64 as many as make both together 2^64
my $result = measure('overflow', forging([ 9, '1 << 20' ], [ 1, '2 ** 61 - 2 ** 17' ]));
is($result->{outcome}, 'unverified', 'outputs whose sizes add up to nothing are none') or diag $result->{detail};
like($result->{detail}, qr/^the reference returns an array of an unsupported type or size$/, 'and the task\'s owner is told');
$result = measure('large', forging(map { [ 9, '1 << 40' ] } 1 .. 16));
is($result->{outcome}, 'unverified', 'nor as many as there may be of the largest') or diag $result->{detail};
like($result->{detail}, qr/^the reference returns arrays of \d+ MiB together, more than a run's memory holds/, 'and how large they may be');

# views of little memory, which the executor would have to write out
my $plain = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return RETURNED\n"
  . "def get_inputs():\n    return [GIVEN]\ndef get_init_inputs():\n    return []\n";
(my $complex = $plain) =~ s/RETURNED/torch.complex(x, x)/;
$complex =~ s/GIVEN/torch.randn(8)/;
like(measure('complex', $complex)->{detail}, qr/a run returns a tensor of type torch\.complex64; supported are float64, /, 'a type without a tolerance is named');
$result = measure('view', $plain =~ s/RETURNED/(x + 1).expand(1 << 20, 4, 2048)/r =~ s/GIVEN/torch.randn(1, 2048)/r);
is($result->{outcome}, 'unverified', 'a view that is larger than memory may be') or diag $result->{detail};
like($result->{detail}, qr/^the reference fails in a run: .*allocate 34359738368 bytes/, 'and how large it would be');
done_testing();
