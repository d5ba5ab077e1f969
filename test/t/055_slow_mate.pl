# Candidates that are measured together: slow code leaves the others their rounds.
use Testing;
use File::Temp qw(tempdir);
use Measuring;

plan skip_all => 'no sandbox here' if !can_measure('c');

my $code = 'void solve(const float *x, float *y) { for (int i = 0; i < 1024; i++) y[i] = 2 * x[i]; }';
my $slow = 'void solve(const float *x, float *y) { for (int i = 0; i < 1024; i++) for (volatile int k = 0; k < 9999; k++) y[i] = 2 * x[i]; }';
my @arrays = map { { name => $_->[0], dtype => 'float32', shape => [1024], role => $_->[1] } } [ x => 'in' ], [ y => 'out' ];
my $job = { task => { name => 'twice', language => 'c', reference => $code, cores => 1, signature => { entry => 'solve', args => \@arrays } },
	profile => { bucket_seconds => 0.05, window_seconds => 0.0001, looks => [2], pairs => 2, half_width_limit => 10, run_limit_factor => 1e6 } };
my @results = measure_candidates(tempdir(CLEANUP => 1), $job, [ $slow, $code ]);

is(join(' ', map { $_->{outcome} } @results), 'successful successful', 'both are measured') or diag explain \@results;
cmp_ok($results[1]{rounds}, '>', 4 * $results[1]{pairs}, 'quick code has more rounds in a pair than there are at least');
is_deeply([ scalar(@{ $results[1]{samples} }), scalar(map { @$_ } @{ $results[1]{samples} }) ], [ @{ $results[1] }{ qw(pairs rounds) } ],
	'each round has its ratio');

done_testing();
