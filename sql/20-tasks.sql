/*
 * Tasks: a reference, and everything about measuring its candidates that is decided once. What the
 * caller leaves open is resolved when the task is added and stored, so that a later default, or a
 * device plugged in later, changes no reward.
 */

-- stable as convert_to() is: an immutable one would not be inlined
CREATE FUNCTION cudal1.code_hash(code text)
RETURNS bytea LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN sha256(convert_to(code, 'UTF8'));
COMMENT ON FUNCTION cudal1.code_hash IS
'SHA-256 of a text in UTF-8: the identity of a code within its task';

CREATE FUNCTION cudal1.salted_hash(kind text, body text)
RETURNS bytea LANGUAGE sql STABLE STRICT PARALLEL SAFE
RETURN sha256(decode('0000', 'hex') || convert_to(kind, 'UTF8') || decode('00', 'hex')
	|| convert_to(body, 'UTF8'));
COMMENT ON FUNCTION cudal1.salted_hash IS
'the identity of a malformed answer or a reference, which no proposed code has';

CREATE FUNCTION cudal1.nearest(name text, names text[])
RETURNS text LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_nearest';
COMMENT ON FUNCTION cudal1.nearest IS
'a question for the name that a mistyped one may have meant; NULL where none is near';

CREATE FUNCTION cudal1.check_among(subject text, name text, names text[], hint text,
	state text DEFAULT '42704')
RETURNS void LANGUAGE sql STABLE PARALLEL SAFE
-- a near name is looked for where there is an error alone
RETURN CASE WHEN name <> ALL (names)
	THEN cudal1.raise_if(true, state, format('%s "%s" does not exist', subject, left(name, 200)),
		concat_ws(' ', cudal1.nearest(name, names), hint)) END;
COMMENT ON FUNCTION cudal1.check_among IS
'error 42704, or another, for a name that is none of these; the hint says which are near';

CREATE FUNCTION cudal1.check_word(argument text, value text, words text[])
RETURNS void LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT cudal1.raise_if(value IS NULL, '22004', argument || ' must not be null');
	SELECT cudal1.check_among(argument, value, words,
		format('It is one of %s.', array_to_string(words, ', ')), '22023');
END;
COMMENT ON FUNCTION cudal1.check_word IS
'error 22023 for an argument that is none of these words, 22004 where it is null';

CREATE FUNCTION cudal1.check_name(subject text, name text)
RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
	names	constant text[] := CASE subject
		WHEN 'baseline' THEN cudal1.baselines()
		WHEN 'campaign' THEN ARRAY(SELECT x.name FROM cudal1.campaign AS x ORDER BY 1)
		WHEN 'device' THEN ARRAY(SELECT x.device_key FROM cudal1.device AS x ORDER BY 1)
		WHEN 'method' THEN ARRAY(SELECT x.method FROM cudal1.proposal AS x
			UNION SELECT x.method FROM cudal1.campaign_lane AS x
			UNION SELECT unnest('{manual,model,contrastive}'::text[]) ORDER BY 1)
		WHEN 'model' THEN ARRAY(SELECT x.name FROM cudal1.model AS x ORDER BY 1)
		WHEN 'pool' THEN ARRAY(SELECT x.name FROM cudal1.pool AS x ORDER BY 1)
		WHEN 'profile' THEN ARRAY(SELECT x.name FROM cudal1.profile AS x ORDER BY 1)
		WHEN 'role' THEN ARRAY(SELECT x.rolname::text FROM pg_roles AS x ORDER BY 1)
		WHEN 'task' THEN ARRAY(SELECT x.name FROM cudal1.task AS x ORDER BY 1)
		WHEN 'template' THEN ARRAY(SELECT x.name FROM cudal1.prompt_template AS x ORDER BY 1) END;
	-- not in the statement that raises, which the error's context repeats
	hint	constant text := CASE subject
		WHEN 'baseline' THEN format('Baselines are %s.', array_to_string(names, ', '))
		WHEN 'campaign' THEN 'cudal1.campaign_progress lists the campaigns.'
		WHEN 'device' THEN 'cudal1.device lists the devices.'
		WHEN 'method' THEN 'cudal1.stat_method lists the methods with proposals.'
		WHEN 'model' THEN
			'cudal1.model lists the models; an operator adds one with cudal1_add_model().'
		WHEN 'pool' THEN 'Open it with cudal1_open_pool(); cudal1.pool lists those that exist.'
		WHEN 'profile' THEN format('Profiles are %s.', array_to_string(names, ', '))
		WHEN 'role' THEN 'CREATE ROLE makes it.'
		WHEN 'task' THEN 'Add it with cudal1_add_task(); cudal1.task lists those that exist.'
		WHEN 'template' THEN 'cudal1.prompt_template lists the templates.' END;
