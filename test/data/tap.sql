-- What tests of pgtap and of some programs share, in schema tap of the database of each: the part of a worker, of a role, and of a model.
CREATE SCHEMA tap;

-- one whole claim of a device: its job, what became of the result, and the candidate's state then; NULL where there is nothing to do
CREATE FUNCTION tap.work(device bigint, result jsonb, OUT job jsonb, OUT candidate_id bigint, OUT kind text, OUT answer text, OUT state text) LANGUAGE plpgsql AS $$
DECLARE
	c		record;
BEGIN
	SELECT * INTO c FROM cudal1.claim(device, 'w');
	job := c.job;
	kind := c.job ->> 'kind';
	candidate_id := c.job #>> '{candidate,candidate_id}';
	answer := cudal1.finish(c.job_id, c.attempt, result);
	state := tap.state(candidate_id);
END
$$;
CREATE FUNCTION tap.state(id bigint) RETURNS text LANGUAGE sql AS
	$$SELECT concat_ws(':', state, failure, reward::text) FROM cudal1.candidate WHERE candidate_id = id$$;
-- a result with this score, or a crash where it is NULL
CREATE FUNCTION tap.scored(score float8) RETURNS jsonb LANGUAGE sql AS
	$$SELECT CASE WHEN score IS NULL THEN '{"outcome": "crash"}' ELSE jsonb_build_object('outcome', 'successful', 'score', score, 'lower', score, 'upper', score) END$$;
-- measures what waits, all with this score; how many there were
CREATE FUNCTION tap.measure(device bigint, score float8, most int DEFAULT 1000) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n		bigint := 0;
BEGIN
	WHILE n < most AND (tap.work(device, tap.scored(score))).kind IS NOT NULL LOOP
		n := n + 1;
	END LOOP;
	RETURN n;
END
$$;

-- measures what waits, each with the result that an expression over its code and its place makes; how many there were
CREATE FUNCTION tap.measure_each(device bigint, result text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	c		record;
	made	jsonb;
	n		bigint := 0;
BEGIN
	LOOP
		SELECT * INTO c FROM cudal1.claim(device, 'w');
		EXIT WHEN NOT FOUND;
		n := n + 1;
		EXECUTE format('SELECT %s FROM (VALUES ($1, $2)) AS v (code, n)', result) INTO made USING c.job #>> '{candidate,code}', n;
		PERFORM cudal1.finish(c.job_id, c.attempt, made);
	END LOOP;
	RETURN n;
END
$$;

-- a code that was decided with this reward, a failed one where it is 0; where no text is given, one of a hash of its own; proposed, where a method is
CREATE FUNCTION tap.decided(task bigint, reward float8, purpose text DEFAULT 'normal', code text DEFAULT NULL, method text DEFAULT NULL, island int DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	id		bigint;
BEGIN
	INSERT INTO cudal1.candidate (task_id, code, code_hash, purpose, state, failure, reward, decided_at)
		VALUES (task, coalesce(code, 'code of ' || reward), sha256(convert_to(coalesce(code, nextval('cudal1.candidate_candidate_id_seq')::text), 'UTF8')), purpose,
			CASE reward WHEN 0 THEN 'failed' ELSE 'successful' END, CASE reward WHEN 0 THEN 'crash' END, reward, now())
		RETURNING candidate_id INTO id;
	INSERT INTO cudal1.proposal (task_id, candidate_id, method, island) SELECT task, id, method, island WHERE method IS NOT NULL;
	PERFORM cudal1.place_candidate(id);
	RETURN id;
END
$$;
-- a task in PyTorch for a CPU
CREATE FUNCTION tap.task(name text, level int, options jsonb DEFAULT '{}') RETURNS bigint LANGUAGE sql AS
	$$SELECT cudal1_add_task(name, 'ref', 'pytorch', NULL, level, options || '{"device": "cpu"}')$$;
-- a code's evaluation on a model, or on that of the only device
CREATE FUNCTION tap.evaluate(candidate bigint, reward float8, outcome text DEFAULT 'successful', model text DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
	INSERT INTO cudal1.measurement (task_id, candidate_id, kind, attempt, device_id, device_model, profile, outcome, score, reward, lower, upper, wide, half_width, detail, code_hash)
		SELECT c.task_id, $1, 'evaluate', 1, d.device_id, d.model, 'paper_eval', $3, $2, $2, $2 - 0.1, $2 + 0.1, coalesce($2 > 0, false), 0.1, 'said ' || $3, c.code_hash
			FROM cudal1.candidate AS c, cudal1.device AS d WHERE c.candidate_id = $1 AND d.model = coalesce($4, d.model)
$$;

-- the first column of the first row that a command gives as a role, or its SQLSTATE; tap.message, tap.detail and tap.hint are the words of the last error
CREATE FUNCTION tap.by(role text, command text, OUT answer text) LANGUAGE plpgsql AS $$
DECLARE
	words	text;
	more	text;
	advice	text;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', role);
	BEGIN
		EXECUTE command INTO answer;
		answer := coalesce(answer, 'NULL');
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS words = MESSAGE_TEXT, more = PG_EXCEPTION_DETAIL, advice = PG_EXCEPTION_HINT;
		answer := SQLSTATE;
		PERFORM set_config('tap.message', words, true), set_config('tap.detail', more, true), set_config('tap.hint', advice, true);
	END;
	RESET ROLE;
END
$$;

-- the answer to a command: its first column, or SQLSTATE, message, detail and hint of its error
CREATE FUNCTION tap.answer(command text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN answer ~ '^[0-9A-Z]{5}$' THEN concat_ws(' ', answer, current_setting('tap.message'), nullif(current_setting('tap.detail'), ''), nullif(current_setting('tap.hint'), '')) ELSE answer END
		FROM tap.by(CURRENT_USER, command)
$$;

-- an answer of a model with this code
CREATE FUNCTION tap.words(code text) RETURNS text LANGUAGE sql AS
	$$SELECT E'## Performance Analysis\n\na\n\n## Algorithm Design\n\nb\n\n## Code Implementation\n\n```python\n' || code || E'\n```\n'$$;
