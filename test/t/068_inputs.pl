# Inputs for a GPU are made there, those of many slots at once, whatever get_inputs says or leaves open. Shown on PyTorch's device without data.
use strict;
use warnings;
use FindBin;
use Test::More;

my $python = '/usr/bin/python3';
plan skip_all => 'no PyTorch' if ($ENV{PYTORCH} // '') eq 'no' || system("$python -c 'import torch' 2>/dev/null") != 0;

my $program = <<'END';
import contextlib, importlib.util, sys
import torch
spec = importlib.util.spec_from_file_location("exec_torch", sys.argv[1])
executor = importlib.util.module_from_spec(spec)
executor.torch = torch
spec.loader.exec_module(executor)

def say(good, name):
    print("ok" if good else "not ok", "-", name)

made = []
def count(original):
    def make(*size, **keywords):
        made.append(size)
        return original(*size, **keywords)
    return make

torch.rand, torch.randn, torch.randint = count(torch.rand), count(torch.randn), count(torch.randint)
random = executor.BatchedRandom("meta")
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
open my $pipe, '-|', $python, '-c', $program, "$FindBin::RealBin/../../runner/exec_torch.py" or die "$python: $!";
while (my $line = <$pipe>)
{
	next unless $line =~ /^(not )?ok - (.*)/;
	ok(!$1, $2);
}
ok(close $pipe, 'the program ends well');
is(Test::More->builder->current_test, 11, 'nothing was left out');
done_testing();
