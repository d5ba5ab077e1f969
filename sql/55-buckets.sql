/*
 * Buckets and islands: rows derived from candidate, kept by one function.
 *
 * A candidate that is successful and of normal purpose has one slot in the bucket of its
 * reward in each of its pools, every other has none; place_candidate() makes that so, whatever was
 * so before, and may be called twice.  Slots are dense: the last one moves into a hole; so are
 * places, which number the candidates of all buckets of a task in a pool.  Both are counted in rows
 * that are updated, not by looking for the largest: a transaction with an old snapshot then fails
 * where it would number wrongly.
 *
 * What is placed for one task is serialised by one lock, taken first and held to the end of the
 * transaction.  Locks on single bucket rows, even in ascending order, would let two transactions
 * that accept several scores each (an import) wait for each other; and a bucket row is locked to
 * the end of the transaction anyway.
 */

CREATE FUNCTION cudal1.bucket_of(reward float8, width float8, score_scale text)
RETURNS int
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_bucket_of';
COMMENT ON FUNCTION cudal1.bucket_of IS
'number k of the interval [k * width, (k + 1) * width) that holds a reward above 0, or its natural
logarithm where score_scale is log; rewards on an edge in decimal arithmetic are on it';

CREATE FUNCTION cudal1.reward_micro(reward float8)
RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN round(LEAST(reward, 1e9) * 1e6)::bigint;
COMMENT ON FUNCTION cudal1.reward_micro IS
'a reward''s share of bucket.sum_micro; rewards above 1e9 count as 1e9, so that sums hold';

CREATE FUNCTION cudal1.reward_ln_nano(reward float8)
RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN round(ln(reward) * 1e9)::bigint;
COMMENT ON FUNCTION cudal1.reward_ln_nano IS 'a reward''s share of bucket.sum_ln_nano';

CREATE FUNCTION cudal1.reward_cluster(reward float8)
RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (cudal1.reward_micro(reward) + 5000) / 10000;
COMMENT ON FUNCTION cudal1.reward_cluster IS 'the cluster of an island that a reward belongs to';

