/*
 * Measurements beside the first: evaluations for published tables, re-verification by cron, scores
 * from elsewhere, and the work of a restored database.
 */

CREATE FUNCTION cudal1.in_words(seconds float8)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN seconds < 120 THEN format('%s s', round(seconds))
			WHEN seconds < 7200 THEN format('%s min', round(seconds / 60))
			WHEN seconds < 172800 THEN format('%s h', round(seconds / 3600))
			ELSE format('%s days', round(seconds / 86400)) END;
COMMENT ON FUNCTION cudal1.in_words IS 'seconds in words, rounded';

CREATE FUNCTION @extschema@.cudal1_evaluate(candidate_ids bigint[], device text DEFAULT NULL,
	profile text DEFAULT 'paper_eval', priority int DEFAULT 0)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
	jobs	bigint[];
	c		record;
	p		cudal1.profile;
	tasks	bigint[];
	passed	bigint[];
BEGIN
	PERFORM cudal1.check_candidates(candidate_ids);
	PERFORM cudal1.demand_submission('-', '-', priority);
	PERFORM cudal1.raise_if(NOT cudal1.matches(device, '[^[:space:]]', 2000), '22023',
		format('device must be a device class (%s), a device model or a device''s key',
			array_to_string(cudal1.classes(), ' or ')));
	-- a class may find its first device later; a model or key that nobody has is a slip, and its
	-- jobs would wait for ever
	PERFORM cudal1.check_device(device);
	PERFORM cudal1.check_name('profile', profile);
	SELECT x.* INTO p FROM cudal1.profile AS x WHERE x.name = cudal1_evaluate.profile;
	passed := ARRAY(SELECT c.candidate_id
		FROM cudal1.candidate AS c JOIN cudal1.task AS t USING (task_id)
		WHERE c.candidate_id = ANY (cudal1_evaluate.candidate_ids)
			AND (c.state <> 'successful' OR c.purpose = 'withheld' OR t.retired_at IS NOT NULL)
		ORDER BY c.candidate_id);
	IF passed <> '{}' THEN
		RAISE NOTICE USING MESSAGE = format('candidates that are not evaluated: %s',
				array_to_string(passed[:10], ', ')),
			DETAIL = 'Only successful candidates whose code is here, of tasks that are not '
				'retired, are evaluated.';
	END IF;

	SELECT array_agg(q.job_id), array_agg(DISTINCT (o.task).task_id) INTO jobs, tasks
		FROM (SELECT t AS task, c.candidate_id
				FROM cudal1.candidate AS c JOIN cudal1.task AS t USING (task_id)
				WHERE c.candidate_id = ANY (cudal1_evaluate.candidate_ids)
					AND c.candidate_id <> ALL (passed)
				ORDER BY c.candidate_id OFFSET 0) AS o
			CROSS JOIN LATERAL cudal1.enqueue('evaluate', o.task, o.candidate_id,
				cudal1_evaluate.priority, '', cudal1_evaluate.profile, cudal1_evaluate.device)
				AS q (job_id)
		WHERE q.job_id IS NOT NULL;
	IF jobs IS NOT NULL THEN
		SELECT count(*) AS n, avg(m.device_seconds) AS mean INTO c FROM cudal1.measurement AS m
			WHERE m.kind = 'evaluate' AND m.reward IS NOT NULL AND m.profile = p.name;
		RAISE NOTICE USING MESSAGE = format('%s evaluation(s) take %s %s of device time',
				cardinality(jobs), CASE WHEN c.n > 0 THEN 'about' ELSE 'more than' END,
				cudal1.in_words(cardinality(jobs) * coalesce(c.mean, p.pairs * p.bucket_seconds))),
			DETAIL = format('%s with profile "%s" were measured before.', c.n, p.name),
			HINT = 'They run behind training. cudal1.cost has the seconds of each profile; '
				'cudal1_cancel_jobs() withdraws evaluations.';
		PERFORM cudal1.warn_no_device(t, cudal1_evaluate.device) FROM cudal1.task AS t
			WHERE t.task_id = ANY (tasks);
		PERFORM cudal1.wake();
	END IF;
	RETURN coalesce(cardinality(jobs), 0);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_evaluate(bigint[], text, text, int) IS
