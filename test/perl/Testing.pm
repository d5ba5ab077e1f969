# What each test begins with: strict Perl, the words of Test::More and of PostgreSQL::Test::Utils, a server and files. A test
# that asks for it by name (use Testing 'await') gets await(), too.
package Testing;

use strict;
use warnings;
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

# until the condition holds, and whether it does; fails the test after three minutes
sub await
{
	my ($condition, $name) = @_;
	my $until = Time::HiRes::time() + 180;
	my $good;
	Time::HiRes::sleep(0.02) until ($good = $condition->()) || Time::HiRes::time() > $until;
	# a machine that stood still meanwhile is asked once more
	$good ||= $condition->();
	Test::More::ok($good, $name);
	return $good;
}

1;