BEGIN
	PERFORM cudal1.raise_if(name IS NULL, '22004', subject || ' must not be null');
	PERFORM cudal1.check_among(subject, name, names, hint);
END
$$;
COMMENT ON FUNCTION cudal1.check_name IS
'error 42704 where nothing of that kind (task, model, ...) has this name';

CREATE FUNCTION cudal1.check_device(device text)
RETURNS void LANGUAGE sql STABLE PARALLEL SAFE
RETURN cudal1.check_among('device', device, cudal1.classes() || ARRAY(SELECT DISTINCT n
		FROM cudal1.device AS d, unnest(ARRAY[d.model, d.device_key]) AS n ORDER BY n),
	format('Name a class (%s), or a model or device_key in cudal1.device.',
		array_to_string(cudal1.classes(), ', ')));
COMMENT ON FUNCTION cudal1.check_device IS
'error 42704 for a device that is no class, and no model or key of a registered one';

CREATE FUNCTION cudal1.find_task(task text, own boolean DEFAULT false)
RETURNS cudal1.task LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
	t		cudal1.task;
BEGIN
	PERFORM cudal1.raise_if(task IS NULL, '22004', 'task must not be null');
	SELECT * INTO t FROM cudal1.task AS x WHERE x.name = find_task.task;
	PERFORM cudal1.check_name('task', task) WHERE NOT FOUND;
	PERFORM cudal1.check_owner(format('task "%s"', t.name), t.created_by) WHERE own;
	PERFORM cudal1.raise_if(t.retired_at IS NOT NULL AND NOT own, '42704',
		format('task "%s" is retired', t.name), 'cudal1_restore_task() brings it back.',
		format('Role "%s" retired it: %s', t.retired_by, t.retired_reason));
	RETURN t;
END
$$;
COMMENT ON FUNCTION cudal1.find_task IS
'the task of a name, which is not retired; own: one of the caller''s, retired or not';

CREATE FUNCTION cudal1.weakness(t cudal1.task)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN t.certified = 'weak' THEN format('task "%s" is weak: code that does none of its '
	'work passes (%s)', t.name, t.certified_detail) END;
COMMENT ON FUNCTION cudal1.weakness IS
'why a task''s rewards mean little; NULL where it is not weak, or not certified';

CREATE FUNCTION cudal1.reference_problem(t cudal1.task)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE		-- as format() is: else PostgreSQL would not inline it
RETURN CASE WHEN t.reference_state = 'bad'
			THEN format('the reference of task "%s" cannot be measured: %s', t.name,
				t.reference_detail)
		WHEN t.options ->> 'weak' = 'refuse' THEN cudal1.weakness(t) END;
COMMENT ON FUNCTION cudal1.reference_problem IS
'why nothing can be submitted to a task: bad, or weak where it refuses that; NULL: it can';