'queues a measurement for published tables (CUDA-L1, 3.2) of each successful candidate, on a device
class, model or key (NULL: the task''s); returns the jobs queued.
An evaluation adds a row to cudal1.measurement and never changes a reward. Candidates that are not
successful, that were imported without their code, or whose task is retired, are passed over; a
NOTICE names the first ten. Evaluations run behind training: like all work without a trainer they
have an eighth of a trainer''s share of a device, and priority orders them among themselves. A
NOTICE says what device time they will take, and when no device can run them now.
Errors: 42704 for an unknown id, profile or device. cudal1_cancel_jobs() withdraws it';

CREATE FUNCTION @extschema@.cudal1_reverify(older_than interval DEFAULT '7 days',
	best_per_task int DEFAULT 1)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	latest	timestamptz;
	n		bigint;
BEGIN
	PERFORM cudal1.raise_if(older_than IS NULL OR best_per_task IS NULL, '22004',
		'older_than and best_per_task must not be null');
	PERFORM cudal1.raise_if(older_than < '0'::interval, '22023', 'older_than must not be negative');
	-- further back there is nothing, and the first timestamp is not far
	latest := clock_timestamp() - least(older_than, '6000 years'::interval);
	PERFORM cudal1.raise_if(best_per_task < 1, '22023', 'best_per_task must be at least 1');
	-- cron may run late, or twice at once: the second waits at the first job that both queue, and
	-- has nothing to add
	SELECT count(cudal1.enqueue('reverify', o.task, o.candidate_id, -1000, '')) INTO n
		FROM (SELECT t AS task, b.candidate_id
				FROM cudal1.task AS t
					CROSS JOIN LATERAL (
						SELECT c.candidate_id, c.decided_at, c.measurement_id
							FROM cudal1.candidate AS c
							WHERE c.task_id = t.task_id AND c.state = 'successful'
								AND NOT c.imported AND c.purpose = 'normal'
							ORDER BY c.reward DESC, c.candidate_id
							LIMIT cudal1_reverify.best_per_task) AS b
				WHERE (b.decided_at <= latest
						-- made with another driver or runner than its device has now; a member that
						-- either side does not know says nothing
						OR EXISTS (SELECT FROM cudal1.measurement AS m
								JOIN cudal1.device AS o USING (device_id)
								CROSS JOIN LATERAL (
									-- a row that is not served may be the device under a former
									-- name of its host; for one that is gone stands the last one
									-- seen of its model
									SELECT d.details FROM cudal1.device AS d
										WHERE d.hardware = o.hardware
											OR d.model = m.device_model AND d.enabled
										ORDER BY cudal1.is_served(d.last_seen)
												AND d.device_id = o.device_id DESC,
											cudal1.is_served(d.last_seen)
												AND d.hardware = o.hardware DESC,
											d.last_seen DESC LIMIT 1) AS now
								CROSS JOIN (VALUES ('runner'), ('driver')) AS k (member)
							WHERE m.measurement_id = b.measurement_id
								AND m.environment ->> k.member <> now.details ->> k.member))
					AND t.retired_at IS NULL
					AND NOT EXISTS (SELECT FROM cudal1.job AS j
									WHERE j.candidate_id = b.candidate_id
										AND j.kind IN ('measure', 'verify', 'reverify'))
				ORDER BY b.candidate_id OFFSET 0) AS o;
	PERFORM cudal1.wake() WHERE n > 0;
	IF n = 0 THEN
		RAISE NOTICE 'nothing was queued: verdicts are newer, by the driver and runner of today';
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_reverify(interval, int) IS
'queues, behind other work, another measurement of each task''s best measured candidates whose
verdict is older than that, or was made with another driver or runner than its device has now;
returns the jobs queued. The new verdict replaces reward and bucket in one transaction; a high score
that is above the old one is verified again. For cron. Error 22023: older_than is negative';

