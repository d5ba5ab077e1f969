-- What bench/agents works on, after database.sql: tasks, devices, results of the size that measurements have.
SET client_min_messages = error;
SELECT bench.add('t' || t) FROM generate_series(1, 32) AS t;

-- a device for each connection
CREATE TABLE bench.device AS
	SELECT c AS client, cudal1.register_device('host ' || c, '{"key": "cpu:1", "class": "cpu", "model": "M", "cores": 1, "languages": ["c"], "details": {}}') AS device_id
		FROM generate_series(0, 1023) AS c;
CREATE UNIQUE INDEX ON bench.device (client);

CREATE TABLE bench.result AS
	SELECT n, jsonb_build_object('type', 'result', 'outcome', 'successful', 'score', s.score, 'lower', s.score * 0.997, 'upper', s.score * 1.003,
			'variance', 1e-6, 'pairs', 7, 'rounds', 280, 'bucket_means', (SELECT jsonb_agg(s.score + 0 * g) FROM generate_series(1, 7) AS g),
			'reference_seconds', 1.1e-4, 'candidate_seconds', 1.1e-4 / s.score, 'checks', 140, 'max_error', 0.02,
			'device_seconds', 4.9, 'clock_seconds', 3.5, 'wall_seconds', 5.3, 'samples',
			(SELECT jsonb_agg(b.samples) FROM (SELECT jsonb_agg(round((0.99 + 0.02 * random())::numeric, 5)) AS samples
											   FROM generate_series(0, 279) AS g GROUP BY g % 7) AS b),
			'environment', '{"compiler": "gcc", "flags": "-O3 -march=native", "cores": "1", "runner": "0.1.0", "kernel": "6.1"}'::jsonb) AS result
		FROM generate_series(0, 63) AS n, LATERAL (SELECT round((0.9 + random() + 0 * n)::numeric, 4) AS score) AS s;
CREATE UNIQUE INDEX ON bench.result (n);
