-- What the load of bench/concurrency and test/t/040_concurrency.pl runs on: three tasks, eight devices of two models.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS cudal1;
SELECT cudal1_add_task('linear', 'class Model: pass', 'pytorch', NULL, 1, '{"device": "M"}'),
	   cudal1_add_task('log', 'class Model: pass', 'pytorch', NULL, 1, '{"device": "M", "score_scale": "log", "bucket_width": 0.1}'),
	   cudal1_add_task('islands', 'class Model: pass', 'pytorch', NULL, 2, '{"device": "cpu", "strategy": "island", "islands": 4, "island_reset": 200}');
SELECT cudal1.register_device('h', jsonb_build_object('key', 'cpu:' || n, 'class', 'cpu', 'model', CASE WHEN n <= 6 THEN 'M' ELSE 'N' END, 'languages', '["pytorch"]'::jsonb))
FROM generate_series(1, 8) AS n;

CREATE FUNCTION any_task() RETURNS text LANGUAGE sql VOLATILE AS $$SELECT (ARRAY['linear', 'log', 'islands'])[1 + floor(random() * 3)::int]$$;
-- what a runner might answer: mostly successes, some failures, losses and nonsense
CREATE FUNCTION any_result() RETURNS jsonb LANGUAGE sql VOLATILE AS $$
	SELECT CASE WHEN r < 0.75 THEN jsonb_build_object('outcome', 'successful', 'score', exp(s))
				WHEN r < 0.80 THEN jsonb_build_object('outcome', 'successful', 'score', exp(s), 'lower', exp(s) * 0.9, 'upper', exp(s) * 1.1, 'half_width', 0.1, 'wide', true)
				WHEN r < 0.90 THEN '{"outcome": "wrong_output", "detail": "first mismatch at 3"}'
				WHEN r < 0.93 THEN '{"outcome": "unverified"}'
				WHEN r < 0.97 THEN '{"outcome": "lost"}'
				ELSE '{"outcome": "successful", "score": "fast"}' END
		FROM (SELECT random() AS r, random() * 2.2 - 0.7 AS s) AS x
$$;
