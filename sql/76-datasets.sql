/*
 * Data for trainers, as sets of jsonb that COPY turns into JSONL.
 */

CREATE FUNCTION cudal1.plain_prompt(task_id bigint)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT cudal1.task_prompt(t, false, '{}', '{}', '{}', '{}', w.text)
		FROM cudal1.task AS t, cudal1.find_template('augment', 'augment') AS w
		WHERE t.task_id = plain_prompt.task_id;
$$;
COMMENT ON FUNCTION cudal1.plain_prompt IS
'the words of an augmenting prompt for a task, not recorded: what a code without a prompt of its own
answers in a data set';

CREATE VIEW cudal1.asked AS
	SELECT p.proposal_id, r.request_id, r.round, k.name AS campaign
		FROM cudal1.proposal AS p
			LEFT JOIN cudal1.request AS r
				ON p.proposal_key = 'request ' || r.request_id
					AND r.candidate_id = p.candidate_id AND r.created_by = p.created_by
			LEFT JOIN cudal1.campaign_lane AS l ON l.lane_id = r.lane_id
			LEFT JOIN cudal1.campaign_group AS g ON g.group_key = p.group_key
			LEFT JOIN cudal1.campaign_lane AS gl ON gl.lane_id = g.lane_id
			LEFT JOIN cudal1.campaign AS k
				ON k.campaign_id = coalesce(l.campaign_id, gl.campaign_id)
					AND k.created_by = p.created_by;
COMMENT ON VIEW cudal1.asked IS
'the request and the campaign that a proposal answers, NULL where it answers none';

