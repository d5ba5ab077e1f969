/*
 * Submissions. A code is a candidate once, however often it is proposed: the unique index on (task,
 * hash) arbitrates between sessions, as does the one on (role, task, group, key) for idempotency
 * keys; nothing else is locked. What inserts many rows inserts them in the order of these indexes,
 * so that two batches wait for each other in one direction only.
 *
 * Plans that a session cached while the tables were small would scan them when they are large.
 * Most functions make theirs anew (plan_cache_mode = force_custom_plan). Where that would take half
 * as long as the rest, enable_seqscan is off, and jit with it: a disabled path adds 1e10 to the
 * cost, which would start the JIT compiler.
 */

CREATE FUNCTION cudal1.enqueue(kind text, t cudal1.task, candidate_id bigint, priority int,
	owner text, profile text DEFAULT NULL, device text DEFAULT NULL,
	deadline timestamptz DEFAULT NULL, first_measurement bigint DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	id		bigint;
BEGIN
	profile := coalesce(profile, t.profile);
	device := coalesce(device, t.device_model, t.device);
	INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language, priority,
			deadline, trainer, first_measurement)
		VALUES (enqueue.kind, t.task_id, enqueue.candidate_id, enqueue.profile, enqueue.device,
				t.cores, t.language, enqueue.priority, enqueue.deadline, enqueue.owner,
				enqueue.first_measurement)
		ON CONFLICT DO NOTHING RETURNING job_id INTO id;
	IF id IS NULL AND kind = 'evaluate' THEN
		-- one that is being withdrawn is wanted again
		UPDATE cudal1.job AS j SET cancel_requested = false
			WHERE j.candidate_id = enqueue.candidate_id AND j.kind = 'evaluate'
				AND j.profile = enqueue.profile AND j.device = enqueue.device
				AND j.cancel_requested
			RETURNING j.job_id INTO id;
	END IF;
	RETURN id;
END
$$;
COMMENT ON FUNCTION cudal1.enqueue IS
'queues a job in the turn and quota of a role (empty: none), by a profile and on a device (NULL: the
task''s); NULL where it is queued already';

CREATE FUNCTION cudal1.restore_code(candidate_id bigint, code text)
RETURNS void LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	WITH restored AS (
		UPDATE cudal1.candidate AS c SET code = restore_code.code
			WHERE c.candidate_id = restore_code.candidate_id AND c.code = ''
				AND restore_code.code <> ''
			RETURNING c.candidate_id)
	-- cudal1_prune() has taken its bytes off
	INSERT INTO cudal1.stored (role, bytes)
		SELECT p.created_by, octet_length(restore_code.code)
			FROM restored AS r JOIN cudal1.proposal AS p USING (candidate_id)
			ORDER BY p.proposal_id LIMIT 1;
END;
COMMENT ON FUNCTION cudal1.restore_code IS
'gives a locked candidate the code back that cudal1_prune() took';

CREATE FUNCTION cudal1.propose_again(t cudal1.task, candidate_id bigint, priority int,
	deadline timestamptz, owner text)
RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	c		record;
BEGIN
	SELECT x.state, x.imported INTO c FROM cudal1.candidate AS x
		WHERE x.candidate_id = propose_again.candidate_id;
	IF c.state IN ('queued', 'measuring', 'verifying')
		OR c.imported AND EXISTS (SELECT FROM cudal1.job AS j
								  WHERE j.candidate_id = propose_again.candidate_id
									  AND j.kind IN ('measure', 'verify')) THEN
		-- Jobs of other roles are not locked, because their work would wait for this transaction. A
		-- job that a worker runs is changed only to take its cancelling back.
		UPDATE cudal1.job AS j
			SET cancel_requested = false, priority = greatest(j.priority, propose_again.priority),
				-- no deadline is later than any
				deadline = CASE WHEN num_nulls(j.deadline, propose_again.deadline) = 0
								THEN greatest(j.deadline, propose_again.deadline) END
			WHERE j.candidate_id = propose_again.candidate_id AND j.kind IN ('measure', 'verify')
				AND j.trainer = propose_again.owner
				AND (j.cancel_requested
					 OR j.state = 'queued'
						AND (j.priority < propose_again.priority
							 OR j.deadline < coalesce(propose_again.deadline, 'infinity')));
		-- The job's device may still be the class of a task that is pinned to a model by now. A
		-- role that has used up its quota waits for the jobs of other roles.
		IF NOT EXISTS (SELECT FROM cudal1.job AS j
						WHERE j.candidate_id = propose_again.candidate_id
							AND j.kind IN ('measure', 'verify') AND j.trainer = propose_again.owner)
			-- in the same snapshot: a verdict since the look above has removed the role's job
			AND EXISTS (SELECT FROM cudal1.candidate AS x
				WHERE x.candidate_id = propose_again.candidate_id
					AND (x.state IN ('queued', 'measuring', 'verifying') OR x.imported))
			AND (SELECT r.candidates > 0 FROM cudal1.room_of(propose_again.owner) AS r) THEN
			PERFORM cudal1.enqueue('measure', t, candidate_id, priority, owner,
				deadline => deadline);
		END IF;
		-- Its other proposers may have cancelled it in the meantime. Now it is wanted again.
		SELECT x.state, x.imported INTO c FROM cudal1.candidate AS x
			WHERE x.candidate_id = propose_again.candidate_id;
		IF c.state <> 'discarded' THEN
			RETURN false;
		END IF;
	END IF;
	IF c.state = 'discarded' OR c.imported THEN
		SELECT x.state, x.imported INTO c FROM cudal1.candidate AS x
			WHERE x.candidate_id = propose_again.candidate_id FOR NO KEY UPDATE;
		IF c.state = 'discarded' THEN
			UPDATE cudal1.candidate AS x
				SET state = 'queued', failure = NULL, detail = NULL, score = NULL,
					decided_at = NULL, measurement_id = NULL, import_device = NULL
				WHERE x.candidate_id = propose_again.candidate_id;
		ELSIF NOT c.imported
			-- another session was faster
			OR EXISTS (SELECT FROM cudal1.job AS j
					   WHERE j.candidate_id = propose_again.candidate_id
						   AND j.kind IN ('measure', 'verify')) THEN
			RETURN false;
		END IF;
		PERFORM cudal1.enqueue('measure', t, candidate_id, priority, owner, deadline => deadline);
		RETURN true;
	END IF;
	RETURN false;
END
$$;
COMMENT ON FUNCTION cudal1.propose_again IS
'what a proposal does to a candidate that exists: true where that is queued anew; for one that waits
the role gets a job, or its job becomes as urgent as the proposal';

CREATE FUNCTION cudal1.check_submission(code text, method text, priority int,
	group_key text DEFAULT NULL, proposal_key text DEFAULT NULL)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN code IS NULL THEN 'code must not be null'
	WHEN method IS NULL THEN 'method must not be null'
	WHEN priority IS NULL THEN 'priority must not be null'
	WHEN octet_length(code) > 1048576 THEN 'code must not be longer than 1 MiB'
	-- A regular expression over a whole code costs more than the rest of a submission. The
	-- beginning nearly always suffices.
	WHEN NOT cudal1.matches(left(code, 64), '[^[:space:]]', 256)
		AND NOT cudal1.matches(code, '[^[:space:]]', 1048576) THEN 'code must not be empty'
	WHEN octet_length(method) > 200 OR NOT cudal1.is_name(method, 200)
		THEN 'method must be a name of 1 to 200 bytes without control characters'
	WHEN priority NOT BETWEEN -1000000000 AND 1000000000
		THEN 'priority must lie between -1000000000 and 1000000000'
	-- an index holds both
	WHEN coalesce(octet_length(group_key), 0) + coalesce(octet_length(proposal_key), 0) > 1000
		THEN 'group_key and proposal_key must not be longer than 1000 bytes together' END;
COMMENT ON FUNCTION cudal1.check_submission IS 'what is wrong with a submission, or NULL';

CREATE FUNCTION cudal1.proposed_by_key(task_id bigint, owner text, pool_id int, group_key text,
	proposal_key text)
RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
	RETURN (SELECT x.candidate_id FROM cudal1.proposal AS x
		WHERE x.created_by = proposed_by_key.owner AND x.task_id = proposed_by_key.task_id
			AND x.pool_id = proposed_by_key.pool_id
			AND coalesce(x.group_key, '') = coalesce(proposed_by_key.group_key, '')
			AND x.proposal_key = proposed_by_key.proposal_key);