-- The lock is a row, because any role may take any advisory lock. A task has its row from its first
-- placement on.
CREATE FUNCTION cudal1.lock_placement(task_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
BEGIN
	PERFORM FROM cudal1.placement AS p WHERE p.task_id = lock_placement.task_id AND p.pool_id = 1
		FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		-- this waits for a row that another session inserts, and locks it
		INSERT INTO cudal1.placement AS p (task_id, pool_id, codes)
			VALUES (lock_placement.task_id, 1, 0)
			ON CONFLICT ON CONSTRAINT placement_pkey DO UPDATE SET codes = p.codes;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.lock_placement IS
'serialises, to the end of the transaction, everything that writes the buckets and islands of one
task, in all pools';

CREATE FUNCTION cudal1.unlock_before_flush()
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'cudal1_unlock_before_flush';
COMMENT ON FUNCTION cudal1.unlock_before_flush IS
'this transaction''s commit frees its locks before it waits for its log to be flushed, and its
client hears of it after that; does nothing where the session asks for less (synchronous_commit off)
or there are synchronous standbys';

CREATE FUNCTION cudal1.commit_without_flush()
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'cudal1_commit_without_flush';
COMMENT ON FUNCTION cudal1.commit_without_flush IS
'where the statement is a transaction of its own, its commit does not wait for the log: for what a
crash may take back';

/*
 * Islands.  Constants are FunSearch's but for the period of the reset, which counts registrations
 * where FunSearch counts four hours: a count is reproducible and does not depend on how fast the
 * devices are.
 */
CREATE FUNCTION cudal1.island_constants(options jsonb, OUT islands int, OUT reset_after bigint,
	OUT temperature float8, OUT period bigint, OUT admit_late boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT COALESCE(cudal1.json_int(options -> 'islands')::int, 10),
		   COALESCE(cudal1.json_int(options -> 'island_reset', 1, 1000000000000), 1000),
		   COALESCE((options ->> 'island_temperature')::float8, 0.1),
		   COALESCE(cudal1.json_int(options -> 'island_period', 1, 1000000000000), 30000),
		   COALESCE((options ->> 'island_late') = 'admit', true);
END;
COMMENT ON FUNCTION cudal1.island_constants IS
'constants of a task''s islands from its options: islands (10), island_reset (1000 registrations
from the islands'' own prompts between two resets), island_temperature (0.1), island_period (30000
registrations in which the temperature falls to 0 and starts anew), island_late (admit: a result of
a prompt older than the island''s epoch joins the new epoch, as in FunSearch; reject: it joins no
island)';

CREATE FUNCTION cudal1.register_on_island(s cudal1.island_slot)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	WITH cell AS (
		INSERT INTO cudal1.island_cell AS c (task_id, pool_id, island, epoch, cluster, codes)
		VALUES (s.task_id, s.pool_id, s.island, s.epoch, s.cluster, 1)
		ON CONFLICT (task_id, pool_id, island, epoch, cluster) DO UPDATE SET codes = c.codes + 1
		RETURNING c.codes - 1 AS slot
	)
	INSERT INTO cudal1.island_slot (task_id, pool_id, island, epoch, cluster, slot, candidate_id)
	SELECT s.task_id, s.pool_id, s.island, s.epoch, s.cluster, cell.slot, s.candidate_id FROM cell;
END;
COMMENT ON FUNCTION cudal1.register_on_island IS
'gives a candidate the next slot of a cluster; the caller holds the task''s lock';

CREATE FUNCTION cudal1.leave_island(s cudal1.island_slot)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	last	bigint;
BEGIN
	UPDATE cudal1.island_cell AS c SET codes = c.codes - 1
	WHERE (c.task_id, c.pool_id, c.island, c.epoch, c.cluster)
		= (s.task_id, s.pool_id, s.island, s.epoch, s.cluster)
	RETURNING c.codes INTO last;
	DELETE FROM cudal1.island_slot AS x
	WHERE (x.task_id, x.pool_id, x.island, x.epoch, x.cluster, x.slot)
		= (s.task_id, s.pool_id, s.island, s.epoch, s.cluster, s.slot);
	UPDATE cudal1.island_slot AS x SET slot = s.slot
	WHERE (x.task_id, x.pool_id, x.island, x.epoch, x.cluster, x.slot)
		= (s.task_id, s.pool_id, s.island, s.epoch, s.cluster, last) AND s.slot < last;
END;
$$;
COMMENT ON FUNCTION cudal1.leave_island IS
'takes the candidate of a slot out of its cluster, the last slot moves into the hole; the caller
holds the task''s lock';

CREATE FUNCTION cudal1.note_best(task_id bigint, pool_id int)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
BEGIN ATOMIC
	UPDATE cudal1.island AS i SET best_reward = best.reward
	FROM (SELECT j.island, (SELECT c.cluster / 100.0::float8 FROM cudal1.island_cell AS c
							WHERE c.task_id = j.task_id AND c.pool_id = j.pool_id
								AND c.island = j.island
								AND c.epoch = j.epoch AND c.codes > 0
							ORDER BY c.cluster DESC LIMIT 1) AS reward
		  FROM cudal1.island AS j WHERE j.task_id = note_best.task_id
			AND j.pool_id = note_best.pool_id) AS best
	WHERE i.task_id = note_best.task_id AND i.pool_id = note_best.pool_id AND i.island = best.island
		AND i.best_reward IS DISTINCT FROM best.reward;
END;
COMMENT ON FUNCTION cudal1.note_best IS
'brings best_reward of a task''s islands in a pool up to date';

CREATE FUNCTION cudal1.found_islands(task_id bigint, pool_id int)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM cudal1.lock_placement(task_id);
	-- founded before, or by the session that had the lock
	IF EXISTS (SELECT FROM cudal1.island AS i
			   WHERE i.task_id = found_islands.task_id AND i.pool_id = found_islands.pool_id) THEN
		RETURN;
	END IF;
	INSERT INTO cudal1.island (task_id, pool_id, island, registrations)
	SELECT t.task_id, found_islands.pool_id, i.island,
		   (SELECT count(*) FROM cudal1.bucket_slot AS s
			WHERE s.task_id = t.task_id AND s.pool_id = found_islands.pool_id)
	FROM cudal1.task AS t
	CROSS JOIN LATERAL cudal1.island_constants(t.options) AS k
	CROSS JOIN LATERAL generate_series(0, k.islands - 1) AS i (island)
	WHERE t.task_id = found_islands.task_id;

	INSERT INTO cudal1.island_slot (task_id, pool_id, island, epoch, cluster, slot, candidate_id)
	SELECT s.task_id, s.pool_id, i.island, 0, k.cluster,
		   row_number() OVER (PARTITION BY i.island, k.cluster
			ORDER BY s.candidate_id) - 1, s.candidate_id
	FROM cudal1.bucket_slot AS s
	JOIN cudal1.candidate AS c ON c.candidate_id = s.candidate_id
	JOIN cudal1.island AS i ON i.task_id = s.task_id AND i.pool_id = s.pool_id
	CROSS JOIN LATERAL (SELECT cudal1.reward_cluster(c.reward) AS cluster) AS k
	WHERE s.task_id = found_islands.task_id AND s.pool_id = found_islands.pool_id;

	INSERT INTO cudal1.island_cell (task_id, pool_id, island, epoch, cluster, codes)
	SELECT s.task_id, s.pool_id, s.island, s.epoch, s.cluster, count(*)
	FROM cudal1.island_slot AS s
	WHERE s.task_id = found_islands.task_id AND s.pool_id = found_islands.pool_id
	GROUP BY s.task_id, s.pool_id, s.island, s.epoch, s.cluster;
	PERFORM cudal1.note_best(task_id, pool_id);
END;
$$;
COMMENT ON FUNCTION cudal1.found_islands IS
'founds a task''s islands in a pool, all of them holding every candidate placed there (none came
from an island''s prompt yet); does nothing where they exist. A pool has islands of a task from its
first prompt by strategy island on, or from its first reward where that is the task''s own
strategy';

CREATE FUNCTION cudal1.reset_islands(task_id bigint, pool_id int DEFAULT 1)
RETURNS int
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	ranked int[];
	weaker int;
	survivors int;
	wiped cudal1.island;
	founder record;
