-- What bench/database and bench/agents fill and time with.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS cudal1;
CREATE SCHEMA bench;

-- texts of 8 kB that compress as code does: lines of few words and many numbers
CREATE TABLE bench.pool (k int, code bytea);
ALTER TABLE bench.pool ALTER code SET STORAGE EXTERNAL;
INSERT INTO bench.pool
	SELECT k, convert_to(string_agg(format(E'\tfor (int i%s = %s; i%s < n - %s; i%s++) acc%s += a[i%s * %s + %s] * w[%s];\n', x % 7, y % 16, x % 7,
										   y % 64, x % 7, x % 4, x % 7, y % 128, x % 512, (x * 31 + y) % 997), '' ORDER BY l), 'UTF8')
		FROM (SELECT k, l, (random() * 1e6)::int AS x, (random() * 1e6)::int AS y
			  FROM generate_series(0, 255) AS k, generate_series(1, 120) AS l) AS r
		GROUP BY k;
CREATE UNIQUE INDEX ON bench.pool (k);

-- a code of 2 to 8 kB that no other is equal to
CREATE FUNCTION bench.bytes(n bigint) RETURNS bytea LANGUAGE sql STABLE AS
$$SELECT convert_to('// ' || n || E'\n', 'UTF8') || substr(p.code, 1, 2000 + (n * 7919 % 6000)::int) FROM bench.pool AS p WHERE p.k = n * 31 % 256$$;
CREATE FUNCTION bench.code(n bigint) RETURNS text LANGUAGE sql STABLE AS $$SELECT convert_from(bench.bytes(n), 'UTF8')$$;

CREATE FUNCTION bench.add(name text) RETURNS bigint LANGUAGE sql AS $$
	SELECT cudal1_add_task(name, '// ' || name, 'c', '{"entry": "solve", "args": [{"name": "c", "dtype": "float32", "shape": [4], "role": "out"}]}',
		1, '{"device": "cpu", "profile": "quick"}')
$$;

-- decided candidates of a task: three in ten failed, the others with scores as training leaves them, most near 1, few far above
CREATE FUNCTION bench.load(t bigint, first bigint, last bigint) RETURNS void LANGUAGE sql SET synchronous_commit = off AS $$
	WITH added AS (
		INSERT INTO cudal1.candidate (task_id, code, code_hash, state, failure, reward, score, decided_at)
			SELECT t, convert_from(c.code, 'UTF8'), sha256(c.code), CASE WHEN s.good THEN 'successful' ELSE 'failed' END,
					CASE WHEN NOT s.good THEN 'wrong_output' END,
					CASE WHEN s.good THEN greatest(0.01, cudal1_conservative_round(s.score)) ELSE 0 END, CASE WHEN s.good THEN s.score END, now()
				FROM generate_series(first, last) AS g, LATERAL (SELECT bench.bytes(g * 1000 + t) OFFSET 0) AS c(code),
					LATERAL (SELECT random() < 0.7 + 0 * g AS good, exp(0.2 - 0.6 * ln(random() + 1e-9 + 0 * g) - 0.5) AS score OFFSET 0) AS s
			RETURNING candidate_id)
	INSERT INTO cudal1.proposal (task_id, candidate_id, method) SELECT t, candidate_id, 'bench' FROM added
$$;

-- what acceptance derives from them: buckets, ten islands
CREATE FUNCTION bench.derive(name text) RETURNS void LANGUAGE plpgsql SET synchronous_commit = off AS $$
DECLARE
	t bigint := (SELECT task_id FROM cudal1.task AS x WHERE x.name = derive.name);
BEGIN
	INSERT INTO cudal1.pool_code (task_id, pool_id, candidate_id, island, bucket, cluster, scaled)
		SELECT t, 1, p.candidate_id, p.candidate_id % 10, p.bucket, p.cluster, p.scaled
			FROM cudal1.placeable() AS p JOIN cudal1.candidate AS c USING (candidate_id) WHERE c.task_id = t;
	INSERT INTO cudal1.bucket_part (task_id, pool_id, bucket, codes, total)
		SELECT t, 1, s.bucket, count(*), sum(s.scaled::numeric) FROM cudal1.pool_code AS s WHERE s.task_id = t GROUP BY s.bucket;
	INSERT INTO cudal1.island (task_id, pool_id, island, registrations) SELECT t, 1, i, 1000 FROM generate_series(0, 9) AS i;
END $$;

-- so many thousand jobs: of one task, or of all that are called many
CREATE FUNCTION bench.enqueue(tasks text[], thousands int) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM generate_series(1, thousands) AS b,
		LATERAL (SELECT array_agg(tasks[1 + g % cardinality(tasks)]) AS t, array_agg(bench.code((random() * 1e12)::bigint * 1000 + g + 0 * b)) AS c
				 FROM generate_series(1, 1000) AS g) AS x,
		LATERAL cudal1_submit_batch(x.t, x.c)
$$;

-- median | 10th | 90th percentile
CREATE FUNCTION bench.percentiles(ms float8[]) RETURNS text LANGUAGE sql AS $$
	SELECT format('%s | %s | %s', round(p[1]::numeric, 3), round(p[2]::numeric, 3), round(p[3]::numeric, 3))
		FROM (SELECT percentile_cont('{0.5, 0.1, 0.9}'::float8[]) WITHIN GROUP (ORDER BY m) AS p FROM unnest(ms) AS m) AS q
$$;

-- milliseconds from the commit of a submission, as the server stamped it, to its claim
CREATE TABLE bench.latency (worker text, ms float8);
CREATE PROCEDURE bench.time_claim(task text, worker text) LANGUAGE plpgsql AS $$
DECLARE
	id bigint := cudal1_submit(task, bench.code((random() * 1e15)::bigint));
	claimed timestamptz;
	until timestamptz := clock_timestamp() + '30 s'::interval;
BEGIN
	COMMIT;
	WHILE claimed IS NULL AND clock_timestamp() < until LOOP
		SELECT claimed_at INTO claimed FROM cudal1.job WHERE candidate_id = id;
		PERFORM pg_sleep(0.003);
	END LOOP;
	INSERT INTO bench.latency SELECT worker, extract(epoch FROM claimed - pg_xact_commit_timestamp(p.xmin)) * 1000
		FROM cudal1.proposal AS p WHERE p.candidate_id = id;
	-- until it is decided, so that the next finds an idle worker
	PERFORM cudal1_wait(ARRAY[id], '30 s');
END $$;

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