END
$$;
COMMENT ON FUNCTION cudal1.proposed_by_key IS
'the candidate that a role proposed under a key, NULL where there is none';

CREATE TYPE cudal1.origin AS (proposer text, pool_id int, method text, priority int,
	deadline timestamptz, purpose text, profile text, prompt_id bigint, island int, response text,
	malformed text);
COMMENT ON TYPE cudal1.origin IS
'where a submission comes from. response: the model''s whole answer; malformed: why the code, which
is its text, is none; profile: NULL is the task''s';

CREATE TYPE cudal1.batch_row AS (ord int, task_id bigint, code text, hash bytea, grp text, key text,
	reason text, leader int, id bigint, origin cudal1.origin);
COMMENT ON TYPE cudal1.batch_row IS
'a row of a batch of submissions. grp, key: its group_key and proposal_key; reason: why it is not
accepted; leader: the row whose proposal it repeats, having its key, else the row itself; id: the
candidate of a key that was used before, which ends the row there';

CREATE FUNCTION cudal1.proposes(v cudal1.batch_row)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN v.reason IS NULL AND v.id IS NULL AND v.leader = v.ord;
COMMENT ON FUNCTION cudal1.proposes IS 'whether a row of a batch adds a proposal';

CREATE FUNCTION cudal1.add_rows(batch cudal1.batch_row[], OUT id bigint, OUT queued boolean,
	OUT bytes bigint) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
-- to plan for the number of rows would take longer than to add one
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off
AS $$
DECLARE
	owner		constant text := (batch[1].origin).proposer;
	added		bigint[];	-- candidates that are new
	proposed	bigint[];	-- the candidate of each proposal that was made
	tasks		bigint[];	-- and its task
	known		bigint[];	-- those of them that were there
	r			record;
