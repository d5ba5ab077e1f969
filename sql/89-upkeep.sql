/*
 * Upkeep: statistics, retention, and a recount of everything that is derived.
 */

CREATE VIEW cudal1.stat_device AS
	SELECT d.device_key AS device, d.class, d.model, d.enabled, d.untrusted_since, s.measurements, s.successful, s.failed, s.lost,
		   s.wide, s.device_seconds, s.clock_seconds, s.clock_seconds / NULLIF(s.device_seconds, 0) AS clock_share, s.last_measured, d.last_seen
	FROM cudal1.device AS d
		LEFT JOIN LATERAL (
			SELECT pg_catalog.count(*) AS measurements,
				   pg_catalog.count(*) FILTER (WHERE m.reward > 0) AS successful,
				   pg_catalog.count(*) FILTER (WHERE m.reward = 0) AS failed,
				   pg_catalog.count(*) FILTER (WHERE m.reward IS NULL) AS lost,
				   pg_catalog.count(*) FILTER (WHERE m.wide) AS wide,
				   pg_catalog.sum(m.device_seconds) AS device_seconds, pg_catalog.sum(m.clock_seconds) AS clock_seconds,
				   pg_catalog.max(m.measured_at) AS last_measured
			FROM cudal1.measurement AS m WHERE m.device_id = d.device_id) AS s ON true;
COMMENT ON VIEW cudal1.stat_device IS 'one row a device: how much it measured, how that ended, and for how long it was held';
COMMENT ON COLUMN cudal1.stat_device.lost IS 'measurements without a verdict: lost, unverified, unstable, cancelled';
COMMENT ON COLUMN cudal1.stat_device.wide IS 'measurements whose score is an end of a wide interval; many of them tell of a host that does something else beside';
COMMENT ON COLUMN cudal1.stat_device.clock_share IS 'share of the time held in which the clock ran';

CREATE VIEW cudal1.stat_task AS
	SELECT t.name AS task, t.level, t.device_model AS device, c.candidates, c.waiting, c.successful, c.wide, c.failed, c.discarded, c.best, m.measurements,
		   m.device_seconds, c.last_decided
	FROM cudal1.task AS t
		LEFT JOIN LATERAL (
			SELECT pg_catalog.count(*) AS candidates,
				   pg_catalog.count(*) FILTER (WHERE x.state IN ('queued', 'measuring', 'verifying')) AS waiting,
				   pg_catalog.count(*) FILTER (WHERE x.state = 'successful') AS successful,
				   pg_catalog.count(*) FILTER (WHERE x.wide) AS wide,
				   pg_catalog.count(*) FILTER (WHERE x.state = 'failed') AS failed,
				   pg_catalog.count(*) FILTER (WHERE x.state = 'discarded') AS discarded,
				   pg_catalog.max(x.reward) AS best, pg_catalog.max(x.decided_at) AS last_decided
			FROM cudal1.candidate AS x WHERE x.task_id = t.task_id AND x.purpose = 'normal') AS c ON true
		LEFT JOIN (
			SELECT x.task_id, pg_catalog.count(*) AS measurements, pg_catalog.sum(x.device_seconds) AS device_seconds
			FROM cudal1.measurement AS x GROUP BY x.task_id) AS m ON m.task_id = t.task_id;
COMMENT ON VIEW cudal1.stat_task IS 'one row a task: its candidates by what became of them, the best reward, and the device time they took; measurements of every purpose count';
COMMENT ON COLUMN cudal1.stat_task.wide IS 'candidates whose reward is an end of a wide interval';

CREATE VIEW cudal1.stat_method AS
	SELECT p.method, pg_catalog.count(*) AS proposals, pg_catalog.count(DISTINCT p.candidate_id) AS candidates,
		   pg_catalog.count(DISTINCT p.task_id) AS tasks,
		   pg_catalog.count(*) FILTER (WHERE c.state = 'successful') AS successful,
		   pg_catalog.count(*) FILTER (WHERE c.reward > 1) AS faster,
		   pg_catalog.count(*) FILTER (WHERE c.failure = 'malformed') AS malformed,
		   pg_catalog.count(*) FILTER (WHERE c.failure = 'compile_error') AS compile_error,
		   pg_catalog.count(*) FILTER (WHERE c.failure IN ('crash', 'launch_failure', 'timeout')) AS not_executable,
		   pg_catalog.count(*) FILTER (WHERE c.failure = 'wrong_output') AS wrong_output,
		   pg_catalog.count(*) FILTER (WHERE c.failure = 'cheat') AS cheat,
		   pg_catalog.count(*) FILTER (WHERE c.state = 'discarded') AS discarded,
		   pg_catalog.avg(c.reward) AS mean_reward, pg_catalog.max(p.created_at) AS last_proposed
	FROM cudal1.proposal AS p JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id
	GROUP BY p.method;
