# The same code has one key, whatever its words; other code has another.
use Testing;
use File::Temp qw(tempdir);
use Measuring;

my $root = tempdir(CLEANUP => 1);
my %profile = (bucket_seconds => 0.01, window_seconds => 0.0005, looks => [2], pairs => 2, check_seconds => 0.1, half_width_limit => 10);

sub keys_of
{
	my ($language, $task, $code, $same, @others) = @_;
	my $number = 0;
	SKIP:
	{
		skip "$language: no sandbox or no compiler here", 3 + @others if !can_measure($language);
		my @results = measure_candidates($root, { task => { name => 'double', cores => 1, %$task }, profile => \%profile }, [ $code, $same, @others ]);
		my %key = map { ++$number => $_->{code_key} } @results;
		is(scalar(grep { defined } values %key), 2 + @others, "$language: all are measured") or diag explain \@results;
		like($key{1}, qr/^[0-9a-f]{64}$/, 'a code has a key');
		is($key{2}, $key{1}, 'with other words the same');
		isnt($key{$_}, $key{1}, 'other code has another') for 3 .. $number;
	}
}

my $c = 'static float twice(float a) { return 2 * a; } void solve(const float *x, float *y) { for (int i = 0; i < 64; i++) y[i] = twice(x[i]); }';
keys_of('c', { language => 'c', reference => $c,
	signature => { args => [ { name => 'x', dtype => 'float32', shape => [64], role => 'in' }, { name => 'y', dtype => 'float32', shape => [64], role => 'out' } ] } },
	$c, "/* doubles\n * each */\n" . ($c =~ s/twice/doubled/gr) . ' // fast', $c =~ s/2 \* a/a + a + 0.0f/r);

my $model = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n";
keys_of('pytorch', { language => 'pytorch', reference => ($model =~ s/ModelNew/Model/r)
	. "def get_inputs():\n    return [torch.rand(64)]\ndef get_init_inputs():\n    return []\n" },
	$model, "# doubles\n\n" . ($model =~ s/ \* 2/*2 # quickly/r), $model =~ s/x \* 2/x + x/r, "'what __doc__ is'\n$model");

done_testing;