CREATE FUNCTION @extschema@.cudal1_cancel_jobs(job_ids bigint[])
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	absent	text;
BEGIN
	PERFORM cudal1.check_ids('job_ids', job_ids);
	-- its candidate has a state of its own, and perhaps somebody who waits for it
	PERFORM cudal1.raise_if(cudal1.decides(x), '22023',
			format('job %s decides candidate %s', x.job_id, x.candidate_id),
			'cudal1_cancel() takes candidates back.')
		FROM cudal1.job AS x WHERE x.job_id = ANY (cudal1_cancel_jobs.job_ids);
	SELECT string_agg(u.id::text, ', ') INTO absent FROM unnest(job_ids) AS u (id)
		WHERE NOT EXISTS (SELECT FROM cudal1.job AS x WHERE x.job_id = u.id);
	IF absent IS NOT NULL THEN
		RAISE NOTICE USING MESSAGE = format('no such jobs: %s', left(absent, 200)),
			DETAIL = 'They have ended, or never were.',
			HINT = 'cudal1.queue and cudal1.activity have the ids of those that wait and run.';
	END IF;
	RETURN cudal1.stop_jobs(job_ids, NULL);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_cancel_jobs(bigint[]) IS
'withdraws evaluations, re-verifications and their verifications, and A/A measurements by the job_id
of cudal1.queue and cudal1.activity, and returns how many: waiting ones are removed, running ones
end as soon as their worker has stopped. Rewards stay as they are; an evaluation that was measured
before its worker heard of it is stored. Jobs that have ended don''t count. Operators only. Error
22023 for a job that decides a candidate (cudal1_cancel)';