CREATE FUNCTION cudal1.check_choice(methods text[], campaign text, tasks text[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM cudal1.check_method(m.name) FROM unnest(methods) AS m (name);
	IF campaign IS NOT NULL
		AND NOT EXISTS (SELECT FROM cudal1.campaign AS c WHERE c.name = check_choice.campaign) THEN
		PERFORM cudal1.does_not_exist('campaign', campaign,
			ARRAY(SELECT c.name FROM cudal1.campaign AS c ORDER BY c.name),
			'cudal1.campaign_progress lists the campaigns.');
	END IF;
	PERFORM cudal1.find_task(t.name) FROM unnest(tasks) AS t (name);
END
$$;
COMMENT ON FUNCTION cudal1.check_choice IS
'error 42704 for a method, a campaign or a task that does not exist; NULL is all';

CREATE FUNCTION @extschema@.cudal1_sft_dataset(methods text[] DEFAULT NULL,
	tasks text[] DEFAULT NULL, campaign text DEFAULT NULL, above float8 DEFAULT 0,
	per_task int DEFAULT NULL, pool text DEFAULT NULL, content text DEFAULT 'answer',
	round int DEFAULT NULL, unconfirmed boolean DEFAULT false)
RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	only_pool constant int := cudal1.choose_pool(cudal1_sft_dataset.pool);
BEGIN
	PERFORM cudal1.raise_if(above IS NULL OR above = 'NaN' OR above < 0, '22023',
		'above must not be negative');
	PERFORM cudal1.raise_if(per_task < 1, '22023', 'per_task must be at least 1');
	PERFORM cudal1.raise_if(content IS NULL OR content NOT IN ('answer', 'code'), '22023',
		format('unknown content "%s"', content),
		'Contents are answer (the whole answer, to its prompt) and code (alone, to the '
			'prompt that shows the reference).');
	PERFORM cudal1.raise_if(unconfirmed IS NULL, '22004', 'unconfirmed must not be null');
	PERFORM cudal1.check_choice(methods, cudal1_sft_dataset.campaign, cudal1_sft_dataset.tasks);
	RETURN QUERY
		SELECT jsonb_build_object(
				'messages', CASE WHEN content = 'answer' AND d.prompt IS NOT NULL
						AND d.response IS NOT NULL
					THEN cudal1.chat(d.system, ARRAY[d.prompt, d.response])
					ELSE cudal1.chat(NULL, ARRAY[cudal1.plain_prompt(d.task_id),
						format(E'```%s\n%s\n```\n', CASE d.language WHEN 'pytorch' THEN 'python'
							ELSE d.language END, rtrim(d.code, E'\n'))]) END,
				'task', d.task, 'level', d.level, 'candidate_id', d.candidate_id, 'proposal_id',
				d.proposal_id, 'prompt_id', d.prompt_id, 'request_id', d.request_id, 'round',
				d.round, 'method', d.method, 'reward', d.reward, 'device', d.device)
			FROM (SELECT x.*,
				row_number() OVER (PARTITION BY x.task_id
					ORDER BY x.reward DESC NULLS LAST, x.candidate_id) AS place FROM (
				SELECT DISTINCT ON (c.candidate_id) c.candidate_id, c.code, c.reward, t.task_id,
				t.name AS task, t.language, t.level,
						coalesce(c.import_device, t.device_model, t.device) AS device,
						p.proposal_id, p.method, p.prompt_id, p.response, q.prompt, q.system,
						r.request_id, r.round
					FROM cudal1.candidate AS c JOIN cudal1.task AS t USING (task_id)
						JOIN cudal1.proposal AS p USING (candidate_id)
						LEFT JOIN cudal1.prompt AS q ON q.prompt_id = p.prompt_id
						JOIN cudal1.asked AS r USING (proposal_id)
					WHERE c.purpose = 'normal'
						AND (c.state = 'successful' AND c.reward > above
							OR unconfirmed AND above = 0 AND c.state = 'discarded'
								AND c.failure = 'unverified'
								AND EXISTS (SELECT FROM cudal1.measurement AS m
									WHERE m.measurement_id = c.measurement_id
										AND m.outcome IN ('successful', 'unstable')))
						AND (cudal1_sft_dataset.round IS NULL
							OR r.round = cudal1_sft_dataset.round)
						AND t.retired_at IS NULL
						AND (methods IS NULL OR p.method = ANY (methods))
						AND (only_pool IS NULL OR p.pool_id = only_pool)
						AND (cudal1_sft_dataset.tasks IS NULL
							OR t.name = ANY (cudal1_sft_dataset.tasks))
						AND (cudal1_sft_dataset.campaign IS NULL
							OR r.campaign = cudal1_sft_dataset.campaign)
					-- one row a code: its first answer, else its first proposal
					ORDER BY c.candidate_id, p.response IS NULL, p.proposal_id) AS x) AS d
			WHERE per_task IS NULL OR d.place <= per_task
			ORDER BY d.task_id, d.reward DESC NULLS LAST, d.candidate_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_sft_dataset(text[], text[], text, float8, int, text, text,
	int, boolean) IS
'chat messages of successful codes for supervised fine-tuning, one row for each code (identical ones
are one candidate), best first within a task. Members: messages (system, where the prompt has one;
user: the prompt; assistant: the whole answer), task, level, reward, device, method, candidate_id,
proposal_id, prompt_id, request_id, round.
methods, tasks, campaign, pool (that it was proposed in): NULL is all; above: rewards above it;
per_task: at most so many of the best of each task. content code (CUDA-L1, 2.2): the fenced code
alone, to the prompt that shows the reference, as is what did not come as an answer; round: answers
of that round of a self_supervised campaign; unconfirmed: with above 0, also codes that passed all
checks, but whose times were too unsteady, or not confirmed (reward null). Errors: 42704 unknown
task, campaign or pool, 22023 content, above or per_task out of range.
COPY (SELECT cudal1_sft_dataset()) TO STDOUT is not yet JSONL, as COPY doubles backslashes: use psql
-At or COPY ... (FORMAT csv, QUOTE e''\x01'', DELIMITER e''\x02'')';

CREATE FUNCTION @extschema@.cudal1_rl_dataset(methods text[] DEFAULT NULL,
	tasks text[] DEFAULT NULL, campaign text DEFAULT NULL, variant text DEFAULT 'paper',
	reward text DEFAULT 'speedup', pool text DEFAULT NULL)
RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	only_pool constant int := cudal1.choose_pool(cudal1_rl_dataset.pool);
BEGIN
	PERFORM cudal1.raise_if(cudal1_rl_dataset.reward IS NULL
			OR cudal1_rl_dataset.reward NOT IN ('speedup', 'binary'), '22023',
		format('unknown reward "%s"', cudal1_rl_dataset.reward),
		'Rewards are speedup (the reward itself) and binary (1 for a successful code, 0 '
			'else).');
	PERFORM cudal1.check_choice(methods, cudal1_rl_dataset.campaign, cudal1_rl_dataset.tasks);
	RETURN QUERY
		-- A group is everything that was proposed in it. Advantages compare rows that this call
		-- leaves out, too, and those whose answers were pruned.
		WITH member AS (
			SELECT p.proposal_id, p.task_id,
			coalesce('key ' || p.group_key || CASE WHEN p.created_by <> cudal1.caller() THEN ' of '
			|| p.created_by ELSE '' END || cudal1.in_pool(p.pool_id),
							 'prompt ' || p.prompt_id) AS grp,
					CASE WHEN cudal1_rl_dataset.reward = 'speedup' THEN c.reward
						ELSE (c.reward > 0)::int::float8 END AS value
				FROM cudal1.proposal AS p JOIN cudal1.candidate AS c USING (candidate_id)
					JOIN cudal1.task AS t ON t.task_id = p.task_id
				WHERE num_nonnulls(p.group_key, p.prompt_id) > 0
					AND (cudal1_rl_dataset.tasks IS NULL
						OR t.name = ANY (cudal1_rl_dataset.tasks))),
		numbered AS (
			SELECT m.*, row_number() OVER (PARTITION BY m.task_id, m.grp
				ORDER BY m.proposal_id) AS place FROM member AS m),
		scored AS (
			SELECT n.task_id, n.grp,
			cudal1.group_advantages(array_agg(n.value ORDER BY n.place), cudal1_rl_dataset.variant)
			AS advantages
				FROM numbered AS n GROUP BY n.task_id, n.grp)
		SELECT jsonb_build_object('system', q.system, 'prompt', q.prompt, 'response', p.response,
			'reward', n.value, 'advantage', s.advantages[n.place],
				'group', n.grp, 'task', t.name, 'level', t.level, 'method', p.method, 'state',
				c.state, 'failure', c.failure, 'candidate_id', c.candidate_id, 'proposal_id',
				p.proposal_id, 'prompt_id', p.prompt_id)
			FROM numbered AS n JOIN scored AS s USING (task_id, grp) JOIN cudal1.proposal AS p
				USING (proposal_id)
				JOIN cudal1.candidate AS c USING (candidate_id)
					JOIN cudal1.task AS t ON t.task_id = p.task_id
				JOIN cudal1.prompt AS q ON q.prompt_id = p.prompt_id
				JOIN cudal1.asked AS r USING (proposal_id)
			WHERE p.response IS NOT NULL AND c.purpose = 'normal' AND t.retired_at IS NULL
				AND (methods IS NULL OR p.method = ANY (methods))
				AND (only_pool IS NULL OR p.pool_id = only_pool)
				AND (cudal1_rl_dataset.campaign IS NULL OR r.campaign = cudal1_rl_dataset.campaign)
			ORDER BY n.task_id, n.grp, n.place;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_rl_dataset(text[], text[], text, text, text, text) IS
'prompts, answers, rewards and advantages for reinforcement learning, one row for each answer.
Members: system (the message before the prompt, or NULL), prompt, response, reward (NULL: no
verdict), advantage, group (what a role proposed under one group_key in one pool, with the role
where it is not the caller and the pool where it is not main; else what was proposed for one
prompt), task, level, method, state, failure, candidate_id, proposal_id, prompt_id.
methods, tasks, campaign, pool: NULL is all; they choose rows, while advantages are those within the
whole group. variant as in cudal1_group_advantages(); reward: speedup, or binary (1 successful, 0
not: CUDA-L1, 2.3). Errors: 42704 unknown task, campaign or pool, 22023 unknown variant or reward';

/*
 * Arithmetic of rounds, rewards and groups.
 */

CREATE FUNCTION cudal1.conservative_round(speedup float8)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_conservative_round';
COMMENT ON FUNCTION cudal1.conservative_round IS 'what cudal1_conservative_round() does';

CREATE FUNCTION @extschema@.cudal1_conservative_round(speedup float8)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_conservative_round';
COMMENT ON FUNCTION @extschema@.cudal1_conservative_round(float8) IS
'two decimals, towards 1 (CUDA-L1, 2.4.4): 1.118 gives 1.11, 0.992 gives 1.00; 100 x within 1e-9 of
an integer is that integer, so 1.15 stays 1.15 and rounding twice changes nothing. Error 22023 for
NaN, infinite and negative speedups';

CREATE FUNCTION @extschema@.cudal1_score_rounds(reference_times float8[], candidate_times float8[],
									profile text DEFAULT 'default', buckets int[] DEFAULT NULL)
RETURNS TABLE (bucket_means float8[], variance float8, score float8, reward float8, accepted bool)
LANGUAGE C STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cudal1_score_rounds';
COMMENT ON FUNCTION @extschema@.cudal1_score_rounds(float8[], float8[], text, int[]) IS
'score of a measurement from the times of its rounds, one reference and one candidate time a round
in any one unit (CUDA-L1, eq. 2 and 3). Estimators and limits are the profile''s; without buckets
the rounds are split contiguously into profile.pairs buckets of sizes that differ by at most one,
else equal numbers mean one bucket. variance is the population variance across the buckets;
accepted: the variance is within the profile''s limit, and there is more than one bucket where it
has one for intervals; reward is NULL otherwise. Where the interval''s half-width exceeds the larger
of half_width_limit and precision_slope * |ln score|, the reward is that of its end nearer to 1.
Errors: 22023 times not above 0, NaN, too few rounds; 2202E lengths differ; 42704 unknown profile';

CREATE FUNCTION cudal1.group_advantages(rewards float8[], variant text)
RETURNS float8[]
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_group_advantages';
COMMENT ON FUNCTION cudal1.group_advantages IS 'what cudal1_group_advantages() does';

CREATE FUNCTION @extschema@.cudal1_group_advantages(rewards float8[], variant text DEFAULT 'paper')
RETURNS float8[]
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_group_advantages';
COMMENT ON FUNCTION @extschema@.cudal1_group_advantages(float8[], text) IS
'advantages of one group (CUDA-L1, eq. 4): (r - mean) / deviation. Variants: paper (population
deviation), trl, verl, openrlhf (sample deviation + 1e-4, 1e-6, 1e-9), dr_grpo (r - mean), rloo (r -
mean of the others), smoothed (as paper, cut at +-1.5). Equal rewards and a group of one give
exactly 0; NULL members stay NULL and do not count. Error 22023 for NaN, infinities and unknown
variants';