BEGIN
	-- in the order of the indexes, so that two batches don't deadlock
	WITH a AS (
		INSERT INTO cudal1.candidate (task_id, code, code_hash, purpose, state, failure, detail,
				reward, decided_at)
			SELECT v.task_id, v.code, v.hash, (v.origin).purpose,
					CASE WHEN (v.origin).malformed IS NULL THEN 'queued' ELSE 'failed' END,
					CASE WHEN (v.origin).malformed IS NOT NULL THEN 'malformed' END,
					left((v.origin).malformed, 2000),
					CASE WHEN (v.origin).malformed IS NOT NULL THEN 0 END,
					CASE WHEN (v.origin).malformed IS NOT NULL THEN now() END
				-- a code that is there comes, too, to wait for a session that adds it
				FROM unnest(batch) AS v WHERE cudal1.proposes(v)
				ORDER BY v.task_id, v.hash, v.ord
			ON CONFLICT (task_id, code_hash) DO NOTHING
			RETURNING candidate_id, octet_length(candidate.code) AS bytes)
	SELECT coalesce(array_agg(a.candidate_id), '{}'), coalesce(sum(a.bytes), 0)
		INTO added, bytes FROM a;
	WITH p AS (
		INSERT INTO cudal1.proposal (task_id, candidate_id, pool_id, method, prompt_id, group_key,
				proposal_key, island, response, created_by)
			SELECT v.task_id, c.candidate_id, (v.origin).pool_id, (v.origin).method,
					(v.origin).prompt_id, v.grp, v.key, (v.origin).island, (v.origin).response,
					owner
				FROM unnest(batch) AS v JOIN cudal1.candidate AS c
					ON c.task_id = v.task_id AND c.code_hash = v.hash
				WHERE cudal1.proposes(v) ORDER BY v.task_id, coalesce(v.grp, ''), v.key, v.ord
			ON CONFLICT DO NOTHING
			RETURNING candidate_id, task_id, cudal1.proposal_bytes(NULL, response) AS bytes)
	SELECT coalesce(array_agg(p.candidate_id), '{}'), array_agg(p.task_id),
			add_rows.bytes + coalesce(sum(p.bytes), 0) INTO proposed, tasks, bytes FROM p;
	IF NOT added <@ proposed THEN
		-- another session has used their keys meanwhile
		WITH gone AS (
			DELETE FROM cudal1.candidate AS c
				WHERE c.candidate_id = ANY (added) AND c.candidate_id <> ALL (proposed)
				RETURNING octet_length(c.code) AS bytes)
		SELECT add_rows.bytes - sum(g.bytes) INTO bytes FROM gone AS g;
	END IF;
	INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language,
			priority, deadline, trainer)
		SELECT 'measure', t.task_id, c.candidate_id, coalesce((v.origin).profile, t.profile),
				coalesce(t.device_model, t.device), t.cores, t.language, (v.origin).priority,
				(v.origin).deadline, owner
			FROM unnest(batch) AS v JOIN cudal1.candidate AS c
					ON c.task_id = v.task_id AND c.code_hash = v.hash
				JOIN cudal1.task AS t ON t.task_id = v.task_id
			WHERE c.candidate_id = ANY (added) AND cudal1.proposes(v)
				AND (v.origin).malformed IS NULL ORDER BY v.ord
		ON CONFLICT DO NOTHING;
	queued := FOUND;
	INSERT INTO cudal1.stored (role, bytes) SELECT owner, add_rows.bytes WHERE add_rows.bytes > 0;
	id := proposed[1];
	IF NOT proposed <@ added THEN
		known := ARRAY(SELECT unnest(proposed) EXCEPT SELECT unnest(added));
		FOR r IN
			SELECT t AS task, c.candidate_id, v.code, v.origin FROM cudal1.candidate AS c
					JOIN cudal1.task AS t USING (task_id)
					JOIN unnest(batch) AS v ON v.task_id = c.task_id AND v.hash = c.code_hash
				WHERE c.candidate_id = ANY (known) AND (v.origin).malformed IS NULL
					AND (c.state NOT IN ('successful', 'failed') OR c.imported)
				ORDER BY c.candidate_id
		LOOP
			r.task.profile := coalesce((r.origin).profile, (r.task).profile);
			IF cudal1.propose_again(r.task, r.candidate_id, (r.origin).priority,
				(r.origin).deadline, owner) THEN
				PERFORM cudal1.restore_code(r.candidate_id, r.code);
				queued := true;
			END IF;
		END LOOP;
		PERFORM cudal1.place_again(array_agg(c.candidate_id), (v.origin).pool_id,
				(v.origin).island)
			FROM unnest(batch) AS v JOIN cudal1.candidate AS c
				ON c.task_id = v.task_id AND c.code_hash = v.hash
			WHERE c.candidate_id = ANY (known) AND (v.origin).purpose = 'normal'
			GROUP BY (v.origin).pool_id, (v.origin).island;
	END IF;
	IF queued THEN
		PERFORM cudal1.warn_no_device(t), cudal1.wake() FROM cudal1.task AS t
			WHERE t.task_id = ANY (tasks);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.add_rows IS
'adds what those rows of a role''s batch need that have no reason. id: the first''s candidate;
queued: a job was added; bytes: that were stored';

CREATE FUNCTION cudal1.row_of(task_id bigint, code text, group_key text, proposal_key text,
	origin cudal1.origin)
RETURNS cudal1.batch_row LANGUAGE sql STABLE PARALLEL SAFE
RETURN (1, task_id, code, CASE WHEN (origin).malformed IS NULL THEN cudal1.code_hash(code)
		ELSE cudal1.salted_hash('malformed', code) END, group_key, proposal_key, NULL, 1,
	CASE WHEN proposal_key IS NOT NULL
		THEN cudal1.proposed_by_key(task_id, (origin).proposer, (origin).pool_id, group_key,
			proposal_key) END, origin)::cudal1.batch_row;
COMMENT ON FUNCTION cudal1.row_of IS 'a checked submission as a row of a batch';

CREATE FUNCTION cudal1.accept_submission(v cudal1.batch_row)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	owner		constant text := (v.origin).proposer;
	added		record;
BEGIN
	IF v.id IS NOT NULL THEN
		PERFORM cudal1.note_used_keys(ARRAY[v]);
		RETURN v.id;
	END IF;
	added := cudal1.add_rows(ARRAY[v]);
	IF NOT cudal1.is_operator() THEN
		PERFORM cudal1.check_room(owner, added.queued::int, added.bytes);
	END IF;
	-- none was added where another session has used the key meanwhile
	RETURN coalesce(added.id,
		cudal1.proposed_by_key(v.task_id, owner, (v.origin).pool_id, v.grp, v.key));
