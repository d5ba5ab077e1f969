/*
 * Codes for use elsewhere: the best one of each task with what its speedup rests on, and the codes
 * that a code was made from.
 */

CREATE FUNCTION @extschema@.cudal1_best(tasks text[] DEFAULT NULL, device text DEFAULT NULL)
RETURNS TABLE (task text, language text, candidate_id bigint, reward float8, lower float8,
	upper float8, wide boolean, evaluated boolean, device_model text, measurement_id bigint,
	profile text, pairs int, checks int, max_error float8, measured_at timestamptz, code text)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET jit = off
BEGIN ATOMIC
	SELECT cudal1.check_report(NULL, device);
	SELECT t.name, t.language, c.candidate_id, b.speedup, cudal1.conservative_round(m.lower),
			cudal1.conservative_round(m.upper), coalesce(m.wide, false), b.evaluated,
			coalesce(m.device_model, c.import_device),
			m.measurement_id, m.profile, m.pairs, m.checks, m.max_error, m.measured_at,
			CASE WHEN c.purpose <> 'withheld' THEN c.code END
		FROM cudal1.best_over(NULL, cudal1_best.device, tasks, NULL, NULL) AS b
			JOIN cudal1.task AS t ON t.task_id = b.task_id
			JOIN cudal1.candidate AS c ON c.candidate_id = b.candidate_id
			LEFT JOIN cudal1.measurement AS m ON m.measurement_id = b.measurement_id
		ORDER BY t.level NULLS LAST, t.problem NULLS LAST, t.name;
END;
COMMENT ON FUNCTION @extschema@.cudal1_best(text[], text) IS
'the best code of each task that has a successful one, by the rule of cudal1_task_report(), to be
loaded in place of the reference, and its evidence: the device model, the interval of the speedup,
and the measurement with its profile, pairs of processes, checks and largest error (in tolerances).
All of these but the device are NULL where the score was imported, and code is NULL where that was
published without its code. tasks are names or LIKE patterns (NULL: all), device is a model or class
(NULL: each task''s own). Error 42704: unknown task or device';

CREATE FUNCTION cudal1.origin(candidate_id bigint, OUT method text, OUT prompt_id bigint,
	OUT exemplars bigint[]) LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT p.method, p.prompt_id, coalesce(q.exemplars, '{}')
		FROM cudal1.proposal AS p LEFT JOIN cudal1.prompt AS q ON q.prompt_id = p.prompt_id
		WHERE p.candidate_id = origin.candidate_id ORDER BY p.proposal_id LIMIT 1;
END;
COMMENT ON FUNCTION cudal1.origin IS
'how a candidate was proposed first, and the exemplars, older than it, that the prompt showed';

CREATE FUNCTION @extschema@.cudal1_lineage(candidate bigint)
RETURNS TABLE (depth int, candidate_id bigint, shown_to bigint, method text, prompt_id bigint,
	state text, reward float8, gain float8) LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
AS $$
DECLARE
	-- each generation: codes that are met for the first time, and whose prompts showed them
	codes	bigint[] := ARRAY[candidate];
	shown	bigint[] := ARRAY[NULL::bigint];
	known	bigint[] := '{}';
BEGIN
	PERFORM cudal1.check_candidates(ARRAY[candidate], 'candidate');
	depth := 0;
	WHILE codes <> '{}' LOOP
		known := known || codes;
		RETURN QUERY SELECT depth, c.candidate_id, u.shown_to, o.method, o.prompt_id, c.state,
				c.reward, cudal1.conservative_round(c.reward / (SELECT nullif(max(e.reward), 0)
					FROM cudal1.candidate AS e WHERE e.candidate_id = ANY (o.exemplars)))
			FROM unnest(codes, shown) AS u(candidate_id, shown_to)
				JOIN cudal1.candidate AS c ON c.candidate_id = u.candidate_id
				LEFT JOIN LATERAL cudal1.origin(c.candidate_id) AS o ON true
			ORDER BY c.candidate_id;
		SELECT coalesce(array_agg(n.exemplar), '{}'), array_agg(n.candidate_id) INTO codes, shown
			FROM (SELECT DISTINCT ON (e.id) e.id AS exemplar, u.id AS candidate_id
					FROM unnest(codes) AS u(id), cudal1.origin(u.id) AS o,
						unnest(o.exemplars) AS e(id)
					WHERE e.id <> ALL (known) ORDER BY e.id, u.id) AS n;
		depth := depth + 1;
	END LOOP;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_lineage(bigint) IS
'a candidate (depth 0) and the codes that it comes from: the exemplars of the prompt of its first
proposal (depth 1), theirs (2), and so on, each once; shown_to is the candidate whose prompt showed
it. method and prompt_id are of its own first proposal. gain is its reward over the best of that
prompt''s exemplars, NULL without any. Error 42704: unknown candidate';