CREATE FUNCTION @extschema@.cudal1_requeue()
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	ids		bigint[];
BEGIN
	ids := ARRAY(SELECT c.candidate_id FROM cudal1.candidate AS c
		WHERE (c.state IN ('queued', 'measuring', 'verifying')
				-- submitted since it was imported
				OR c.imported AND c.code <> ''
					AND EXISTS (SELECT FROM cudal1.proposal AS p
						WHERE p.candidate_id = c.candidate_id AND p.wanted)
					AND EXISTS (SELECT FROM cudal1.task AS x
						WHERE x.task_id = c.task_id AND x.retired_at IS NULL))
			AND NOT EXISTS (SELECT FROM cudal1.job AS j
				WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify'))
		ORDER BY c.candidate_id FOR NO KEY UPDATE);
	-- another session may have queued some since
	ids := ARRAY(SELECT u.id FROM unnest(ids) AS u (id)
		WHERE NOT EXISTS (SELECT FROM cudal1.job AS j
			WHERE j.candidate_id = u.id AND j.kind IN ('measure', 'verify')));
	-- an imported score stays until the code is measured
	UPDATE cudal1.candidate AS c SET state = 'queued'
		WHERE c.candidate_id = ANY (ids) AND NOT c.imported;
	-- A role's job has the profile of its first proposal. What answers a group's prompt has the
	-- group's, what was submitted as a code has the task's.
	PERFORM cudal1.enqueue('measure', t, c.candidate_id,
			CASE c.purpose WHEN 'reference' THEN -1000000000 ELSE 0 END, o.name, o.profile)
		FROM cudal1.candidate AS c JOIN cudal1.task AS t USING (task_id)
			CROSS JOIN LATERAL (
				SELECT DISTINCT ON (p.name) p.name, p.profile FROM (
						SELECT x.created_by AS name, x.proposal_id, CASE
								WHEN x.response IS NOT NULL
								THEN cudal1.group_profile(x.prompt_id, t) END AS profile
							FROM cudal1.proposal AS x
							WHERE x.candidate_id = c.candidate_id AND x.wanted
						UNION ALL
						SELECT CASE c.purpose WHEN 'reference' THEN '' ELSE cudal1.caller() END,
								NULL, CASE c.purpose WHEN 'reference' THEN 'certify' END
							WHERE NOT EXISTS (SELECT FROM cudal1.proposal AS x
								WHERE x.candidate_id = c.candidate_id AND x.wanted)) AS p
					ORDER BY p.name, p.proposal_id) AS o
		WHERE c.candidate_id = ANY (ids) ORDER BY c.candidate_id, o.name;
	PERFORM cudal1.wake() WHERE ids <> '{}';
	RETURN cardinality(ids);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_requeue() IS
'queues the measurement of every undecided or imported candidate that was submitted and has no job,
as after a restore (jobs are not dumped); returns their number. Each role that proposed a candidate
has a job for it, by the profile of its first proposal: that of a group for its answers, else the
task''s as it is now. A verification begins with its first measurement again. Evaluations,
re-verifications, priorities and deadlines are not restored, and an imported candidate whose
measurement ended without a verdict is measured again';

CREATE FUNCTION @extschema@.cudal1_import_result(task text, code text, speedup float8, method text,
	device text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
	t		cudal1.task;
	c		cudal1.candidate;
	paid	cudal1.measurement;
	withheld constant boolean := code IS NULL;
	s		float8 := nullif(speedup, 0);
	body	text := coalesce(replace(code, E'\r\n', E'\n'), '');
	hash	bytea;
BEGIN
	PERFORM cudal1.demand_submission(coalesce(code, '-'), method, 0);
	PERFORM cudal1.raise_if(device IS NULL, '22004', 'device must not be null');
	PERFORM cudal1.raise_if(octet_length(device) > 200 OR NOT cudal1.is_name(device, 200), '22023',
		'device must be a name of 1 to 200 bytes without control characters');
	PERFORM cudal1.raise_if(s NOT BETWEEN 1e-9 AND 1e9, '22023',
		'speedup must be null, 0 or lie between 1e-9 and 1e9');
	t := cudal1.find_task(task);
	-- of codes that nobody has seen, there is one for each method; no text has that hash, since
	-- none holds a zero byte
	hash := CASE WHEN withheld THEN sha256(decode('00', 'hex')
		|| convert_to(method, 'UTF8')) ELSE cudal1.code_hash(body) END;

	INSERT INTO cudal1.candidate (task_id, code, code_hash, purpose)
		VALUES (t.task_id, body, hash, CASE WHEN withheld THEN 'withheld' ELSE 'normal' END)
		ON CONFLICT (task_id, code_hash) DO NOTHING;
	PERFORM cudal1.store(cudal1.caller(),
		cudal1.proposal_bytes(CASE WHEN FOUND THEN body END, NULL));
	SELECT x.* INTO STRICT c FROM cudal1.candidate AS x
		WHERE x.task_id = t.task_id AND x.code_hash = hash FOR NO KEY UPDATE;
	INSERT INTO cudal1.proposal (task_id, candidate_id, method, wanted)
		VALUES (t.task_id, c.candidate_id, cudal1_import_result.method, false);
	INSERT INTO cudal1.imported_score (candidate_id, device, reward, score)
		VALUES (c.candidate_id, cudal1_import_result.device,
			coalesce(cudal1.conservative_round(s), 0), s)
		ON CONFLICT (candidate_id, device) DO UPDATE SET reward = excluded.reward,
			score = excluded.score, imported_at = now();
	-- reports of a device show the code of its score, whatever the candidate's own reward is
	PERFORM cudal1.restore_code(c.candidate_id, body);

	IF c.state IN ('successful', 'failed') AND NOT c.imported
		OR EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = c.candidate_id
			AND j.kind IN ('measure', 'verify')) THEN
		RAISE NOTICE USING MESSAGE = format(CASE WHEN c.failure = 'withdrawn'
				THEN 'candidate %s was withdrawn, its imported score is not used'
				ELSE 'candidate %s is measured here, its imported score is not used' END,
				c.candidate_id);
		-- the proposal counts for islands all the same
		PERFORM cudal1.place_candidate(c.candidate_id) WHERE c.state = 'successful';
	-- a reward comes from one device; another is a report's business
	ELSIF NOT c.imported OR c.import_device = device THEN
		UPDATE cudal1.candidate AS x SET purpose = 'normal'
			WHERE x.candidate_id = c.candidate_id AND x.purpose NOT IN ('normal', 'withheld');
		paid.score := s;
		PERFORM cudal1.give_verdict(c, CASE WHEN s IS NULL THEN 'reported' END, NULL, NULL, paid,
				cudal1_import_result.device), cudal1.wake_waiters();
	END IF;
	RETURN c.candidate_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_import_result(text, text, float8, text, text) IS
'records a score measured elsewhere, on the device named, and returns its candidate; speedup NULL or
0 is a failed candidate, code NULL a score that was published without its code, which only reports
see. A measurement made here goes before it: a later submission of the code is measured and replaces
it, and an import over one is only a proposal. Of several devices the first sets the reward;
cudal1.imported_score keeps the last score of each, for reports of a device. Operators only';

/*
 * Whether devices can be trusted, and whether scores hold. docs/operation.md says what the chart of
 * a device is. Its limit 0.5 = sqrt(1 / 4) is where the mean of four independent values leaves the
 * spread that the profile allows a single one.
 */

CREATE VIEW cudal1.aa_chart AS
	SELECT n.*, sum(n.deviation) OVER (PARTITION BY n.device_id ORDER BY n.measurement_id
			ROWS 3 PRECEDING) / 4 AS mean, 0.5::float8 AS mean_limit
		FROM (SELECT d.device_id, d.device_key AS device, m.measurement_id, m.measured_at,
					t.name AS task, m.profile, m.outcome, m.score,
					COALESCE(p.half_width_limit, 0.01) AS "limit",
					CASE WHEN m.score > 0
						THEN GREATEST(-1.2,
							LEAST(1.2, ln(m.score) / COALESCE(p.half_width_limit, 0.01)))
						ELSE -1.2 END AS deviation
				FROM cudal1.candidate AS k
					JOIN cudal1.measurement AS m ON m.candidate_id = k.candidate_id
					JOIN cudal1.device AS d ON d.device_id = m.device_id
					JOIN cudal1.task AS t ON t.task_id = k.task_id
					JOIN cudal1.profile AS p ON p.name = m.profile
				WHERE k.purpose = 'reference' AND m.kind = 'evaluate'
					AND m.outcome <> ALL (ARRAY['lost', 'cancelled', 'unverified'])
					AND (d.chart_from IS NULL OR m.measured_at >= d.chart_from)) AS n;
COMMENT ON VIEW cudal1.aa_chart IS
'A/A measurements of each device as a control chart; a device drifts while the size of its last mean
exceeds mean_limit';
COMMENT ON COLUMN cudal1.aa_chart."limit" IS
'the half-width that the profile allows a single measurement (0.01 where it has no limit)';
COMMENT ON COLUMN cudal1.aa_chart.deviation IS
'ln score over limit, cut at -1.2 and 1.2; -1.2 where the reference failed against itself';
COMMENT ON COLUMN cudal1.aa_chart.mean IS 'sum of the last four deviations up to this one, over 4';

CREATE FUNCTION @extschema@.cudal1_measure_aa(task text DEFAULT NULL, device_key text DEFAULT NULL,
	priority int DEFAULT 1000)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	d		cudal1.device;
	t		cudal1.task;
	n		bigint := 0;
BEGIN
	PERFORM cudal1.demand_submission('-', '-', priority);
	PERFORM cudal1.find_task(task) WHERE task IS NOT NULL;
	PERFORM cudal1.check_name('device', device_key) WHERE device_key IS NOT NULL;
	FOR d IN
		SELECT x.* FROM cudal1.device AS x
			WHERE x.enabled AND x.device_key = coalesce(cudal1_measure_aa.device_key, x.device_key)
				ORDER BY x.device_id
	LOOP
		-- the same task again, so that the points of a chart can be compared
		SELECT x.* INTO t FROM cudal1.task AS x
			WHERE x.name = coalesce(cudal1_measure_aa.task, x.name) AND x.retired_at IS NULL
				AND x.language = ANY (d.languages) AND x.cores <= d.cores
				AND coalesce(x.device_model, d.model) = d.model AND (x.device IN (d.class, d.model))
			ORDER BY EXISTS (SELECT FROM cudal1.candidate AS k
				JOIN cudal1.measurement AS m USING (candidate_id) WHERE k.task_id = x.task_id
					AND k.purpose = 'reference' AND m.kind = 'evaluate') DESC, x.task_id LIMIT 1;
		CONTINUE WHEN NOT FOUND;
		PERFORM cudal1.enqueue_reference(t) WHERE NOT EXISTS (
			SELECT FROM cudal1.candidate AS k
				WHERE k.task_id = t.task_id AND k.purpose = 'reference');
		n := n + (SELECT count(cudal1.enqueue('evaluate', t, k.candidate_id,
				cudal1_measure_aa.priority, '', device => d.device_key))
			FROM cudal1.candidate AS k WHERE k.task_id = t.task_id AND k.purpose = 'reference');
	END LOOP;
	PERFORM cudal1.wake() WHERE n > 0;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_measure_aa(text, text, int) IS
'queues an A/A measurement, a task''s reference against itself, on every enabled device, or on one;
task NULL: the one measured so before, else the first that the device can measure. Returns the jobs
queued; what waits already is not queued again. The points go into cudal1.aa_chart, and
cudal1_status() names a device that drifts. For cron. Errors: 42704 unknown task or device';

CREATE FUNCTION @extschema@.cudal1_trust_device(device_key text)
RETURNS void LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.check_name('device', device_key);
	UPDATE cudal1.device AS d SET chart_from = clock_timestamp()
		WHERE d.device_key = cudal1_trust_device.device_key;
END;
COMMENT ON FUNCTION @extschema@.cudal1_trust_device(text) IS
'an operator''s word that a device is mended: its control chart begins anew. Error 42704 for an
unknown device';

CREATE VIEW cudal1.drift AS
	SELECT t.name AS task, h.candidate_id, h.measurement_id, h.measured_at,
		h.device_model AS device, h.profile, h.outcome,
		(h.before).reward AS previous_reward, h.reward, (h.before).score AS previous_score, h.score,
		h.score / NULLIF((h.before).score, 0) - 1 AS change,
		CASE WHEN h.outcome = 'successful' THEN h.lower > (h.before).upper
			OR h.upper < (h.before).lower ELSE h.reward = 0 END AS changed,
		h.measured_at - (h.before).measured_at AS after,
		NULLIF(concat_ws(', ',
			CASE WHEN h.environment ->> 'runner'
				IS DISTINCT FROM (h.before).environment ->> 'runner' THEN 'runner' END,
			CASE WHEN h.environment ->> 'driver'
				IS DISTINCT FROM (h.before).environment ->> 'driver' THEN 'driver' END,
			CASE WHEN h.device_id <> (h.before).device_id THEN 'device' END,
			CASE WHEN h.profile <> (h.before).profile THEN 'profile' END), '') AS differs
	FROM (SELECT m.*,
			lag(m) OVER (PARTITION BY m.candidate_id ORDER BY m.measurement_id) AS before
		FROM cudal1.measurement AS m WHERE m.accepted AND m.kind <> 'evaluate') AS h
		JOIN cudal1.task AS t ON t.task_id = h.task_id
	WHERE h.kind = 'reverify' AND (h.before).measured_at IS NOT NULL;
COMMENT ON VIEW cudal1.drift IS
'how scores held: one row for each re-verification that decided, beside the verdict before it';
COMMENT ON COLUMN cudal1.drift.change IS 'score over the score before, minus 1';
COMMENT ON COLUMN cudal1.drift.changed IS
'true where the intervals of the two measurements do not meet, or the candidate failed this time';
COMMENT ON COLUMN cudal1.drift.differs IS
'what was not the same: runner, driver, device, profile; NULL: nothing known';