CREATE FUNCTION cudal1.check_reference(t cudal1.task)
RETURNS void LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE t.reference_state WHEN 'bad'
	THEN cudal1.raise_if(true, '55000',
		format('the reference of task "%s" cannot be measured', t.name),
		'Add a mended reference as another task; cudal1_check_reference() has this one checked '
			'again.', t.reference_detail)
	ELSE cudal1.raise_if(cudal1.reference_problem(t) IS NOT NULL, '55000',
		cudal1.reference_problem(t), 'Add it with other inputs or tolerances as another task.') END;
COMMENT ON FUNCTION cudal1.check_reference IS
'error 55000 where nothing can be submitted to a task, see cudal1.reference_problem()';

CREATE FUNCTION cudal1.check_number(argument text, value float8, low float8, high float8)
RETURNS void LANGUAGE sql STABLE PARALLEL SAFE
RETURN cudal1.raise_if(value IS NULL OR NOT (value >= low AND value <= high),
	CASE WHEN value IS NULL THEN '22004' ELSE '22023' END,
	format('argument "%s" must lie between %s and %s', argument, low, high));
COMMENT ON FUNCTION cudal1.check_number IS 'error 22004 or 22023 for a number that is out of range';

CREATE FUNCTION cudal1.check_label(name text)
RETURNS void LANGUAGE sql STABLE PARALLEL SAFE
RETURN cudal1.raise_if(cudal1.is_name(name, 100) IS NOT TRUE, '22023',
	'name must be a text of 1 to 100 characters, not blank');
COMMENT ON FUNCTION cudal1.check_label IS
'error 22023 for a name that is null, blank, too long or has control characters';

CREATE FUNCTION cudal1.check_ids(argument text, ids bigint[])
RETURNS void LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN cudal1.raise_if(ids IS NULL OR num_nulls(VARIADIC ids) > 0, '22004',
	format(CASE WHEN ids IS NULL OR argument NOT LIKE '%s' THEN '%s must not be null'
		ELSE '%s must not contain nulls' END, argument));
COMMENT ON FUNCTION cudal1.check_ids IS
'error 22004 where an argument that names rows is null or contains nulls';

CREATE FUNCTION cudal1.check_candidates(ids bigint[], argument text DEFAULT 'candidate_ids')
RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
	PERFORM cudal1.check_ids(argument, ids);
	PERFORM cudal1.raise_if(true, '42704', format('candidate %s does not exist', u.id),
			'Ids come from cudal1_submit(); cudal1.candidate lists them.')
		FROM unnest(ids) AS u (id)
		WHERE NOT EXISTS (SELECT FROM cudal1.candidate AS c WHERE c.candidate_id = u.id);
END
$$;
COMMENT ON FUNCTION cudal1.check_candidates IS
'error 42704 where one of these does not exist, 22004 where one is null';

CREATE FUNCTION cudal1.is_served(last_seen timestamptz)
RETURNS boolean LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN last_seen > clock_timestamp() - '2 minutes'::interval;
COMMENT ON FUNCTION cudal1.is_served IS
'whether a worker or an agent serves a device, which it shows once a minute';

