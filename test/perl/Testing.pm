# What each test begins with: strict Perl, the words of Test::More and of PostgreSQL::Test::Utils, a server and files. A test
# that asks for it by name (use Testing 'await') gets await(), too.
package Testing;

use strict;
use warnings;
use IPC::Open2 ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils ();
use Test::More ();
use Time::HiRes ();

sub import
{
	my ($module, @more) = @_;
	my $test = caller;
	strict->import;
	warnings->import;
	eval "package $test; Test::More->import; PostgreSQL::Test::Utils->import; 1" or die $@;
	no strict 'refs';
	*{"${test}::$_"} = \&$_ for qw(start_server write_file), @more;
	return;
}

# Replaces PostgreSQL's own, whose psql for each question occupies a fifth of a core: one session asks until it is lost, then another.
sub poll_query_until
{
	my ($node, $database, $query, $wanted) = @_;
	my $until = Time::HiRes::time() + $PostgreSQL::Test::Utils::timeout_default;
	my ($said, $pid, $in, $out);
	local %ENV = $node->_get_env();
	local ($?, $SIG{PIPE}) = (0, 'IGNORE');
	$wanted //= 't';
	do
	{
		Time::HiRes::sleep(0.05) if defined $said;
		$pid //= IPC::Open2::open2($out, $in, 'sh', '-c', 'exec psql -XAt -d "$1" 2>&1', 'sh', $node->connstr($database));
		print $in "$query\n;\n\\echo :END\n" and $in->flush;
		($said, my $line) = ('');
		$said .= $line while defined($line = <$out>) && $line ne ":END\n";
		chomp $said;
		if (!defined $line)
		{
			waitpid $pid, 0;
			($pid, $in, $out) = ();
			$said .= ' (the session is lost)';
		}
	} until $said eq $wanted || Time::HiRes::time() > $until;
	close $in and close $out and waitpid $pid, 0 if $pid;
	Test::More::diag("in vain for $wanted: $query: $said") if $said ne $wanted;
	return $said eq $wanted;
}
{
	no warnings 'redefine';
	*PostgreSQL::Test::Cluster::poll_query_until = \&poll_query_until;
}

# a started server of that name, with these lines in postgresql.conf; Workers::new_server() has workers for it
sub start_server
{
	my ($name, $conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init;
	$node->append_conf('postgresql.conf', $conf // '');
	$node->start;
	return $node;
}

# a file as it is given; mode: its permissions
sub write_file
{
	my ($path, $text, $mode) = @_;
	open my $file, '>:raw', $path or die "$path: $!";
	print $file $text;
	close $file;
	chmod $mode, $path if defined $mode;
	return;
}

# until the condition holds, and what it says; fails the test after three minutes
sub await
{
	my ($condition, $name, $pause) = @_;
	my $until = Time::HiRes::time() + 180;
	my $good;
	Time::HiRes::sleep($pause // 0.02) until ($good = $condition->()) || Time::HiRes::time() > $until;
	# a machine that stood still meanwhile is asked once more
	$good ||= $condition->();
	Test::More::ok($good, $name);
	return $good;
}

1;