COMMENT ON VIEW cudal1.stat_method IS 'one row a method: its proposals by what became of their candidates';

CREATE FUNCTION @extschema@.cudal1_prune(older_than interval, dry_run boolean DEFAULT false)
RETURNS TABLE (part text, texts bigint, bytes bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	ids		bigint[];
BEGIN
	IF cudal1_prune.older_than IS NULL OR cudal1_prune.dry_run IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'older_than and dry_run must not be null';
	END IF;
	IF cudal1_prune.older_than < '0'::interval THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'older_than must not be negative';
	END IF;
	-- failed ones only: they have their verdict, and nothing measures, samples or shows them again
	SELECT coalesce(array_agg(c.candidate_id), '{}') INTO ids FROM (
		SELECT x.candidate_id FROM cudal1.candidate AS x
			WHERE x.state = 'failed' AND x.decided_at < clock_timestamp() - cudal1_prune.older_than
				AND NOT EXISTS (SELECT FROM cudal1.pruned AS p WHERE p.candidate_id = x.candidate_id)
				AND NOT EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = x.candidate_id)
				AND NOT EXISTS (SELECT FROM cudal1.aa_candidate AS k WHERE k.candidate_id = x.candidate_id)
				AND NOT EXISTS (SELECT FROM cudal1.null_candidate AS k WHERE k.candidate_id = x.candidate_id)
			ORDER BY x.candidate_id
			FOR NO KEY UPDATE SKIP LOCKED) AS c;

	RETURN QUERY SELECT 'code', count(*), coalesce(sum(octet_length(c.code)), 0)::bigint FROM cudal1.candidate AS c WHERE c.candidate_id = ANY (ids);
	RETURN QUERY SELECT 'responses', count(*), coalesce(sum(octet_length(p.response)), 0)::bigint
		FROM cudal1.proposal AS p WHERE p.candidate_id = ANY (ids) AND p.response IS NOT NULL;
	RETURN QUERY SELECT 'samples', count(*), coalesce(sum(octet_length(m.samples::text)), 0)::bigint
		FROM cudal1.measurement AS m WHERE m.candidate_id = ANY (ids) AND m.samples IS NOT NULL;
	IF NOT cudal1_prune.dry_run THEN
		-- what was removed counts no more against those that stored it: a code against the role that proposed it first
		INSERT INTO cudal1.stored (role, bytes)
			SELECT v.role, -sum(v.bytes) FROM (
				SELECT (SELECT p.created_by FROM cudal1.proposal AS p WHERE p.candidate_id = c.candidate_id ORDER BY p.proposal_id LIMIT 1) AS role,
						octet_length(c.code) AS bytes
					FROM cudal1.candidate AS c WHERE c.candidate_id = ANY (ids)
				UNION ALL
				SELECT p.created_by, octet_length(p.response) FROM cudal1.proposal AS p WHERE p.candidate_id = ANY (ids) AND p.response IS NOT NULL) AS v
				WHERE v.role IS NOT NULL GROUP BY v.role HAVING sum(v.bytes) > 0;
		INSERT INTO cudal1.pruned (candidate_id, bytes)
			SELECT c.candidate_id, octet_length(c.code) FROM cudal1.candidate AS c WHERE c.candidate_id = ANY (ids);
		UPDATE cudal1.candidate AS c SET code = '' WHERE c.candidate_id = ANY (ids);
		UPDATE cudal1.proposal AS p SET response = NULL WHERE p.candidate_id = ANY (ids) AND p.response IS NOT NULL;
		UPDATE cudal1.measurement AS m SET samples = NULL WHERE m.candidate_id = ANY (ids) AND m.samples IS NOT NULL;
	END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_prune(interval, boolean) IS
'removes the big texts of candidates that failed longer ago than that: code, the models'' answers, samples of their measurements; returns how many and how many bytes, with dry_run without removing them. Verdict, detail and hash stay, so the same code proposed again is known, and is not measured again. Nothing calls it by itself. Errors: 22023 negative interval';