CREATE FUNCTION cudal1.warn_no_device(t cudal1.task, device text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
	wanted	text := coalesce(device, t.device_model, t.device);
	seen	timestamptz;
BEGIN
	SELECT max(d.last_seen) INTO seen FROM cudal1.device AS d
		WHERE d.enabled AND wanted IN (d.class, d.model, d.device_key)
			AND t.language = ANY (d.languages) AND d.cores >= t.cores;
	IF seen IS NULL OR NOT cudal1.is_served(seen) THEN
		RAISE NOTICE USING MESSAGE = format('no device can measure task "%s" now', t.name),
			DETAIL = CASE WHEN seen IS NULL
				THEN format('It needs an enabled device "%s" with language %s and %s core(s).',
					wanted, t.language, t.cores)
				ELSE format('The last device "%s" with language %s was served %s ago.', wanted,
					t.language, cudal1.ago(seen)) END,
			HINT = 'Its candidates wait in the queue; cudal1_status() says what is missing.';
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.warn_no_device IS
'a NOTICE where no enabled device of a class, model or key (NULL: the task''s) is served';

CREATE FUNCTION @extschema@.cudal1_add_task(task text, reference text, language text,
	signature jsonb DEFAULT NULL, level int DEFAULT NULL, options jsonb DEFAULT '{}')
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	t		cudal1.task;
	class	text;
	facts	record;
BEGIN
	signature := nullif(signature, 'null');
	PERFORM cudal1.raise_if(a.missing, '22004', a.argument || ' must not be null')
		FROM (VALUES ('options', options IS NULL), ('task', task IS NULL),
			('reference', reference IS NULL)) AS a (argument, missing);
	PERFORM cudal1.raise_if(octet_length(task) > 1000 OR NOT cudal1.is_name(task, 1000), '22023',
		'task must be a name of 1 to 1000 bytes without control characters');
	PERFORM cudal1.raise_if(octet_length(reference) > 1048576, '54000',
		'reference must not be longer than 1 MiB');
	PERFORM cudal1.raise_if(NOT cudal1.matches(reference, '[^[:space:]]', 1048576), '22023',
		'reference must not be empty');
	PERFORM cudal1.check_word('language', language, cudal1.languages());
	SELECT f.* INTO facts FROM cudal1.language_facts() AS f
		WHERE f.language = cudal1_add_task.language;
	PERFORM cudal1.raise_if((facts.declaration IS NULL) <> (signature IS NULL), '22023',
		format('signature must %sbe null for language %s', CASE WHEN signature IS NULL THEN 'not '
			END, language), CASE WHEN signature IS NULL
			THEN 'For instance {"entry": "solve", "args": [{"name": "x", "dtype": "float32", '
				'"shape": [1024], "role": "inout"}]}.'
			ELSE 'The shapes of a PyTorch task come from get_inputs() of its reference.' END);
	PERFORM cudal1.raise_if(level < 0, '22023', 'level must not be negative');
	t.name := task;
	t.language := language;
	t.level := level;
	t.reference := replace(reference, E'\r\n', E'\n');
	-- in a database without an encoding any bytes may come, which no job document could hold
	PERFORM convert_from(convert_to(concat(task, reference, signature, options), 'UTF8'), 'UTF8');
	t.content_hash :=
		sha256(convert_to(jsonb_build_array(language, t.reference, signature, level, options)::text,
		'UTF8'));
	t.signature := CASE WHEN signature IS NOT NULL THEN cudal1.check_signature(signature) END;

	-- options have the names of columns
	t := jsonb_populate_record(t, cudal1.check_options(options, 'task'));
	PERFORM cudal1.check_name('profile', t.profile);
	-- the option goes before the signature's member of the same name
	t.rtol := coalesce(t.rtol, cudal1.json_float(t.signature -> 'rtol', 0, 1e9));
	t.atol := coalesce(t.atol, cudal1.json_float(t.signature -> 'atol', 0, 1e9));
	PERFORM cudal1.raise_if(NOT cudal1.matches(t.device, '[^[:space:]]', 200), '22023',
		format('option "device" must be a device class (%s) or a device model',
			array_to_string(cudal1.classes(), ' or ')));
	class := CASE WHEN t.device = ANY (cudal1.classes()) THEN t.device
		ELSE (SELECT d.class FROM cudal1.device AS d WHERE d.model = t.device LIMIT 1) END;
	PERFORM cudal1.raise_if(class <> facts.class, '22023',
		format('option "device" must be of class %s for language %s', facts.class, language));
	t.device := coalesce(t.device, facts.class,
		CASE WHEN EXISTS (SELECT FROM cudal1.device AS d
			WHERE d.class = 'cuda' AND d.enabled AND t.language = ANY (d.languages)) THEN 'cuda'
		ELSE 'cpu' END);
	PERFORM cudal1.check_name('baseline', t.baseline);
	PERFORM cudal1.raise_if(p IS NOT NULL, '22023', format('task "%s" %s', task, p))
		FROM cudal1.lacks_baseline(language, t.device, t.baseline) AS p;
	t.options := options;
	t.reference_state := 'unchecked';
	t.created_at := now();
	t.created_by := cudal1.caller();
	t.task_id := nextval('cudal1.task_task_id_seq');
	INSERT INTO cudal1.task VALUES (t.*) ON CONFLICT (name) DO NOTHING;
	IF NOT FOUND THEN
		PERFORM cudal1.raise_if(x.content_hash <> t.content_hash, '23505',
				format('task "%s" exists with other content: %s', t.name,
					(SELECT coalesce(string_agg(u.part, ', ') FILTER (WHERE u.differs), 'signature')
						FROM (VALUES ('reference', x.reference <> t.reference),
							('language', x.language <> t.language),
							('signature', x.signature IS DISTINCT FROM t.signature),
							('level', x.level IS DISTINCT FROM t.level),
							('options', x.options <> t.options)) AS u (part, differs))),
				'Add the new version under another name.',
				'A task''s reference, language, signature, level and options never change.')
			FROM cudal1.task AS x WHERE x.name = t.name;
		SELECT x.* INTO STRICT t FROM cudal1.task AS x WHERE x.name = t.name;
		IF t.retired_at IS NOT NULL THEN
			RAISE NOTICE USING MESSAGE = format('task "%s" is retired', t.name),
				HINT = 'cudal1_restore_task() brings it back.';
		ELSIF coalesce(cudal1.reference_problem(t), cudal1.weakness(t)) IS NOT NULL THEN
			RAISE NOTICE '%', coalesce(cudal1.reference_problem(t), cudal1.weakness(t));
		END IF;
	ELSE
		PERFORM cudal1.store(cudal1.caller(), 1024 + octet_length(t.reference));
		-- a device that has nothing to do checks the reference
		PERFORM cudal1.wake();
		PERFORM cudal1.enqueue_reference(t)
			WHERE t.baseline <> 'reference' OR (options ->> 'certify')::boolean;
		IF signature IS NULL AND NOT cudal1.matches(t.reference, '\mModel\M', 1048576) THEN
			RAISE NOTICE USING
				MESSAGE = format('reference of task "%s" defines no class Model', t.name),
				HINT = 'It will be found bad. A reference defines Model and get_inputs, as '
					'KernelBench''s do.';
		END IF;
	END IF;
	RETURN t.task_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_task(text, text, text, jsonb, int, jsonb) IS
'adds a task and returns its id; the same content again returns the same id, other content under
the name is a unique violation. Its reference is checked by the next device that has nothing to do,
or by the first measurement (cudal1.task.reference_state; cudal1_check_reference()).
language: one of cudal1.languages(), for instance pytorch. signature: NULL for a module of Python,
else {"entry", "args": [{"name", "dtype", "shape", "role", "init", "low", "high", "value"}], "rtol",
"atol"}.
options: profile (default), device (class or model; default: the class of the language''s devices,
of both classes cuda if one is registered), cores (1; devices of workers and agents have one),
bucket_width (0.25), temperature (1), score_scale (linear; log), strategy (bucket; island, random),
weak (pay; refuse: nothing is measured once code passes that does no work), probes (of centre,
scale, outliers, zeros, rows, held, near and parameters, those that the task rules out: {"scale":
false}), baseline (what rewards are over: reference, or compile, reduce-overhead, cuda-graph of a
PyTorch task; see cudal1_add_baselines()), rtol, atol (NULL: of each dtype), problem (number within
the level), certify (true: queues its check at once, false: it is checked only when that is asked
for, else as the setting cudal1.certify says), islands (10), island_reset (1000), island_temperature
(0.1), island_period (30000), island_rule (funsearch; cuda-l1)';

/*
 * Mistakes taken back. Nothing is deleted: a retired task keeps its history, a withdrawn candidate
 * its measurements.
 */

CREATE FUNCTION cudal1.stop_jobs(job_ids bigint[], detail text, unwanted boolean DEFAULT false)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	j		cudal1.job;
	n		bigint := 0;
BEGIN
	FOR j IN
		SELECT x.* FROM cudal1.job AS x
			WHERE x.job_id = ANY (job_ids) AND NOT x.cancel_requested
			ORDER BY x.candidate_id, x.job_id
			FOR UPDATE
	LOOP
		-- a code may have been proposed again while this waited for the job
		CONTINUE WHEN unwanted AND EXISTS (SELECT FROM cudal1.proposal AS p
			WHERE p.candidate_id = j.candidate_id AND p.wanted);
		IF j.state = 'running' THEN
			UPDATE cudal1.job AS x SET cancel_requested = true WHERE x.job_id = j.job_id;
		ELSE
			PERFORM cudal1.end_job(j, 'cancelled', NULL, detail);
		END IF;
		n := n + 1;
	END LOOP;
	PERFORM cudal1.wake();
	PERFORM cudal1.wake_waiters();
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.stop_jobs IS
'ends jobs, running ones when their worker has stopped; their number. unwanted: of no wanted code';

CREATE FUNCTION cudal1.check_reason(reason text)
RETURNS void LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN cudal1.raise_if(NOT coalesce(cudal1.matches(reason, '[^[:space:]]', 1900), false),
	CASE WHEN reason IS NULL THEN '22004' ELSE '22023' END,
	CASE WHEN reason IS NULL THEN 'reason must not be null'
		ELSE 'reason must be a text of 1 to 1900 bytes' END);
COMMENT ON FUNCTION cudal1.check_reason IS
'error 22004 or 22023 for a reason that says nothing, or too much';

CREATE FUNCTION @extschema@.cudal1_retire_task(task text, reason text)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	t		cudal1.task := cudal1.find_task(task, true);
BEGIN
	PERFORM cudal1.check_reason(reason);
	-- jobs are locked before tasks, as everywhere
	PERFORM cudal1.stop_jobs(ARRAY(SELECT x.job_id FROM cudal1.job AS x
		WHERE x.task_id = t.task_id), 'the task is retired: ' || reason);
	UPDATE cudal1.task AS x SET retired_at = clock_timestamp(), retired_by = cudal1.caller(),
		retired_reason = reason
		WHERE x.task_id = t.task_id;
	-- their answers could become no candidates
	PERFORM cudal1.stop_requests(ARRAY(SELECT r.request_id FROM cudal1.request AS r
		JOIN cudal1.prompt AS p USING (prompt_id)
		WHERE r.state IN ('queued', 'running') AND p.task_id = t.task_id));
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_retire_task(text, text) IS
'takes a task out of draws, prompts, submissions, campaigns, data sets, the queue and reports, with
a reason; its candidates and measurements stay. What waits is discarded, what runs is stopped, and
requests for its prompts are cancelled. For the role that added it and operators. The name stays
taken; cudal1_restore_task() takes it back. Errors: 42704 unknown task, 42501 another role''s,
22004 and 22023 no reason';

CREATE FUNCTION @extschema@.cudal1_restore_task(task text)
RETURNS void LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
BEGIN ATOMIC
	UPDATE cudal1.task AS x SET retired_at = NULL, retired_by = NULL, retired_reason = NULL
		FROM cudal1.find_task(task, true) AS t
		WHERE x.task_id = t.task_id AND x.retired_at IS NOT NULL;
END;
COMMENT ON FUNCTION @extschema@.cudal1_restore_task(text) IS
'brings a retired task back; codes that were discarded as it was retired are measured when they are
submitted again. Errors: 42704 unknown task, 42501 another role''s';

CREATE FUNCTION @extschema@.cudal1_withdraw(candidate_id bigint, reason text)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
BEGIN
	PERFORM cudal1.check_candidates(ARRAY[candidate_id], 'candidate_id');
	PERFORM cudal1.check_reason(reason);
	PERFORM cudal1.stop_jobs(ARRAY(SELECT x.job_id FROM cudal1.job AS x
		WHERE x.candidate_id = cudal1_withdraw.candidate_id), 'withdrawn');
	PERFORM cudal1.give_verdict(w.c, 'withdrawn', (w.c).measurement_id,
			'withdrawn by an operator: ' || reason)
		FROM (SELECT x AS c FROM cudal1.candidate AS x
			WHERE x.candidate_id = cudal1_withdraw.candidate_id FOR NO KEY UPDATE) AS w;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_withdraw(bigint, text) IS
'an operator''s verdict on a code that should not have counted: the candidate has failed (reward 0,
failure withdrawn, the reason in detail), leaves buckets, islands and reports, its evaluations
included, and is not measured again when it is proposed again. Its measurements stay. Operators
only. Errors: 42704 unknown candidate, 22004 and 22023 no reason';

