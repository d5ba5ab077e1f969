# A transaction that a trainer leaves open stops no one else: each function that trainers and analysts may call is held open in
# turn, and meanwhile others' candidates and answers go all the way through. What waits for a lock for a second fails.
use Testing;
use Workers;

my $node = new_server('open', preload => 0);
create_extension($node, 'postgres');
sub sql { return $node->safe_psql('postgres', $_[0]); }

sql(<<'SQL');
CREATE ROLE anna LOGIN;
CREATE ROLE other;
SELECT cudal1_grant('anna', 'trainer'), cudal1_grant('anna', 'analyst'), cudal1_grant('other', 'trainer');
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["c", "pytorch"]}');
SELECT cudal1_add_model('model', 'http://127.0.0.1:9/v1', 'm', concurrency => 1000);
SELECT cudal1_add_task('islands', 'class Model: pass', 'pytorch', options => '{"strategy": "island", "islands": 2, "device": "cpu"}');
ALTER DATABASE postgres SET cudal1.certify = off;

-- what others have under way, and what became of it
CREATE TABLE public.mine (candidate_id bigint, name text);
CREATE TABLE public.asked (request_id bigint, attempt int, lane boolean, name text);
CREATE TABLE public.line (n int GENERATED ALWAYS AS IDENTITY, text text);

-- twenty candidates that wait, twenty requests in flight, some of a campaign of anna's, and what her calls are about
CREATE PROCEDURE public.prepare(round int) LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM public.mine;
	DELETE FROM public.asked;
	SET ROLE other;
	INSERT INTO public.mine SELECT candidate_id, 'candidate ' || ordinal FROM cudal1_submit_batch(array_fill('task'::text, ARRAY[20]),
		ARRAY(SELECT format('round %s code %s', round, g) FROM generate_series(1, 20) AS g));
	PERFORM cudal1_generate((SELECT prompt_id FROM cudal1_prompt('task', kind => 'augment')), 'model', 20);
	RESET ROLE;
	SET ROLE anna;
	PERFORM cudal1_add_campaign('campaign ' || round, 'vanilla', '{model}', '{task}', '{"attempts": 1000, "ahead": 6}');
	PERFORM cudal1_add_campaign('groups ' || round, 'contrastive', NULL, '{task}');
	PERFORM cudal1_add_campaign('limited ' || round, 'contrastive', NULL, '{task}', '{"groups": 3}');
	RESET ROLE;
	PERFORM cudal1.advance_campaigns();
	INSERT INTO public.asked SELECT request_id, attempt, job #>> '{body,messages,0,content}' IS NULL, NULL FROM cudal1.claim_requests('server 1 worker 1', 1000);
	UPDATE public.asked AS a SET lane = r.lane_id IS NOT NULL, name = 'answer ' || a.request_id FROM cudal1.request AS r WHERE r.request_id = a.request_id;
END $$;
GRANT SELECT, INSERT, DELETE ON public.mine, public.asked TO other;

-- all that workers do with it, each step a transaction of its own; other trainers go on, too
CREATE PROCEDURE public.work(round int, OUT report text) LANGUAGE plpgsql AS $$
DECLARE
	c		record;
	stored	int := 0;
	lines	text;
	said	record;