END
$$;
COMMENT ON FUNCTION cudal1.accept_submission IS
'records a checked submission of a role and returns its candidate; error 53400: a quota';

CREATE FUNCTION @extschema@.cudal1_submit(task text, code text, method text DEFAULT 'manual',
	prompt_id bigint DEFAULT NULL, group_key text DEFAULT NULL, proposal_key text DEFAULT NULL,
	priority int DEFAULT 0, deadline timestamptz DEFAULT NULL, purpose text DEFAULT 'normal',
	pool text DEFAULT 'main')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET enable_seqscan = off SET jit = off
AS $$
DECLARE
	into_pool int := CASE pool WHEN 'main' THEN 1 ELSE cudal1.find_pool(pool, true) END;
	for_task bigint;
	island	int;
BEGIN
	-- PostgreSQL inlines check_submission(), and the main pool is not looked up, which spares a
	-- good submission calls of functions in PL/pgSQL
	IF purpose IS DISTINCT FROM 'normal' OR cudal1.check_submission(code, method, priority,
		group_key, proposal_key) IS NOT NULL THEN
		PERFORM cudal1.demand_submission(code, method, priority, group_key, proposal_key),
			cudal1.check_word('purpose', purpose, '{normal,"null",certification,ablation}');
	END IF;
	code := replace(code, E'\r\n', E'\n');
	SELECT x.task_id INTO for_task FROM cudal1.task AS x WHERE x.name = cudal1_submit.task
		AND x.retired_at IS NULL AND cudal1.reference_problem(x) IS NULL;
	IF NOT FOUND THEN
		PERFORM cudal1.check_reference(cudal1.find_task(task));
	END IF;
	IF prompt_id IS NOT NULL THEN
		-- islands belong to one pool
		SELECT CASE WHEN p.pool_id = into_pool THEN p.island END INTO island
			FROM cudal1.prompt AS p WHERE p.prompt_id = cudal1_submit.prompt_id;
		PERFORM cudal1.raise_if(NOT FOUND, '42704', format('prompt %s does not exist', prompt_id),
			'Prompts come from cudal1_prompt().');
		PERFORM cudal1.raise_if(p.task_id <> for_task, '22023',
				format('prompt %s was made for another task than "%s"', p.prompt_id, task)),
				cudal1.check_owner(format('prompt %s', p.prompt_id), p.created_by)
			FROM cudal1.prompt AS p WHERE p.prompt_id = cudal1_submit.prompt_id;
	END IF;
	RETURN cudal1.accept_submission(cudal1.row_of(for_task, code, group_key, proposal_key,
		(cudal1.caller(), into_pool, method, priority, deadline, purpose, NULL, prompt_id, island,
			NULL, NULL)));
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_submit(text, text, text, bigint, text, text, int,
	timestamptz, text, text) IS
'proposes a code for a task and returns its candidate. Identical code (bytes after CRLF -> LF) is
one candidate, measured once; each submission is a proposal. method: a label, by which reports
choose; prompt_id: the caller''s prompt that led to it; group_key: its submissions whose rewards are
compared; proposal_key: a key that it repeats within (task, pool, group) adds nothing; priority:
higher first; deadline: cancelled if not begun by then; purpose: candidates that are not normal
(null, certification, ablation) are neither sampled nor reported; pool: where it is placed, at the
next claim of any device if it has a score (cudal1_open_pool()). A discarded or imported candidate
is queued again. A NOTICE says when no device that can run the task is served, and when the key was
used for another code. Errors: 42704 unknown task, prompt or pool, 42501 prompt or pool is another
role''s, 54000 code of more than 1 MiB or keys of more than 1000 bytes together, 53400 a quota is
used up (cudal1_set_quota()), 55000 the task''s reference is bad';

CREATE FUNCTION cudal1.demand_submission(code text, method text, priority int,
	group_key text DEFAULT NULL, proposal_key text DEFAULT NULL)
