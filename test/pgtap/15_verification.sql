-- Verification: what is too good is measured again; agreement, disagreement, and whom it waits for.
BEGIN;
SELECT plan(74);

SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1_add_task('paper', 'class Model: pass', 'pytorch', options => '{"device": "cpu", "profile": "paper"}') \g /dev/null
CREATE FUNCTION pg_temp.state(id bigint) RETURNS text LANGUAGE sql AS
	'SELECT concat_ws('':'', state, failure, reward::text) FROM cudal1.candidate WHERE candidate_id = id';
CREATE FUNCTION pg_temp.device(key text) RETURNS bigint LANGUAGE sql AS $$
	SELECT cudal1.register_device('h', jsonb_build_object('key', key, 'class', 'cpu', 'model', 'M', 'languages', '["pytorch"]'::jsonb))
$$;
-- one whole claim: kind of the job, state after the result
CREATE FUNCTION pg_temp.work(device bigint, outcome text, score float8 DEFAULT NULL, wide boolean DEFAULT false, OUT kind text, OUT state text) LANGUAGE plpgsql AS $$
DECLARE
	c		record;
BEGIN
	SELECT * INTO c FROM cudal1.claim(device, 'w');
	kind := c.job ->> 'kind';
	PERFORM cudal1.finish(c.job_id, c.attempt, jsonb_build_object('outcome', outcome, 'score', score, 'lower', score * 0.9, 'upper', score * 1.1, 'wide', wide, 'half_width', 0.1));
	state := pg_temp.state((c.job #>> '{candidate,candidate_id}')::bigint);
END
$$;
CREATE FUNCTION pg_temp.both(device bigint, outcome text, score float8) RETURNS text LANGUAGE sql AS $$
	SELECT kind || ' ' || state FROM pg_temp.work(device, outcome, score)
$$;
SELECT pg_temp.device('cpu:1') AS d1 \gset

-- one device: it verifies itself, at once
SELECT cudal1_submit('t', '2.0') AS a \gset
SELECT is(pg_temp.both(:d1, 'successful', 2.0), 'measure successful:2', 'twice the best (1.00 if there is none) is accepted');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'without more work');
SELECT cudal1_submit('t', '3.05') AS b \gset
SELECT is(pg_temp.both(:d1, 'successful', 3.05), 'measure verifying', 'above 3 it is verified');
SELECT is(cudal1_reward(:b), NULL, 'until then it has no reward');
SELECT results_eq('SELECT kind, priority, avoid_device, device FROM cudal1.job', format($$VALUES ('verify', 1000, %s::bigint, 'M')$$, :d1), 'the second measurement goes before other work');
SELECT is(pg_temp.both(:d1, 'successful', 3.2), 'verify successful:3.05', 'agreement gives the lower score');
SELECT results_eq('SELECT kind, accepted, same_device, score FROM cudal1.measurement WHERE candidate_id = ' || :b || ' ORDER BY measurement_id',
	$$VALUES ('measure', true, NULL::boolean, 3.05::float8), ('verify', true, true, 3.2::float8)$$, 'both measurements decided; the second is marked as made on the same device');
SELECT is((SELECT m.score FROM cudal1.candidate AS c JOIN cudal1.measurement AS m USING (measurement_id) WHERE c.candidate_id = :b), 3.05::float8, 'the candidate names the lower one');
SELECT cudal1_submit('t', '5, then lower') AS c \gset
SELECT is((pg_temp.work(:d1, 'successful', 5)).state, 'verifying', 'another');
SELECT is((pg_temp.work(:d1, 'successful', 4.6)).state, 'successful:4.6', 'whose second score is the lower');
SELECT cudal1_submit('t', '5, then 4.5') AS d \gset
SELECT is((pg_temp.work(:d1, 'successful', 5)).state, 'verifying', 'a third');
SELECT is((pg_temp.work(:d1, 'successful', 4.5)).state, 'verifying', 'exactly a tenth off is no agreement');
SELECT is((SELECT sum(codes) FROM cudal1.bucket), 3::numeric, 'it is in no bucket');
SELECT is((pg_temp.work(:d1, 'successful', 4.7)).state, 'successful:4.5', 'the third decides; scores without buckets are worth the least');
SELECT is((SELECT detail FROM cudal1.candidate WHERE candidate_id = :d), 'measurements disagree: 5.0000, 4.5000 and 4.7000; the score is the lower end of what they show together', 'which is said');
SELECT results_eq('SELECT m.reward, m.lower <= m.reward AND m.reward <= m.upper, m.detail = c.detail FROM cudal1.candidate AS c JOIN cudal1.measurement AS m USING (measurement_id) WHERE c.candidate_id = ' || :d,
	'VALUES (4.5::float8, true, true)', 'also beside the reward, which lies within its interval');
SELECT is_empty($$SELECT * FROM cudal1_check() WHERE subject LIKE '%measurement%'$$, 'and is no damage');
SELECT cudal1_submit('t', 'lost the third time') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 12)).state || ', ' || (pg_temp.work(:d1, 'successful', 9)).state || ', ' || (pg_temp.work(:d1, 'wrong_output')).state,
	'verifying, verifying, failed:wrong_output:0', 'a third that is wrong is wrong');
