# Wrong members of a heat are tried on the same inputs, and each is told its own cause.
use Testing;
use File::Temp qw(tempdir);
use JSON::PP;
use Measuring;

plan skip_all => 'no sandbox here' if !can_measure('c');

my $corpus = "$ENV{TESTDIR}/test/cheats";
my $reference = slurp_file("$corpus/tasks/rowsum.c");
my (@names, @causes, @codes);
for my $name (qw(added call_first input_scaled thread_left mean_without no_memory not_finite precision mean_without))
{
	my $code = slurp_file("$corpus/wrong/c/$name.c");
	my ($cause) = $code =~ /cause: (\w+)/ or die "$name names no cause";
	push @names, $name;
	push @causes, $cause;
	push @codes, "$code// @names\n";
}

# a right one among them
my %profile = (bucket_seconds => 0.04, looks => [3], pairs => 3, check_seconds => 0.2, checks => 3, half_width_limit => 10);
my $job = { task => { name => 'rowsum', language => 'c', reference => $reference, cores => 1,
			signature => decode_json(slurp_file("$corpus/tasks/rowsum.json")) },
	profile => \%profile };
my @found = measure_candidates(tempdir(CLEANUP => 1), $job, [ @codes, $reference ]);
for my $i (0 .. $#codes)
{
	is($found[$i]{evidence}{cause}, $causes[$i], "$names[$i]: $causes[$i]") or diag explain $found[$i];
}
like($found[-1]{outcome}, qr/^(successful|unverified|unstable)$/, 'a right one is measured beside them');
done_testing();