BEGIN
	PERFORM cudal1.lock_placement(task_id);
	-- Islands of equal best are ranked by a hash. It is as good as noise, and the same when the
	-- history is replayed.
	ranked := ARRAY(SELECT i.island FROM cudal1.island AS i
					WHERE i.task_id = reset_islands.task_id AND i.pool_id = reset_islands.pool_id
					ORDER BY i.best_reward NULLS FIRST,
							 hashint8extended(i.island, hashint8extended(i.task_id, i.epoch)));
	weaker := cardinality(ranked) / 2;
	survivors := cardinality(ranked) - weaker;
	FOR n IN 1 .. weaker LOOP
		UPDATE cudal1.island AS i SET epoch = i.epoch + 1, registrations = 0
		WHERE i.task_id = reset_islands.task_id AND i.pool_id = reset_islands.pool_id
			AND i.island = ranked[n]
		RETURNING i.* INTO wiped;
		DELETE FROM cudal1.island_cell AS c
		WHERE c.task_id = wiped.task_id AND c.pool_id = wiped.pool_id AND c.island = wiped.island
			AND c.epoch < wiped.epoch;

		-- the founder is the best of a survivor, each with the same chance
		SELECT s.candidate_id, s.cluster INTO founder
		FROM cudal1.island AS i
		JOIN cudal1.island_slot AS s ON s.task_id = i.task_id AND s.pool_id = i.pool_id
			AND s.island = i.island
			AND s.epoch = i.epoch
		WHERE i.task_id = wiped.task_id AND i.pool_id = wiped.pool_id
			AND i.island = ranked[weaker + 1
				+ (abs(hashint8extended(wiped.island,
					hashint8extended(wiped.task_id, wiped.epoch)) % survivors))::int]
		ORDER BY s.cluster DESC, s.slot LIMIT 1;
		IF FOUND THEN
			PERFORM cudal1.register_on_island((wiped.task_id, wiped.pool_id, wiped.island,
				wiped.epoch, founder.cluster, NULL, founder.candidate_id));
			UPDATE cudal1.island AS i SET registrations = 1
			WHERE i.task_id = wiped.task_id AND i.pool_id = wiped.pool_id
				AND i.island = wiped.island;
		END IF;
	END LOOP;
	UPDATE cudal1.island AS i SET since_reset = 0
	WHERE i.task_id = reset_islands.task_id AND i.pool_id = reset_islands.pool_id;
	PERFORM cudal1.note_best(task_id, pool_id);
	RETURN weaker;
END;
$$;
COMMENT ON FUNCTION cudal1.reset_islands IS
'wipes the weaker half of a task''s islands in a pool (the smaller half of an odd number) by best
reward; each starts a new epoch with the best candidate of a surviving island. Returns the number
wiped';

CREATE FUNCTION cudal1.place_on_islands(candidate_id bigint, pool_id int)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
	wanted record;
	place record;
	changed boolean := false;
	registered boolean := false;
BEGIN
	SELECT c.task_id, c.state = 'successful' AND c.purpose = 'normal' AS placed,
		cudal1.reward_cluster(c.reward) AS cluster,
		   k.reset_after, k.admit_late
	INTO wanted
	FROM cudal1.candidate AS c
	JOIN cudal1.task AS t ON t.task_id = c.task_id
	CROSS JOIN LATERAL cudal1.island_constants(t.options) AS k
	WHERE c.candidate_id = place_on_islands.candidate_id;

	FOR place IN
		SELECT i.island, i.epoch, s.cluster, s.slot,
			   EXISTS (SELECT FROM cudal1.island_slot AS o
					   WHERE o.candidate_id = place_on_islands.candidate_id
						AND o.task_id = i.task_id
						   AND o.pool_id = i.pool_id AND o.island = i.island) AS known,
			   p.proposed, p.current, p.own, p.free
		FROM cudal1.island AS i
		LEFT JOIN cudal1.island_slot AS s ON s.candidate_id = place_on_islands.candidate_id
			AND s.task_id = i.task_id
			AND s.pool_id = i.pool_id AND s.island = i.island AND s.epoch = i.epoch
		CROSS JOIN LATERAL (
			SELECT count(*) = 0
				OR COALESCE(bool_or(r.island IS NULL OR r.island = i.island), false) AS proposed,
				   COALESCE(bool_or(r.island = i.island AND r.island_epoch >= i.epoch),
					false) AS current,
				   COALESCE(bool_or(r.island = i.island), false) AS own,
				   COALESCE(bool_or(r.island IS NULL), true) AS free
			FROM cudal1.proposal AS r
			WHERE r.candidate_id = place_on_islands.candidate_id
				AND r.pool_id = place_on_islands.pool_id) AS p
		WHERE i.task_id = wanted.task_id AND i.pool_id = place_on_islands.pool_id
		ORDER BY i.island
	LOOP
		IF place.slot IS NOT NULL AND (NOT wanted.placed OR place.cluster <> wanted.cluster) THEN
			PERFORM cudal1.leave_island((wanted.task_id, pool_id, place.island, place.epoch,
				place.cluster, place.slot, candidate_id));
			PERFORM cudal1.register_on_island((wanted.task_id, pool_id, place.island, place.epoch,
				wanted.cluster, NULL, candidate_id)) WHERE wanted.placed;
			changed := true;
		ELSIF place.slot IS NULL AND wanted.placed AND place.proposed
			-- a wiped code comes back by a new proposal only
			AND (place.current OR NOT place.known)
			AND (place.current OR place.free OR wanted.admit_late)
		THEN
			PERFORM cudal1.register_on_island((wanted.task_id, pool_id, place.island, place.epoch,
				wanted.cluster, NULL, candidate_id));
			UPDATE cudal1.island AS i
			SET registrations = i.registrations + 1, since_reset = i.since_reset + place.own::int
			WHERE i.task_id = wanted.task_id AND i.pool_id = place_on_islands.pool_id
				AND i.island = place.island;
			changed := true;
			registered := true;
		END IF;
	END LOOP;

	IF NOT wanted.placed THEN
		DELETE FROM cudal1.island_slot AS s
		WHERE s.candidate_id = place_on_islands.candidate_id AND s.task_id = wanted.task_id
			AND s.pool_id = place_on_islands.pool_id;
	END IF;
	PERFORM cudal1.note_best(wanted.task_id, pool_id) WHERE changed;
	IF registered AND (SELECT sum(i.since_reset) FROM cudal1.island AS i
					   WHERE i.task_id = wanted.task_id
						AND i.pool_id = place_on_islands.pool_id) >= wanted.reset_after
	THEN
		PERFORM cudal1.reset_islands(wanted.task_id, pool_id);
	END IF;
