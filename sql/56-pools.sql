/*
 * Pools as users see them: what one run generates feeds that run alone.
 */

CREATE FUNCTION cudal1.find_pool(pool text, proposes boolean DEFAULT false)
RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
	p		record;
BEGIN
	IF pool = 'main' THEN
		RETURN 1;
	END IF;
	PERFORM cudal1.raise_if(pool IS NULL, '22004', 'pool must not be null');
	SELECT x.pool_id, x.created_by INTO p FROM cudal1.pool AS x WHERE x.name = find_pool.pool;
	PERFORM cudal1.check_name('pool', pool) WHERE NOT FOUND;
	PERFORM cudal1.check_owner(format('pool "%s"', pool), p.created_by) WHERE proposes;
	RETURN p.pool_id;
END
$$;
COMMENT ON FUNCTION cudal1.find_pool IS
'the pool of this name; proposes: one that the caller may propose into';

CREATE FUNCTION @extschema@.cudal1_open_pool(name text, seeded_from text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
#variable_conflict use_column
DECLARE
	p		cudal1.pool;
	source	int;
	codes	bigint := 0;
BEGIN
	PERFORM cudal1.raise_if(name IS NULL, '22004', 'name must not be null');
	PERFORM cudal1.check_label(name);
	source := cudal1.choose_pool(seeded_from);
	INSERT INTO cudal1.pool AS x (name, seeded_from)
		VALUES (cudal1_open_pool.name, cudal1_open_pool.seeded_from)
		ON CONFLICT (name) DO NOTHING
		RETURNING x.* INTO p;
	IF NOT FOUND THEN
		SELECT x.* INTO STRICT p FROM cudal1.pool AS x WHERE x.name = cudal1_open_pool.name;
		PERFORM cudal1.check_owner(format('pool "%s"', p.name), p.created_by)
			WHERE p.created_by IS NOT NULL;
		PERFORM cudal1.raise_if(p.seeded_from IS DISTINCT FROM seeded_from, '23505',
			format('pool "%s" exists and was seeded from %s', p.name,
				coalesce('"' || p.seeded_from || '"', 'no pool')),
			'Open another one under a name of its own.');
		RETURN p.pool_id;
	END IF;
	IF source IS NOT NULL THEN
		-- One statement copies everything as of one moment. A lock would hold up every verdict
		-- until the caller's transaction ends.
		WITH counted AS (
			INSERT INTO cudal1.bucket_part (task_id, pool_id, bucket, codes, total)
				SELECT b.task_id, p.pool_id, b.bucket, sum(b.codes), sum(b.total)
					FROM cudal1.bucket_part AS b WHERE b.pool_id = source
					GROUP BY b.task_id, b.bucket)
		INSERT INTO cudal1.pool_code (task_id, pool_id, candidate_id, island, bucket, cluster,
				scaled)
			SELECT s.task_id, p.pool_id, s.candidate_id,
					cudal1.first_island(s.candidate_id, t), s.bucket, s.cluster, s.scaled
				FROM cudal1.pool_code AS s JOIN cudal1.task AS t ON t.task_id = s.task_id
				WHERE s.pool_id = source AND s.bucket IS NOT NULL AND NOT s.copy;
		GET DIAGNOSTICS codes = ROW_COUNT;
		UPDATE cudal1.pool AS x SET seeded_in = pg_current_xact_id()
			WHERE x.pool_id = p.pool_id AND codes > 0;
		PERFORM cudal1.wake() WHERE codes > 0;
	END IF;
	PERFORM cudal1.store(cudal1.caller(), 256 + 256 * codes);
	RETURN p.pool_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_open_pool(text, text) IS
'opens a pool and returns its id. Exemplars, buckets, islands and the best of a task are a pool''s,
so a run that proposes and draws in a pool of its own learns from its own codes alone. A code
proposed in two pools is one candidate, measured once and placed in both. seeded_from: the codes
that are placed in that pool now are placed in the new one, too. The pool belongs to the caller:
other roles may read its exemplars, and make no prompts in it and propose nothing into it; all roles
share pool main. Opened again with the same seeded_from, it is the same pool. Errors: 42704 unknown
seeded_from, 42501 another role''s pool, 23505 another seeded_from, 22023 a bad name, 53400 a quota
is used up';