CREATE FUNCTION @extschema@.cudal1_grpo_objective(logp float8[], logp_old float8[],
	logp_ref float8[], advantages float8[],
									  lengths int[], epsilon float8 DEFAULT 0.2,
									  beta float8 DEFAULT 0.04, epsilon_high float8 DEFAULT NULL,
									  aggregation text DEFAULT 'sequence')
RETURNS TABLE (objective float8, kl float8, clip_fraction float8)
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_grpo_objective';
COMMENT ON FUNCTION @extschema@.cudal1_grpo_objective(float8[], float8[], float8[], float8[], int[],
	float8, float8, float8, text) IS
'the objective to maximise (CUDA-L1, eq. 5): mean over sequences of the mean over tokens of min(rho
A, clip(rho, 1 - epsilon, 1 + epsilon_high) A) - beta k3, with rho = exp(logp - logp_old), k3 =
exp(d) - d - 1 and d = logp_ref - logp. logp, logp_old and logp_ref hold natural log-probabilities
of all tokens, sequence after sequence; lengths holds the tokens of each sequence; advantages one
number a sequence or one a token. epsilon_high NULL equals epsilon; logp_ref NULL (with beta 0)
leaves the divergence out; aggregation token averages over all tokens instead. kl is averaged alike;
clip_fraction is the share of tokens whose bound was in force. Errors: 2202E lengths do not fit,
22023 NaN and bad parameters, 22004 NULLs, 22003 out of range';