SELECT cudal1_submit('t', 'least of all') AS least \gset
SELECT pg_temp.work(:d1, 'successful', 12), pg_temp.work(:d1, 'successful', 7), pg_temp.work(:d1, 'successful', 13) \g /dev/null
SELECT results_eq('SELECT m.reward, m.lower, round(m.upper::numeric, 2), round(m.half_width::numeric, 2) FROM cudal1.candidate AS c JOIN cudal1.measurement AS m USING (measurement_id) WHERE c.candidate_id = ' || :least,
	'VALUES (7::float8, 7::float8, 14.30, 0.43)', 'the last one''s interval is widened to hold it');
-- what three measurements show: of scores, buckets and bounds of audits
SELECT is(round(cudal1.pooled_score(a, b, c)::numeric, 2), v.paid, v.what)
FROM (VALUES ('{4,4,4,4}', '{3,3,3,3}', '{4,4,4,4}', 4, 3, 4, NULL, 3.24, 'the lower end of all buckets'),
	('{4,4}', '{4,4}', '{4,4}', 4, 1.2, 1.3, NULL, 1.3, 'at most the middle score'),
	('{4,4}', '{4,4}', '{4,4}', 4, 4, 4, 1.1, 1.1, 'at most the least bound of their audits')) AS v (x, y, z, p, q, r, bound, paid, what),
	LATERAL (SELECT m.* FROM jsonb_populate_record(NULL::cudal1.measurement, jsonb_build_object('bucket_means', v.x::float8[], 'score', v.p, 'profile', 'default')) AS m) AS a,
	LATERAL (SELECT m.* FROM jsonb_populate_record(NULL::cudal1.measurement, jsonb_build_object('bucket_means', v.y::float8[], 'score', v.q, 'audit_bound', v.bound)) AS m) AS b,
	LATERAL (SELECT m.* FROM jsonb_populate_record(NULL::cudal1.measurement, jsonb_build_object('bucket_means', v.z::float8[], 'score', v.r)) AS m) AS c;

-- the factor
SELECT is((SELECT profile FROM cudal1.task WHERE name = 't'), 'default', 'in the default profile');
SELECT cudal1_add_task('f', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1_submit('f', '0.5') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 0.5)).state, 'successful:0.5', 'a slow candidate is accepted');
SELECT cudal1_submit('f', '1.9') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 1.9)).state, 'successful:1.9', 'the best is at least 1.00');
SELECT cudal1_import_result('f', 'elsewhere', 0.9, 'import', 'A100') \g /dev/null
SELECT cudal1_import_result('f', 'elsewhere, fast', 100, 'import', 'A100') \g /dev/null
SELECT cudal1_add_task('g', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1_import_result('g', 'elsewhere, fast', 100, 'import', 'A100') \g /dev/null
SELECT cudal1_submit('g', '2.5') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 2.5)).state, 'verifying', 'more than twice the best is verified; an imported best does not count');
SELECT is((pg_temp.work(:d1, 'crash')).state, 'failed:crash:0', 'a failure in the verification is a failure');
SELECT cudal1_submit('g', '2.1') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 2.1)).state, 'verifying', 'a failed one is no best');
SELECT is((pg_temp.work(:d1, 'lost')).state, 'verifying', 'a lost verification is tried again');
SELECT is((pg_temp.work(:d1, 'unverified')).state, 'verifying', 'and again');
SELECT is((pg_temp.work(:d1, 'lost')).state, 'discarded:lost', 'as often as the profile allows');
SELECT cudal1_submit('g', '2.1') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 2.1)).state, 'verifying', 'submitted again it begins anew');
SELECT is((pg_temp.work(:d1, 'successful', 1.7, true)).state, 'successful:1.7', 'a wide verification never disagrees: the lower score counts');
SELECT results_eq($$SELECT wide, half_width FROM cudal1.candidate WHERE reward = 1.7$$, $$VALUES (true, 0.1::float8)$$, 'marked as the measurement that decided');
SELECT cudal1_submit('g', '8, wide') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 8, true)).state, 'verifying', 'one whose first measurement is wide');
SELECT is((pg_temp.work(:d1, 'successful', 2)).state, 'successful:2', 'nor does another than a wide one');
SELECT is((SELECT wide FROM cudal1.candidate WHERE reward = 2 AND task_id = (SELECT task_id FROM cudal1.task WHERE name = 'g')), false, 'which is not wide itself');
SELECT cudal1_submit('g', 'cancelled') AS x \gset
SELECT is((pg_temp.work(:d1, 'successful', 9)).state, 'verifying', 'one more');
SELECT is(cudal1_cancel(ARRAY[:x]), 1::bigint, 'can be cancelled');
SELECT is(pg_temp.state(:x), 'discarded:cancelled', 'and is discarded');

