# A server whose workers run test/perl/scripted-measure, and what tests of workers ask of it.
package Workers;

use strict;
use warnings;
use Exporter 'import';
use File::Copy ();
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Processes;
use Testing ();
use Test::More;

our @EXPORT = qw(new_server create_extension configure submit submit_until measuring submit_many state_of wait_for trace children await_children
  no_children consistent touch_file worker_pid scalar_of place_known);

my %scratch;

# a copy of scripted-measure in a folder, whose subfolder scratch it works in
sub place_scripted
{
	my ($dir) = @_;
	mkdir "$dir/scratch";
	File::Copy::copy("$FindBin::RealBin/../perl/scripted-measure", "$dir/scripted-measure") or die $!;
	chmod 0755, "$dir/scripted-measure";
	return "$dir/scratch";
}

# a started server named so; conf: lines of postgresql.conf; preload => 0: without the library; streaming => 1: for a standby
sub new_server
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my $dir = PostgreSQL::Test::Utils::tempdir();

	chmod 0755, $dir;
	$scratch{$name} = place_scripted($dir);

	# those that show GPUs come along where they are set
	delete @ENV{qw(CUDA_HOME CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES)};
	$node->init(allows_streaming => $options{streaming} // 0);
	$node->append_conf('postgresql.conf', <<"END");
shared_preload_libraries = '@{[ ($options{preload} // 1) ? 'cudal1' : '' ]}'
restart_after_crash = on
max_worker_processes = 16
cudal1.measure_path = '$dir/scripted-measure'
cudal1.scratch_dir = '$dir/scratch'
cudal1.prefetch = 0
# nothing but a wake-up moves a test along
cudal1.idle_poll = 3600s
cudal1.lease_seconds = 600
@{[ $options{conf} // '' ]}
END
	$node->start;
	create_extension($node, 'postgres') if $options{preload} // 1;
	return $node;
}

sub create_extension
{
	my ($node, $database) = @_;
	$node->safe_psql($database, 'CREATE EXTENSION cudal1');
	$node->safe_psql($database, <<'END');
SELECT cudal1_add_task('task', 'void solve(const float *a, float *c) {}', 'c',
	'{"entry": "solve", "args": [{"name": "a", "dtype": "float32", "shape": [4], "role": "in", "init": "normal"},
								 {"name": "c", "dtype": "float32", "shape": [4], "role": "out"}]}',
	1, '{"profile": "quick", "device": "cpu"}');
END
	return;
}

# lines of postgresql.conf that a running server takes up
sub configure
{
	my ($node, $lines) = @_;
	$node->append_conf('postgresql.conf', $lines);
	$node->reload;
	return;
}

sub quote
{
	my ($text) = @_;
	$text =~ s/'/''/g;
	return "'$text'";
}

# submits one script and returns the candidate's id
sub submit
{
	my ($node, $code, %options) = @_;
	my $priority = $options{priority} // 0;
	return $node->safe_psql($options{database} // 'postgres',
		"SELECT cudal1_submit('task', @{[ quote($code) ]}, priority => $priority)");
}

# and waits until the candidate's state, reward and failure begin with these words
sub submit_until
{
	my ($node, $code, $wanted, $name, %options) = @_;
	my $id = submit($node, $code, %options);
	wait_for($node, "SELECT concat_ws(' ', state, reward, failure, '') LIKE '$wanted %' FROM cudal1.candidate WHERE candidate_id = $id", 't', $name, $options{database});
	return $id;
}

# and waits until a program says that it measures the candidate
sub measuring
{
	my ($node, $code, $name, %options) = @_;
	my $id = submit($node, $code, %options);
	wait_for($node, "SELECT phase FROM cudal1.activity WHERE candidate_id = $id", 'measuring', $name, $options{database});
	return $id;
}

# one transaction, so that the order of claims is that of the list
sub submit_many
{
	my ($node, @codes) = @_;
	my $list = join ', ', map { quote($_) } @codes;
	my $ids = $node->safe_psql('postgres',
		"SELECT candidate_id FROM cudal1_submit_batch(array_fill('task'::text, ARRAY[@{[ scalar @codes ]}]), ARRAY[$list]) ORDER BY ordinal");
	return split /\n/, $ids;
}

