/*
 * Buckets and islands: where a candidate is in its pools, kept by one function.
 *
 * A candidate that is successful and of normal purpose is in the bucket of its reward in
 * each of its pools, every other in none.  place_candidate() makes that so, whatever was so before,
 * and may be called twice.  Its caller holds the candidate's lock.  Nothing that belongs to a task
 * as a whole is locked, unless the task has islands.
 */

CREATE FUNCTION cudal1.bucket_of(reward float8, width float8, score_scale text)
RETURNS int LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN least(greatest(floor(CASE score_scale WHEN 'log' THEN ln(reward) ELSE reward END::numeric
	/ width::numeric), -2147483648), 2147483647)::int;
COMMENT ON FUNCTION cudal1.bucket_of IS
'number k of the interval [k * width, (k + 1) * width) that holds a reward, or its logarithm';

CREATE FUNCTION cudal1.placeable()
RETURNS TABLE (candidate_id bigint, bucket int, cluster bigint, scaled float8)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT c.candidate_id, cudal1.bucket_of(c.reward, t.bucket_width, t.score_scale),
		least(round(c.reward::numeric * 100), 1e11)::bigint,
		CASE t.score_scale WHEN 'log' THEN ln(c.reward) ELSE c.reward END
	FROM cudal1.candidate AS c JOIN cudal1.task AS t ON t.task_id = c.task_id
	WHERE c.state = 'successful' AND c.purpose = 'normal';
END;
COMMENT ON FUNCTION cudal1.placeable IS
'the candidates that draws may show, and where they belong; PostgreSQL inlines it in queries';

CREATE FUNCTION cudal1.count_code(task_id bigint, pool_id int, bucket int, codes bigint,
	total numeric)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
	UPDATE cudal1.bucket_part AS b
	SET codes = b.codes + count_code.codes, total = b.total + count_code.total
	WHERE b.task_id = count_code.task_id AND b.pool_id = count_code.pool_id
		AND b.bucket = count_code.bucket
		AND b.part = (SELECT x.part FROM cudal1.bucket_part AS x
			WHERE x.task_id = count_code.task_id AND x.pool_id = count_code.pool_id
				AND x.bucket = count_code.bucket
			ORDER BY x.part LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED);
	INSERT INTO cudal1.bucket_part (task_id, pool_id, bucket, codes, total)
		SELECT count_code.task_id, count_code.pool_id, count_code.bucket, count_code.codes,
				count_code.total
			WHERE NOT FOUND;
END
$$;
COMMENT ON FUNCTION cudal1.count_code IS
'adds to the number of codes of a bucket, and to the sum of their rewards on the task''s scale';

/*
 * Islands.  Constants are FunSearch's but for the period of the reset, which counts registrations
 * where FunSearch counts four hours: a count is reproducible and does not depend on how fast the
 * devices are.
 */
CREATE FUNCTION cudal1.first_island(candidate_id bigint, t cudal1.task)
RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN t.island_rule = 'cuda-l1'
	THEN abs(hashint8extended(candidate_id, 0) % t.islands)::int ELSE -1 END;
COMMENT ON FUNCTION cudal1.first_island IS
'the island of a code that answers no island''s prompt; -1: all';

CREATE FUNCTION cudal1.reset_islands(task_id bigint, pool_id int DEFAULT 1)
RETURNS int LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
AS $$
DECLARE
	ranked		int[];		-- the weakest first
	weaker		int;
	survivor	int;
	copies		bigint;
	rule		constant text := (SELECT t.island_rule FROM cudal1.task AS t
		WHERE t.task_id = reset_islands.task_id);