CREATE FUNCTION @extschema@.cudal1_check()
RETURNS TABLE (subject text, place text, expected text, found text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	a		record;
	r		record;
	body	text;
BEGIN
	-- buckets, slots, islands
	RETURN QUERY
	SELECT r.difference, format('task "%s", %s', t.name, r.place), r.expected, r.found
	FROM cudal1.recount() AS r LEFT JOIN cudal1.task AS t ON t.task_id = r.task
	ORDER BY r.task, 1, 2;

	-- candidates
	RETURN QUERY
	SELECT 'code hash', format('candidate %s', c.candidate_id), encode(h.hash, 'hex'), encode(c.code_hash, 'hex')
	FROM cudal1.candidate AS c
		LEFT JOIN cudal1.null_candidate AS k ON k.candidate_id = c.candidate_id
		CROSS JOIN LATERAL (
			SELECT CASE WHEN k.candidate_id IS NOT NULL THEN cudal1.salted_hash('null candidate', c.code)
						WHEN c.failure = 'malformed' THEN cudal1.salted_hash('malformed', c.code)
						ELSE cudal1.code_hash(c.code) END AS hash) AS h
	WHERE c.code_hash <> h.hash AND c.purpose <> 'withheld'
		AND NOT EXISTS (SELECT FROM cudal1.pruned AS p WHERE p.candidate_id = c.candidate_id);
	RETURN QUERY
	SELECT 'reward of score', format('candidate %s', c.candidate_id), cudal1.conservative_round(c.score)::text, c.reward::text
	FROM cudal1.candidate AS c
	WHERE c.state = 'successful' AND c.score >= 0 AND c.score < 'infinity' AND c.reward <> cudal1.conservative_round(c.score);
	RETURN QUERY
	SELECT 'deciding measurement', format('candidate %s', c.candidate_id),
		   CASE WHEN m.measurement_id IS NULL THEN 'a measurement' ELSE format('reward %s of this code and task, accepted, on %s', c.reward, t.device_model) END,
		   CASE WHEN m.measurement_id IS NULL THEN 'none'
				ELSE format('reward %s%s%s%s%s, on %s', m.reward, CASE WHEN m.code_hash <> c.code_hash THEN ' of another code' END,
							CASE WHEN m.task_id <> c.task_id OR m.candidate_id <> c.candidate_id THEN ' of another candidate' END,
							CASE WHEN NOT m.accepted THEN ', not accepted' END,
							CASE WHEN m.wide <> c.wide THEN CASE WHEN m.wide THEN ', wide' ELSE ', not wide' END END, m.device_model) END
	FROM cudal1.candidate AS c
		JOIN cudal1.task AS t ON t.task_id = c.task_id
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = c.measurement_id
	WHERE c.state = 'successful' AND NOT c.imported
		AND (m.measurement_id IS NULL OR m.reward IS DISTINCT FROM c.reward OR m.code_hash <> c.code_hash OR m.task_id <> c.task_id
			 OR m.candidate_id <> c.candidate_id OR NOT m.accepted OR m.wide <> c.wide OR m.device_model IS DISTINCT FROM t.device_model);
	RETURN QUERY
	SELECT 'imported score', format('candidate %s', c.candidate_id), i.reward::text, c.reward::text
	FROM cudal1.candidate AS c
		LEFT JOIN cudal1.imported_score AS i ON i.candidate_id = c.candidate_id AND i.device = c.import_device
	WHERE c.imported AND i.reward IS DISTINCT FROM c.reward;
	RETURN QUERY
	SELECT 'reward of import', format('candidate %s on %s', i.candidate_id, i.device), cudal1.conservative_round(i.score)::text, i.reward::text
	FROM cudal1.imported_score AS i
	WHERE i.score IS NOT NULL AND i.reward <> cudal1.conservative_round(i.score);
	RETURN QUERY
	SELECT 'undecided without a job', format('candidate %s', c.candidate_id), 'a job', c.state
	FROM cudal1.candidate AS c
	WHERE c.state IN ('queued', 'measuring', 'verifying')
		AND NOT EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify'));

	-- measurements
	RETURN QUERY
	SELECT 'reward of measurement', format('measurement %s', m.measurement_id), cudal1.conservative_round(m.score)::text, m.reward::text
	FROM cudal1.measurement AS m
	WHERE m.outcome = 'successful' AND m.score >= 0 AND m.score < 'infinity'
		AND m.reward IS DISTINCT FROM cudal1.conservative_round(m.score);
	RETURN QUERY
	SELECT 'variance of buckets', format('measurement %s', m.measurement_id), v.variance::text, m.variance::text
	FROM cudal1.measurement AS m CROSS JOIN LATERAL (SELECT var_pop(b) AS variance FROM unnest(m.bucket_means) AS b) AS v
	WHERE cardinality(m.bucket_means) >= 2 AND m.variance IS NOT NULL
		AND abs(m.variance - v.variance) > 1e-6 * v.variance + 1e-9;

	-- ablations
	RETURN QUERY
	SELECT 'ablation', format('ablation %s', a.ablation_id), (1 << cardinality(a.switches))::text, count(r.mask)::text
	FROM cudal1.ablation AS a LEFT JOIN cudal1.ablation_run AS r ON r.ablation_id = a.ablation_id
	GROUP BY a.ablation_id, a.switches HAVING count(r.mask) <> 1 << cardinality(a.switches);
	FOR a IN
		SELECT x.ablation_id, x.switches, c.code FROM cudal1.ablation AS x JOIN cudal1.candidate AS c ON c.candidate_id = x.candidate_id
			WHERE NOT EXISTS (SELECT FROM cudal1.pruned AS p WHERE p.candidate_id = x.candidate_id)
			ORDER BY x.ablation_id
	LOOP
		FOR r IN SELECT x.mask, c.candidate_id, c.code_hash FROM cudal1.ablation_run AS x
				JOIN cudal1.candidate AS c ON c.candidate_id = x.candidate_id WHERE x.ablation_id = a.ablation_id
		LOOP
			body := a.code;
			FOR i IN 1 .. cardinality(a.switches) LOOP
				body := cudal1.set_switch(body, a.switches[i], r.mask >> (i - 1) & 1 = 1);
			END LOOP;
			IF cudal1.code_hash(body) <> r.code_hash THEN
				RETURN QUERY SELECT 'code of combination', format('ablation %s, candidate %s', a.ablation_id, r.candidate_id),
					encode(cudal1.code_hash(body), 'hex'), encode(r.code_hash, 'hex');
			END IF;
		END LOOP;
	END LOOP;

	-- judgements on tasks and devices
	RETURN QUERY
	SELECT 'certification', format('task "%s"', t.name), n.verdict, t.certified
	FROM cudal1.task AS t
		JOIN (SELECT k.task_id, CASE WHEN bool_or(c.state = 'successful') THEN 'weak' WHEN bool_and(c.state = 'failed') THEN 'passed' END AS verdict
			  FROM cudal1.null_candidate AS k JOIN cudal1.candidate AS c ON c.candidate_id = k.candidate_id
			  GROUP BY k.task_id) AS n ON n.task_id = t.task_id
	WHERE t.certified IS DISTINCT FROM n.verdict;
	RETURN QUERY
	SELECT 'trust in device', format('device "%s"', d.device_key), CASE WHEN n.drifts THEN 'not trusted' ELSE 'trusted' END,
		   CASE WHEN d.untrusted_since IS NULL THEN 'trusted' ELSE 'not trusted' END
	FROM cudal1.device AS d
		CROSS JOIN LATERAL (SELECT COALESCE((SELECT abs(x.mean) > x.mean_limit FROM cudal1.aa_chart AS x WHERE x.device_id = d.device_id
											 ORDER BY x.measurement_id DESC LIMIT 1), false) AS drifts) AS n
	WHERE n.drifts <> (d.untrusted_since IS NOT NULL);

	-- campaigns
	RETURN QUERY
	SELECT 'tokens and cost', format('lane %s of campaign %s', l.lane_id, l.campaign_id), format('%s, %s', n.tokens, n.cost), format('%s, %s', l.tokens, l.cost)
	FROM (SELECT x.lane_id, x.campaign_id, x.tokens + k.tokens AS tokens, x.cost + k.cost AS cost
			FROM cudal1.campaign_lane AS x CROSS JOIN LATERAL (
				SELECT COALESCE(sum(y.tokens), 0) AS tokens, COALESCE(sum(y.cost), 0) AS cost
					FROM cudal1.lane_note AS y WHERE y.lane_id = x.lane_id) AS k) AS l
		CROSS JOIN LATERAL (SELECT COALESCE(sum(q.prompt_tokens + q.completion_tokens), 0) AS tokens, COALESCE(sum(q.cost), 0) AS cost
							FROM cudal1.request AS q WHERE q.lane_id = l.lane_id) AS n
	WHERE l.tokens <> n.tokens OR abs(l.cost - n.cost) > 1e-9 * abs(n.cost) + 1e-12;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_check() IS
'recounts every derived number, buckets, islands, rewards, hashes, variances, combinations of switches, certification, trust in devices, tokens and cost of campaigns, from what it is derived of, and says what is off: one row a difference, none where all agree. Changes nothing; reads every candidate and measurement. cudal1.rebucket() repairs buckets, cudal1_requeue() undecided candidates';
