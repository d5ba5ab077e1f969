-- A device whose A/A measurements drift measures nothing else; scores measured again keep their history.
SET client_min_messages = error;
SET cudal1.certify = off;
SELECT plan(36);

SELECT cudal1_add_task('t', 'r', 'pytorch', NULL, 1, '{"device": "cpu", "profile": "quick"}') AS task \gset
SELECT is(cudal1_measure_aa(), 0::bigint, 'without a device nothing is queued');
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"], "details": {"runner": "1"}}') AS one,
	cudal1.register_device('h', '{"key": "cpu:2", "class": "cpu", "model": "M", "languages": ["pytorch"], "details": {"runner": "1"}}') AS two,
	cudal1.register_device('h', '{"key": "cpu:3", "class": "cpu", "model": "M", "languages": ["c"]}') AS three \gset

CREATE FUNCTION pg_temp.step(device bigint, score float8, runner text DEFAULT '1') RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(kind, 'nothing') FROM tap.work(device, CASE WHEN score > 0 THEN jsonb_build_object('outcome', 'successful', 'score', score, 'lower', score * 0.99,
		'upper', score * 1.01) ELSE '{"outcome": "crash"}' END || jsonb_build_object('environment', jsonb_build_object('runner', runner)))
$$;
-- one A/A measurement of a device, and whether it drifts
CREATE FUNCTION pg_temp.aa(device bigint, score float8) RETURNS boolean LANGUAGE sql AS $$
	SELECT cudal1_measure_aa(device_key => device_key) FROM cudal1.device WHERE device_id = $1;
	SELECT pg_temp.step($1, $2);
	SELECT hint LIKE '%A/A measurements drift%' FROM cudal1_status() JOIN cudal1.device AS d ON item = 'device ' || d.device_key WHERE d.device_id = $1;
$$;

SELECT is(cudal1_measure_aa(), 2::bigint, 'one for each device that can measure');
SELECT is(cudal1_measure_aa(), 0::bigint, 'what waits is not queued again');
SELECT is((SELECT count(*) FROM cudal1.candidate WHERE purpose = 'reference'), 1::bigint, 'the reference is its own candidate');
SELECT is(pg_temp.step(:one, 1.001), 'evaluate', 'the job for the device comes first');
SELECT is(pg_temp.step(:one, 1.0), 'measure', 'then the check of the reference');
SELECT is((SELECT count(*) FROM cudal1.job WHERE device = 'h cpu:2'), 1::bigint, 'that of another device is left to it');
SELECT is(pg_temp.step(:one, 1.0), 'nothing', 'as here');
SELECT is(pg_temp.step(:two, 0.999), 'evaluate', 'and taken there');
SELECT is((SELECT array_agg(device ORDER BY measurement_id) FROM cudal1.aa_chart), '{h cpu:1,h cpu:2}'::text[], 'the chart has both, and not the check');

SELECT is(pg_temp.aa(:one, 5.0), NULL, 'one outlier, however large, convicts nobody');
SELECT is(pg_temp.aa(:one, 1.2), true, 'two that agree do');
SELECT is((SELECT round(((ln(1.001) / 0.05 + 1.2 + 1.2) / 4)::numeric, 9) FROM cudal1.aa_chart WHERE device_id = :one ORDER BY measurement_id DESC LIMIT 1),
	(SELECT round(mean::numeric, 9) FROM cudal1.aa_chart WHERE device_id = :one ORDER BY measurement_id DESC LIMIT 1), 'the mean is the one that is documented');
SELECT cudal1_submit('t', 'code') AS code \gset
SELECT is(pg_temp.step(:one, 2.0), 'measure', 'which the status says, and no more');
SELECT is((SELECT array_agg(pg_temp.aa(:one, 1.0)) FROM generate_series(1, 2)), '{true,true}'::boolean[], 'two good ones are not enough');
SELECT is(pg_temp.aa(:one, 1.0), NULL, 'when the mean is back the device drifts no more');
SELECT is((SELECT (array_agg(pg_temp.aa(:one, 0)))[3] FROM generate_series(1, 3)), true, 'a reference that fails against itself is an outlier');
SELECT lives_ok($$SELECT cudal1_trust_device('h cpu:1')$$, 'an operator says it is mended');
SELECT is((SELECT count(*) FROM cudal1.aa_chart WHERE device_id = :one), 0::bigint, 'and its chart begins anew');

-- re-verification
SELECT is(cudal1_reverify('7 days'), 0::bigint, 'a verdict of today is not measured again');
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"], "details": {"runner": "2"}}') \g /dev/null
UPDATE cudal1.device SET last_seen = now() - interval '1 hour' WHERE device_id = :two;
SELECT is(cudal1_reverify('7 days'), 1::bigint, 'unless the runner is another one since');
SELECT is(pg_temp.step(:one, 1.5, '2'), 'reverify', 'it is measured');
SELECT results_eq('SELECT task, candidate_id, previous_reward, reward, round(change::numeric, 6), changed, differs FROM cudal1.drift',
	format($$VALUES ('t', %s::bigint, 2::float8, 1.5::float8, -0.25, true, 'runner')$$, :code), 'the view of drift has both scores');