BEGIN
	PERFORM FROM cudal1.island AS i
		WHERE i.task_id = reset_islands.task_id AND i.pool_id = reset_islands.pool_id
		ORDER BY i.island FOR NO KEY UPDATE;
	-- Islands of equal best are ranked by a hash. It is as good as noise, and the same when the
	-- history is replayed.
	ranked := ARRAY(SELECT i.island FROM cudal1.island AS i
		CROSS JOIN LATERAL (SELECT max(s.cluster) AS best FROM cudal1.pool_code AS s
			WHERE s.task_id = i.task_id AND s.pool_id = i.pool_id
				AND s.island IN (i.island, CASE WHEN i.shared THEN -1 ELSE i.island END)) AS b
		WHERE i.task_id = reset_islands.task_id AND i.pool_id = reset_islands.pool_id
		ORDER BY b.best NULLS FIRST,
			hashint8extended(i.island, hashint8extended(i.task_id, i.registrations)));
	weaker := cardinality(ranked) / 2;
	UPDATE cudal1.pool_code AS s SET island = -2
		WHERE s.task_id = reset_islands.task_id AND s.pool_id = reset_islands.pool_id
			AND s.island = ANY (ranked[:weaker]) AND NOT s.copy;
	DELETE FROM cudal1.pool_code AS s
		WHERE s.task_id = reset_islands.task_id AND s.pool_id = reset_islands.pool_id
			AND s.island = ANY (ranked[:weaker]) AND NOT s.waiting;
	FOR n IN 1 .. weaker LOOP
		-- each survivor has the same chance
		survivor := ranked[weaker + 1 + abs(hashint8extended(ranked[n],
			hashint8extended(task_id, n + cardinality(ranked))) % (cardinality(ranked) - weaker))];
		INSERT INTO cudal1.pool_code (task_id, pool_id, candidate_id, island, copy, bucket,
				cluster, scaled)
			SELECT s.task_id, s.pool_id, s.candidate_id, ranked[n], true, s.bucket, s.cluster,
					s.scaled
				FROM cudal1.island AS i JOIN cudal1.pool_code AS s
					ON s.task_id = i.task_id AND s.pool_id = i.pool_id
						AND s.island IN (i.island, CASE WHEN i.shared THEN -1 ELSE i.island END)
				WHERE i.task_id = reset_islands.task_id AND i.pool_id = reset_islands.pool_id
					AND i.island = survivor AND s.cluster IS NOT NULL
				ORDER BY s.cluster DESC, s.candidate_id
				LIMIT CASE rule WHEN 'funsearch' THEN 1 END
			ON CONFLICT DO NOTHING;
		GET DIAGNOSTICS copies = ROW_COUNT;
		UPDATE cudal1.island AS i SET shared = false, registrations = copies
			WHERE i.task_id = reset_islands.task_id AND i.pool_id = reset_islands.pool_id
				AND i.island = ranked[n];
	END LOOP;
	UPDATE cudal1.island AS i SET since_reset = 0
		WHERE i.task_id = reset_islands.task_id AND i.pool_id = reset_islands.pool_id;
	RETURN weaker;
END
$$;
COMMENT ON FUNCTION cudal1.reset_islands IS
'wipes the weaker half of a task''s islands in a pool by best reward, and returns how many. Each
gets a copy of a survivor''s best code, or of all of its codes (cuda-l1)';

CREATE FUNCTION cudal1.place_candidate(candidate_id bigint)
RETURNS void LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER
	SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	t		cudal1.task;
	at		record;				-- where it belongs; NULLs: in no bucket
	s		cudal1.pool_code;
	old		cudal1.pool_code;
