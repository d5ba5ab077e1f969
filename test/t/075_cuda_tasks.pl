# The codes of examples/train/cuda_tasks.py, run on a processor with a block's threads taking turns: right ones are what the task's
# formula says, wrong ones are not. test/trainers/cuda_forms.py without --few and --tasks runs all of them, and with --nvcc compiles them.
use Testing;
use IPC::Run ();
use JSON::PP ();

plan skip_all => 'no NumPy' if system('/usr/bin/python3 -c "import numpy" 2>/dev/null') != 0;
my $folder = PostgreSQL::Test::Utils::tempdir();
my @all = qw(cuda_squared_distance cuda_column_max cuda_matmul_at cuda_box_squares cuda_rms_rows cuda_clip cuda_add_transposed);

sub odd
{
	my ($names, @words) = @_;
	my ($out, $err) = ('', '');
	IPC::Run::run([ '/usr/bin/python3', "$ENV{TESTDIR}/test/trainers/cuda_forms.py", "$ENV{TESTDIR}/examples/train", $folder,
		'--few', '--tasks', join(',', @$names), @words ], '>', \$out, '2>', \$err) or diag($err);
	return map { JSON::PP::decode_json($_) } split /\n/, $out;
}

# the names that compare --language takes
my %names = map { $_ => [ split /,/, `/usr/bin/python3 -B $ENV{TESTDIR}/examples/train/tasks.py $_ --language cuda` =~ s/\n//r ] } qw(list held-out);
is_deeply([ map { scalar @{ $names{$_} } } qw(list held-out) ], [ 18, 6 ], '18 tasks are trained on, and 6 are held out');
is_deeply([ grep { my $name = $_; grep { $_ eq $name } @{ $names{list} } } @{ $names{'held-out'} } ], [], 'which are others');

my ($few, $more) = map { [ `/usr/bin/python3 -B $ENV{TESTDIR}/examples/train/tasks.py show --language cuda --tasks cuda_clip --most $_` =~ m{^/\* cuda_clip: (\w+) \*/$}mg ] } 3, 5;
is(scalar @$few, 1 + 3, 'so many codes as are asked for are there beside the reference');
is_deeply([ @$more[ 0 .. 3 ] ], $few, 'a larger number adds to those of a smaller one');
is_deeply([ grep { /^wrong/ } @$more ], [], 'and none is wrong');

my @found = odd(\@all);
is_deeply([ map { $_->{task} } @found ], \@all, 'a task of each family');
for (@found)
{
	is_deeply($_->{odd}, {}, "$_->{task}: $_->{codes} codes, $_->{wrong} of them wrong, are what they are called");
	ok($_->{same}, 'and small sizes leave them as they are');
	cmp_ok($_->{wrong}, '>=', 5, 'of both there are some');
}
for (odd([qw(cuda_column_max cuda_matmul_at cuda_rms_rows cuda_add_transposed)], '--without', '__syncthreads();'))
{
	is(scalar keys %{ $_->{odd} }, $_->{codes}, "$_->{task}: no code is right without its barriers");
	cmp_ok($_->{codes}, '>', 1, 'of those that have some');
}
done_testing();