# state, reward, failure
sub state_of
{
	my ($node, $id, $database) = @_;
	return $node->safe_psql($database // 'postgres',
		"SELECT concat_ws(' ', state, reward, failure) FROM cudal1.candidate WHERE candidate_id = $id");
}

sub scalar_of
{
	my ($node, $query, $database) = @_;
	return $node->safe_psql($database // 'postgres', $query);
}

# until the query gives the wanted text; fails the test after three minutes
sub wait_for
{
	my ($node, $query, $wanted, $name, $database) = @_;
	ok($node->poll_query_until($database // 'postgres', $query, $wanted), $name);
	return;
}

# so many successful codes that are proposed in another pool, until claims have placed them all there
sub place_known
{
	my ($node, $count, $name) = @_;
	scalar_of($node, <<"END");
SELECT cudal1_open_pool('again');
INSERT INTO cudal1.candidate (task_id, code, code_hash, state, reward, decided_at)
	SELECT 1, c, cudal1.code_hash(c), 'successful', 1.5, now() FROM generate_series(1, $count) AS n, LATERAL (SELECT 'known ' || n AS c) AS v;
SELECT cudal1_submit('task', 'known ' || n, pool => 'again') FROM generate_series(1, $count) AS n;
END
	wait_for($node, "SELECT count(*) FROM cudal1.pool_code AS s JOIN cudal1.pool AS p USING (pool_id) WHERE p.name = 'again'", $count, $name);
	return;
}

# waits for the worker of a database, because a server accepts connections before its workers run
sub worker_pid
{
	my ($node, $database) = @_;
	my $state = "FROM cudal1.worker_state() WHERE database = '@{[ $database // 'postgres' ]}'";
	$node->poll_query_until('postgres', "SELECT count(pid) > 0 $state") or die "no worker\n";
	return $node->safe_psql('postgres', "SELECT pid $state");
}

# lines that match of what scripted-measure traced for a server
sub trace
{
	my ($node, $pattern) = @_;
	return trace_in($scratch{ $node->name }, $pattern);
}

# lines that match of its trace in any scratch folder
sub trace_in
{
	my ($folder, $pattern) = @_;
	open my $file, '<', "$folder/trace" or return ();
	my @lines = grep { chomp; !defined $pattern || $_ =~ $pattern } <$file>;
	close $file;
	return @lines;
}

sub touch_file { return Testing::write_file("$scratch{ $_[0]->name }/$_[1]", $_[2] // '') }

# processes of this server's measuring program
sub children
{
	my ($node) = @_;
	return map { $_->[0] } grep { $_->[1] =~ /^cudal1-scripted-measure \Q$scratch{ $node->name }\E/ } processes();
}

sub await_children
{
	my ($node, $count, $name) = @_;
	return Testing::await(sub { scalar(() = children($node)) == $count }, $name);
}

sub no_children
{
	my ($node) = @_;
	await_children($node, 0, 'no measuring program is left');
	return;
}

# what must hold at rest: each undecided candidate has one job, and no job is without an undecided candidate
sub consistent
{
	my ($node, $database) = @_;
	is($node->safe_psql($database // 'postgres', <<'END'), '0|0|0', 'jobs and candidates agree');
SELECT (SELECT count(*) FROM cudal1.candidate c
		WHERE c.state IN ('queued', 'measuring', 'verifying')
		AND (SELECT count(*) FROM cudal1.job j WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify')) <> 1),
	   (SELECT count(*) FROM cudal1.job j JOIN cudal1.candidate c USING (candidate_id)
		WHERE j.kind IN ('measure', 'verify') AND c.state NOT IN ('queued', 'measuring', 'verifying')),
	   (SELECT count(*) FROM (SELECT 1 FROM cudal1.measurement WHERE accepted AND kind = 'measure'
							  GROUP BY candidate_id HAVING count(*) > 1) x)
END
	return;
}

1;