END;
$$;
COMMENT ON FUNCTION cudal1.place_on_islands IS
'makes a candidate''s island slots in a pool agree with its state: on the island whose prompt it
answers, on all islands without one; the caller holds the task''s lock';

-- enable_seqscan: plans that a session cached while the tables were small would scan them when they
-- have grown.
CREATE FUNCTION cudal1.place_in_pool(candidate_id bigint, pool_id int)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
	wanted record;
	old cudal1.bucket_slot;
	last bigint;
	place bigint;
BEGIN
	SELECT c.task_id, t.strategy, b.placed,
		   CASE WHEN b.placed THEN cudal1.bucket_of(c.reward, t.bucket_width, t.score_scale)
			END AS bucket,
		   CASE WHEN b.placed THEN cudal1.reward_micro(c.reward) END AS micro,
		   CASE WHEN b.placed THEN cudal1.reward_ln_nano(c.reward) END AS ln_nano
	INTO wanted
	FROM cudal1.candidate AS c
	JOIN cudal1.task AS t ON t.task_id = c.task_id
	CROSS JOIN LATERAL (SELECT c.state = 'successful' AND c.purpose = 'normal' AS placed) AS b
	WHERE c.candidate_id = place_in_pool.candidate_id;
	SELECT s.* INTO old FROM cudal1.bucket_slot AS s
	WHERE s.candidate_id = place_in_pool.candidate_id AND s.pool_id = place_in_pool.pool_id;

	IF old.bucket = wanted.bucket THEN
		IF old.micro <> wanted.micro OR old.ln_nano <> wanted.ln_nano THEN
			UPDATE cudal1.bucket AS b
			SET sum_micro = b.sum_micro - old.micro + wanted.micro,
				sum_ln_nano = b.sum_ln_nano - old.ln_nano + wanted.ln_nano
			WHERE b.task_id = old.task_id AND b.pool_id = old.pool_id AND b.bucket = old.bucket;
			UPDATE cudal1.bucket_slot AS s SET micro = wanted.micro, ln_nano = wanted.ln_nano
			WHERE s.candidate_id = old.candidate_id AND s.pool_id = old.pool_id;
		END IF;
	ELSE
		IF old.bucket IS NOT NULL THEN
			UPDATE cudal1.bucket AS b
			SET codes = b.codes - 1, sum_micro = b.sum_micro - old.micro,
				sum_ln_nano = b.sum_ln_nano - old.ln_nano
			WHERE b.task_id = old.task_id AND b.pool_id = old.pool_id AND b.bucket = old.bucket
			RETURNING b.codes INTO last;
			DELETE FROM cudal1.bucket_slot AS s WHERE s.candidate_id = old.candidate_id
				AND s.pool_id = old.pool_id;
			IF old.slot < last THEN
				UPDATE cudal1.bucket_slot AS s SET slot = old.slot
				WHERE s.task_id = old.task_id AND s.pool_id = old.pool_id AND s.bucket = old.bucket
					AND s.slot = last;
			END IF;
			place := old.place;
			IF NOT wanted.placed THEN
				UPDATE cudal1.placement AS p SET codes = p.codes - 1
				WHERE p.task_id = old.task_id AND p.pool_id = old.pool_id
				RETURNING p.codes INTO last;
				IF place < last THEN
					UPDATE cudal1.bucket_slot AS s SET place = old.place
					WHERE s.task_id = old.task_id AND s.pool_id = old.pool_id AND s.place = last;
				END IF;
			END IF;
		END IF;
		IF wanted.placed THEN
			IF place IS NULL THEN
				INSERT INTO cudal1.placement AS p (task_id, pool_id, codes)
					VALUES (wanted.task_id, place_in_pool.pool_id, 1)
				ON CONFLICT (task_id, pool_id) DO UPDATE SET codes = p.codes + 1
				RETURNING p.codes - 1 INTO place;
			END IF;
			INSERT INTO cudal1.bucket AS b (task_id, pool_id, bucket, codes, sum_micro, sum_ln_nano)
			VALUES (wanted.task_id, place_in_pool.pool_id, wanted.bucket, 1, wanted.micro,
				wanted.ln_nano)
			ON CONFLICT (task_id, pool_id, bucket) DO UPDATE
				SET codes = b.codes + 1, sum_micro = b.sum_micro + excluded.sum_micro,
					sum_ln_nano = b.sum_ln_nano + excluded.sum_ln_nano
			RETURNING b.codes - 1 INTO last;
			INSERT INTO cudal1.bucket_slot (task_id, pool_id, bucket, slot, candidate_id, micro,
				ln_nano, place)
			VALUES (wanted.task_id, place_in_pool.pool_id, wanted.bucket, last,
				place_in_pool.candidate_id, wanted.micro, wanted.ln_nano, place);
		END IF;
	END IF;

	IF EXISTS (SELECT FROM cudal1.island AS i
			   WHERE i.task_id = wanted.task_id AND i.pool_id = place_in_pool.pool_id) THEN
		PERFORM cudal1.place_on_islands(candidate_id, pool_id);
	ELSIF wanted.strategy = 'island' AND wanted.placed THEN
		PERFORM cudal1.found_islands(wanted.task_id, pool_id);
	END IF;