-- another device of the model
SELECT pg_temp.device('cpu:2') AS d2 \gset
SELECT cudal1_submit('t', 'for two') AS two \gset
SELECT is((pg_temp.work(:d1, 'successful', 7)).state, 'verifying', 'with two devices');
SELECT is((SELECT count(*) FROM cudal1.claim(:d1, 'w')), 0::bigint, 'the first waits for the other');
SELECT ok((SELECT avoid_until BETWEEN now() + interval '20 seconds' AND now() + interval '50 seconds' FROM cudal1.job), 'for verify_wait');
SELECT is((SELECT waits_for FROM cudal1.queue), NULL, 'the other can');
SELECT is(pg_temp.both(:d2, 'successful', 6.9), 'verify successful:6.9', 'the other verifies');
SELECT is((SELECT same_device FROM cudal1.measurement WHERE candidate_id = :two AND kind = 'verify'), false, 'which is marked');
SELECT cudal1_submit('t', 'nobody free') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 7)).state, 'verifying', 'if the other is never free');
UPDATE cudal1.job SET avoid_until = clock_timestamp();
SELECT is((pg_temp.work(:d1, 'successful', 7)).state, 'successful:7', 'the same verifies after verify_wait');

-- the previous maximum is as it is in paper, and there is one of 1.00 where there is no code
SELECT cudal1_add_task('p' || profile, 'class Model: pass', 'pytorch', options => jsonb_build_object('device', 'cpu', 'profile', profile)) FROM unnest('{paper,default}'::text[]) AS profile \g /dev/null
SELECT cudal1_submit('pdefault', '0.4'), pg_temp.work(:d1, 'successful', 0.4), cudal1_submit('pdefault', '0.9'), cudal1_submit('ppaper', '0.4', priority => 9) \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 0.4)).state, 'successful:0.4', 'the first one in paper');
SELECT is((pg_temp.work(:d1, 'successful', 0.9)).state, 'successful:0.9', 'elsewhere 0.9 is no twice of the maximum, which is 1.00 at least');
SELECT cudal1_submit('ppaper', '0.9') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 0.9)).state, 'verifying', 'in paper it is');
UPDATE cudal1.job SET avoid_until = '-infinity';
SELECT is((pg_temp.work(:d1, 'successful', 0.7)).state, 'discarded:unverified', 'where two that disagree discard the code');
DELETE FROM cudal1.job;

-- paper waits for ever
SELECT cudal1_submit('paper', 'x') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 7)).state, 'verifying', 'in paper');
SELECT is((SELECT avoid_until FROM cudal1.job), 'infinity', 'it waits for ever');
SELECT cudal1_enable_device('h cpu:2', false) \g /dev/null
SELECT is((SELECT waits_for FROM cudal1.queue), 'needs another device of the same model to verify', 'the queue says so');
SELECT cudal1_enable_device('h cpu:2', true) \g /dev/null
SELECT is((pg_temp.work(:d2, 'successful', 7)).state, 'successful:7', 'another device comes');

