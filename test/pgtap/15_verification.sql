-- Verification: what is too good is measured again, and the lower score counts.
SELECT plan(42);

SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
CREATE FUNCTION pg_temp.device(key text) RETURNS bigint LANGUAGE sql AS $$
	SELECT cudal1.register_device('h', jsonb_build_object('key', key, 'class', 'cpu', 'model', 'M', 'languages', '["pytorch"]'::jsonb))
$$;
-- one whole claim: kind of the job, state after the result
CREATE FUNCTION pg_temp.work(device bigint, outcome text, score float8 DEFAULT NULL, wide boolean DEFAULT false, OUT kind text, OUT state text) LANGUAGE sql AS $$
	SELECT kind, state FROM tap.work(device, jsonb_build_object('outcome', outcome, 'score', score, 'lower', score * 0.9, 'upper', score * 1.1, 'wide', wide, 'half_width', 0.1))
$$;
CREATE FUNCTION pg_temp.both(device bigint, outcome text, score float8) RETURNS text LANGUAGE sql AS $$
	SELECT kind || ' ' || state FROM pg_temp.work(device, outcome, score)
$$;
SELECT pg_temp.device('cpu:1') AS d1 \gset

-- a high score is measured once more, and the lower one counts
SELECT cudal1_submit('t', '3.0') AS a \gset
SELECT is(pg_temp.both(:d1, 'successful', 3.0), 'measure successful:3', 'a score of verify_above is accepted');
SELECT is((SELECT count(*) FROM cudal1.job), 0::bigint, 'without more work');
SELECT cudal1_submit('t', '3.05') AS b \gset
SELECT is(pg_temp.both(:d1, 'successful', 3.05), 'measure verifying', 'above it is verified');
SELECT is(cudal1_reward(:b), NULL, 'until then it has no reward');
SELECT is((SELECT sum(codes) FROM cudal1.bucket), 1::numeric, 'and is in no bucket');
SELECT results_eq('SELECT kind, priority, device FROM cudal1.job', $$VALUES ('verify', 1000, 'M')$$, 'the second measurement goes before other work');
SELECT is(pg_temp.both(:d1, 'successful', 3.2), 'verify successful:3.05', 'of a higher second score the first counts');
SELECT results_eq('SELECT kind, accepted, same_device, score FROM cudal1.measurement WHERE candidate_id = ' || :b || ' ORDER BY measurement_id',
	$$VALUES ('measure', true, NULL::boolean, 3.05::float8), ('verify', true, true, 3.2::float8)$$, 'both measurements decided; the second is marked as made on the same device');
SELECT is((SELECT m.score FROM cudal1.candidate AS c JOIN cudal1.measurement AS m USING (measurement_id) WHERE c.candidate_id = :b), 3.05::float8, 'the candidate names the lower one');
SELECT cudal1_submit('t', '5, then 0.5') AS c \gset
SELECT is((pg_temp.work(:d1, 'successful', 5)).state, 'verifying', 'another');
SELECT is((pg_temp.work(:d1, 'successful', 0.5)).state, 'successful:0.5', 'whose second score is the lower, however far off');
SELECT is((SELECT m.score FROM cudal1.candidate AS c JOIN cudal1.measurement AS m USING (measurement_id) WHERE c.candidate_id = :c), 0.5::float8, 'is that one''s');
SELECT is_empty($$SELECT * FROM cudal1_check() WHERE subject LIKE '%measurement%'$$, 'and is no damage');
SELECT cudal1_submit('t', 'crash') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 4)).state, 'verifying', 'one more');
SELECT is((pg_temp.work(:d1, 'crash')).state, 'failed:crash:0', 'a failure in the verification is a failure');
SELECT cudal1_submit('t', 'lost') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 4)).state, 'verifying', 'of one more');
SELECT is((pg_temp.work(:d1, 'lost')).state, 'verifying', 'a lost verification is tried again');
SELECT is((pg_temp.work(:d1, 'unverified')).state, 'verifying', 'and again');
SELECT is((pg_temp.work(:d1, 'lost')).state, 'discarded:lost', 'as often as the profile allows');
SELECT cudal1_submit('t', 'lost') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 4)).state, 'verifying', 'submitted again it begins anew');
SELECT is((pg_temp.work(:d1, 'successful', 3.7, true)).state, 'successful:3.7', 'and is paid');
SELECT results_eq($$SELECT wide, half_width FROM cudal1.candidate WHERE reward = 3.7$$, $$VALUES (true, 0.1::float8)$$, 'marked as the measurement that decided');
SELECT cudal1_submit('t', 'cancelled') AS x \gset
SELECT is((pg_temp.work(:d1, 'successful', 9)).state, 'verifying', 'one more');
SELECT is(cudal1_cancel(ARRAY[:x]), 1::bigint, 'can be cancelled');
SELECT is(tap.state(:x), 'discarded:cancelled', 'and is discarded');
SELECT cudal1_add_profile('trusting', 'default', '{"verify_above": null}', 'verifies nothing') \g /dev/null
SELECT cudal1_add_task('unverified', 'class Model: pass', 'pytorch', options => '{"device": "cpu", "profile": "trusting"}') \g /dev/null
SELECT cudal1_submit('unverified', 'x') \g /dev/null
SELECT is((pg_temp.work(:d1, 'successful', 99)).state, 'successful:99', 'a profile can do without');

-- another device of the model
SELECT pg_temp.device('cpu:2') AS d2 \gset
SELECT cudal1_submit('t', 'for two') AS two \gset
SELECT is((pg_temp.work(:d1, 'successful', 7)).state, 'verifying', 'with two devices');
SELECT is(pg_temp.both(:d2, 'successful', 6.9), 'verify successful:6.9', 'the other may verify');
SELECT is((SELECT same_device FROM cudal1.measurement WHERE candidate_id = :two AND kind = 'verify'), false, 'which is marked');

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
SELECT is(tap.state(:one), 'queued', 'but decides nothing');
SELECT results_eq('SELECT device, failures FROM cudal1.job', $$VALUES ('N', 0)$$, 'the candidate waits for the pinned model');

-- a GPU is the same one under whatever name of its host, as containers have new ones
CREATE FUNCTION pg_temp.gpu(host text, key text) RETURNS bigint LANGUAGE sql AS $$
	SELECT cudal1.register_device(host, jsonb_build_object('key', key, 'class', 'cuda', 'model', 'G', 'languages', '["pytorch"]'::jsonb))
$$;
SELECT pg_temp.gpu('i', 'GPU-1') AS g1, pg_temp.gpu('j', 'GPU-1') AS g1_again \gset
SELECT cudal1_add_task('u', 'class Model: pass', 'pytorch', options => '{"device": "cuda"}') \g /dev/null
SELECT cudal1_submit('u', 'alone') AS alone \gset
SELECT is((pg_temp.work(:g1, 'successful', 7)).state, 'verifying', 'with one GPU of two names');
SELECT is(pg_temp.both(:g1_again, 'successful', 6.9), 'verify successful:6.9', 'it verifies itself under the other');
SELECT is((SELECT same_device FROM cudal1.measurement WHERE candidate_id = :alone AND kind = 'verify'), true, 'which is marked');
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
SELECT is(tap.state(:of_both), 'discarded:cancelled', 'and it is paid nothing');

-- every bucket agrees with a recount
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'a recount finds no difference');
