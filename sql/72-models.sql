/*
 * Models and requests. Everything that moves a request is here; cudal1-generate makes one try at a
 * time and decides nothing. A database has one worker at a time, so requests need no leases: those
 * in flight are the worker's, or of one that is dead.
 *
 * Order of locks: model, lane, request, then those of a submission. An answer is accepted for the
 * newest claim alone, but also when that claim was taken back meanwhile, as long as the request was
 * not claimed again: it was paid for.
 */

CREATE FUNCTION @extschema@.cudal1_add_model(name text, endpoint text, model text,
	key_name text DEFAULT NULL, parameters jsonb DEFAULT '{}', concurrency int DEFAULT 8,
	requests_per_minute float8 DEFAULT NULL, prompt_price float8 DEFAULT NULL,
	completion_price float8 DEFAULT NULL, options jsonb DEFAULT '{}')
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
#variable_conflict use_column
DECLARE
	problem	text;
	id		bigint;
BEGIN
	PERFORM cudal1.raise_if(num_nulls(name, endpoint, model, parameters, concurrency) > 0, '22004',
		'name, endpoint, model, parameters and concurrency must not be null');
	problem := CASE
		WHEN NOT cudal1.is_name(name, 100)
			THEN 'name must be a text of 1 to 100 characters, not blank'
		WHEN NOT cudal1.is_name(model, 255)
			THEN 'model must be a name of 1 to 255 characters, not blank'
		WHEN NOT cudal1.matches(endpoint,
				'^(https?://[][A-Za-z0-9._:-]+(/[A-Za-z0-9._~%/-]*)?|'
				'unix:/[^:]{1,107}:(/[A-Za-z0-9._~%/-]*)?)$', 2000)
				OR NOT cudal1.is_name(endpoint, 2000)
			THEN 'endpoint must be http://host/path, https://host/path or '
				'unix:/path/of/socket:/path, without user, query and blanks'
		WHEN cudal1.matches(endpoint, '/chat/completions/*$', 2000)
			THEN 'endpoint must be the address before /chat/completions, '
				'as http://127.0.0.1:8000/v1'
		WHEN NOT cudal1.matches(key_name, '^[A-Za-z_][A-Za-z0-9_.-]{0,62}$', 63)
				OR cudal1.matches(key_name, '^(sk|gsk|hf|nvapi)[-_]|[0-9A-Za-z]{32}', 63)
			THEN 'key_name must be a name of letters, digits and _ . -, not the key itself'
		WHEN jsonb_typeof(parameters) <> 'object' THEN 'parameters must be a JSON object'
		WHEN parameters ?| '{model,messages,stream,stream_options,n}'
			THEN 'parameters must not contain model, messages, stream, stream_options or n'
		WHEN octet_length(parameters::text) > 65536 THEN 'parameters must not take more than 64 kB'
		WHEN concurrency NOT BETWEEN 1 AND 10000 THEN 'concurrency must lie between 1 and 10000'
		WHEN requests_per_minute NOT BETWEEN 0.001 AND 1000000
			THEN 'requests_per_minute must lie between 0.001 and 1000000'
		WHEN NOT (prompt_price >= 0 AND prompt_price < 'Infinity')
			THEN 'prompt_price must not be negative'
		WHEN NOT (completion_price >= 0 AND completion_price < 'Infinity')
			THEN 'completion_price must not be negative' END;
	PERFORM cudal1.raise_if(problem IS NOT NULL, '22023', problem);
	endpoint := regexp_replace(endpoint, '/+$', '');
	INSERT INTO cudal1.model AS x (name, endpoint, model, key_name, parameters, concurrency,
			requests_per_minute, prompt_price, completion_price, options)
		VALUES (name, endpoint, model, key_name, parameters, concurrency, requests_per_minute,
			prompt_price, completion_price, cudal1.check_options(options, 'model'))
		-- limits, prices and the key may change at any time
		ON CONFLICT (name) DO UPDATE
			SET (key_name, concurrency, requests_per_minute, prompt_price, completion_price,
					options)
				= (excluded.key_name, excluded.concurrency, excluded.requests_per_minute,
					excluded.prompt_price, excluded.completion_price, excluded.options)
			WHERE (x.endpoint, x.model, x.parameters)
				= (excluded.endpoint, excluded.model, excluded.parameters)
		RETURNING x.model_id INTO id;
	PERFORM cudal1.raise_if(NOT FOUND, '23505',
		format('model "%s" exists with another content', name), 'Add it under another name.',
		'Endpoint, model and parameters stay, so that a method''s name keeps its meaning.');
	PERFORM cudal1.wake();
	RETURN id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_model(text, text, text, text, jsonb, int, float8, float8,
	float8, jsonb) IS
