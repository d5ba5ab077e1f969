# What finish() acknowledged is on disk, and a verdict that cudal1_wait() tells is, too.
# The writer of the log sleeps, so that nothing but the commit itself brings it there.
use Testing;

my $node = start_server('durable', "wal_writer_delay = '10s'\ncudal1.databases = ''\nshared_preload_libraries = 'cudal1'\ncudal1.certify = off");
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
is($node->safe_psql('postgres', 'SELECT count(*) FROM cudal1.check_of_buckets()'), '0', 'with its bucket');

# in a larger transaction, too, whose other writes are flushed with it
claim();
$node->safe_psql('postgres', "BEGIN; CREATE TABLE beside (x int); INSERT INTO beside VALUES (7); $finish; COMMIT");
$node->stop('immediate');
$node->start;
is(decided() . $node->safe_psql('postgres', 'SELECT x FROM beside'), '57', 'so does a larger transaction');

# a waiting trainer hears of what is on disk
claim();
$node->safe_psql('postgres', $finish);
my $told = $node->safe_psql('postgres', q{SELECT count(*) FROM cudal1_wait(ARRAY(SELECT candidate_id FROM cudal1.candidate WHERE state = 'successful'))});
$node->stop('immediate');
$node->start;
is(decided(), $told, 'what cudal1_wait() told survives');

$node->stop;
done_testing();