/*
 * Baselines: the reference of a PyTorch task as torch.compile or a CUDA graph runs it.
 *
 * A baseline is a candidate whose code is made from the reference, and by which it is known. Its
 * purpose keeps it out of exemplars and reports; a report that is asked for one divides by it.
 *
 * A task's option chooses what its rewards are over. Its jobs then have the baseline's code as
 * their reference, so both are timed side by side, and no score is divided by another. The check of
 * its reference is the baseline as a candidate of the reference itself.
 */

CREATE FUNCTION cudal1.lacks_baseline(language text, device text, baseline text)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN baseline = 'reference' THEN NULL
	WHEN language <> 'pytorch'
		THEN format('is in %s; baselines are made of PyTorch references', language)
	WHEN baseline = 'cuda-graph' AND (lacks_baseline.device = 'cpu'
			OR EXISTS (SELECT FROM cudal1.device AS d
				WHERE d.model = lacks_baseline.device AND d.class = 'cpu'))
		THEN 'is measured on a CPU, so it has no baseline "cuda-graph"' END;
COMMENT ON FUNCTION cudal1.lacks_baseline IS
'why a task can''t have a baseline, as the end of a sentence; NULL: it can';

CREATE FUNCTION cudal1.baseline_code(t cudal1.task, variant text)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
	SELECT t.reference || format(E'\n\n\n# baseline: %s\nimport torch as _torch\n\n\n', variant)
			|| CASE variant WHEN 'reference' THEN ''
				WHEN 'cuda-graph' THEN $python$_forward = Model.forward


