# Eight connections accept, re-score, withdraw and sample on one task at once: no deadlock, no error, buckets that agree with their codes.
use Testing;

my $node = start_server('placement', "fsync = on\ndeadlock_timeout = '100ms'\nlog_lock_waits = off");

$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION cudal1;
SELECT cudal1_add_task('plain', 'ref', 'pytorch');
SELECT cudal1_add_task('islands', 'ref', 'pytorch', NULL, NULL, '{"strategy": "island", "islands": 4, "island_reset": 50}');
CREATE SEQUENCE codes;
-- accepts n candidates, some of them answers to prompts of islands, in one transaction
CREATE FUNCTION accept(task_name text, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	t bigint := (SELECT task_id FROM cudal1.task WHERE name = task_name);
	id bigint;
	i int;
BEGIN
	FOR k IN 1 .. n LOOP
		INSERT INTO cudal1.candidate (task_id, code, code_hash, state, reward, decided_at)
		VALUES (t, 'c', sha256(nextval('codes')::text::bytea), 'successful', cudal1_conservative_round(0.3 + 4 * random()), now())
		RETURNING candidate_id INTO id;
		i := CASE WHEN random() < 0.7 THEN floor(random() * 4) END;
		INSERT INTO cudal1.proposal (task_id, candidate_id, method, island) VALUES (t, id, 'm', i);
		PERFORM cudal1.place_candidate(id);
	END LOOP;
END $$;
CREATE FUNCTION rescore(task_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	id bigint;
BEGIN
	SELECT candidate_id INTO id FROM cudal1.candidate JOIN cudal1.task USING (task_id)
	WHERE name = task_name AND state IN ('successful', 'failed') ORDER BY random() LIMIT 1 FOR NO KEY UPDATE OF candidate SKIP LOCKED;
	IF random() < 0.3 THEN
		UPDATE cudal1.candidate SET state = 'failed', failure = 'crash', reward = 0, score = NULL WHERE candidate_id = id;
	ELSE
		UPDATE cudal1.candidate SET state = 'successful', failure = NULL, (reward, score) = (SELECT cudal1_conservative_round(x), x FROM (SELECT 0.3 + 4 * random() AS x OFFSET 0) AS s) WHERE candidate_id = id;
	END IF;
	IF id IS NOT NULL THEN
		PERFORM cudal1.place_candidate(id);
	END IF;
END $$;
SELECT accept('plain', 20), accept('islands', 20);
SQL

my %load = (
	accept => "SELECT accept('plain', 3);\nSELECT accept('islands', 2);",
	rescore => "SELECT rescore('plain');\nSELECT rescore('islands');",
	sample => "SELECT count(*) FROM cudal1_sample_exemplars('plain', 3);\n"
	  . "SELECT 1 / (count(DISTINCT candidate_id) = 3)::int FROM cudal1_sample_exemplars('plain', 3, 'random');\n"
	  . "SELECT count(*) FROM cudal1_sample_exemplars('islands', 3, 'island');\nSELECT count(*) FROM cudal1_prompt('islands', 2, 'island');",
);
my %weight = (accept => 10, rescore => 10, sample => 10);
my @scripts;
for my $name (sort keys %load)
{
	my $file = $node->basedir . "/$name.sql";
	append_to_file($file, "$load{$name}\n");
	push @scripts, '-f', "$file\@$weight{$name}";
}
append_to_file($node->basedir . "/plain_$_.sql", "SELECT $_('plain'" . ($_ eq 'accept' ? ', 1' : '') . ");\n") for qw(accept rescore);
my ($out, $err);
my $ok = IPC::Run::run(
	[ 'pgbench', '-n', '-c', '8', '-j', '2', '-t', '100', '--random-seed=7', @scripts, $node->connstr('postgres') ],
	'>', \$out, '2>', \$err);
ok($ok, 'eight connections go through') or diag($err);
like($out, qr{number of transactions actually processed: 800/800}, 'all of their transactions');
unlike(slurp_file($node->logfile), qr/deadlock|ERROR|PANIC/, 'no deadlock and no error in the log');
is($node->safe_psql('postgres', 'SELECT * FROM cudal1.check_of_buckets()'), '', 'buckets agree with their codes');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM cudal1.island WHERE NOT shared'), '>', 0, 'islands were reset on the way');

# whose snapshot is older than what others placed fails, and is right the second time
($out, $err) = ('', '');
$ok = IPC::Run::run(
	[ 'env', 'PGOPTIONS=-c default_transaction_isolation=repeatable\\ read', 'pgbench', '-n', '-c', '4', '-j', '2', '-t', '50', '--random-seed=8',
		'--max-tries=1000', (map { ('-f', $node->basedir . "/plain_$_.sql") } qw(accept rescore)), $node->connstr('postgres') ],
	'>', \$out, '2>', \$err);
ok($ok, 'four connections with snapshots for whole transactions go through') or diag($err);
like($out, qr{number of transactions retried: [1-9]}, 'some at another try');
is($node->safe_psql('postgres', 'SELECT * FROM cudal1.check_of_buckets()'), '', 'and buckets agree with their codes');

# what is in use after a crash is what was committed
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', 'SELECT * FROM cudal1.check_of_buckets()'), '', 'and after a crash, too');
$node->stop;
done_testing();
