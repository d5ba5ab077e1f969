-- What bench/database fills and times with.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS cudal1;
CREATE SCHEMA bench;

-- texts of 8 kB that compress as code does: lines of few words and many numbers
CREATE TABLE bench.pool AS
	SELECT k, string_agg(format(E'\tfor (int i%s = %s; i%s < n - %s; i%s++) acc%s += a[i%s * %s + %s] * w[%s];\n', x % 7, y % 16, x % 7, y % 64,
								x % 7, x % 4, x % 7, y % 128, x % 512, (x * 31 + y) % 997), '' ORDER BY l) AS code
		FROM (SELECT k, l, (random() * 1e6)::int AS x, (random() * 1e6)::int AS y
			  FROM generate_series(0, 255) AS k, generate_series(1, 120) AS l) AS r
		GROUP BY k;
CREATE UNIQUE INDEX ON bench.pool (k);

-- a code of 2 to 8 kB that no other is equal to
CREATE FUNCTION bench.code(n bigint) RETURNS text LANGUAGE sql STABLE AS
$$SELECT '// ' || n || E'\n' || substr(p.code, 1, 2000 + (n * 7919 % 6000)::int) FROM bench.pool AS p WHERE p.k = n * 31 % 256$$;

-- a task with so many decided candidates: three in ten failed, the others with scores as training leaves them, most near 1, few far above
CREATE FUNCTION bench.fill(name text, n bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	t bigint := cudal1_add_task(name, '// ' || name, 'c', '{"entry": "solve", "args": [{"name": "c", "dtype": "float32", "shape": [4], "role": "out"}]}',
		1, '{"device": "cpu", "profile": "quick"}');
BEGIN
	WITH added AS (
		INSERT INTO cudal1.candidate (task_id, code, code_hash, state, failure, reward, score, decided_at)
			SELECT t, c.code, sha256(c.code::bytea), CASE WHEN s.good THEN 'successful' ELSE 'failed' END, CASE WHEN NOT s.good THEN 'wrong_output' END,
					CASE WHEN s.good THEN greatest(0.01, cudal1_conservative_round(s.score)) ELSE 0 END, CASE WHEN s.good THEN s.score END, now()
				FROM generate_series(1, n) AS g, LATERAL bench.code(g * 1000 + t) AS c(code),
					LATERAL (SELECT random() < 0.7 + 0 * g AS good, exp(0.2 - 0.6 * ln(random() + 1e-9 + 0 * g) - 0.5) AS score) AS s
			RETURNING candidate_id)
	INSERT INTO cudal1.proposal (task_id, candidate_id, method) SELECT t, candidate_id, 'bench' FROM added;
	PERFORM cudal1.rebucket(name);
	INSERT INTO cudal1.island (task_id, island, registrations) SELECT t, i, n / 10 FROM generate_series(0, 9) AS i;
	INSERT INTO cudal1.island_slot (task_id, island, epoch, cluster, slot, candidate_id)
		SELECT t, s.candidate_id % 10, 0, k, row_number() OVER (PARTITION BY s.candidate_id % 10, k ORDER BY s.candidate_id) - 1, s.candidate_id
			FROM cudal1.bucket_slot AS s JOIN cudal1.candidate AS c USING (candidate_id), LATERAL cudal1.reward_cluster(c.reward) AS k
			WHERE s.task_id = t;
	INSERT INTO cudal1.island_cell (task_id, island, epoch, cluster, codes)
		SELECT task_id, island, epoch, cluster, count(*) FROM cudal1.island_slot WHERE task_id = t GROUP BY 1, 2, 3, 4;
	PERFORM cudal1.note_best(t);
END $$;

-- median | 10th | 90th percentile
CREATE FUNCTION bench.percentiles(ms float8[]) RETURNS text LANGUAGE sql AS $$
	SELECT format('%s | %s | %s', round(p[1]::numeric, 3), round(p[2]::numeric, 3), round(p[3]::numeric, 3))
		FROM (SELECT percentile_cont('{0.5, 0.1, 0.9}'::float8[]) WITHIN GROUP (ORDER BY m) AS p FROM unnest(ms) AS m) AS q
$$;

-- runs a query so many times, after a few that don't count, and gives its times in milliseconds
CREATE FUNCTION bench.spread(query text, times int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	ms float8[];
BEGIN
	FOR i IN 1 .. times + least(5, times / 3) LOOP
		began := clock_timestamp();
		EXECUTE query;
		IF i > least(5, times / 3) THEN
			ms := ms || extract(epoch FROM clock_timestamp() - began)::float8 * 1000;
		END IF;
	END LOOP;
	RETURN bench.percentiles(ms);
END $$;

SELECT cudal1.register_device('h', jsonb_build_object('key', 'cpu:' || n, 'class', 'cpu', 'model', 'M', 'languages', '["c"]'::jsonb)) FROM generate_series(1, 8) AS n;
