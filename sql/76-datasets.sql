/*
 * Data for trainers, as sets of jsonb that COPY turns into JSONL.
 */

CREATE FUNCTION cudal1.plain_prompt(task_id bigint)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT cudal1.compose_prompt(false, t.language,
			coalesce((SELECT bool_or(d.class = 'cuda') FROM cudal1.device AS d WHERE d.model = coalesce(t.device_model, t.device)),
					 CASE WHEN t.device IN ('cpu', 'cuda') THEN t.device = 'cuda' ELSE t.language = 'cuda' END),
			coalesce(t.device_model, CASE WHEN t.device = 'cpu' THEN 'a modern CPU' WHEN t.device = 'cuda' THEN 'a modern NVIDIA GPU' ELSE t.device END),
			t.name, t.reference, cudal1.entry_declaration(t.language, t.signature), cudal1.tolerance_words(t.rtol, t.atol), '{}', '{}')
		FROM cudal1.task AS t WHERE t.task_id = plain_prompt.task_id;
$$;
COMMENT ON FUNCTION cudal1.plain_prompt(bigint) IS 'the words of an augmenting prompt for a task, not recorded: what a code without a prompt of its own answers in a data set';

CREATE FUNCTION @extschema@.cudal1_sft_dataset(methods text[] DEFAULT NULL, tasks text[] DEFAULT NULL, campaign text DEFAULT NULL,
	above float8 DEFAULT 0, per_task int DEFAULT NULL)
RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF above IS NULL OR above = 'NaN' OR above < 0 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'above must not be negative';
	END IF;
	IF per_task < 1 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'per_task must be at least 1';
	END IF;
	IF campaign IS NOT NULL AND NOT EXISTS (SELECT FROM cudal1.campaign AS c WHERE c.name = cudal1_sft_dataset.campaign) THEN
		PERFORM cudal1.does_not_exist('campaign', campaign, ARRAY(SELECT c.name FROM cudal1.campaign AS c ORDER BY c.name),
			'cudal1.campaign_progress lists the campaigns.');
	END IF;
	PERFORM cudal1.find_task(t.name) FROM unnest(cudal1_sft_dataset.tasks) AS t(name);
	RETURN QUERY
		SELECT jsonb_build_object(
				'messages', jsonb_build_array(
					jsonb_build_object('role', 'user', 'content', coalesce(d.prompt, cudal1.plain_prompt(d.task_id))),
					jsonb_build_object('role', 'assistant', 'content',
						coalesce(d.response, format(E'## Code Implementation\n\n```%s\n%s\n```\n',
							CASE d.language WHEN 'pytorch' THEN 'python' ELSE d.language END, rtrim(d.code, E'\n'))))),
				'task', d.task, 'level', d.level, 'candidate_id', d.candidate_id, 'proposal_id', d.proposal_id, 'prompt_id', d.prompt_id,
				'request_id', d.request_id, 'method', d.method, 'reward', d.reward, 'device', d.device)
			FROM (SELECT x.*, row_number() OVER (PARTITION BY x.task_id ORDER BY x.reward DESC, x.candidate_id) AS place FROM (
				SELECT DISTINCT ON (c.candidate_id) c.candidate_id, c.code, c.reward, t.task_id, t.name AS task, t.language, t.level,
						coalesce(c.import_device, t.device_model, t.device) AS device,
						p.proposal_id, p.method, p.prompt_id, p.response, q.prompt, r.request_id
					FROM cudal1.candidate AS c JOIN cudal1.task AS t USING (task_id) JOIN cudal1.proposal AS p USING (candidate_id)
						LEFT JOIN cudal1.prompt AS q ON q.prompt_id = p.prompt_id
						LEFT JOIN cudal1.request AS r
							ON p.proposal_key = 'request ' || r.request_id AND r.candidate_id = c.candidate_id AND r.created_by = p.created_by
						LEFT JOIN cudal1.campaign_lane AS l ON l.lane_id = r.lane_id
						LEFT JOIN cudal1.campaign_group AS g ON g.group_key = p.group_key
						LEFT JOIN cudal1.campaign_lane AS gl ON gl.lane_id = g.lane_id
						LEFT JOIN cudal1.campaign AS k
							ON k.campaign_id = coalesce(l.campaign_id, gl.campaign_id) AND k.created_by = p.created_by
					WHERE c.state = 'successful' AND c.purpose = 'normal' AND c.reward > above AND t.retired_at IS NULL
						AND (methods IS NULL OR p.method = ANY (methods))
						AND (cudal1_sft_dataset.tasks IS NULL OR t.name = ANY (cudal1_sft_dataset.tasks))
						AND (cudal1_sft_dataset.campaign IS NULL OR k.name = cudal1_sft_dataset.campaign)
					-- one row a code: the first that came as an answer, else the first
					ORDER BY c.candidate_id, p.response IS NULL, p.proposal_id) AS x) AS d
			WHERE per_task IS NULL OR d.place <= per_task
			ORDER BY d.task_id, d.reward DESC, d.candidate_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_sft_dataset(text[], text[], text, float8, int) IS