RETURNS void LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT cudal1.raise_if(p IS NOT NULL, CASE WHEN p LIKE '%must not be null' THEN '22004'
			WHEN p LIKE '%must not be longer than%' THEN '54000' ELSE '22023' END, p)
		FROM cudal1.check_submission(code, method, priority, group_key, proposal_key) AS p;
END;
COMMENT ON FUNCTION cudal1.demand_submission IS 'raises what cudal1.check_submission() finds';

CREATE FUNCTION cudal1.read_response(response text, code_alone boolean DEFAULT false,
	entry text DEFAULT NULL, OUT body text, OUT reason text, OUT kept text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
	IF octet_length(response) > 4194304 THEN
		-- Of an endless answer the beginning is kept, of at most 4 MiB. The hash of the whole tells
		-- two of them apart.
		kept := left(response, 1048576);
		reason := 'the response is longer than 4 MiB';
		body := format(E'%s\n[cut off: %s bytes in all, SHA-256 %s]\n', kept,
			octet_length(response), encode(cudal1.code_hash(response), 'hex'));
		RETURN;
	END IF;
	kept := response;
	SELECT r.code, r.reason INTO body, reason
		FROM cudal1.parse_response(kept, code_alone, entry) AS r;
	reason := coalesce(reason, cudal1.check_submission(body, '-', 0));
	body := CASE WHEN reason IS NULL THEN replace(body, E'\r\n', E'\n') ELSE kept END;
END
$$;
COMMENT ON FUNCTION cudal1.read_response IS
'an answer''s code, or the answer itself where it is malformed, with the reason; what is kept of it.
code_alone, entry: as of cudal1.parse_response()';

CREATE FUNCTION cudal1.row_of_response(prompt_id bigint, response text, method text,
	group_key text, proposal_key text, priority int, deadline timestamptz, owner text, pool text,
	finish_reason text DEFAULT NULL)
RETURNS cudal1.batch_row LANGUAGE plpgsql STABLE PARALLEL SAFE
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
	q			cudal1.prompt;
	t			cudal1.task;
	into_pool	int;
	answer		record;
BEGIN
	PERFORM cudal1.raise_if(prompt_id IS NULL OR response IS NULL,
		'22004', 'prompt_id and response must not be null');
	SELECT x.* INTO q FROM cudal1.prompt AS x WHERE x.prompt_id = row_of_response.prompt_id;
	PERFORM cudal1.raise_if(NOT FOUND, '42704', format('prompt %s does not exist', prompt_id),
		'Prompts come from cudal1_prompt().');
	t := cudal1.find_task((SELECT x.name FROM cudal1.task AS x WHERE x.task_id = q.task_id));
	PERFORM cudal1.check_reference(t);
	PERFORM cudal1.demand_submission('-', method, priority, group_key, proposal_key);
	into_pool := CASE WHEN pool IS NULL THEN q.pool_id ELSE cudal1.find_pool(pool, true) END;
	-- a fenced code will do where the prompt's words don't ask for three sections
	answer := cudal1.read_response(response, NOT EXISTS (SELECT FROM cudal1.prompt_template AS w
		WHERE w.name = q.template
			AND concat_ws(E'\n', w.system, w.text) LIKE '%{answer_format}%'),
		coalesce(t.signature ->> 'entry', 'ModelNew'));
	IF answer.reason IS NOT NULL AND lower(finish_reason) = 'length' THEN
		answer.reason := 'the model''s tokens were used up before it wrote an answer'
			|| CASE WHEN response = '' THEN '' ELSE ' to its end: ' || answer.reason END;
		-- empty answers are one candidate, and those of this reason another
		answer.body := CASE response WHEN '' THEN answer.reason ELSE answer.body END;
	END IF;
	owner := coalesce(owner, cudal1.caller());
	PERFORM cudal1.check_owner(format('prompt %s', prompt_id), q.created_by)
		WHERE q.created_by <> owner;
	RETURN cudal1.row_of(t.task_id, answer.body, group_key, proposal_key, (owner, into_pool, method,
		priority, deadline, 'normal', cudal1.group_profile(prompt_id, t), prompt_id,
		CASE WHEN q.pool_id = into_pool THEN q.island END, answer.kept, answer.reason));
END
$$;
COMMENT ON FUNCTION cudal1.row_of_response IS
'a model''s answer as a row of a batch. owner: whose request is answered; NULL: the caller proposes.
finish_reason: after "length" a malformed answer''s reason is that tokens ran out';

CREATE FUNCTION @extschema@.cudal1_submit_response(prompt_id bigint, response text,
	method text DEFAULT 'model', group_key text DEFAULT NULL, proposal_key text DEFAULT NULL,
	priority int DEFAULT 0, deadline timestamptz DEFAULT NULL, pool text DEFAULT NULL)
RETURNS bigint LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
RETURN cudal1.accept_submission(cudal1.row_of_response(prompt_id, response, method, group_key,
	proposal_key, priority, deadline, NULL, pool));
COMMENT ON FUNCTION @extschema@.cudal1_submit_response(bigint, text, text, text, text, int,
	timestamptz, text) IS
'proposes the code of a model''s answer to a prompt and returns its candidate; a malformed answer
becomes a failed candidate (reward 0), identified by its raw text, as does one longer than 4 MiB, of
which the beginning is kept. pool: NULL is the prompt''s. Further arguments as in cudal1_submit()';

CREATE FUNCTION cudal1.note_used_keys(batch cudal1.batch_row[])
RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
	r			record;
BEGIN
	SELECT count(*) AS rows, min(v.ord) AS first, (array_agg(v.key ORDER BY v.ord))[1] AS key
		INTO r FROM unnest(batch) AS v
			LEFT JOIN cudal1.candidate AS c ON c.candidate_id = v.id
		WHERE v.reason IS NULL AND NOT cudal1.proposes(v)
			AND v.hash <> coalesce(c.code_hash, batch[v.leader].hash);
	IF r.rows > 0 THEN
		RAISE NOTICE USING MESSAGE = format('proposal_key "%s" was used for another code', r.key),
			DETAIL = CASE WHEN cardinality(batch) = 1
				THEN format('It names candidate %s; this code is not recorded.', batch[1].id)
				ELSE format('Row %s gets that candidate; the code of the row is not recorded.',
					r.first) END || CASE WHEN r.rows > 1
					THEN format(' So it is with %s rows of the batch.', r.rows) ELSE '' END;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.note_used_keys IS
'says in a NOTICE which row of a batch has a key that was used for another code, and how many have';

CREATE FUNCTION @extschema@.cudal1_submit_batch(tasks text[], codes text[],
	method text DEFAULT 'manual', group_keys text[] DEFAULT NULL, proposal_keys text[] DEFAULT NULL,
	priority int DEFAULT 0, deadline timestamptz DEFAULT NULL, pool text DEFAULT 'main')
RETURNS TABLE (ordinal int, candidate_id bigint, reason text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET enable_seqscan = off SET jit = off
AS $$
DECLARE
	n			int := cardinality(tasks);
	proposer	text := cudal1.caller();
	into_pool	int := cudal1.find_pool(pool, true);
	batch		cudal1.batch_row[];
	r			record;
BEGIN
	PERFORM cudal1.raise_if(tasks IS NULL OR codes IS NULL, '22004',
		'tasks and codes must not be null');
	PERFORM cudal1.raise_if(cardinality(codes) <> n OR cardinality(group_keys) <> n
			OR cardinality(proposal_keys) <> n, '2202E',
		'tasks, codes, group_keys and proposal_keys must have the same length',
		format('Their lengths are %s, %s, %s and %s.', n, cardinality(codes),
			coalesce(cardinality(group_keys)::text, 'null'),
			coalesce(cardinality(proposal_keys)::text, 'null')));
	PERFORM cudal1.demand_submission('-', method, priority);

	batch := ARRAY(
		SELECT (v.ord, v.task_id, v.code, v.hash, v.grp, v.key, v.reason,
				CASE WHEN v.key IS NOT NULL AND v.reason IS NULL THEN v.leader ELSE v.ord END,
				CASE WHEN v.key IS NOT NULL AND v.reason IS NULL
					THEN cudal1.proposed_by_key(v.task_id, proposer, into_pool, v.grp, v.key) END,
				(proposer, into_pool, method, priority, deadline, 'normal', NULL, NULL, NULL, NULL,
					NULL)::cudal1.origin)::cudal1.batch_row
			FROM (SELECT w.*, cudal1.code_hash(w.code) AS hash, min(w.ord) OVER (PARTITION BY
						w.task_id, coalesce(w.grp, ''), w.key, w.reason IS NULL) AS leader
					FROM (SELECT u.ord::int AS ord, u.grp, u.key, k.task_id,
								replace(u.code, E'\r\n', E'\n') AS code,
								CASE WHEN u.task IS NULL THEN 'task must not be null'
									WHEN k.task_id IS NULL
										THEN format('task "%s" does not exist', u.task)
									WHEN k.retired_at IS NOT NULL
										THEN format('task "%s" is retired', u.task)
									WHEN cudal1.reference_problem(k) IS NOT NULL
										THEN cudal1.reference_problem(k)
									ELSE cudal1.check_submission(u.code, method, priority, u.grp,
										u.key) END AS reason
							FROM unnest(tasks, codes, group_keys, proposal_keys) WITH ORDINALITY
									AS u (task, code, grp, key, ord)
								LEFT JOIN cudal1.task AS k ON k.name = u.task) AS w) AS v
			ORDER BY v.ord);

	-- nearly always the whole batch fits into the quota
	r := cudal1.room_of(proposer);
	IF r.candidates < n
		OR r.bytes < (SELECT sum(cudal1.proposal_bytes(c, NULL)) FROM unnest(codes) AS c) THEN
		WITH needs AS (
			-- The first row of a code stores it. It is queued if it is new, discarded or imported.
			SELECT w.ord, w.first, w.ord = w.first AND (c.candidate_id IS NULL
						OR c.state = 'discarded' OR c.imported) AS queues,
					cudal1.proposal_bytes(CASE WHEN w.ord = w.first
						AND c.candidate_id IS NULL THEN w.code END, NULL) AS stores
				FROM (SELECT v.*, min(v.ord) OVER (PARTITION BY v.task_id, v.hash) AS first
						FROM unnest(batch) AS v WHERE cudal1.proposes(v)) AS w
					LEFT JOIN cudal1.candidate AS c
						ON c.task_id = w.task_id AND c.code_hash = w.hash),
		lacks AS (
			-- later rows of a code share the fate of its first
			SELECT s.ord, CASE WHEN bool_or(s.queues AND s.queued > r.candidates)
						OVER (PARTITION BY s.first) THEN 'candidates'
					WHEN s.stored > r.bytes THEN 'bytes' END AS quota
				FROM (SELECT n.*, count(*) FILTER (WHERE n.queues) OVER w AS queued,
						sum(n.stores) OVER w AS stored FROM needs AS n
					WINDOW w AS (ORDER BY n.ord)) AS s)
		SELECT array_agg((v.ord, v.task_id, v.code, v.hash, v.grp, v.key, coalesce(v.reason,
				CASE WHEN l.quota IS NOT NULL THEN cudal1.quota_reason(proposer, l.quota) END),
				v.leader, v.id, v.origin)::cudal1.batch_row ORDER BY v.ord)
			INTO batch FROM unnest(batch) AS v LEFT JOIN lacks AS l ON l.ord = v.leader;
	END IF;
	PERFORM cudal1.add_rows(batch);
	PERFORM cudal1.note_used_keys(batch) WHERE proposal_keys IS NOT NULL;

	RETURN QUERY
		SELECT v.ord, CASE WHEN v.key IS NULL OR v.reason IS NOT NULL THEN c.candidate_id
				ELSE cudal1.proposed_by_key(v.task_id, proposer, into_pool, v.grp, v.key) END,
				v.reason
			FROM unnest(batch) AS v LEFT JOIN cudal1.candidate AS c
				ON v.reason IS NULL AND c.task_id = v.task_id AND c.code_hash = v.hash
			ORDER BY v.ord;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_submit_batch(text[], text[], text, text[], text[], int,
	timestamptz, text) IS
'many submissions at once, aligned by position; a row that is not accepted has a reason and does not
hinder the others. Arguments as in cudal1_submit(); group_keys and proposal_keys may be null, as may
their elements. A row that passes a quota is not accepted, nor is any after it that would need more
of it. Errors: 2202E lengths differ, 42704 unknown pool, 42501 the pool is another role''s';