SELECT is((SELECT codes FROM cudal1_bucket_stats('t') WHERE bucket = 6), 1::bigint, 'and the candidate is in the bucket of the new one');

-- a host of the model that has another runner for ever
SELECT cudal1.register_device('h', '{"key": "cpu:2", "class": "cpu", "model": "M", "languages": ["pytorch"], "details": {"runner": "3"}}') \g /dev/null
SELECT cudal1_enable_device('h cpu:2', true) \g /dev/null
UPDATE cudal1.device SET last_seen = clock_timestamp() WHERE device_id = :two;
SELECT is(cudal1_reverify('7 days'), 0::bigint, 'a verdict stands while the device that gave it has its runner, whatever others have');
SELECT cudal1_reverify('0 days') \g /dev/null
SELECT pg_temp.step(:two, 1.5, '3') \g /dev/null
SELECT is(cudal1_reverify('7 days'), 0::bigint, 'so does that of the other');
-- a host that is gone, and one that has taken its place
SAVEPOINT gone;
UPDATE cudal1.device SET last_seen = now() - interval '3 days';
SELECT is(cudal1_reverify('7 days'), 0::bigint, 'nothing has changed where no device is served');
SELECT cudal1.register_device('replaced', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"], "details": {"runner": "4"}}') \g /dev/null
SELECT is(cudal1_reverify('7 days'), 1::bigint, 'the runner of a host that has taken the place of one that is gone counts');
ROLLBACK TO gone;
-- a GPU whose host, a container, has another name since
SELECT cudal1.register_device('old', '{"key": "GPU-1", "class": "cuda", "model": "G", "languages": ["pytorch"], "details": {"driver": "1"}}') AS old \gset
SELECT cudal1_add_task('g', 'r', 'pytorch', NULL, 1, '{"device": "cuda", "profile": "quick"}'), cudal1_submit('g', 'code') \g /dev/null
SELECT job_id AS j, attempt AS a FROM cudal1.claim(:old, 'w') \gset
SELECT is(cudal1.finish(:j, :a, '{"outcome": "successful", "score": 1.2, "environment": {"driver": "1"}}'), 'stored', 'a GPU measures');
SELECT cudal1.register_device('new', '{"key": "GPU-1", "class": "cuda", "model": "G", "languages": ["pytorch"], "details": {"driver": "2"}}') AS new \gset
UPDATE cudal1.device SET last_seen = clock_timestamp() WHERE device_id = :new;
SELECT is(cudal1_reverify('7 days'), 0::bigint, 'which keeps its driver as long as it is served');
UPDATE cudal1.device SET last_seen = now() - interval '1 hour' WHERE device_id = :old;
SELECT is(cudal1_reverify('7 days'), 1::bigint, 'and has that of its new row afterwards');

-- light: what no code of a task can exceed there
SELECT cudal1.register_device('lamp', '{"key": "cpu:9", "class": "cpu", "model": "Lamp", "languages": ["c"], "details": {"bandwidth": 1e9, "peak": 2e9}}') \g /dev/null
SELECT results_eq($$SELECT bandwidth, peak FROM cudal1.device WHERE model = 'Lamp'$$, $$VALUES (1e9::float8, 2e9::float8)$$, 'a device has what was measured when it registered');
SELECT cudal1_add_task('lit', 'void f(const float *x, float *y) {}', 'c', '{"entry": "f", "args": [{"name": "x", "dtype": "float32", "shape": [1000], "role": "in"}, {"name": "y", "dtype": "float32", "shape": [1000], "role": "out"}]}') \g /dev/null
SELECT results_eq($$SELECT bytes, operations, seconds FROM cudal1_light('lit', 'Lamp')$$, $$VALUES (8000::float8, NULL::float8, 8e-6::float8)$$, 'which limits a call that reads its inputs and writes its outputs');
SELECT throws_ok($$SELECT * FROM cudal1_light('lit', 'none')$$, '42704', 'device "none" does not exist', 'an unknown device');
SELECT throws_ok($$SELECT * FROM cudal1_light('none')$$, '42704', NULL, 'an unknown task');
SELECT cudal1.register_device('lamp', '{"key": "cpu:9", "class": "cpu", "model": "Lamp", "languages": ["c"], "details": {"bandwidth": "fast"}}') \g /dev/null
SELECT is((SELECT bandwidth FROM cudal1.device WHERE model = 'Lamp'), NULL, 'what is no number is not known');