'chat messages of successful codes for supervised fine-tuning, one row for each code (identical ones are one candidate), best first within a task. Members: messages (user: the prompt, assistant: the whole answer, or the code alone where it did not come as an answer), task, level, reward, device, method, candidate_id, proposal_id, prompt_id, request_id.
methods, tasks, campaign: NULL is all; above: rewards above it; per_task: at most so many of the best of each task. Errors: 42704 unknown task or campaign, 22023 above or per_task out of range. COPY (SELECT cudal1_sft_dataset()) TO STDOUT is not yet JSONL, as COPY doubles backslashes: use psql -At or COPY ... (FORMAT csv, QUOTE e''\x01'', DELIMITER e''\x02'')';

CREATE FUNCTION @extschema@.cudal1_rl_dataset(methods text[] DEFAULT NULL, tasks text[] DEFAULT NULL, campaign text DEFAULT NULL,
	variant text DEFAULT 'paper', reward text DEFAULT 'speedup')
RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF cudal1_rl_dataset.reward IS NULL OR cudal1_rl_dataset.reward NOT IN ('speedup', 'binary') THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('unknown reward "%s"', cudal1_rl_dataset.reward),
			HINT = 'Rewards are speedup (the reward itself) and binary (1 for a successful code, 0 else).';
	END IF;
	IF cudal1_rl_dataset.campaign IS NOT NULL AND NOT EXISTS (SELECT FROM cudal1.campaign AS c WHERE c.name = cudal1_rl_dataset.campaign) THEN
		PERFORM cudal1.does_not_exist('campaign', cudal1_rl_dataset.campaign, ARRAY(SELECT c.name FROM cudal1.campaign AS c ORDER BY c.name),
			'cudal1.campaign_progress lists the campaigns.');
	END IF;
	PERFORM cudal1.find_task(t.name) FROM unnest(cudal1_rl_dataset.tasks) AS t(name);
	RETURN QUERY
		-- a group is all that was proposed in it: what this call leaves out, or cudal1_prune() took the answer of, was compared all the same
		WITH member AS (
			SELECT p.proposal_id, p.task_id, coalesce('key ' || p.group_key || CASE WHEN p.created_by <> cudal1.caller() THEN ' of ' || p.created_by ELSE '' END,
							 'prompt ' || p.prompt_id) AS grp,
					CASE WHEN cudal1_rl_dataset.reward = 'speedup' THEN c.reward ELSE (c.reward > 0)::int::float8 END AS value
				FROM cudal1.proposal AS p JOIN cudal1.candidate AS c USING (candidate_id) JOIN cudal1.task AS t ON t.task_id = p.task_id
				WHERE num_nonnulls(p.group_key, p.prompt_id) > 0
					AND (cudal1_rl_dataset.tasks IS NULL OR t.name = ANY (cudal1_rl_dataset.tasks))),
		numbered AS (
			SELECT m.*, row_number() OVER (PARTITION BY m.task_id, m.grp ORDER BY m.proposal_id) AS place FROM member AS m),
		scored AS (
			SELECT n.task_id, n.grp, cudal1.group_advantages(array_agg(n.value ORDER BY n.place), cudal1_rl_dataset.variant) AS advantages
				FROM numbered AS n GROUP BY n.task_id, n.grp)
		SELECT jsonb_build_object('prompt', q.prompt, 'response', p.response, 'reward', n.value, 'advantage', s.advantages[n.place],
				'group', n.grp, 'task', t.name, 'level', t.level, 'method', p.method, 'state', c.state, 'failure', c.failure,
				'candidate_id', c.candidate_id, 'proposal_id', p.proposal_id, 'prompt_id', p.prompt_id)
			FROM numbered AS n JOIN scored AS s USING (task_id, grp) JOIN cudal1.proposal AS p USING (proposal_id)
				JOIN cudal1.candidate AS c USING (candidate_id) JOIN cudal1.task AS t ON t.task_id = p.task_id
				JOIN cudal1.prompt AS q ON q.prompt_id = p.prompt_id
				LEFT JOIN cudal1.request AS r
					ON p.proposal_key = 'request ' || r.request_id AND r.candidate_id = c.candidate_id AND r.created_by = p.created_by
				LEFT JOIN cudal1.campaign_lane AS l ON l.lane_id = r.lane_id
				LEFT JOIN cudal1.campaign_group AS g ON g.group_key = p.group_key
				LEFT JOIN cudal1.campaign_lane AS gl ON gl.lane_id = g.lane_id
				LEFT JOIN cudal1.campaign AS k ON k.campaign_id = coalesce(l.campaign_id, gl.campaign_id) AND k.created_by = p.created_by
			WHERE p.response IS NOT NULL AND c.purpose = 'normal' AND t.retired_at IS NULL
				AND (methods IS NULL OR p.method = ANY (methods))
				AND (cudal1_rl_dataset.campaign IS NULL OR k.name = cudal1_rl_dataset.campaign)
			ORDER BY n.task_id, n.grp, n.place;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_rl_dataset(text[], text[], text, text, text) IS
'prompts, answers, rewards and advantages for reinforcement learning, one row for each answer. Members: prompt, response, reward (NULL: no verdict), advantage, group (what a role proposed under one group_key, with the role where it is not the caller; else what was proposed for one prompt), task, level, method, state, failure, candidate_id, proposal_id, prompt_id.
methods, tasks, campaign: NULL is all; they choose rows, while advantages are those within the whole group. variant as in cudal1_group_advantages(); reward: speedup, or binary (1 successful, 0 not: CUDA-L1, 2.3). Errors: 42704 unknown task or campaign, 22023 unknown variant or reward';