'adds a model behind an endpoint that speaks OpenAI''s chat completions, and returns its id.
endpoint: base address, http(s)://host/v1 or unix:/path/of/socket:/v1; key_name: the name of its key
in the server''s file cudal1.key_file, never the key; parameters: members of every request
(temperature, max_tokens, ...); prices are for a million tokens. Options: stream (true),
connect_seconds (10), stall_seconds (120: nothing arrives), total_seconds (1800), backoff_seconds
(1), max_tries (8), max_answer_bytes (1 MiB), max_body_bytes (64 MiB). Added again with the same
endpoint, model and parameters, key, limits, prices and options become the new ones';

CREATE FUNCTION @extschema@.cudal1_enable_model(model text, enabled boolean)
RETURNS void LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.raise_if(enabled IS NULL, '22004', 'enabled must not be null');
	SELECT cudal1.check_name('model', model);
	UPDATE cudal1.model AS x SET enabled = cudal1_enable_model.enabled
		WHERE x.name = cudal1_enable_model.model;
	SELECT cudal1.wake();
END;
COMMENT ON FUNCTION @extschema@.cudal1_enable_model(text, boolean) IS
'an operator''s switch: a disabled model gets no new requests; those in flight are completed';

CREATE FUNCTION @extschema@.cudal1_generate(prompt_id bigint, model text, n int DEFAULT 1,
	method text DEFAULT NULL, group_key text DEFAULT NULL, priority int DEFAULT 0)
RETURNS SETOF bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	room	record;
BEGIN
	PERFORM cudal1.check_name('model', model);
	PERFORM cudal1.check_number('n', n, 1, 10000);
	-- the proposal's key will be that of its request, of whatever number
	PERFORM cudal1.demand_submission('-', coalesce(method, model), priority, group_key,
		'request 9223372036854775807');
	-- an answer that can become no candidate would be paid for in vain
	PERFORM cudal1.check_owner(format('prompt %s', p.prompt_id), p.created_by),
			cudal1.check_reference(cudal1.find_task(x.name))
		FROM cudal1.prompt AS p JOIN cudal1.task AS x USING (task_id)
		WHERE p.prompt_id = cudal1_generate.prompt_id;
	PERFORM cudal1.raise_if(NOT FOUND, '42704',
		format('prompt %s does not exist', coalesce(prompt_id::text, 'NULL')),
		'Prompts come from cudal1_prompt().');
	room := cudal1.request_room(cudal1.caller());
	PERFORM cudal1.refuse(cudal1.caller(), room.quota, room.used, n) WHERE room.requests < n;
	PERFORM cudal1.wake();
	RETURN QUERY
		INSERT INTO cudal1.request AS r (model_id, prompt_id, method, group_key, priority)
			SELECT m.model_id, cudal1_generate.prompt_id, coalesce(cudal1_generate.method, m.name),
				cudal1_generate.group_key, cudal1_generate.priority
				FROM cudal1.model AS m, generate_series(1, cudal1_generate.n)
				WHERE m.name = cudal1_generate.model
			RETURNING r.request_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_generate(bigint, text, int, text, text, int) IS
'asks a model for n (1 to 10000) answers to a prompt and returns the requests; each answer becomes a
candidate. method: NULL is the model''s name; further arguments as in cudal1_submit(). Errors: 42704
unknown prompt or model, or a retired task, 42501 a prompt of another role, 22023 n out of
range, 53400 a quota is used up (cudal1_set_quota()), 55000 the task''s reference is bad';

