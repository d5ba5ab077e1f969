/*
 * Turns: docs/scale.md has their rules. A device counts the jobs that it claimed, and a trainer is
 * due again when the count has grown by its own jobs over its weight. One that had nothing to do is
 * due at once. What no trainer asked for is a trainer without a name. Each device counts by itself,
 * so claims of two devices do not wait for each other.
 */
CREATE FUNCTION @extschema@.cudal1_set_weight(role name, weight float8)
RETURNS void LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.check_number('weight', weight, 0.001, 1000);
	SELECT cudal1.check_name('role', role);
	INSERT INTO cudal1.weight AS w (trainer, weight)
		VALUES (cudal1_set_weight.role, cudal1_set_weight.weight)
		ON CONFLICT (trainer) DO UPDATE SET weight = excluded.weight;
END;
COMMENT ON FUNCTION @extschema@.cudal1_set_weight(name, float8) IS
'sets a trainer''s share in devices beside others: the claims of each device are divided among the
trainers that wait for it in proportion to their weights (0.001 to 1000; 1 where none was set), from
the next claim on. Operators only. Errors: 42704 unknown role, 22023 out of range';

CREATE FUNCTION cudal1.next_job(d cudal1.device, OUT j cudal1.job, OUT due float8)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	w		record;
	hit		record;
BEGIN
	FOR w IN
		-- each entry is the first of the index of claims behind the one before
		WITH RECURSIVE place AS (
			SELECT n.name, l.language, 0 AS cores, '' COLLATE pg_catalog."C" AS trainer
				FROM unnest(ARRAY[d.class, d.model, d.device_key]) AS n (name)
					CROSS JOIN unnest(d.languages) AS l (language)
			UNION ALL
			SELECT p.name, p.language, h.cores, h.trainer
				FROM place AS p CROSS JOIN LATERAL (
					SELECT x.cores, x.trainer FROM cudal1.job AS x
						WHERE x.device = p.name AND x.language = p.language AND x.state = 'queued'
							AND x.cores <= d.cores AND (x.cores, x.trainer) > (p.cores, p.trainer)
						ORDER BY x.cores, x.trainer LIMIT 1) AS h),
		clock AS (
			SELECT coalesce(max(t.started), 0) AS count FROM cudal1.turn AS t
				WHERE t.device_id = d.device_id)
		SELECT p.trainer, greatest(t.due, c.count) AS due, array_agg(p.name) AS names,
				array_agg(p.language) AS languages, array_agg(p.cores) AS cores
			FROM place AS p CROSS JOIN clock AS c
				LEFT JOIN cudal1.turn AS t ON t.device_id = d.device_id AND t.trainer = p.trainer
			WHERE p.cores > 0
			GROUP BY p.trainer, t.due, c.count, t.claimed_at
			ORDER BY greatest(t.due, c.count), p.trainer = '', t.claimed_at NULLS FIRST
	LOOP
		LOOP
			-- with its candidate, so that of two jobs of one candidate one is claimed
			SELECT f.* INTO hit
				FROM unnest(w.names, w.languages, w.cores) AS p (name, language, cores)
					CROSS JOIN LATERAL (
						SELECT x AS job, x.kind = 'measure' AND NOT c.imported
								AND c.state IN ('successful', 'failed')
								OR x.kind = 'profile' AND c.state <> 'successful' AS is_over,
								t.retired_at IS NOT NULL AS is_retired
							FROM cudal1.job AS x JOIN cudal1.candidate AS c USING (candidate_id)
								JOIN cudal1.task AS t ON t.task_id = x.task_id
							WHERE x.device = p.name AND x.language = p.language
								AND x.cores = p.cores AND x.state = 'queued'
								AND x.trainer = w.trainer
								AND (x.kind = 'evaluate'
									OR coalesce(t.device_model, d.model) = d.model)
								AND CASE WHEN x.kind IN ('evaluate', 'reverify') THEN true
									WHEN x.kind = 'profile'
										THEN c.state NOT IN ('queued', 'measuring', 'verifying')
									WHEN x.kind = 'measure' AND NOT c.imported
										THEN c.state NOT IN ('measuring', 'verifying')
									ELSE NOT EXISTS (
										SELECT FROM cudal1.job AS y
											WHERE y.candidate_id = x.candidate_id
												AND y.state = 'running'
												AND y.kind IN ('measure', 'verify')
											OFFSET 0) END
							ORDER BY x.priority DESC, x.job_id
							LIMIT 1
							FOR UPDATE OF x SKIP LOCKED FOR NO KEY UPDATE OF c SKIP LOCKED) AS f
				ORDER BY (f.job).priority DESC, (f.job).job_id LIMIT 1;
			-- queued by transactions that did not see the verdict, of a candidate that failed, or
			-- their task retired
			IF hit.is_over THEN
				DELETE FROM cudal1.job AS x WHERE x.job_id = (hit.job).job_id;
			ELSIF hit.is_retired THEN
				PERFORM cudal1.end_job(hit.job, 'cancelled', NULL, 'the task is retired'),
					cudal1.wake_waiters();
			ELSE
				EXIT;
			END IF;
		END LOOP;
		j := hit.job;
		due := w.due;
		EXIT WHEN j.job_id IS NOT NULL;
	END LOOP;
END
$$;
COMMENT ON FUNCTION cudal1.next_job IS
'locks the next job of a device; due: its trainer''s turn in the device''s count';