def _capture(self, inputs):
    self._inputs = [x.clone() if isinstance(x, _torch.Tensor) else x for x in inputs]
    # libraries choose and initialise outside of the graph
    stream = _torch.cuda.Stream()
    stream.wait_stream(_torch.cuda.current_stream())
    with _torch.cuda.stream(stream):
        for _ in range(3):
            _forward(self, *self._inputs)
    _torch.cuda.current_stream().wait_stream(stream)
    graph = _torch.cuda.CUDAGraph()
    with _torch.cuda.graph(graph):
        self._outputs = _forward(self, *self._inputs)
    self._graph = graph


def _replay(self, *inputs):
    if not hasattr(self, "_graph"):
        _capture(self, inputs)
    for kept, given in zip(self._inputs, inputs):
        if isinstance(kept, _torch.Tensor):
            kept.copy_(given)
    self._graph.replay()
    return self._outputs


Model.forward = _replay
$python$ ELSE format($python$_initialise = Model.__init__


def _compiled(self, *arguments, **keywords):
    _initialise(self, *arguments, **keywords)
    self.forward = _torch.compile(self.forward%s)


Model.__init__ = _compiled
$python$, CASE variant WHEN 'reduce-overhead' THEN ', mode="reduce-overhead"' ELSE '' END) END
			|| E'\n\nModelNew = Model\n'
		WHERE variant = ANY (cudal1.baselines()) AND t.language = 'pytorch';
