# A full data disk stops writes, and loses nothing: what was submitted is there once room is made, and is scored once.
#
# The server's data lie in a file system of its own, mounted where only its processes see it. First tables cannot grow, then
# the log cannot, which ends the server; each time submissions go on, and whoever got an error asks again, by the same key.
use Testing;
use IO::Handle;
use Time::HiRes qw(sleep time);
use Workers;

my $enter = 'unshare --user --map-current-user --keep-caps --mount';
plan skip_all => 'no file system of its own can be mounted here'
  if system("$enter sh -c 'mount -t tmpfs tmpfs /mnt' 2>/dev/null") != 0;

my $node = new_server('full', conf => "min_wal_size = 32MB\nmax_wal_size = 32MB\nwal_recycle = off\nlog_min_messages = log");
my $data = $node->data_dir;
my $log = $node->logfile;
my $dir = PostgreSQL::Test::Utils::tempdir();
$node->stop;

# a shell that sees the disk; each command is answered by its exit status in a file
open my $shell, '|-', "$enter sh >>$dir/shell 2>&1" or die $!;
$shell->autoflush(1);
my $commands = 0;

sub inside
{
	my ($command) = @_;
	my $answer = "$dir/answer" . ++$commands;
	print $shell "{ $command; }; echo \$? >$answer.new; mv $answer.new $answer\n";
	my $until = time() + 120;
	sleep 0.05 until -e $answer || time() > $until;
	return -e $answer ? 0 + slurp_file($answer) : -1;
}

# what the server starts may have no rights of the shell's
my $start = "setpriv --inh-caps=-all --ambient-caps=-all pg_ctl -D $data -l $log -w -t 60 start";
is(inside("trap 'pg_ctl -D $data -m immediate stop' EXIT; cp -a $data $dir/copy && mount -t tmpfs -o size=200m,mode=0700 tmpfs $data"
	  . " && cp -a $dir/copy/. $data && $start"), 0, 'a server on a small disk') or BAIL_OUT(slurp_file("$dir/shell"));

my $wanted = 40;

# submissions that have not been answered yet; the number that still are not
my %missing = map { $_ => 1 } 1 .. $wanted;
my %refused;

sub submit_missing
{
	for my $n (sort { $a <=> $b } keys %missing)
	{
		# an incompressible code, so that tables have to grow
		my ($ret, undef, $error) = $node->psql('postgres', "SELECT cudal1_submit('task', 'result 1.5' || chr(10) || '# ' || "
			  . "(SELECT string_agg(md5($n || '-' || i), '') FROM generate_series(1, 300) AS i), proposal_key => 'key $n')");
		delete $missing{$n} if $ret == 0;
		$refused{$1}++ if $ret == 3 && $error =~ /ERROR:  (could not (?:extend|write))/;
		last if $ret == 2;
	}
	return scalar keys %missing;
}

is(inside("dd if=/dev/zero of=$data/fill bs=8k 2>/dev/null; sync; df $data | grep -q 100%"), 0, 'the disk is full');
cmp_ok(submit_missing(), '>', 0, 'not everything can be submitted now');
ok(%refused, 'and whoever is refused is told why');
inside("rm $data/fill");
$node->poll_query_until('postgres', 'SELECT true');
is(submit_missing(), 0, 'with room again, what was refused is submitted by the same key');
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE state = 'successful'", $wanted, 'and all are measured');

# the log cannot grow: the server ends, and does not come back before there is room
$missing{$_} = 1 for $wanted + 1 .. 2 * $wanted;
$wanted *= 2;
inside("dd if=/dev/zero of=$data/fill bs=8k 2>/dev/null");
my $gone = 0;
for (my $i = 0; $i < 60 && !$gone; $i++)
{
	submit_missing();
	my ($ret) = $node->psql('postgres', "SELECT pg_logical_emit_message(false, 'fill', repeat('x', 1000000)), pg_switch_wal()");
	$gone = $ret == 2;
}
ok($gone, 'without room for its log the server ends');
inside("rm -f $data/fill");
# pg_ctl may find a server that is just ending, so it is asked again until one is up
my ($back, $until) = (0, time() + 180);
until ($back || time() > $until)
{
	inside("pg_ctl -D $data status >/dev/null || $start");
	sleep 0.1 if !($back = ($node->psql('postgres', 'SELECT true'))[0] == 0);
}
ok($back, 'with room again it comes back');
is(submit_missing(), 0, 'what was refused is submitted');
wait_for($node, "SELECT count(*) FROM cudal1.candidate WHERE state = 'successful'", $wanted, 'and all are measured');
is(scalar_of($node, 'SELECT count(*), count(DISTINCT candidate_id) FROM cudal1.proposal'), "$wanted|$wanted", 'every submission is there, once');
is(scalar_of($node, 'SELECT count(*) FROM (SELECT 1 FROM cudal1.measurement WHERE accepted GROUP BY candidate_id HAVING count(*) > 1) AS x'),
	'0', 'none was scored twice');
is(scalar_of($node, 'SELECT count(*) FROM cudal1.candidate WHERE reward IS DISTINCT FROM 1.5'), '0', 'each has its reward');
consistent($node);
is(scalar_of($node, 'SELECT * FROM cudal1.check_of_buckets()'), '', 'buckets agree with their codes');
is(inside("pg_ctl -D $data -m fast -w stop; trap - EXIT"), 0, 'the server stops');
close $shell;
done_testing();