CREATE FUNCTION cudal1.ask_about(purpose text, model text, candidate_ids bigint[])
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	room	constant record := cudal1.request_room(cudal1.caller());
	ids		constant bigint[] := ARRAY(SELECT c.candidate_id FROM cudal1.candidate AS c
		WHERE c.candidate_id = ANY (candidate_ids) AND c.code <> ''
			AND (c.state = 'successful' OR ask_about.purpose <> 'review')
			AND NOT EXISTS (SELECT FROM cudal1.request AS r JOIN cudal1.model AS m USING (model_id)
				WHERE r.about = c.candidate_id AND r.purpose = ask_about.purpose
					AND m.name = ask_about.model AND r.state IN ('queued', 'running', 'answered'))
		ORDER BY 1);
BEGIN
	PERFORM cudal1.check_name('model', model);
	PERFORM cudal1.refuse(cudal1.caller(), room.quota, room.used, cardinality(ids))
		WHERE cardinality(ids) > greatest(room.requests, 0);
	INSERT INTO cudal1.request (model_id, purpose, about, method)
		SELECT m.model_id, ask_about.purpose, u.id, ask_about.purpose
			FROM cudal1.model AS m, unnest(ids) AS u (id) WHERE m.name = ask_about.model;
	PERFORM cudal1.wake() WHERE ids <> '{}';
	RETURN cardinality(ids);
END
$$;
COMMENT ON FUNCTION cudal1.ask_about IS
'asks a model about candidates for the first time; the number of requests';

CREATE FUNCTION cudal1.lock_lane(lane_id bigint)
RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
	PERFORM FROM cudal1.campaign_lane AS l WHERE l.lane_id = lock_lane.lane_id
		FOR NO KEY UPDATE SKIP LOCKED;
	RETURN FOUND OR lane_id IS NULL;
END
$$;
COMMENT ON FUNCTION cudal1.lock_lane IS
'locks a lane without waiting; false: another transaction has it; NULL is locked';

CREATE FUNCTION cudal1.stop_requests(request_ids bigint[])
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	r		cudal1.request;
	n		bigint := 0;
BEGIN
	PERFORM FROM cudal1.campaign_lane AS l
		WHERE l.lane_id = ANY (ARRAY(SELECT x.lane_id FROM cudal1.request AS x
			WHERE x.request_id = ANY (request_ids) AND x.state IN ('queued', 'running')))
		ORDER BY l.lane_id FOR NO KEY UPDATE;
	FOR r IN
		SELECT x.* FROM cudal1.request AS x
			WHERE x.request_id = ANY (request_ids) AND x.state IN ('queued', 'running')
			ORDER BY x.request_id FOR UPDATE
	LOOP
		IF r.state = 'queued' THEN
			r.state := 'cancelled';
			r.error := 'cancelled before it was sent';
			PERFORM cudal1.write_request(r);
		ELSE
			UPDATE cudal1.request AS x SET cancel_requested = true
				WHERE x.request_id = r.request_id;
		END IF;
		n := n + 1;
	END LOOP;
	PERFORM cudal1.wake() WHERE n > 0;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.stop_requests IS
'cancels requests of any role that wait or are in flight; returns their number';

CREATE FUNCTION @extschema@.cudal1_cancel_requests(request_ids bigint[])
RETURNS bigint LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.check_ids('request_ids', request_ids);
	SELECT cudal1.raise_if(true, '42704', format('request %s does not exist', u.id),
			'cudal1.request lists the requests.')
		FROM unnest(request_ids) AS u (id)
		WHERE NOT EXISTS (SELECT FROM cudal1.request AS x WHERE x.request_id = u.id);
	SELECT cudal1.check_owner(format('request %s', x.request_id), x.created_by)
		FROM cudal1.request AS x WHERE x.request_id = ANY (request_ids);
	SELECT cudal1.stop_requests(request_ids);