$$;
COMMENT ON FUNCTION cudal1.baseline_code IS
'the code of a baseline of a PyTorch task: a candidate and a reference; NULL: none';

CREATE FUNCTION cudal1.baseline_score(task_id bigint, baseline text, device text)
RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT CASE WHEN t.baseline = baseline_score.baseline THEN 1
			WHEN coalesce(baseline_score.device = ANY (cudal1.classes()), true)
				OR baseline_score.device = coalesce(c.import_device, t.device_model)
			THEN c.score
			ELSE (SELECT m.score FROM cudal1.measurement AS m
				WHERE m.candidate_id = c.candidate_id AND m.kind = 'evaluate'
					AND m.device_model = baseline_score.device AND m.score > 0
				ORDER BY m.measurement_id DESC LIMIT 1) END
	FROM cudal1.task AS t
		LEFT JOIN cudal1.candidate AS c ON c.task_id = t.task_id AND c.state = 'successful'
			AND c.code_hash = cudal1.code_hash(cudal1.baseline_code(t, baseline_score.baseline))
	WHERE t.task_id = baseline_score.task_id);
COMMENT ON FUNCTION cudal1.baseline_score IS
'the score of a baseline over what a task''s rewards are over: on the task''s device (NULL or a
class), or in the last evaluation on another model; NULL: none there';