END;
$$;
COMMENT ON FUNCTION cudal1.place_in_pool IS
'makes bucket, slot and islands of a pool agree with a candidate of it; the caller holds the task''s
lock';

CREATE FUNCTION cudal1.pools_of(candidate_id bigint)
RETURNS SETOF int
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
BEGIN ATOMIC
	SELECT p.pool_id FROM cudal1.proposal AS p WHERE p.candidate_id = pools_of.candidate_id
	UNION
	SELECT s.pool_id FROM cudal1.pool_seed AS s WHERE s.candidate_id = pools_of.candidate_id
	UNION
	SELECT 1 WHERE NOT EXISTS (SELECT FROM cudal1.proposal AS p
		WHERE p.candidate_id = pools_of.candidate_id);
END;
COMMENT ON FUNCTION cudal1.pools_of IS
'the pools of a candidate: those that it was proposed in, or main where it was not proposed at all,
and those that were seeded with it';

CREATE FUNCTION cudal1.place_candidate(candidate_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
	task bigint;
	pool int;
BEGIN
	SELECT c.task_id INTO task FROM cudal1.candidate AS c
		WHERE c.candidate_id = place_candidate.candidate_id;
	PERFORM cudal1.raise_if(NOT FOUND, '42704', format('candidate %s does not exist',
				candidate_id));
	PERFORM cudal1.lock_placement(task);
	-- everything is read under the lock, so the later of two transactions sees what the earlier
	-- wrote
	FOR pool IN SELECT p.id FROM cudal1.pools_of(place_candidate.candidate_id) AS p (id)
		ORDER BY p.id LOOP
		PERFORM cudal1.place_in_pool(candidate_id, pool);
	END LOOP;
END;
$$;
COMMENT ON FUNCTION cudal1.place_candidate IS
'makes bucket, slot and islands in all of a candidate''s pools agree with its present state and
reward: one slot where it is successful and of normal purpose, else none; calling it
again changes nothing. To be called in every transaction that changes a candidate''s state or
reward, or adds a proposal to a successful one. Error 42704: unknown candidate';

CREATE FUNCTION cudal1.place_later(task_id bigint, pool_id int, candidate_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	-- no candidate's row is locked, so a placement at the same moment does not see this proposal
	INSERT INTO cudal1.unplaced (task_id, pool_id, candidate_id)
		SELECT place_later.task_id, place_later.pool_id, place_later.candidate_id
			WHERE place_later.candidate_id IS NOT NULL
				OR NOT EXISTS (SELECT FROM cudal1.unplaced AS u
								WHERE u.task_id IS NOT DISTINCT FROM place_later.task_id
									AND u.pool_id = place_later.pool_id);
	PERFORM cudal1.wake();
END
$$;
COMMENT ON FUNCTION cudal1.place_later IS
'leaves it to the next claim to place a candidate that was proposed again, to found a task''s
islands in a pool, or to compare a pool''s seeds (cudal1.unplaced)';

CREATE FUNCTION cudal1.place_waiting()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	u		record;
	n		bigint := 0;
BEGIN
	-- each loop locks tasks in the order of their ids, so there is one loop a call; the next call
	-- goes on
	FOR u IN
		SELECT x.ctid AS id, x.task_id, x.pool_id FROM cudal1.unplaced AS x
			WHERE x.candidate_id IS NULL AND x.task_id IS NOT NULL
			ORDER BY x.task_id, x.pool_id FOR UPDATE SKIP LOCKED
	LOOP
		PERFORM cudal1.found_islands(u.task_id, u.pool_id);
		DELETE FROM cudal1.unplaced AS x WHERE x.ctid = u.id;
		n := n + 1;
	END LOOP;
	IF n = 0 THEN
		FOR u IN
			SELECT x.ctid AS id, x.pool_id FROM cudal1.unplaced AS x
				WHERE x.task_id IS NULL ORDER BY x.pool_id FOR UPDATE SKIP LOCKED
		LOOP
			-- a verdict that is being written, and may not have seen the pool, has its task's lock;
			-- then the pool is compared another time, and this call keeps none of the locks
			BEGIN
				PERFORM FROM cudal1.placement AS p
					WHERE p.pool_id = 1 AND p.task_id IN (
						SELECT c.task_id FROM cudal1.pool_seed AS x
							JOIN cudal1.candidate AS c USING (candidate_id)
							WHERE x.pool_id = u.pool_id)
					ORDER BY p.task_id FOR NO KEY UPDATE NOWAIT;
				PERFORM cudal1.place_candidate(s.candidate_id)
					FROM cudal1.stale_seeds(u.pool_id) AS s;
				DELETE FROM cudal1.unplaced AS x WHERE x.ctid = u.id;
				n := 1;
			EXCEPTION WHEN lock_not_available THEN
				NULL;
			END;
			EXIT WHEN n > 0;
		END LOOP;
	END IF;
	IF n > 0 THEN
		PERFORM cudal1.wake();
		RETURN n;
	END IF;
	-- a row that another session has locked is placed the next time
	FOR u IN
		SELECT x.ctid AS id, x.candidate_id FROM cudal1.unplaced AS x
				JOIN cudal1.candidate AS c USING (candidate_id)
			ORDER BY x.task_id, x.candidate_id LIMIT 100
			FOR UPDATE OF x SKIP LOCKED FOR NO KEY UPDATE OF c SKIP LOCKED
	LOOP
		UPDATE cudal1.candidate AS c SET purpose = 'normal'
			WHERE c.candidate_id = u.candidate_id AND c.purpose <> 'normal';
		PERFORM cudal1.place_candidate(u.candidate_id);
		DELETE FROM cudal1.unplaced AS x WHERE x.ctid = u.id;
		n := n + 1;
	END LOOP;
	PERFORM cudal1.wake() WHERE n = 100;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.place_waiting IS
'places what trainers left to be placed: a successful code in the pools and on the islands it was
proposed in and from, too; one measured for another purpose becomes an ordinary candidate; islands
are founded; seeds whose verdicts changed while their pool was opened are placed anew. One kind a
call, since each locks tasks in their order: a caller that wants all repeats it until it returns 0.
Returns how many';

CREATE FUNCTION cudal1.members(task_id bigint)
RETURNS TABLE (pool_id int, candidate_id bigint)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT p.pool_id, p.candidate_id FROM cudal1.proposal AS p
	WHERE members.task_id IS NULL OR p.task_id = members.task_id
	UNION
	SELECT s.pool_id, s.candidate_id FROM cudal1.pool_seed AS s
	JOIN cudal1.candidate AS c ON c.candidate_id = s.candidate_id
	WHERE members.task_id IS NULL OR c.task_id = members.task_id
	UNION
	SELECT 1, c.candidate_id FROM cudal1.candidate AS c
	WHERE (members.task_id IS NULL OR c.task_id = members.task_id)
		AND NOT EXISTS (SELECT FROM cudal1.proposal AS p WHERE p.candidate_id = c.candidate_id);
END;
COMMENT ON FUNCTION cudal1.members IS
'cudal1.pools_of() for all candidates of a task (NULL: of all tasks)';

CREATE FUNCTION cudal1.rebucket(task text, bucket_width float8 DEFAULT NULL,
	score_scale text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	id bigint;
	placed bigint;
BEGIN
	PERFORM cudal1.raise_if(bucket_width <= 0 OR bucket_width >= 'Infinity',
		'22023', 'argument "bucket_width" must be a finite number above 0');
	PERFORM cudal1.raise_if(score_scale NOT IN ('linear', 'log'), '22023',
		'argument "score_scale" must be "linear" or "log"');
	id := (cudal1.find_task(task)).task_id;
	PERFORM cudal1.lock_placement(id);
	UPDATE cudal1.task AS t
	SET bucket_width = COALESCE(rebucket.bucket_width, t.bucket_width),
		score_scale = COALESCE(rebucket.score_scale, t.score_scale)
	WHERE t.task_id = id;

	DELETE FROM cudal1.bucket_slot AS s WHERE s.task_id = id;
	DELETE FROM cudal1.bucket AS b WHERE b.task_id = id;
	-- slots and places have one order, so ten million rows are sorted once
	INSERT INTO cudal1.bucket_slot (task_id, pool_id, bucket, slot, candidate_id, micro, ln_nano,
		place)
	SELECT c.task_id, m.pool_id, k.bucket, row_number() OVER (PARTITION BY m.pool_id, k.bucket
			ORDER BY c.candidate_id) - 1,
		   c.candidate_id, cudal1.reward_micro(c.reward), cudal1.reward_ln_nano(c.reward),
		   row_number() OVER (PARTITION BY m.pool_id
			ORDER BY k.bucket, c.candidate_id) - 1
	FROM cudal1.candidate AS c
	JOIN cudal1.members(id) AS m ON m.candidate_id = c.candidate_id
	JOIN cudal1.task AS t ON t.task_id = c.task_id
	CROSS JOIN LATERAL (SELECT cudal1.bucket_of(c.reward, t.bucket_width, t.score_scale) AS bucket)
		AS k
	WHERE c.task_id = id AND c.state = 'successful' AND c.purpose = 'normal';
	GET DIAGNOSTICS placed = ROW_COUNT;
	INSERT INTO cudal1.bucket (task_id, pool_id, bucket, codes, sum_micro, sum_ln_nano)
	SELECT s.task_id, s.pool_id, s.bucket, count(*), sum(s.micro), sum(s.ln_nano)
	FROM cudal1.bucket_slot AS s
	WHERE s.task_id = id
	GROUP BY s.task_id, s.pool_id, s.bucket;
	UPDATE cudal1.placement AS p SET codes = 0 WHERE p.task_id = id;
	INSERT INTO cudal1.placement AS p (task_id, pool_id, codes)
	SELECT b.task_id, b.pool_id, sum(b.codes) FROM cudal1.bucket AS b
	WHERE b.task_id = id
	GROUP BY b.task_id, b.pool_id
	ON CONFLICT (task_id, pool_id) DO UPDATE SET codes = excluded.codes;
	RETURN placed;
END;
$$;
COMMENT ON FUNCTION cudal1.rebucket IS
'changes a task''s bucket_width (above 0, in speedup or ln speedup) and score_scale (linear, log),
NULL keeps one, and builds its buckets in all pools anew in one transaction; without either it
repairs them. Islands stay. Returns the number of candidates placed, each pool''s counted. Operators
only. Errors: 42704 unknown task, 22023 bad argument';

CREATE FUNCTION cudal1.in_pool(pool_id int)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
RETURN CASE WHEN in_pool.pool_id = 1 THEN ''
			ELSE format(' in pool %s',
				COALESCE((SELECT p.name FROM cudal1.pool AS p
				WHERE p.pool_id = in_pool.pool_id), in_pool.pool_id::text)) END;
COMMENT ON FUNCTION cudal1.in_pool IS 'words that add the pool to a place; none for pool main';

CREATE FUNCTION cudal1.codes_to_place(only_task bigint)
RETURNS TABLE (task_id bigint, pool_id int, candidate_id bigint, bucket int, micro bigint,
	ln_nano bigint, cluster bigint)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT c.task_id, m.pool_id, c.candidate_id,
	cudal1.bucket_of(c.reward, t.bucket_width, t.score_scale) AS bucket,
		   cudal1.reward_micro(c.reward) AS micro, cudal1.reward_ln_nano(c.reward) AS ln_nano,
		   cudal1.reward_cluster(c.reward) AS cluster
	FROM cudal1.candidate AS c
	JOIN cudal1.task AS t ON t.task_id = c.task_id
	JOIN cudal1.members(only_task) AS m ON m.candidate_id = c.candidate_id
	WHERE c.state = 'successful' AND c.purpose = 'normal'
		AND (only_task IS NULL OR c.task_id = only_task)
		-- a set with NOT IN is hashed
		AND (c.candidate_id NOT IN (SELECT u.candidate_id FROM cudal1.unplaced AS u
				WHERE u.candidate_id IS NOT NULL)
			 OR EXISTS (SELECT FROM cudal1.bucket_slot AS s
				WHERE s.candidate_id = c.candidate_id AND s.pool_id = m.pool_id));
END;
COMMENT ON FUNCTION cudal1.codes_to_place IS
'where the codes of a task (NULL: of all) belong by their rewards, in each of their pools, but those
in which the next claim is to place them (cudal1.unplaced)';

CREATE FUNCTION cudal1.recount_buckets(only_task bigint)
RETURNS TABLE (task bigint, difference text, place text, expected text, found text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	WITH placed AS MATERIALIZED (
		SELECT c.* FROM cudal1.codes_to_place(only_task) AS c
	), slots AS (
		SELECT s.* FROM cudal1.bucket_slot AS s
			WHERE only_task IS NULL OR s.task_id = only_task
	)
	SELECT COALESCE(b.task_id, p.task_id), 'bucket',
		   format('bucket %s', COALESCE(b.bucket, p.bucket))
			|| cudal1.in_pool(COALESCE(b.pool_id, p.pool_id)),
		   format('%s codes, %s, %s', p.codes, p.micro, p.ln_nano),
		   format('%s codes, %s, %s', b.codes, b.sum_micro, b.sum_ln_nano)
	FROM (SELECT q.task_id, q.pool_id, q.bucket, q.codes, q.sum_micro, q.sum_ln_nano
		FROM cudal1.bucket AS q
		  WHERE only_task IS NULL OR q.task_id = only_task) AS b
	FULL JOIN (SELECT q.task_id, q.pool_id, q.bucket, count(*) AS codes,
		sum(q.micro) AS micro,
					  sum(q.ln_nano) AS ln_nano
			   FROM placed AS q GROUP BY q.task_id, q.pool_id, q.bucket) AS p
		ON p.task_id = b.task_id AND p.pool_id = b.pool_id AND p.bucket = b.bucket
	WHERE COALESCE(b.codes, 0) <> COALESCE(p.codes, 0)
		OR COALESCE(b.sum_micro, 0) <> COALESCE(p.micro, 0)
		OR COALESCE(b.sum_ln_nano, 0) <> COALESCE(p.ln_nano, 0)
	UNION ALL
	SELECT COALESCE(s.task_id, p.task_id), 'slot',
		   format('candidate %s', COALESCE(s.candidate_id, p.candidate_id))
			|| cudal1.in_pool(COALESCE(s.pool_id, p.pool_id)),
		   format('bucket %s', p.bucket), format('bucket %s', s.bucket)
	FROM slots AS s
	FULL JOIN placed AS p ON p.candidate_id = s.candidate_id AND p.task_id = s.task_id
		AND p.pool_id = s.pool_id
	WHERE (s.bucket, s.micro, s.ln_nano) IS DISTINCT FROM (p.bucket, p.micro, p.ln_nano)
	UNION ALL
	SELECT s.task_id, 'slots not dense', format('bucket %s', s.bucket)
		|| cudal1.in_pool(s.pool_id), format('0 .. %s', count(*) - 1),
		   format('%s .. %s', min(s.slot), max(s.slot))
	FROM slots AS s
	GROUP BY s.task_id, s.pool_id, s.bucket
	HAVING min(s.slot) <> 0 OR max(s.slot) <> count(*) - 1
	UNION ALL
	SELECT COALESCE(p.task_id, s.task_id), 'places not dense', 'all buckets'
		|| cudal1.in_pool(COALESCE(p.pool_id, s.pool_id)),
		   format('%s codes, 0 .. %s', COALESCE(s.codes, 0), s.codes - 1),
		   format('%s codes, %s .. %s', p.codes, s.first, s.last)
	FROM (SELECT q.task_id, q.pool_id, q.codes FROM cudal1.placement AS q
		  WHERE only_task IS NULL OR q.task_id = only_task) AS p
	FULL JOIN (SELECT q.task_id, q.pool_id, count(*) AS codes,
		min(q.place) AS first, max(q.place) AS last
			   FROM slots AS q GROUP BY q.task_id, q.pool_id) AS s
		ON s.task_id = p.task_id AND s.pool_id = p.pool_id
	WHERE COALESCE(p.codes, 0) <> COALESCE(s.codes, 0) OR s.first <> 0 OR s.last <> s.codes - 1;
END;
COMMENT ON FUNCTION cudal1.recount_buckets IS 'cudal1.recount(): buckets, slots and places';

CREATE FUNCTION cudal1.recount_islands(only_task bigint)
RETURNS TABLE (task bigint, difference text, place text, expected text, found text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	WITH placed AS (
		SELECT c.* FROM cudal1.codes_to_place(only_task) AS c
	), members AS (
		SELECT s.* FROM cudal1.island_slot AS s
		JOIN cudal1.island AS i ON i.task_id = s.task_id AND i.pool_id = s.pool_id
			AND i.island = s.island
			AND i.epoch = s.epoch
		WHERE only_task IS NULL OR s.task_id = only_task
	)
	SELECT COALESCE(e.task_id, m.task_id), 'island cell',
		   format('island %s, cluster %s', COALESCE(e.island, m.island),
			COALESCE(e.cluster, m.cluster))
			|| cudal1.in_pool(COALESCE(e.pool_id, m.pool_id)),
		   format('%s codes', m.codes), format('%s codes', e.codes)
	FROM (SELECT q.task_id, q.pool_id, q.island, q.epoch, q.cluster, q.codes
		FROM cudal1.island_cell AS q
		  WHERE only_task IS NULL OR q.task_id = only_task) AS e
	FULL JOIN (SELECT q.task_id, q.pool_id, q.island, q.epoch, q.cluster,
		count(*) AS codes
			   FROM members AS q GROUP BY q.task_id, q.pool_id, q.island, q.epoch, q.cluster) AS m
		ON m.task_id = e.task_id AND m.pool_id = e.pool_id AND m.island = e.island
			AND m.epoch = e.epoch AND m.cluster = e.cluster
	WHERE COALESCE(e.codes, 0) <> COALESCE(m.codes, 0)
	UNION ALL
	SELECT m.task_id, 'island slots not dense', format('island %s, cluster %s', m.island, m.cluster)
			|| cudal1.in_pool(m.pool_id), format('0 .. %s', count(*) - 1),
		   format('%s .. %s', min(m.slot), max(m.slot))
	FROM members AS m
	GROUP BY m.task_id, m.pool_id, m.island, m.cluster
	HAVING min(m.slot) <> 0 OR max(m.slot) <> count(*) - 1
	UNION ALL
	SELECT m.task_id, 'island slot', format('candidate %s on island %s', m.candidate_id, m.island)
			|| cudal1.in_pool(m.pool_id),
		   format('cluster %s', p.cluster), format('cluster %s', m.cluster)
	FROM members AS m
	LEFT JOIN placed AS p ON p.candidate_id = m.candidate_id AND p.pool_id = m.pool_id
	WHERE m.cluster IS DISTINCT FROM p.cluster
	UNION ALL
	SELECT i.task_id, 'island best', format('island %s', i.island)
		|| cudal1.in_pool(i.pool_id), m.best::text, i.best_reward::text
	FROM cudal1.island AS i
	LEFT JOIN (SELECT q.task_id, q.pool_id, q.island,
		max(q.cluster) / 100.0::float8 AS best
			   FROM members AS q GROUP BY q.task_id, q.pool_id, q.island) AS m
		ON m.task_id = i.task_id AND m.pool_id = i.pool_id AND m.island = i.island
	WHERE (only_task IS NULL OR i.task_id = only_task)
		AND i.best_reward IS DISTINCT FROM m.best;
END;
COMMENT ON FUNCTION cudal1.recount_islands IS
'cudal1.recount(): cells, slots and the best of islands';

CREATE FUNCTION cudal1.recount(task_id bigint DEFAULT NULL)
RETURNS TABLE (task bigint, difference text, place text, expected text, found text)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT b.* FROM cudal1.recount_buckets(task_id) AS b
	UNION ALL
	SELECT i.* FROM cudal1.recount_islands(task_id) AS i;
END;
COMMENT ON FUNCTION cudal1.recount IS
'compares all derived rows of a task (NULL: of all tasks) with a count from cudal1.candidate; one
row a difference, none where all agree. Reads every candidate';