BEGIN
	SELECT x.* INTO t FROM cudal1.task AS x JOIN cudal1.candidate AS c ON c.task_id = x.task_id
		WHERE c.candidate_id = place_candidate.candidate_id;
	PERFORM cudal1.raise_if(NOT FOUND, '42704', format('candidate %s does not exist',
				candidate_id));
	SELECT x.* INTO at FROM cudal1.placeable() AS x
		WHERE x.candidate_id = place_candidate.candidate_id;
	-- a row in each pool that the candidate was proposed in, or in main
	IF at.bucket IS NOT NULL THEN
		INSERT INTO cudal1.pool_code (task_id, pool_id, candidate_id, island)
			SELECT DISTINCT ON (p.pool_id) t.task_id, p.pool_id, place_candidate.candidate_id,
					COALESCE(p.island, cudal1.first_island(place_candidate.candidate_id, t))
				FROM (SELECT x.pool_id, x.island FROM cudal1.proposal AS x
						WHERE x.candidate_id = place_candidate.candidate_id
					UNION ALL
					SELECT 1, NULL WHERE NOT EXISTS (SELECT FROM cudal1.proposal AS x
						WHERE x.candidate_id = place_candidate.candidate_id)) AS p
				WHERE NOT EXISTS (SELECT FROM cudal1.pool_code AS x
					WHERE x.candidate_id = place_candidate.candidate_id AND x.pool_id = p.pool_id
						AND NOT x.copy)
				ORDER BY p.pool_id, p.island NULLS FIRST
			ON CONFLICT (candidate_id, pool_id, island) DO UPDATE SET copy = false;
		-- islands exist from the first code on that is on one; each has what is in the pool
		INSERT INTO cudal1.island (task_id, pool_id, island, registrations)
			SELECT t.task_id, x.pool_id, i.island, COALESCE(b.codes, 0)
				FROM (SELECT DISTINCT p.pool_id FROM cudal1.pool_code AS p
						WHERE p.candidate_id = place_candidate.candidate_id AND p.island >= 0) AS x
					CROSS JOIN LATERAL generate_series(0, t.islands - 1) AS i (island)
					CROSS JOIN LATERAL (SELECT sum(p.codes)::bigint AS codes
						FROM cudal1.bucket_part AS p
						WHERE p.task_id = t.task_id AND p.pool_id = x.pool_id) AS b
				WHERE NOT EXISTS (SELECT FROM cudal1.island AS y
					WHERE y.task_id = t.task_id AND y.pool_id = x.pool_id AND y.island = i.island)
			ON CONFLICT DO NOTHING;
	END IF;
	PERFORM FROM cudal1.island AS i WHERE i.task_id = t.task_id
		ORDER BY i.pool_id, i.island FOR NO KEY UPDATE;
	FOR old IN
		SELECT x.* FROM cudal1.pool_code AS x
			WHERE x.candidate_id = place_candidate.candidate_id
				AND (x.waiting OR x.bucket IS DISTINCT FROM at.bucket
					OR x.scaled IS DISTINCT FROM at.scaled)
			ORDER BY x.copy, x.pool_id, x.island FOR NO KEY UPDATE
	LOOP
		-- a copy that says no more than the code's own row
		IF old.copy AND (old.island = -1 OR EXISTS (
				SELECT FROM cudal1.pool_code AS x LEFT JOIN cudal1.island AS i
					ON i.task_id = x.task_id AND i.pool_id = x.pool_id AND i.island = old.island
				WHERE x.candidate_id = old.candidate_id AND x.pool_id = old.pool_id
					AND NOT x.copy AND x.island = -1 AND COALESCE(i.shared, true))) THEN
			DELETE FROM cudal1.pool_code AS x WHERE x.candidate_id = old.candidate_id
				AND x.pool_id = old.pool_id AND x.island = old.island;
			CONTINUE;
		END IF;
		IF NOT old.copy THEN
			PERFORM cudal1.count_code(old.task_id, old.pool_id, old.bucket, -1,
				-old.scaled::numeric) WHERE old.bucket IS NOT NULL;
			PERFORM cudal1.count_code(old.task_id, old.pool_id, at.bucket, 1, at.scaled::numeric)
				WHERE at.bucket IS NOT NULL;
		END IF;
		UPDATE cudal1.pool_code AS x
			SET bucket = at.bucket, cluster = at.cluster, scaled = at.scaled, waiting = false
			WHERE x.candidate_id = old.candidate_id AND x.pool_id = old.pool_id
				AND x.island = old.island
			RETURNING x.* INTO s;
		CONTINUE WHEN old.bucket IS NOT NULL OR s.bucket IS NULL;
		-- the code is counted on its island, or on all; the weaker half is reset at its time
		UPDATE cudal1.island AS i
			SET registrations = i.registrations + 1,
				since_reset = i.since_reset + EXISTS (SELECT FROM cudal1.proposal AS p
					WHERE p.candidate_id = s.candidate_id AND p.pool_id = s.pool_id
						AND p.island = i.island AND i.island = s.island)::int
			WHERE i.task_id = s.task_id AND i.pool_id = s.pool_id AND s.island IN (i.island, -1);
		INSERT INTO cudal1.pool_code (task_id, pool_id, candidate_id, island, copy, bucket, cluster,
				scaled)
			SELECT s.task_id, s.pool_id, s.candidate_id, i.island, true, s.bucket, s.cluster,
					s.scaled
				FROM cudal1.island AS i
				WHERE i.task_id = s.task_id AND i.pool_id = s.pool_id AND NOT i.shared
					AND s.island = -1
			ON CONFLICT DO NOTHING;
		PERFORM cudal1.reset_islands(s.task_id, s.pool_id)
			WHERE s.island >= 0 AND t.island_reset <= (SELECT sum(i.since_reset)
				FROM cudal1.island AS i
				WHERE i.task_id = s.task_id AND i.pool_id = s.pool_id);
	END LOOP;
END
$$;
COMMENT ON FUNCTION cudal1.place_candidate IS
'makes the rows of a candidate in cudal1.pool_code agree with its state and reward';

CREATE FUNCTION cudal1.place_again(candidate_ids bigint[], pool_id int, island int)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
	INSERT INTO cudal1.pool_code AS s (task_id, pool_id, candidate_id, island, copy, waiting)
		SELECT x.task_id, place_again.pool_id, x.candidate_id, COALESCE(place_again.island, -1),
				true, true
			FROM cudal1.candidate AS x
			WHERE x.candidate_id = ANY (candidate_ids)
				AND (x.purpose <> 'normal'
					OR x.state IN ('successful', 'queued', 'measuring', 'verifying'))
				AND (place_again.island IS NOT NULL OR x.purpose <> 'normal'
					OR NOT EXISTS (SELECT FROM cudal1.pool_code AS o
						WHERE o.candidate_id = x.candidate_id AND o.pool_id = place_again.pool_id
							AND NOT o.copy)
					-- a verdict in another transaction does not see the pool's first proposal
					AND (x.state = 'successful' OR (SELECT count(*) FROM cudal1.proposal AS p
						WHERE p.candidate_id = x.candidate_id
							AND p.pool_id = place_again.pool_id) = 1))
			ORDER BY x.candidate_id
		ON CONFLICT DO NOTHING;
	PERFORM cudal1.wake() WHERE FOUND;
