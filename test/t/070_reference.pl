# docs/reference.md says what a server says of itself.
use Testing;

my $node = start_server('reference', "shared_preload_libraries = 'cudal1'\ncudal1.databases = ''\n");
$node->safe_psql('postgres', 'CREATE EXTENSION cudal1');

@ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');
my $said = `$ENV{TESTDIR}/tools/reference`;
is($?, 0, 'tools/reference runs');

my @said = split /\n/, $said;
my @written = split /\n/, slurp_file("$ENV{TESTDIR}/docs/reference.md");
my $line = 0;
$line++ while $line < @said && $line < @written && $said[$line] eq $written[$line];
is($written[$line], $said[$line], 'docs/reference.md is current (else run tools/reference >docs/reference.md)');

$node->stop;
done_testing();
