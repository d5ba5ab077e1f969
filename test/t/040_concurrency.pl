# Eight connections submit, measure, wait, sample, cancel, import and re-verify at once: no deadlock, no lost job, buckets equal
# to a recount; and what is left in the queue comes to an end. bench/concurrency is the same for minutes, with figures.
use Testing;

my $load = "$ENV{TESTDIR}/bench/load";
my $node = start_server('concurrency', "deadlock_timeout = '100ms'\nfsync = off");
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', "$load/setup.sql" ], 'tasks and devices are there');

my %weight = (submit => 20, batch => 2, measure => 60, sample => 10, wait => 5, change => 3);
my ($out, $err);
ok(IPC::Run::run(
		[ 'pgbench', '-n', '-c', '8', '-j', '2', '-t', '250', '-M', 'prepared', '--random-seed=11',
			(map { ('-f', "$load/$_.sql\@$weight{$_}") } sort keys %weight), $node->connstr('postgres') ],
		'>', \$out, '2>', \$err),
	'eight connections go through')
  or diag($err);
like($out, qr{number of transactions actually processed: 2000/2000}, 'all of their transactions');
unlike(slurp_file($node->logfile), qr/deadlock|ERROR|PANIC/, 'no deadlock and no error in the log');

my $check = slurp_file("$load/check.sql");
is($node->safe_psql('postgres', $check), '', 'states, jobs, rewards and buckets agree');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM cudal1.candidate WHERE state = 'successful'}), '>', 100, 'many candidates were measured');

# two sessions with the same key, and with the same code, at the same moment: the second waits, then finds the first
my $first = $node->background_psql('postgres');
my $second = $node->background_psql('postgres');

# words of the second session on a statement that waits for a lock, until the first session has done something
sub second_waits
{
	my ($statement, $word, $event, $done) = @_;
	$second->{stdin} .= "$statement;\n\\echo ended $word\n";
	$second->{run}->pump_nb;
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE '$event' IN (wait_event, wait_event_type) AND query LIKE '%$word%'") or die 'nobody waits';
	$done->();
	pump_until($second->{run}, $second->{timeout}, \$second->{stdout}, qr/^ended $word$/m) or die 'no answer';
	return;
}
sub commit { $first->query_safe('COMMIT'); return }

$first->query_safe(q{BEGIN; SELECT cudal1_submit('linear', 'raced 1', proposal_key => 'raced')});
second_waits("SELECT 'answer ' || cudal1_submit('linear', 'raced 2', proposal_key => 'raced')", 'raced 2', 'Lock', \&commit);
my ($answer) = $second->{stdout} =~ /answer (\d+)/;
is($answer, $node->safe_psql('postgres', q{SELECT candidate_id FROM cudal1.candidate WHERE code = 'raced 1'}), 'a key used by two sessions at once belongs to the first');
is($node->safe_psql('postgres', q{SELECT count(*) FROM cudal1.candidate WHERE code = 'raced 2'}), '0', 'the code of the second leaves nothing');
my $ids;
$node->psql('postgres',
	q{SELECT array_agg(candidate_id ORDER BY ordinal) FROM cudal1_submit_batch(array_fill('linear'::text, '{5}'),
		'{raced 1,raced 3,keyless,one,other}', proposal_keys => '{raced,raced,NULL,twice,twice}')},
	stdout => \$ids, stderr => \$err);
like($err, qr/NOTICE:  proposal_key "raced" was used for another code\nDETAIL:  Row 2 gets that candidate; .* So it is with 2 rows of the batch/,
	'a batch says which key was used for another code');
like($ids, qr/^\{(\d+),\1,\d+,(\d+),\2\}$/, 'whose row gets the candidate of the key');
$node->psql('postgres', q{SELECT FROM cudal1_submit_batch('{linear,linear}', '{raced 1,one}', proposal_keys => '{raced,twice}')}, stderr => \$err);
unlike($err, qr/NOTICE.*proposal_key/, 'and repeats in silence');

# a role cancels what another proposes at that moment: the second proposal stands
$node->safe_psql('postgres', q{CREATE ROLE anna; CREATE ROLE bert; SELECT cudal1_grant(r, 'trainer') FROM unnest('{anna,bert}'::name[]) AS r;
	SET ROLE anna; SELECT cudal1_submit('linear', 'wanted by both')});