BEGIN
	SET lock_timeout = '1s';
	PERFORM cudal1.expire_leases();
	COMMIT;
	-- what is measured already, the item that the call holds included
	FOR c IN SELECT j.job_id, j.attempt FROM cudal1.job AS j WHERE j.state = 'running' LOOP
		PERFORM cudal1.heartbeat(c.job_id, c.attempt, '{"phase": "measuring"}');
		COMMIT;
		PERFORM cudal1.finish(c.job_id, c.attempt, '{"outcome": "successful", "score": 1.5, "device_seconds": 1}');
		COMMIT;
	END LOOP;
	FOR i IN 1 .. 60 LOOP
		SELECT * INTO c FROM cudal1.claim(1, 'server 1 worker 1');
		COMMIT;
		EXIT WHEN c.job_id IS NULL;
		PERFORM cudal1.heartbeat(c.job_id, c.attempt, '{"phase": "measuring"}');
		COMMIT;
		IF i % 7 = 0 THEN
			PERFORM cudal1.release(c.job_id, c.attempt);
		ELSE
			stored := stored + (cudal1.finish(c.job_id, c.attempt, '{"outcome": "successful", "score": 1.5, "device_seconds": 1}') = 'stored'
				AND EXISTS (SELECT FROM public.mine AS m WHERE m.candidate_id = (c.job #>> '{candidate,candidate_id}')::bigint))::int;
		END IF;
		COMMIT;
	END LOOP;
	SET ROLE other;
	PERFORM cudal1_submit('task', format('round %s of another', round));
	PERFORM cudal1_submit_batch('{task,islands}', ARRAY[format('round %s x', round), format('round %s y', round)]);
	PERFORM cudal1_prompt('task'), cudal1_prompt('islands', strategy => 'island');
	RESET ROLE;
	COMMIT;
	SELECT string_agg(jsonb_build_object('type', 'answer', 'request_id', a.request_id, 'attempt', a.attempt, 'outcome', 'answered', 'text',
			format(E'## Performance Analysis\n\nx\n\n## Algorithm Design\n\nx\n\n## Code Implementation\n\n```c\nround %s answer %s\n```\n', round, a.n))::text, E'\n')
		INTO lines FROM (SELECT *, row_number() OVER (ORDER BY lane, request_id) AS n FROM public.asked) AS a;
	SELECT f.* INTO said FROM cudal1.finish_requests(lines) AS f;
	COMMIT;
	FOR i IN 1 .. 3 LOOP
		PERFORM cudal1.take_answers();
		COMMIT;
		PERFORM cudal1.advance_campaigns();
		COMMIT;
	END LOOP;
	PERFORM cudal1.claim_requests('server 1 worker 2', 1000);
	COMMIT;
	PERFORM cudal1.release_requests('server 1 worker 2', false);
	PERFORM cudal1.take_back('server 2', 'server 2 worker 1');
	PERFORM cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["c", "pytorch"]}');
	COMMIT;
	-- a device that has nothing to do
	SET cudal1.certify = on;
	UPDATE cudal1.job SET cores = 1000 WHERE job_id = ANY (ARRAY(SELECT x.job_id FROM cudal1.job AS x WHERE x.state = 'queued' FOR UPDATE SKIP LOCKED));
	PERFORM cudal1.claim(1, 'server 1 worker 1');
	COMMIT;
	RESET cudal1.certify;
	report := format('%s verdicts, %s answers, %s taken', stored,
		(SELECT count(*) FROM public.asked AS a JOIN cudal1.request AS r USING (request_id) WHERE NOT a.lane AND r.state = 'answered'),
		(SELECT count(*) FROM public.asked AS a JOIN cudal1.request AS r USING (request_id) WHERE NOT a.lane AND r.taken_at IS NOT NULL));
END $$;
SQL

my $n = 0;

# by function, one or more calls: what the call is about, what prepares it, the call; ROUND is the number of the round. A fourth
# element is what work reports where it waits for the very item that the call holds
my $answer = q{(SELECT code FROM cudal1_parse_response(E'## Performance Analysis\n\nx\n\n## Algorithm Design\n\nx\n\n## Code Implementation\n\n```c\nround ROUND answer 7\n```\n'))};
my $prompt = q{(SELECT prompt_id FROM cudal1_prompt('task', kind => 'augment'))};
my $running = q{SET ROLE anna; SELECT cudal1_submit('task', 'round ROUND running'); RESET ROLE;
	UPDATE cudal1.job SET cores = 1000 WHERE trainer <> 'anna';
	SELECT count(*) FROM cudal1.claim(1, 'server 1 worker 1');
	UPDATE cudal1.job SET cores = 1 WHERE trainer <> 'anna'};
my $decided = q{SET ROLE anna; SELECT cudal1_submit('islands', 'round ROUND decided'); RESET ROLE;
	UPDATE cudal1.job SET cores = 1000 WHERE trainer <> 'anna';
	SELECT cudal1.finish(c.job_id, c.attempt, '{"outcome": "successful", "score": 1.2}') FROM cudal1.claim(1, 'server 1 worker 1') AS c;
	UPDATE cudal1.job SET cores = 1 WHERE trainer <> 'anna'};
my %calls = (
	cudal1_add_task => [
		[ 'a new one', '', q{SELECT cudal1_add_task('task ROUND', 'class Model: pass', 'pytorch', options => '{"device": "cpu", "certify": true}')} ]
	],
	cudal1_submit => [
		[ 'a new code', '', q{SELECT cudal1_submit('task', 'round ROUND new')} ],
		[ 'codes that wait for others', '', q{SELECT count(cudal1_submit('task', format('round ROUND code %s', g), priority => 1000000000)) FROM generate_series(1, 20) AS g} ],
		[ 'a code that an answer brings, too', '', qq{SELECT cudal1_submit('task', $answer)}, '20 verdicts, 20 answers, 19 taken' ],
		[ 'a code that was decided', $decided, q{SELECT cudal1_submit('islands', 'round ROUND decided')} ],
		[ 'a code that was discarded', q{SET ROLE anna; SELECT cudal1_cancel(ARRAY[cudal1_submit('task', 'round ROUND discarded')]); RESET ROLE},
			q{SELECT cudal1_submit('task', 'round ROUND discarded')} ],
		[ 'a code of another purpose', q{SET ROLE anna; SELECT cudal1_submit('task', 'round ROUND null', purpose => 'null'); RESET ROLE},
			q{SELECT cudal1_submit('task', 'round ROUND null')} ],
		[ 'by a method of its own', '', q{SELECT cudal1_submit('task', 'round ROUND new', 'method ROUND')} ],
	],
	cudal1_submit_batch => [
		[ 'codes that wait for others', '', q{SELECT count(*) FROM cudal1_submit_batch(array_fill('task'::text, ARRAY[20]), ARRAY(SELECT format('round ROUND code %s', g) FROM generate_series(1, 20) AS g))} ]
	],
	cudal1_submit_response => [
		[ 'a new code', '', qq{SELECT cudal1_submit_response($prompt, E'## Code Implementation\\n\\n```c\\nround ROUND response\\n```\\n')} ],
		[ 'a malformed one', '', qq{SELECT cudal1_submit_response($prompt, 'no code')} ],
	],
	cudal1_cancel => [
		[ 'a candidate that waits', q{SET ROLE anna; SELECT cudal1_submit('task', 'round ROUND waits'); RESET ROLE},
			q{SELECT cudal1_cancel(ARRAY(SELECT candidate_id FROM cudal1.candidate WHERE code = 'round ROUND waits'))} ],
		[ 'a candidate that is measured', $running, q{SELECT cudal1_cancel(ARRAY(SELECT candidate_id FROM cudal1.candidate WHERE code = 'round ROUND running'))} ],
		[ 'candidates that others wait for', q{SET ROLE anna; SELECT count(cudal1_submit('task', format('round ROUND code %s', g))) FROM generate_series(1, 20) AS g; RESET ROLE},
			q{SELECT cudal1_cancel(ARRAY(SELECT candidate_id FROM cudal1.candidate WHERE code LIKE 'round ROUND code %'))} ],
	],
	cudal1_prompt => [
		[ 'of tasks without islands', q{DELETE FROM cudal1.island},
			q{SELECT count(*) FROM cudal1_prompt('islands', strategy => 'island') AS a, cudal1_prompt('task', strategy => 'island') AS b} ],
		[ 'another', '', q{SELECT count(*) FROM cudal1_prompt('islands', strategy => 'island') AS a, cudal1_prompt('task') AS b} ],
	],
	cudal1_certify_task => [
		[ 'for the first time', q{DELETE FROM cudal1.job WHERE profile = 'certify'; UPDATE cudal1.task SET certified = NULL;
			UPDATE cudal1.candidate SET purpose = 'null', code_hash = sha256(code_hash) WHERE purpose = 'reference'}, q{SELECT cudal1_certify_task('task'), cudal1_certify_task('islands')} ],
		[ 'again', q{UPDATE cudal1.candidate SET state = 'discarded', failure = 'lost', reward = NULL, score = NULL, decided_at = now(), measurement_id = NULL WHERE purpose = 'reference'},
			q{SELECT cudal1_certify_task('task')} ],
	],
	cudal1_check_reference => [
		[ 'for the first time', q{UPDATE cudal1.task SET created_by = 'anna' WHERE name IN ('task', 'islands')}, q{SELECT cudal1_check_reference('task'), cudal1_check_reference('islands')} ],
		[ 'again', '', q{SELECT cudal1_check_reference('task')} ] ],
	cudal1_ablate => [
		[ 'a code', q{SET ROLE anna; SELECT cudal1_submit('task', E'#define USE_A 1\n#define USE_B ROUND'); RESET ROLE},
			q{SELECT cudal1_ablate((SELECT max(candidate_id) FROM cudal1.candidate WHERE code LIKE '#define USE_A 1%'), '{USE_A}')} ]
	],
	cudal1_ablation_explain => [
		[ 'a combination', q{SET ROLE anna; SELECT cudal1_ablate(cudal1_submit('task', E'#define USE_A 1\n#define USE_C ROUND'), '{USE_A}'); RESET ROLE},
			q{SELECT cudal1_ablation_explain((SELECT max(ablation_id) FROM cudal1.ablation), '{USE_A}', 'memory')} ]
	],
	cudal1_generate => [ [ 'requests', '', qq{SELECT count(*) FROM cudal1_generate($prompt, 'model', 5)} ] ],
	cudal1_cancel_requests => [
		[ 'one in flight of a campaign', q{DELETE FROM public.asked WHERE request_id = (SELECT min(request_id) FROM public.asked WHERE lane)},
			q{SELECT cudal1_cancel_requests(ARRAY(SELECT min(request_id) FROM cudal1.request WHERE lane_id IS NOT NULL AND state = 'running'))} ],
		[ 'one in flight that is answered', '', q{SELECT cudal1_cancel_requests(ARRAY(SELECT min(request_id) FROM cudal1.request WHERE lane_id IS NOT NULL AND state = 'running'))} ],
		[ 'one that waits', q{SET ROLE anna; SELECT cudal1_generate((SELECT max(prompt_id) FROM cudal1.prompt WHERE created_by = 'anna'), 'model'); RESET ROLE},
			q{SELECT cudal1_cancel_requests(ARRAY(SELECT max(request_id) FROM cudal1.request WHERE state = 'queued'))} ],
	],
	cudal1_record_prompt => [ [ 'one', '', q{SELECT cudal1_record_prompt('task', 'words')} ] ],
	cudal1_add_prompt_template => [ [ 'one', '', q{SELECT cudal1_add_prompt_template('words ROUND', 'augment', '{reference}')} ] ],
	cudal1_open_pool => [
		[ 'one', '', q{SELECT cudal1_open_pool('pool ROUND')} ],
		[ 'one with the codes of all', '', q{SELECT cudal1_open_pool('pool ROUND', 'main')} ],
	],
	cudal1_add_campaign => [ [ 'one', '', q{SELECT cudal1_add_campaign('another ROUND', 'vanilla', '{model}', '{task}')} ] ],
	cudal1_pause_campaign => [ [ 'one with requests in flight', '', q{SELECT cudal1_pause_campaign('campaign ROUND')} ] ],
	cudal1_resume_campaign => [
		[ 'one with requests in flight', q{SELECT cudal1_pause_campaign('campaign ROUND'); UPDATE cudal1.campaign_lane SET failures = 1}, q{SELECT cudal1_resume_campaign('campaign ROUND')} ]
	],
	cudal1_end_campaign => [ [ 'one with requests in flight', '', q{SELECT cudal1_end_campaign('campaign ROUND')} ] ],
	cudal1_next_group => [
		[ 'of a campaign', '', q{SELECT count(*) FROM cudal1_next_group('groups ROUND')} ],
		[ 'of one that has an end', '', q{SELECT count(*) FROM cudal1_next_group('limited ROUND')} ],
	],
	cudal1_answer_group => [
		[ 'of a campaign', q{SET ROLE anna; SELECT count(*) FROM cudal1_next_group('groups ROUND'); RESET ROLE},
			q{SELECT count(*) FROM cudal1_answer_group((SELECT max(group_key) FROM cudal1.campaign_group WHERE group_key LIKE 'groups ROUND/%'), '{a,b}')} ]
	],
	cudal1_extract_techniques => [
		[ 'by keywords', '', q{SELECT cudal1_extract_techniques()} ],
		[ 'by a model', $decided, q{SELECT cudal1_extract_techniques(model => 'model')} ],
	],
	cudal1_wait => [ [ 'a candidate of others', '', q{SELECT count(*) FROM cudal1_wait(ARRAY(SELECT min(candidate_id) FROM cudal1.candidate), '1 ms')} ] ],
	cudal1_add_baselines => [ [ 'of a task of its own', q{SET ROLE anna; SELECT cudal1_add_task('own ROUND', 'class Model: pass', 'pytorch', options => '{"device": "cpu", "certify": false}'); RESET ROLE},
			q{SELECT * FROM cudal1_add_baselines('own ROUND', '{compile}')} ] ],
	(map { $_->[0] => [ [ 'a task of its own', q{SET ROLE anna; SELECT cudal1_add_task('own ROUND', 'class Model: pass', 'pytorch', options => '{"device": "cpu", "certify": false}'); RESET ROLE},
				"SELECT $_->[0]('own ROUND'$_->[1])" ] ] } [ 'cudal1_retire_task', q{, 'no reason'} ], [ 'cudal1_restore_task', '' ]),
	cudal1_group_result => [
		[ 'of a campaign', q{SET ROLE anna; SELECT count(*) FROM cudal1_next_group('groups ROUND') AS g, cudal1_answer_group(g.group_key, '{a,b}'); RESET ROLE},
			q{SELECT count(*) FROM cudal1_group_result((SELECT max(group_key) FROM cudal1.campaign_group))} ]
	],
);
# what only reads, by the arguments of the call
my %reads = (
	cudal1_reward => '1', cudal1_sample_exemplars => q{'task'}, cudal1_bucket_stats => q{'task'},
	cudal1_light => q{'task'}, cudal1_lineage => '(SELECT max(candidate_id) FROM cudal1.candidate)', cudal1_counters => '(SELECT max(candidate_id) FROM cudal1.candidate)',
	cudal1_parse_response => q{'x'}, cudal1_conservative_round => '1.5',
	cudal1_score_rounds => q{'{1,1,1,1,1,1,1}', '{1,1,1,1,1,1,1}'}, cudal1_group_advantages => q{'{1,2}'}, cudal1_compare => q{'manual', 'model'},
	cudal1_compare_tasks => q{'manual', 'model'}, cudal1_method_report => q{'{manual}'}, cudal1_device_report => q{'{M}'},
	(map { $_ => '(SELECT max(ablation_id) FROM cudal1.ablation)' } qw(cudal1_ablation_table cudal1_ablation_effects cudal1_ablation_gatekeepers)),
	cudal1_grpo_objective => q{'{-1}', '{-1}', '{-1}', '{1}', '{1}'}, 'cudal1.quota_of' => q{'anna'}, 'cudal1.used_of' => q{'anna'});

# an ablation to read
sql(q{SELECT cudal1_ablate(cudal1_submit('task', '#define USE_A 1'), '{USE_A}')});

my $anna = $node->background_psql('postgres', extra_params => [ '-U', 'anna' ], on_error_stop => 0);
$anna->set_query_timer_restart;
sub fill { my ($text) = @_; $text =~ s/ROUND/$n/g; return $text; }

sub called
{
	my ($name, $call) = @_;
	$anna->{stderr} = '';
	$anna->query(fill($call));
	is($anna->{stderr} =~ /(ERROR.*)/ ? $1 : '', '', "$name: is called");
	return;
}

# several calls are those that only read, held open together
sub held
{
	my ($name, $prepare, $calls, $expected) = @_;

	$n++;
	sql("CALL public.prepare($n)");
	sql(fill($prepare)) if $prepare ne '';
	$anna->query('BEGIN');
	called(ref $calls ? @$_ : ($name, $_)) for ref $calls ? @$calls : $calls;
	my ($status, $report, $error) = $node->psql('postgres', "CALL public.work($n, NULL)");
	is($report . $error, $expected // '20 verdicts, 20 answers, 20 taken', "$name: others go on");
	$anna->query('ROLLBACK');

	# what waited goes on after it
	sql(q{UPDATE cudal1.request SET not_before = '-infinity' WHERE state = 'answered' AND taken_at IS NULL; SELECT cudal1.take_answers()});
	sql(q{TRUNCATE cudal1.job; UPDATE cudal1.candidate SET state = 'discarded', failure = 'cancelled', decided_at = now() WHERE state IN ('queued', 'measuring', 'verifying');
		UPDATE cudal1.request SET state = 'cancelled', worker = NULL, finished_at = now() WHERE state IN ('queued', 'running');
		UPDATE cudal1.campaign SET state = 'finished', finished_at = now() WHERE state <> 'finished'});
	return;
}

my @functions = split /\n/, sql("SELECT DISTINCT object FROM unnest('{trainer,analyst}'::text[]) AS k, cudal1.privileges(k) AS p WHERE p.privilege = 'EXECUTE' ORDER BY 1");
cmp_ok(scalar @functions, '>', 40, 'there are functions for trainers and analysts');
for my $function (grep { $calls{$_} } @functions)
{
	held("$function, $_->[0]", @$_[ 1 .. $#$_ ]) for @{ $calls{$function} };
}
held('functions that read', '', [ map { [ $_, "SELECT count(*) FROM $_(@{[ $reads{$_} // '' ]})" ] } grep { !$calls{$_} } @functions ]);
is(sql(q{SELECT count(*) FROM cudal1.request WHERE state = 'answered' AND taken_at IS NULL}), '0', 'every answer is taken in the end');
is(sql('SELECT * FROM cudal1.check_of_buckets()'), '', 'buckets agree with their codes');

# answers to requests of a campaign whose lane an open transaction has
sql('CALL public.prepare(1000)');
my $told = q{SET lock_timeout = '1s'; SELECT DISTINCT cudal1.finish_request(jsonb_build_object('request_id', request_id, 'attempt', attempt, 'outcome', 'answered', 'text', 'x'))
	FROM public.asked WHERE lane};
$anna->query('BEGIN');
$anna->query(q{SELECT cudal1_end_campaign('campaign 1000')});
is(sql($told), 'later', 'answers of a campaign that is being ended are offered again');
$anna->query('ROLLBACK');
is(sql($told), 'stored', 'and are stored after it');
sql(q{SELECT cudal1_end_campaign('campaign 1000'), cudal1.take_answers(); TRUNCATE cudal1.job});

# results of a task that its owner retires in an open transaction, of codes that were submitted since
sql(q{SET ROLE anna; SELECT cudal1_add_task('left open', 'class Model: pass', 'pytorch', options => '{"device": "cpu", "certify": false}'); RESET ROLE; TRUNCATE cudal1.job});
my $claim = q{SET lock_timeout = '1s'; SET ROLE other; SELECT count(cudal1_submit('left open', 'CODE')); RESET ROLE; SELECT count(*) FROM cudal1.claim(1, 'server 1 worker 1')};
my $finish = q{SET lock_timeout = '1s'; SELECT cudal1.finish(j.job_id, j.attempt, '{"outcome": "successful", "score": 1.5, "device_seconds": 1, "reference": "good"}')
	FROM cudal1.job AS j WHERE j.state = 'running'};
for my $code ([ 'first', 'later', 'is offered again, because what it tells of the task is noted there' ], [ 'second', 'stored', 'is stored' ])
{
	$anna->query('BEGIN');
	$anna->query(q{SELECT cudal1_retire_task('left open', 'no reason')});
	is(sql($claim =~ s/CODE/$code->[0]/r), "1\n1", "a code is submitted meanwhile: the $code->[0]");
	is(sql($finish), $code->[1], "its result $code->[2]");
	$anna->query('ROLLBACK');
	is(sql($finish), $code->[1] eq 'later' ? 'stored' : '', 'and no more is left in the end');
}

# a code that is placed while another transaction proposes it, whose proposal that placing does not see
sql(q{SELECT cudal1.place_waiting(), cudal1_open_pool('first'); SET ROLE anna; SELECT cudal1_open_pool('second')});
my $code = q{(SELECT c.code FROM cudal1.candidate AS c JOIN cudal1.task AS t USING (task_id) WHERE t.name = 'islands' AND c.state = 'successful' AND c.purpose = 'normal' ORDER BY candidate_id LIMIT 1)};
sql("SELECT cudal1_submit('islands', $code, pool => 'first')");
$anna->query('BEGIN');
$anna->query("SELECT cudal1_submit('islands', $code, pool => 'second')");
is(sql('SELECT cudal1.place_waiting()'), '1', 'a code is placed');
$anna->query('COMMIT');
is(sql('SELECT cudal1.place_waiting()'), '1', 'and again for the proposal that was not seen then');
is(sql(q{SELECT string_agg(p.name, ' ' ORDER BY p.name) FROM cudal1.pool_code AS s JOIN cudal1.pool AS p USING (pool_id) WHERE p.name IN ('first', 'second') AND s.bucket IS NOT NULL}),
	'first second', 'in both pools');

# a pool that is opened while a verdict is being written, which does not see it: no code that failed stays there
my $placed = sql(q{SELECT min(s.candidate_id) FROM cudal1.pool_code AS s JOIN cudal1.task AS t USING (task_id) WHERE t.name = 'task' AND s.pool_id = 1});
my $operator = $node->background_psql('postgres', on_error_stop => 0);
$operator->query('BEGIN');
$operator->query("SELECT cudal1_withdraw($placed, 'it cheats')");
sql(q{SELECT cudal1_open_pool('late', 'main')});
sql('SELECT cudal1.place_waiting() FROM generate_series(1, 3)');
$operator->query('COMMIT');
sql('SELECT cudal1.place_waiting() FROM generate_series(1, 3)');
is(sql("SELECT count(*) FROM cudal1.pool_code WHERE candidate_id = $placed AND bucket IS NOT NULL"), '0', 'a code withdrawn while a pool was opened is in none');
is(sql('SELECT count(*) FROM cudal1.pool_code WHERE waiting'), '0', 'and nothing is left to be compared');
is(sql('SELECT * FROM cudal1.check_of_buckets()'), '', 'buckets agree with their codes still');
$operator->quit;
$anna->quit;
$node->stop;

done_testing();