END;
COMMENT ON FUNCTION @extschema@.cudal1_cancel_requests(bigint[]) IS
'cancels requests that are waiting or in flight and returns their number; an answer that arrives
first is kept. Errors: 42704 unknown id, 42501 a request of another role: none is cancelled then';

CREATE FUNCTION cudal1.write_request(r cudal1.request)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
	UPDATE cudal1.request AS x
		SET worker = NULL, error = left(r.error, 2000),
			-- an answer that is taken later, as that of a candidate, is decided with it
			decided = r.state NOT IN ('queued', 'answered') OR r.taken_at IS NOT NULL,
			finished_at = CASE WHEN r.state <> 'queued' THEN clock_timestamp() END,
			(state, not_before, failures, answer, finish_reason, taken_at, prompt_tokens,
				completion_tokens, tokens_estimated, cost, status, seconds)
				= (r.state, r.not_before, r.failures, r.answer, r.finish_reason, r.taken_at,
					r.prompt_tokens, r.completion_tokens, r.tokens_estimated, r.cost, r.status,
					r.seconds)
		WHERE x.request_id = r.request_id;
	-- a request without an answer is no trial of its campaign
	UPDATE cudal1.campaign_lane AS l
		SET trials = l.trials - 1, failures = l.failures + (r.state = 'failed')::int
		WHERE l.lane_id = r.lane_id AND r.state IN ('failed', 'cancelled');
END
$$;
COMMENT ON FUNCTION cudal1.write_request IS
'writes a locked request that is not, or no longer, in flight, and counts in its lane how it ended';

CREATE FUNCTION cudal1.end_try(r cudal1.request, error text, counts boolean,
	pause float8 DEFAULT 0, is_last boolean DEFAULT false)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
	r.failures := r.failures + counts::int;
	r.state := CASE WHEN is_last OR counts AND r.failures >= (
				SELECT (m.options ->> 'max_tries')::int FROM cudal1.model AS m
					WHERE m.model_id = r.model_id) THEN 'failed'
		WHEN r.cancel_requested THEN 'cancelled' ELSE 'queued' END;
	r.error := CASE r.state WHEN 'cancelled' THEN 'cancelled while it was in flight'
		ELSE coalesce(end_try.error, r.error) END;
	r.answer := CASE r.state WHEN 'failed' THEN r.answer END;
	r.not_before := clock_timestamp() + make_interval(secs => pause);
	PERFORM cudal1.write_request(r);
END
$$;
COMMENT ON FUNCTION cudal1.end_try IS
'queues a request again after a pause in seconds, or ends it: failed where the try was the last that
it has, or its model allows, else cancelled; r: its row, with what the try has cost';

CREATE FUNCTION cudal1.chat(system text, turns text[])
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT jsonb_agg(jsonb_build_object('role', CASE WHEN u.place = 1 THEN 'system'
			WHEN u.place % 2 = 0 THEN 'user' ELSE 'assistant' END, 'content', u.content)
		ORDER BY u.place)
	FROM unnest(system || turns) WITH ORDINALITY AS u (content, place)
	WHERE u.content IS NOT NULL);
COMMENT ON FUNCTION cudal1.chat IS
'messages as chat completions take them: system (NULL: none), then user and assistant in turns';

CREATE FUNCTION cudal1.claim_requests(worker text, room int)
RETURNS TABLE (request_id bigint, attempt int, job jsonb)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
	m		cudal1.model;
	n		int;
	got		int;
	gap		interval;
	start	timestamptz;