$first->query_safe(q{SET ROLE anna; BEGIN; SELECT cudal1_cancel(ARRAY(SELECT candidate_id FROM cudal1.candidate WHERE code = 'wanted by both'))});
second_waits("SET ROLE bert; SELECT cudal1_submit('linear', 'wanted by both')", 'wanted by both', 'Lock', \&commit);
is($node->safe_psql('postgres', q{SELECT c.state || ' ' || j.trainer FROM cudal1.candidate AS c JOIN cudal1.job AS j USING (candidate_id) WHERE c.code = 'wanted by both'}),
	'queued bert', 'what one role cancels while another proposes it is queued for the other');

# the only task's next group waits for the one that another session takes, for ten seconds
$node->safe_psql('postgres', q{SELECT cudal1_add_campaign('lanes', 'contrastive', tasks => '{linear}', options => '{"group_size": 1, "groups": 2}')});
$first->query_safe(q{RESET ROLE; BEGIN; SELECT count(*) FROM cudal1_next_group('lanes')});
second_waits("RESET ROLE; SELECT count(*) || ' handed out' FROM cudal1_next_group('lanes')", 'lanes', 'Lock', \&commit);
like($second->{stdout}, qr/^1 handed out$/m, 'a group that another session takes is waited for');
is($node->safe_psql('postgres', q{SELECT count(*) FROM cudal1_next_group('lanes')}), '0', 'until the campaign has made all its groups');
$node->safe_psql('postgres', q{SELECT cudal1_add_campaign('held', 'contrastive', tasks => '{linear}', options => '{"group_size": 1}')});
$first->query_safe(q{BEGIN; SELECT count(*) FROM cudal1_next_group('held')});
my ($status, undef, $words) = $node->psql('postgres', q{SELECT count(*) FROM cudal1_next_group('held')}, timeout => 60);
like($words, qr/another transaction has taken a group of campaign "held", and is still open/, 'but not for a transaction that stays open');
$_->quit for ($first, $second);

# what is left: claims that nobody finishes, and the queue
$node->safe_psql('postgres', q{UPDATE cudal1.job SET lease_until = '-infinity' WHERE state = 'running'; SELECT cudal1.expire_leases()});
for my $round (1 .. 200)
{
	my $left = $node->safe_psql('postgres', <<'SQL');
DO $$
DECLARE
	c		record;
	d		bigint;
BEGIN
	FOREACH d IN ARRAY ARRAY[1, 2, 7, 8] LOOP
		FOR n IN 1 .. 50 LOOP
			SELECT * INTO c FROM cudal1.claim(d, 'last');
			EXIT WHEN NOT FOUND;
			PERFORM cudal1.finish(c.job_id, c.attempt, '{"outcome": "successful", "score": 1.5}');
		END LOOP;
	END LOOP;
END
$$;
SELECT count(*) FROM cudal1.job;
SQL
	last if $left == 0;
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM cudal1.job'), '0', 'the queue comes to its end');
is($node->safe_psql('postgres', q{SELECT count(*) FROM cudal1.candidate WHERE state IN ('queued', 'measuring', 'verifying')}), '0', 'every candidate is decided');
is($node->safe_psql('postgres', $check), '', 'and everything agrees');

# a prune that begins while another one ends: a table that it reads is made to wait, so that it sees none of the other's work
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION hold() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN true; END$$;
INSERT INTO cudal1.imported_score (candidate_id, device, reward, score) SELECT min(candidate_id), 'elsewhere', 1, 1 FROM cudal1.candidate WHERE state = 'failed';
ALTER TABLE cudal1.imported_score RENAME TO held_score;
CREATE VIEW cudal1.imported_score AS SELECT a.* FROM cudal1.held_score AS a WHERE hold();
SQL
$_ = $node->background_psql('postgres') for ($first, $second);
$first->query_safe('SELECT pg_advisory_lock(1)');
second_waits("SELECT 'pruned ' || texts FROM cudal1_prune('0 days') WHERE part = 'code'", 'pruned', 'advisory', sub {
	cmp_ok($first->query_safe(q{SELECT texts FROM cudal1_prune('0 days') WHERE part = 'code'}), '>', 0, 'a session prunes');
	$first->query_safe('SELECT pg_advisory_unlock(1)');
});
like($second->{stdout}, qr/^pruned 0$/m, 'another one at that moment leaves out what is pruned already');
$_->quit for ($first, $second);

$node->stop;
done_testing();
