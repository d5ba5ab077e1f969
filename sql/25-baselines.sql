/*
 * Baselines: the reference of a PyTorch task as torch.compile or a CUDA graph runs it.
 *
 * A baseline is a candidate whose code is made from the reference, so it is checked and measured as
 * any other. Its purpose keeps it out of exemplars and reports; a report that is asked for one
 * divides by its score. A baseline is known by its code, whatever role asked for it.
 *
 * A task's option chooses what its rewards are over. Its jobs then have the baseline's code as
 * their reference, so both are timed side by side, and no score is divided by another. The check of
 * its reference is the baseline as a candidate of the reference itself.
 */

CREATE FUNCTION cudal1.check_baseline(baseline text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	names	constant text[] := cudal1.baselines();
BEGIN
	IF baseline IS NULL OR baseline <> ALL (names) THEN
		PERFORM cudal1.does_not_exist('baseline', baseline, names,
			format('Baselines are %s.', array_to_string(names, ', ')));
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_baseline IS 'error 42704 where no baseline has this name';

CREATE FUNCTION cudal1.lacks_baseline(language text, device text, baseline text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN baseline = 'reference' THEN NULL
				WHEN language <> 'pytorch'
				THEN format('is in %s; baselines are made of PyTorch references', language)
				WHEN baseline = 'cuda-graph' AND (lacks_baseline.device = 'cpu'
					OR EXISTS (SELECT FROM cudal1.device AS d
							   WHERE d.model = lacks_baseline.device AND d.class = 'cpu'))
				THEN 'is measured on a CPU, so it has no baseline "cuda-graph"' END;
$$;
COMMENT ON FUNCTION cudal1.lacks_baseline IS
'why a task in a language on a device can''t have a baseline, as the end of a sentence; NULL: it
can';

CREATE FUNCTION cudal1.baseline_code(t cudal1.task, variant text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT t.reference || format(E'\n\n\n# baseline: %s\nimport torch as _torch\n\n\n', variant)
			|| v.code || E'\n\nModelNew = Model\n'
		FROM (VALUES
			('reference', ''),
			('compile', $python$_initialise = Model.__init__


def _compiled(self, *arguments, **keywords):
    _initialise(self, *arguments, **keywords)
    self.forward = _torch.compile(self.forward)


Model.__init__ = _compiled
$python$),
			('reduce-overhead', $python$_initialise = Model.__init__


def _compiled(self, *arguments, **keywords):
    _initialise(self, *arguments, **keywords)
    self.forward = _torch.compile(self.forward, mode="reduce-overhead")


Model.__init__ = _compiled
$python$),
			('cuda-graph', $python$_forward = Model.forward


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
$python$)) AS v (name, code)
		WHERE v.name = variant AND t.language = 'pytorch';
$$;
COMMENT ON FUNCTION cudal1.baseline_code IS
'the code of a baseline of a PyTorch task, which is a candidate and, with its class Model, a
reference; NULL for another variant or language';

CREATE FUNCTION cudal1.timed_reference(t cudal1.task)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN t.baseline = 'reference' THEN t.reference
				ELSE cudal1.baseline_code(t, t.baseline) END;
$$;
COMMENT ON FUNCTION cudal1.timed_reference IS
'the code that a task''s candidates are timed against, and compared with';

CREATE FUNCTION cudal1.baseline_score(task_id bigint, baseline text, device text)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	SET enable_seqscan = off SET jit = off
BEGIN ATOMIC
	SELECT CASE WHEN t.baseline = baseline_score.baseline THEN 1
				WHEN coalesce(baseline_score.device IN ('cpu', 'cuda', t.device_model), true)
				THEN c.score
				ELSE (SELECT m.score FROM cudal1.measurement AS m
						WHERE m.candidate_id = c.candidate_id AND m.kind = 'evaluate'
							AND m.device_model = baseline_score.device AND m.score > 0
						ORDER BY m.measurement_id DESC LIMIT 1) END
		FROM cudal1.task AS t
			LEFT JOIN cudal1.candidate AS c ON c.task_id = t.task_id AND c.state = 'successful'
				AND c.code_hash
					= cudal1.code_hash(cudal1.baseline_code(t, baseline_score.baseline))
		WHERE t.task_id = baseline_score.task_id;
END;
COMMENT ON FUNCTION cudal1.baseline_score IS
'the score of a task''s baseline over what its rewards are over, which has 1: on the task''s device,
or in the last evaluation on another model; NULL where it was not measured there, or failed';

CREATE FUNCTION @extschema@.cudal1_add_baselines(task text,
	variants text[] DEFAULT NULL, priority int DEFAULT 0)
RETURNS TABLE (baseline text, candidate_id bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task := cudal1.find_task(task);
	variant	text;
	problem	text;
BEGIN
	PERFORM cudal1.demand_submission('-', '-', cudal1_add_baselines.priority);
	PERFORM cudal1.raise_if(t.language <> 'pytorch', '22023',
		format('task "%s" %s', t.name, cudal1.lacks_baseline(t.language, t.device, 'compile')));
	PERFORM cudal1.check_baseline(v.name) FROM unnest(variants) AS v (name);
	PERFORM cudal1.check_reference(t);
	FOREACH variant IN ARRAY coalesce(variants, '{reference,compile,reduce-overhead,cuda-graph}')
	LOOP
		problem := cudal1.lacks_baseline(t.language, t.device, variant);
		IF variant = t.baseline THEN
			problem := CASE WHEN variants IS NOT NULL
				THEN format('has its rewards over baseline "%s", whose score is 1', variant) END;
		END IF;
		IF problem IS NOT NULL THEN
			RAISE NOTICE 'task "%" %', t.name, problem;
		END IF;
		CONTINUE WHEN problem IS NOT NULL OR variant = t.baseline;
		baseline := variant;
		candidate_id := cudal1.accept_submission(t, cudal1.baseline_code(t, variant),
			'baseline: ' || variant, NULL, NULL, NULL, cudal1_add_baselines.priority, NULL, NULL,
			NULL, 'null', cudal1.caller(), 1);
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
divide by the score of the one that their argument baseline names. Asked for again, they are the
same candidates. Errors: 42704 unknown task or variant, 22023 another language, 55000 the reference
is bad, 53400 a quota is used up';