BEGIN
	-- without the lock on the model two claims would count the same free places
	FOR m IN
		SELECT x.* FROM cudal1.model AS x
			WHERE x.enabled AND x.not_before <= clock_timestamp()
				-- EXISTS would become a join, which reads all requests that wait
				AND (SELECT true FROM cudal1.request AS r
					WHERE r.model_id = x.model_id AND r.state = 'queued' LIMIT 1)
			ORDER BY x.model_id
			FOR NO KEY UPDATE
	LOOP
		n := least(room,
			m.concurrency - (SELECT count(*)::int FROM cudal1.request AS r
			WHERE r.model_id = m.model_id AND r.state = 'running'));
		IF m.requests_per_minute IS NOT NULL THEN
			gap := make_interval(secs => 60 / m.requests_per_minute);
			-- the worker looks once a second at least
			start := greatest(m.next_request, clock_timestamp() - greatest(gap, '1 second'));
			n := least(n, floor(extract(epoch
				FROM clock_timestamp() - start) * m.requests_per_minute / 60 + 0.001)::int);
		END IF;
		CONTINUE WHEN n <= 0;
		RETURN QUERY
			WITH due AS MATERIALIZED (
				SELECT r.request_id FROM cudal1.request AS r
					WHERE r.model_id = m.model_id AND r.state = 'queued'
						AND r.not_before <= clock_timestamp()
					ORDER BY r.priority DESC, r.request_id
					LIMIT n FOR UPDATE SKIP LOCKED),
			sent AS (
				UPDATE cudal1.request AS r
					SET state = 'running', attempt = r.attempt + 1, worker = claim_requests.worker
					FROM due WHERE r.request_id = due.request_id
					RETURNING r.request_id, r.attempt, r.prompt_id, r.purpose, r.about)
			SELECT s.request_id, s.attempt,
				jsonb_build_object('type', 'job', 'request_id', s.request_id, 'attempt', s.attempt,
					'endpoint', m.endpoint, 'key', m.key_name, 'body', m.parameters
						|| jsonb_build_object('model', m.model, 'messages',
							cudal1.chat(p.system, ARRAY[coalesce(p.prompt,
								cudal1.question(s.purpose, s.about))]))
						|| CASE WHEN m.options -> 'stream' = 'true'
							THEN '{"stream": true, "stream_options": {"include_usage": true}}'
							ELSE '{"stream": false}' END::jsonb)
					|| (m.options - '{stream,backoff_seconds,max_tries}'::text[])
				FROM sent AS s LEFT JOIN cudal1.prompt AS p ON p.prompt_id = s.prompt_id
				ORDER BY s.request_id;
		GET DIAGNOSTICS got = ROW_COUNT;
		room := room - got;
		UPDATE cudal1.model AS x SET next_request = start + got * gap
			WHERE x.model_id = m.model_id AND m.requests_per_minute IS NOT NULL AND got > 0;
		EXIT WHEN room <= 0;
	END LOOP;
END
$$;
COMMENT ON FUNCTION cudal1.claim_requests IS
'gives cudal1-generate requests to send; job is a line of its input';