CREATE FUNCTION @extschema@.cudal1_add_baselines(task text,
	variants text[] DEFAULT NULL, priority int DEFAULT 0)
RETURNS TABLE (baseline text, candidate_id bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	t		cudal1.task := cudal1.find_task(task);
	variant	text;
	problem	text;
BEGIN
	PERFORM cudal1.demand_submission('-', '-', priority);
	PERFORM cudal1.raise_if(t.language <> 'pytorch', '22023',
		format('task "%s" %s', t.name, cudal1.lacks_baseline(t.language, t.device, 'compile')));
	PERFORM cudal1.check_name('baseline', v.name) FROM unnest(variants) AS v (name);
	PERFORM cudal1.check_reference(t);
	FOREACH variant IN ARRAY coalesce(variants, cudal1.baselines()) LOOP
		problem := CASE WHEN variant <> t.baseline
				THEN cudal1.lacks_baseline(t.language, t.device, variant)
			WHEN variants IS NOT NULL
				THEN format('has its rewards over baseline "%s", whose score is 1', variant) END;
		IF problem IS NOT NULL THEN
			RAISE NOTICE 'task "%" %', t.name, problem;
		END IF;
		CONTINUE WHEN problem IS NOT NULL OR variant = t.baseline;
		baseline := variant;
		candidate_id := cudal1.accept_submission(cudal1.row_of(t.task_id,
			cudal1.baseline_code(t, variant), NULL, NULL, (cudal1.caller(), 1,
				'baseline: ' || variant, priority, NULL, 'null', NULL, NULL, NULL, NULL, NULL)));
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_baselines(text, text[], int) IS
'queues baselines of a PyTorch task, made from its reference, as candidates that are checked and
measured like others, and returns them: reference (as it is), compile and reduce-overhead
(torch.compile in its default mode and in that one), cuda-graph (captured at the first call; inputs
are copied into it; not on a CPU). variants: NULL for all. The one that the task''s rewards are over
(option baseline of cudal1_add_task()) is left out. They are neither sampled nor reported; reports
divide by the score of the one that their argument baseline names. Errors: 42704 unknown task or
variant, 22023 another language, 55000 the reference is bad, 53400 a quota is used up';