-- a task pinned while two models measured it
SELECT cudal1_add_task('p', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1.register_device('i', '{"key": "cpu:1", "class": "cpu", "model": "N", "languages": ["pytorch"]}') AS n \gset
SELECT cudal1_submit('p', 'one') AS one \gset
SELECT cudal1_submit('p', 'two') AS two \gset
SELECT job_id AS j1, attempt AS a1 FROM cudal1.claim(:d1, 'w') \gset
SELECT job_id AS j2, attempt AS a2 FROM cudal1.claim(:n, 'w') \gset
SELECT is(cudal1.finish(:j2, :a2, '{"outcome": "successful", "score": 1.5}'), 'stored', 'the second model is first');
SELECT is((SELECT device_model FROM cudal1.task WHERE name = 'p'), 'N', 'and pins the task');
SELECT is(cudal1.finish(:j1, :a1, '{"outcome": "successful", "score": 1.7}'), 'stored', 'the result of the first is kept');
SELECT is(pg_temp.state(:one), 'queued', 'but decides nothing');
SELECT results_eq('SELECT device, failures FROM cudal1.job', $$VALUES ('N', 0)$$, 'the candidate waits for the pinned model');

-- a GPU is the same one under whatever name of its host, as containers have new ones
CREATE FUNCTION pg_temp.gpu(host text, key text) RETURNS bigint LANGUAGE sql AS $$
	SELECT cudal1.register_device(host, jsonb_build_object('key', key, 'class', 'cuda', 'model', 'G', 'languages', '["pytorch"]'::jsonb))
$$;
SELECT pg_temp.gpu('i', 'GPU-1') AS g1, pg_temp.gpu('j', 'GPU-1') AS g1_again \gset
SELECT cudal1_add_task('u', 'class Model: pass', 'pytorch', options => '{"device": "cuda"}') \g /dev/null
SELECT cudal1_submit('u', 'alone') AS alone \gset
SELECT is((pg_temp.work(:g1, 'successful', 7)).state, 'verifying', 'with one GPU of two names');
SELECT is((SELECT avoid_until FROM cudal1.job WHERE candidate_id = :alone), '-infinity', 'there is nobody to wait for');
SELECT is(pg_temp.both(:g1_again, 'successful', 6.9), 'verify successful:6.9', 'it verifies itself');
SELECT is((SELECT same_device FROM cudal1.measurement WHERE candidate_id = :alone AND kind = 'verify'), true, 'which is marked');
SELECT pg_temp.gpu('i', 'GPU-2') AS g2 \gset
SELECT cudal1_submit('u', 'beside another') AS beside \gset
SELECT is((pg_temp.work(:g1, 'successful', 20)).state, 'verifying', 'beside another GPU');
SELECT is((SELECT count(*) FROM cudal1.claim(:g1_again, 'w')), 0::bigint, 'it waits for that one, by either name');
UPDATE cudal1.device SET enabled = false WHERE device_id = :g2;
SELECT matches((SELECT waits_for FROM cudal1.queue WHERE candidate_id = :beside), '^waits for another device of the same model', 'which the queue says where it is away');
UPDATE cudal1.device SET enabled = true WHERE device_id = :g2;
SELECT is(pg_temp.both(:g2, 'successful', 20), 'verify successful:20', 'and which verifies');

-- a code of two roles, the second of which proposes it while it is measured
CREATE ROLE cudal1_test_a;
CREATE ROLE cudal1_test_b;
SELECT cudal1_grant(role, 'trainer') FROM unnest('{cudal1_test_a,cudal1_test_b}'::name[]) AS role \g /dev/null
SET ROLE cudal1_test_a;
SELECT cudal1_submit('u', 'of both') AS of_both \gset
RESET ROLE;
SELECT job_id, attempt FROM cudal1.claim(:g1, 'w') \gset
SET ROLE cudal1_test_b;
SELECT cudal1_submit('u', 'of both') \g /dev/null
RESET ROLE;
SELECT cudal1.finish(:job_id, :attempt, '{"outcome": "successful", "score": 1000}') \g /dev/null
SELECT results_eq('SELECT kind FROM cudal1.job WHERE candidate_id = ' || :of_both || ' ORDER BY kind', $$VALUES ('measure'), ('verify')$$, 'it is to be verified, and the other role''s job waits');
SET ROLE cudal1_test_a;
SELECT cudal1_cancel(ARRAY[:of_both]) AS first \gset
SET ROLE cudal1_test_b;
SELECT cudal1_cancel(ARRAY[:of_both]) AS second \gset
RESET ROLE;
SELECT is(:first + :second, 1, 'the second that takes it back cancels it');
SELECT is((SELECT count(*) FROM cudal1.job WHERE candidate_id = :of_both), 0::bigint, 'with its verification');
SELECT is(pg_temp.state(:of_both), 'discarded:cancelled', 'and it is paid nothing');

-- every bucket agrees with a recount
SELECT is_empty('SELECT * FROM cudal1.recount()', 'a recount finds no difference');

SELECT * FROM finish();
ROLLBACK;
