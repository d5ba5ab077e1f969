# What the archive for PGXN holds builds and installs by itself, in a place where nothing was built and no git is.
use Testing;

my $top = $ENV{TESTDIR};
my $dir = PostgreSQL::Test::Utils::tempdir();
my $pg_config = $ENV{PG_CONFIG};
my ($version) = slurp_file("$top/cudal1.control") =~ /^default_version = '(.*)'/m;
my $home = "$dir/cudal1-$version";
mkdir $home or die $!;
# as `make dist` does, from files as they stand: a test has no repository
is(system("tar -C '$top' --exclude=./tmp_check --exclude='./cudal1--*' -cf - . | tar -C '$home' -xf -"), 0, 'unpacked');
ok(!-e "$home/cudal1.so" && !-e "$home/runner/build" && !-e "$home/.git", 'nothing is built there');

my $log = '';
# in half the time without an optimiser
my @make = ('make', '-s', '-j2', '-C', $home, "PG_CONFIG=$pg_config", 'CFLAGS=-O0');
ok(run_log([@make, 'all'], '>', \$log, '2>&1'), 'it builds') or diag(substr($log, -2000));
ok(run_log([@make, 'install', "DESTDIR=$dir/staged"], '>', \$log, '2>&1'), 'and installs, staged as packages are') or diag(substr($log, -2000));

my %place = map { my $p = `$pg_config --$_`; chomp $p; $_ => "$dir/staged$p" } 'sharedir', 'pkglibdir', 'bindir';
my @wanted = ((map { "$place{sharedir}/extension/$_" } 'cudal1.control', "cudal1--$version.sql"),
	"$place{pkglibdir}/cudal1.so", map { "$place{bindir}/$_" } 'cudal1', 'cudal1-measure', 'cudal1-agent', 'cudal1-generate', 'cudal1-import', 'cudal1-report', 'cudal1-top');
ok(-s $_, s{^\Q$dir\E/staged}{}r . ' is there') for @wanted;
my $says = `'$place{bindir}/cudal1-measure' --version 2>&1`;
like($says, qr/\Q$version\E/, 'of this version');
# each program has a page of the manual, in which every option of its --help has an entry
for my $program (grep { s{^\Q$place{bindir}\E/}{} } @wanted)
{
	my ($path) = split /\n/, `find '$dir/staged' -path '*/man/man1/$program.1'`;
	my $page = $path ? slurp_file($path) : '';
	like($page, qr/^\.TH \S+ 1 "" "cudal1 \Q$version\E"\n\.SH NAME\n\S+ \\- \w.+\n\.SH SYNOPSIS\n/, "$program has a manual page");
	my $help = `'$place{bindir}/$program' --help`;
	my @lost = grep { my $option = s/-/\\-/gr; $page !~ /^\\fB.*\Q$option\E\b/m } $help =~ /^ {2,4}(?:-\w, )?(--[\w-]+)/mg;
	is("@lost", '', 'with its options') or diag $page;
}

ok(run_log([@make, 'uninstall', "DESTDIR=$dir/staged"], '>', \$log, '2>&1'), 'it is uninstalled') or diag(substr($log, -2000));
is(`find '$dir/staged' -not -type d; find '$dir/staged' -name '*cudal1*'`, '', 'and nothing of it is left');

done_testing();
