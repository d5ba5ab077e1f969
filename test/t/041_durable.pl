# What finish() acknowledged is on disk, though its commit frees its locks before it waits for the log; and a verdict that
# cudal1_wait() tells is, too. The writer of the log sleeps, so that nothing but the commit itself brings it there.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('durable');
$node->init;
$node->append_conf('postgresql.conf', "wal_writer_delay = '10s'\ncudal1.databases = ''\nshared_preload_libraries = 'cudal1'\ncudal1.certify = off");
$node->start;
$node->safe_psql('postgres', <<'SQL');
SET client_min_messages = error;
CREATE EXTENSION cudal1;
SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}');
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}');
SELECT count(*) FROM cudal1_submit_batch(array_fill('t'::text, ARRAY[20]), ARRAY(SELECT 'code ' || g FROM generate_series(1, 20) AS g));
SQL

my $score = q{jsonb_build_object('outcome', 'successful', 'score', 1.2)};
my $finish = "SELECT cudal1.finish(job_id, attempt, $score) FROM cudal1.job WHERE state = 'running'";
my $claim = q{SELECT count(*) FROM cudal1.claim(1, 'w') \g /dev/null
};
sub claim { $node->safe_psql('postgres', $claim); return; }
sub decided { return $node->safe_psql('postgres', q{SELECT count(*) FROM cudal1.candidate WHERE state = 'successful'}); }

for my $round (1 .. 4)
{
	claim();
	is($node->safe_psql('postgres', $finish), 'stored', 'a result is acknowledged');
	$node->stop('immediate');
	$node->start;
	is(decided(), $round, 'and survives the server, which ended at that moment');
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM cudal1.recount()'), '0', 'with its bucket');

# in a larger transaction, too, whose other writes are flushed with it
claim();
$node->safe_psql('postgres', "BEGIN; CREATE TABLE beside (x int); INSERT INTO beside VALUES (7); $finish; COMMIT");
$node->stop('immediate');
$node->start;
is(decided() . $node->safe_psql('postgres', 'SELECT x FROM beside'), '57', 'so does a larger transaction');

# how: the commit does not wait, the session is as before
claim();
my $settings = $node->safe_psql('postgres', "BEGIN; $finish \\g /dev/null\nSHOW synchronous_commit; COMMIT; SHOW synchronous_commit;");
is($settings, "off\non", 'the commit itself does not wait, and the session is as before');
claim();
$settings = $node->safe_psql('postgres', "BEGIN; $finish \\g /dev/null\nROLLBACK; SHOW synchronous_commit; $finish");
is($settings, "on\nstored", 'a rolled back one leaves nothing behind');
claim();
is($node->safe_psql('postgres', "SELECT set_config('synchronous_commit', 'off', false) \\g /dev/null\n$finish; SHOW synchronous_commit"), "stored\noff",
	'who asks for less gets less');
$node->append_conf('postgresql.conf', "synchronous_standby_names = '*'");
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('synchronous_standby_names') = '*'}) or die 'not reloaded';
$settings = $node->safe_psql('postgres', "SET synchronous_commit = local; $claim;\n"
	  . "BEGIN; $finish \\g /dev/null\nSHOW synchronous_commit; COMMIT");
is($settings, 'local', 'with synchronous standbys commits are ordinary ones');

# heartbeats need not be kept; what goes with one is
my $beat = "SELECT cudal1.heartbeat(job_id, attempt) FROM cudal1.job WHERE state = 'running'";
$node->append_conf('postgresql.conf', "synchronous_standby_names = ''");
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('synchronous_standby_names') = ''}) or die 'not reloaded';
claim();
is($node->safe_psql('postgres', "BEGIN; $beat \\g /dev/null\nSHOW synchronous_commit; COMMIT"), 'on', 'a heartbeat in a larger transaction changes nothing');
is($node->safe_psql('postgres', "$beat \\g /dev/null\nSHOW synchronous_commit"), 'on', 'nor the session');
my $before = decided();
is($node->safe_psql('postgres', "SELECT cudal1.heartbeat(job_id, attempt) || cudal1.finish(job_id, attempt, $score) FROM cudal1.job WHERE state = 'running'"),
	'continuestored', 'a result that follows a heartbeat in one statement');
$node->stop('immediate');
$node->start;
is(decided(), $before + 1, 'is kept');

# a waiting trainer hears of what is on disk
$node->safe_psql('postgres', "SET synchronous_commit = off; $claim; $finish");
my $told = $node->safe_psql('postgres', q{SELECT count(*) FROM cudal1_wait(ARRAY(SELECT candidate_id FROM cudal1.candidate WHERE state = 'successful'))});
$node->stop('immediate');
$node->start;
is(decided(), $told, 'what cudal1_wait() told survives, even where its writer did not wait');

$node->stop;
done_testing();