END
$$;
COMMENT ON FUNCTION cudal1.place_again IS
'notes that codes which exist were proposed in a pool; the next claim places them there';

CREATE FUNCTION cudal1.place_waiting()
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
	SET enable_seqscan = off SET jit = off
AS $$
DECLARE
	ids		bigint[];
BEGIN
	-- Verdicts that were being written while a pool was seeded did not see it. All that ran then
	-- has ended.
	WITH seeded AS (
		UPDATE cudal1.pool AS p SET seeded_in = NULL
			WHERE p.pool_id IN (SELECT x.pool_id FROM cudal1.pool AS x
				WHERE x.seeded_in < pg_snapshot_xmin(pg_current_snapshot())
				FOR NO KEY UPDATE SKIP LOCKED)
			RETURNING p.pool_id)
	UPDATE cudal1.pool_code AS s SET waiting = true
		FROM seeded, cudal1.pool_code AS x
			LEFT JOIN cudal1.placeable() AS c ON c.candidate_id = x.candidate_id
		WHERE x.pool_id = seeded.pool_id AND x.scaled IS DISTINCT FROM c.scaled
			AND s.candidate_id = x.candidate_id AND s.pool_id = x.pool_id AND s.island = x.island;
	-- a verdict that is being written has its candidate's lock, and is looked at the next time
	ids := ARRAY(SELECT c.candidate_id FROM cudal1.candidate AS c
		WHERE c.candidate_id IN (SELECT s.candidate_id FROM cudal1.pool_code AS s
			WHERE s.waiting ORDER BY s.candidate_id LIMIT 100)
		ORDER BY c.candidate_id FOR NO KEY UPDATE SKIP LOCKED);
	UPDATE cudal1.candidate AS c SET purpose = 'normal'
		WHERE c.candidate_id = ANY (ids) AND c.purpose <> 'normal';
	PERFORM cudal1.place_candidate(u.id) FROM unnest(ids) AS u (id);
	PERFORM cudal1.wake() WHERE cardinality(ids) = 100;
	RETURN cardinality(ids);
END
$$;
COMMENT ON FUNCTION cudal1.place_waiting IS
'places up to 100 codes that were proposed again, or decided while a pool was seeded';

CREATE FUNCTION cudal1.check_of_buckets()
RETURNS TABLE (subject text, place text, expected text, found text)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT 'code of a pool', format('candidate %s in pool %s', s.candidate_id, s.pool_id),
			format('bucket %s, cluster %s, %s', c.bucket, c.cluster, c.scaled),
			format('bucket %s, cluster %s, %s', s.bucket, s.cluster, s.scaled)
		FROM cudal1.pool_code AS s
			LEFT JOIN cudal1.placeable() AS c ON c.candidate_id = s.candidate_id
		WHERE NOT s.waiting AND (s.bucket, s.cluster, s.scaled)
			IS DISTINCT FROM (c.bucket, c.cluster, c.scaled)
	UNION ALL
	SELECT 'code of no pool', format('candidate %s', c.candidate_id),
			format('bucket %s', c.bucket), 'none'
		FROM cudal1.placeable() AS c
		WHERE NOT EXISTS (SELECT FROM cudal1.pool_code AS s
			WHERE s.candidate_id = c.candidate_id AND (s.waiting OR NOT s.copy))
	UNION ALL
	SELECT 'bucket', format('bucket %s of task %s in pool %s', b.bucket, b.task_id, b.pool_id),
			format('%s codes, %s', sum(b.codes) FILTER (WHERE NOT b.counted),
				sum(b.total) FILTER (WHERE NOT b.counted)),
			format('%s codes, %s', sum(b.codes) FILTER (WHERE b.counted),
				sum(b.total) FILTER (WHERE b.counted))
		FROM (SELECT p.task_id, p.pool_id, p.bucket, p.codes, p.total, true AS counted
				FROM cudal1.bucket_part AS p
			UNION ALL
			SELECT s.task_id, s.pool_id, s.bucket, count(*), sum(s.scaled::numeric), false
				FROM cudal1.pool_code AS s WHERE s.bucket IS NOT NULL AND NOT s.copy
				GROUP BY s.task_id, s.pool_id, s.bucket) AS b
		GROUP BY b.task_id, b.pool_id, b.bucket
		HAVING sum(CASE WHEN b.counted THEN b.codes ELSE -b.codes END) <> 0
			OR sum(CASE WHEN b.counted THEN b.total ELSE -b.total END) <> 0;
END;
COMMENT ON FUNCTION cudal1.check_of_buckets IS
'cudal1_check(): the codes of pools, and the counts and sums of their buckets';