CREATE FUNCTION cudal1.release_requests(worker text, lost boolean DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	error	constant text := CASE WHEN lost IS NULL
		THEN 'its worker was lost while it was in flight'
		ELSE 'cudal1-generate ended before the answer had come' END;
	n		bigint;
BEGIN
	PERFORM cudal1.end_try(w.r, CASE WHEN w.counts THEN error END, w.counts)
		-- a request that was sent many times without an outcome may be what kills workers
		FROM (SELECT x AS r, coalesce(lost, x.attempt - x.failures >= 10) AS counts
			-- a request that a session is changing is left to a later call
			FROM cudal1.request AS x
			WHERE x.state = 'running' AND (x.worker = release_requests.worker) = (lost IS NOT NULL)
				AND cudal1.lock_lane(x.lane_id)
			ORDER BY x.request_id FOR UPDATE SKIP LOCKED) AS w;
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.release_requests IS
'queues requests again, or ends them, that former workers sent; with lost those that this worker
sent, whose program ended (true: perhaps by them). Returns their number';

CREATE FUNCTION cudal1.finish_request(answer jsonb)
RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	r			cudal1.request;
	m			cudal1.model;
	id			CONSTANT bigint := cudal1.json_int(answer -> 'request_id', 1, 9223372036854775807);
	number		CONSTANT bigint := cudal1.json_int(answer -> 'attempt', 1);
	words		CONSTANT text := CASE jsonb_typeof(answer -> 'text') WHEN 'string'
		THEN answer ->> 'text' END;
	outcome		CONSTANT text := answer ->> 'outcome';
	detail		CONSTANT text := coalesce(answer ->> 'detail', outcome,
		'cudal1-generate gave no outcome');
	tokens_in	bigint := coalesce(cudal1.json_int(answer -> 'prompt_tokens', 0, 1000000000), 0);
	tokens_out	bigint := coalesce(cudal1.json_int(answer -> 'completion_tokens', 0, 1000000000),
		0);
	price		float8;
	backoff		float8;
	pause		float8;
BEGIN
	SELECT x.* INTO r FROM cudal1.request AS x
		WHERE x.request_id = id AND x.attempt = number AND x.state IN ('running', 'queued')
			AND cudal1.lock_lane(x.lane_id)
		FOR UPDATE SKIP LOCKED;
	IF NOT FOUND THEN
		RETURN CASE WHEN EXISTS (SELECT FROM cudal1.request AS x
								 WHERE x.request_id = id AND x.attempt = number
									 AND x.state IN ('running', 'queued'))
					THEN 'later' ELSE 'lost' END;
	END IF;
	SELECT x.* INTO STRICT m FROM cudal1.model AS x WHERE x.model_id = r.model_id;
	-- the cost of the try; an answer that has no count of tokens has one for four bytes
	IF words IS NOT NULL AND NOT answer ?| '{prompt_tokens,completion_tokens}' THEN
		tokens_in := ceil(octet_length(coalesce((SELECT concat(p.system, p.prompt)
				FROM cudal1.prompt AS p WHERE p.prompt_id = r.prompt_id),
			cudal1.question(r.purpose, r.about), '')) / 4.0);
		tokens_out := ceil(octet_length(words) / 4.0);
		r.tokens_estimated := true;
	END IF;
	price := (tokens_in * coalesce(m.prompt_price, 0) + tokens_out * coalesce(m.completion_price,
		0)) / 1e6;
	r.prompt_tokens := r.prompt_tokens + tokens_in;
	r.completion_tokens := r.completion_tokens + tokens_out;
	r.cost := r.cost + price;
	r.status := coalesce(cudal1.json_int(answer -> 'status', 100, 999)::int, r.status);
	r.seconds := coalesce(cudal1.json_float(answer -> 'seconds', 0, 1e6), r.seconds);
	UPDATE cudal1.campaign_lane AS l
		SET tokens = l.tokens + tokens_in + tokens_out, cost = l.cost + price,
			failures = CASE outcome WHEN 'answered' THEN 0 ELSE l.failures END
		WHERE l.lane_id = r.lane_id;
	IF outcome = 'answered' AND words IS NOT NULL THEN
		r.state := 'answered';
		r.answer := words;
		r.finish_reason := left(answer ->> 'finish_reason', 100);
		r.error := NULL;
		IF r.purpose = 'review' THEN
			-- trainers read requests, and must not learn what is suspicious
			r.answer := '';
			r.taken_at := clock_timestamp();
			BEGIN
				PERFORM cudal1.take_review(r.about, words, m.name);
			EXCEPTION WHEN data_exception THEN
				r.error := SQLERRM;
			END;
		END IF;
		PERFORM cudal1.write_request(r);
		-- no quota is asked, because the role was admitted with its request
		INSERT INTO cudal1.stored (role, bytes) VALUES (r.created_by, octet_length(words));
		RETURN 'stored';
	END IF;
	r.answer := CASE WHEN r.purpose <> 'review' THEN nullif(answer ->> 'text', '') END;
	backoff := (m.options ->> 'backoff_seconds')::float8 * (0.5 + random());
	pause := cudal1.json_float(answer -> 'retry_after', 0, 1e15);
	IF outcome = 'cancelled' AND r.cancel_requested THEN
		PERFORM cudal1.end_try(r, NULL, false);
	ELSIF outcome = 'throttled' AND r.attempt < 1000 THEN
		-- the endpoint asks all requests to its model to slow down
		pause := coalesce(pause,
			backoff * least(60, power(2, least(r.attempt - r.failures, 10) - 1)));
		UPDATE cudal1.model AS x
			SET not_before = greatest(x.not_before,
				clock_timestamp() + make_interval(secs => least(pause, 3600)))
			WHERE x.model_id = m.model_id;
		PERFORM cudal1.end_try(r, detail, false);
	ELSE
		pause := greatest(least(coalesce(pause, 0), 3600),
			backoff * least(60, power(2, r.failures)));
		-- a request that is refused once would be refused again
		PERFORM cudal1.end_try(r, detail, true, pause,
			coalesce(outcome IN ('refused', 'oversized'), false) OR r.attempt >= 1000);
	END IF;
	RETURN 'stored';
END
$$;
COMMENT ON FUNCTION cudal1.finish_request IS
'stores what cudal1-generate reports of one try. Returns stored; lost where the claim was fenced
off, or later where a session is changing the request or its lane: then nothing is written';

CREATE FUNCTION cudal1.error_passes(state text)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(state, 2) IN ('40', '53', '55', '57', '58') AND state <> '55000';
COMMENT ON FUNCTION cudal1.error_passes IS
'whether an error of this SQLSTATE is one of the moment, so that the same may succeed later';

CREATE FUNCTION cudal1.finish_requests(answers text, OUT stored text, OUT left_over text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
	line	text;
	a		jsonb;
	problem	text;
	outcome	text;
BEGIN
	stored := '';
	left_over := '';
	FOREACH line IN ARRAY string_to_array(answers, E'\n') LOOP
		CONTINUE WHEN line = '';
		problem := NULL;
		BEGIN
			a := line::jsonb;
			outcome := cudal1.finish_request(a);
		EXCEPTION WHEN OTHERS THEN
			IF cudal1.error_passes(SQLSTATE) THEN
				RAISE;
			END IF;
			problem := SQLERRM;
		END;
		IF problem IS NOT NULL THEN
			-- The answer may hold characters that this database can't store. The numbers of its
			-- request stand before them.
			BEGIN
				a := jsonb_build_object('request_id',
					substring(line FROM '"request_id": ?([0-9]+)')::bigint, 'attempt',
					substring(line FROM '"attempt": ?([0-9]+)')::int, 'outcome', 'refused',
					'detail', 'the answer cannot be stored: ' || problem);
				outcome := cudal1.finish_request(a);
			EXCEPTION WHEN data_exception THEN
				a := NULL;
			END;
		END IF;
		IF jsonb_typeof(a -> 'request_id') IS DISTINCT FROM 'number'
			OR jsonb_typeof(a -> 'attempt') IS DISTINCT FROM 'number' THEN
			RAISE LOG 'cudal1: an unreadable answer was left out: %',
				coalesce(problem, 'it names no request');
		ELSIF outcome = 'later' THEN
			left_over := left_over || line || E'\n';
		ELSE
			stored := stored || jsonb_build_object('type', 'stored', 'request_id',
				a -> 'request_id', 'attempt', a -> 'attempt')::text || E'\n';
		END IF;
	END LOOP;
END
$$;
COMMENT ON FUNCTION cudal1.finish_requests IS
'cudal1.finish_request() for lines of cudal1-generate; an answer that cannot be stored ends its
request. stored: lines that tell the program so; left_over: lines to be given later';

CREATE FUNCTION cudal1.take(request_ids bigint[])
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
	PERFORM cudal1.add_rows(array_agg(cudal1.row_of_response(r.prompt_id, r.answer, r.method,
			r.group_key, 'request ' || r.request_id, r.priority, NULL, r.created_by, NULL,
			r.finish_reason)))
		FROM cudal1.request AS r
		WHERE r.request_id = ANY (request_ids) AND r.purpose = 'candidate' GROUP BY r.created_by;
	PERFORM cudal1.take_techniques(r.about, r.answer, m.name)
		FROM cudal1.request AS r JOIN cudal1.model AS m USING (model_id)
		WHERE r.request_id = ANY (request_ids) AND r.purpose = 'techniques';
	UPDATE cudal1.request AS x
		SET taken_at = clock_timestamp(), decided = x.purpose <> 'candidate',
			candidate_id = (SELECT cudal1.proposed_by_key(q.task_id, x.created_by, q.pool_id,
					x.group_key, 'request ' || x.request_id)
				FROM cudal1.prompt AS q WHERE q.prompt_id = x.prompt_id)
		WHERE x.request_id = ANY (request_ids);
END
$$;
COMMENT ON FUNCTION cudal1.take IS 'turns stored answers into what was asked for, all or none';

CREATE FUNCTION cudal1.take_answers(most int DEFAULT 100)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
-- An open transaction may be submitting the same code. The answer is then taken later.
SET lock_timeout = '20ms'
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
	ids		constant bigint[] := ARRAY(SELECT x.request_id FROM cudal1.request AS x
		WHERE x.state = 'answered' AND x.taken_at IS NULL AND x.not_before <= clock_timestamp()
		ORDER BY x.request_id LIMIT most FOR UPDATE SKIP LOCKED);
	id		bigint;
	n		bigint := 0;
BEGIN
	BEGIN
		PERFORM cudal1.take(ids) WHERE ids <> '{}';
		RETURN cardinality(ids);
	EXCEPTION WHEN OTHERS THEN
		-- one by one, so that a bad answer costs no other
	END;
	FOREACH id IN ARRAY ids LOOP
		BEGIN
			PERFORM cudal1.take(ARRAY[id]);
		EXCEPTION WHEN lock_not_available THEN
			UPDATE cudal1.request AS x
				SET not_before = clock_timestamp() + least('1 minute'::interval,
					greatest('1 second', (clock_timestamp() - x.finished_at) / 4))
				WHERE x.request_id = id;
			CONTINUE;
		WHEN OTHERS THEN
			-- the answer stays, and is taken the next time
			IF cudal1.error_passes(SQLSTATE) THEN
				RAISE;
			END IF;
			UPDATE cudal1.request AS x
				SET taken_at = clock_timestamp(), error = left(SQLERRM, 2000), decided = true
				WHERE x.request_id = id;
		END;
		n := n + 1;
	END LOOP;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.take_answers IS
'turns stored answers into what they were asked for; one that cannot be taken stays, with an error';

CREATE VIEW cudal1.model_use AS
	SELECT m.name, m.enabled, count(r.request_id) FILTER (WHERE r.state = 'queued') AS waiting,
			count(r.request_id) FILTER (WHERE r.state = 'running') AS in_flight,
			count(r.request_id) FILTER (WHERE r.state = 'answered') AS answered,
			count(r.request_id) FILTER (WHERE r.state = 'failed') AS failed,
			COALESCE(sum(r.prompt_tokens), 0)::bigint AS prompt_tokens,
			COALESCE(sum(r.completion_tokens), 0)::bigint AS completion_tokens,
			COALESCE(sum(r.cost), 0) AS cost,
			percentile_cont(0.5) WITHIN GROUP (ORDER BY r.seconds)
				FILTER (WHERE r.state = 'answered') AS median_seconds,
			CASE WHEN m.not_before > clock_timestamp() THEN m.not_before END AS held_until,
			(SELECT x.error || CASE x.state
					WHEN 'queued' THEN format('; next try in %s s, try %s of %s',
						ceil(greatest(0, extract(epoch FROM greatest(x.not_before, m.not_before)
												 - clock_timestamp()))),
						x.failures + 1, m.options ->> 'max_tries')
					WHEN 'running' THEN format('; try %s of %s is under way', x.failures + 1,
						m.options ->> 'max_tries')
					ELSE '' END
				FROM cudal1.request AS x
				WHERE x.model_id = m.model_id AND x.error IS NOT NULL
				ORDER BY x.request_id DESC LIMIT 1) AS last_error
		FROM cudal1.model AS m LEFT JOIN cudal1.request AS r USING (model_id)
		GROUP BY m.model_id;
COMMENT ON VIEW cudal1.model_use IS
'each model''s requests, tokens and cost so far; last_error says when and as which try a request
that met an error is sent again';
