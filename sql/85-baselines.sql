/*
 * Baselines: the reference of a PyTorch task as torch.compile or a CUDA graph runs it.
 *
 * A baseline is a candidate whose code is made from the reference, so it is checked and measured as
 * any other. Its purpose keeps it out of exemplars and reports; a report that is asked for one
 * divides by its score. A baseline is known by its code, whatever role asked for it.
 */

CREATE FUNCTION cudal1.baseline_code(t cudal1.task, variant text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT t.reference || format(E'\n\n\n# baseline: %s\nimport torch as _torch\n\n\n', variant)
			|| v.code
		FROM (VALUES
			('compile', $python$class ModelNew(Model):
    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.forward = _torch.compile(self.forward)
$python$),
			('reduce-overhead', $python$class ModelNew(Model):
    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.forward = _torch.compile(self.forward, mode="reduce-overhead")
$python$),
			('cuda-graph', $python$class ModelNew(Model):
    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self._graph = None

    def _capture(self, inputs):
        self._inputs = [x.clone() if isinstance(x, _torch.Tensor) else x for x in inputs]
        # libraries choose and initialise outside of the graph
        stream = _torch.cuda.Stream()
        stream.wait_stream(_torch.cuda.current_stream())
        with _torch.cuda.stream(stream):
            for _ in range(3):
                super().forward(*self._inputs)
        _torch.cuda.current_stream().wait_stream(stream)
        self._graph = _torch.cuda.CUDAGraph()
        with _torch.cuda.graph(self._graph):
            self._outputs = super().forward(*self._inputs)

    def forward(self, *inputs):
        if self._graph is None:
            self._capture(inputs)
        for kept, given in zip(self._inputs, inputs):
            if isinstance(kept, _torch.Tensor):
                kept.copy_(given)
        self._graph.replay()
        return self._outputs
$python$)) AS v (name, code)
		WHERE v.name = variant AND t.language = 'pytorch';
$$;
COMMENT ON FUNCTION cudal1.baseline_code(cudal1.task, text) IS
'the code of a baseline of a PyTorch task; NULL for another variant or language';

CREATE FUNCTION cudal1.check_baseline(baseline text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	names	constant text[] := '{compile,reduce-overhead,cuda-graph}';
BEGIN
	IF baseline IS NULL OR baseline <> ALL (names) THEN
		PERFORM cudal1.does_not_exist('baseline', baseline, names,
			format('Baselines are %s.', array_to_string(names, ', ')));
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_baseline(text) IS 'error 42704 where no baseline has this name';

CREATE FUNCTION cudal1.baseline_score(task_id bigint, baseline text)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
	SET enable_seqscan = off SET jit = off
BEGIN ATOMIC
	SELECT c.score FROM cudal1.task AS t JOIN cudal1.candidate AS c ON c.task_id = t.task_id
		WHERE t.task_id = baseline_score.task_id AND c.state = 'successful'
			AND c.code_hash
				= cudal1.code_hash(cudal1.baseline_code(t, baseline_score.baseline));
END;
COMMENT ON FUNCTION cudal1.baseline_score(bigint, text) IS
'the score of a task''s baseline over its reference; NULL where it was not measured, or failed';

CREATE FUNCTION cudal1.over_baseline(speedup float8, score float8, unrounded boolean)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN score IS NULL THEN speedup
				WHEN unrounded THEN speedup / score
				ELSE cudal1.conservative_round(speedup / score) END;
END;
COMMENT ON FUNCTION cudal1.over_baseline(float8, float8, boolean) IS
'a speedup over the reference as one over a baseline of that score, rounded as rewards are; NULL:
over the reference';

CREATE FUNCTION @extschema@.cudal1_add_baselines(task text,
	variants text[] DEFAULT '{compile,reduce-overhead,cuda-graph}', priority int DEFAULT 0)
RETURNS TABLE (baseline text, candidate_id bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	t		cudal1.task := cudal1.find_task(task);
	variant	text;
	problem	text := cudal1.check_submission('-', '-', cudal1_add_baselines.priority);
BEGIN
	IF problem IS NOT NULL THEN
		PERFORM cudal1.bad_submission(problem);
	END IF;
	IF variants IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'variants must not be null';
	END IF;
	PERFORM cudal1.check_baseline(v.name) FROM unnest(variants) AS v (name);
	IF t.language <> 'pytorch' THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = format('task "%s" is in %s; baselines are made of PyTorch references',
							 t.name, t.language);
	END IF;
	PERFORM cudal1.check_reference(t);
	FOREACH variant IN ARRAY variants LOOP
		IF variant = 'cuda-graph'
			AND (t.device = 'cpu' OR EXISTS (SELECT FROM cudal1.device AS d
											 WHERE d.model = t.device AND d.class = 'cpu')) THEN
			RAISE NOTICE 'task "%" is measured on a CPU, so it has no baseline "cuda-graph"',
				t.name;
			CONTINUE;
		END IF;
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
measured like others, and returns them: compile and reduce-overhead (torch.compile in its default
mode and in that one), cuda-graph (captured at the first call; inputs are copied into it; not on a
CPU). They are neither sampled nor reported; reports divide by the score of the one that their
argument baseline names. Asked for again, they are the same candidates. Errors: 42704 unknown task
or variant, 22023 another language, 55000 the reference is bad, 53400 a quota is used up';
