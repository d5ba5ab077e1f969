/*
 * What a trainer takes: groups and sets of data.
 *
 * Groups are prompts of a contrastive campaign without models, handed out to a trainer, their
 * answers, and the rewards and advantages of those.
 */

CREATE FUNCTION cudal1.has_groups(c cudal1.campaign, l cudal1.campaign_lane)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN l.state = 'open' AND coalesce(l.groups < (c.options ->> 'groups')::int, true)
	AND NOT EXISTS (SELECT FROM cudal1.task AS t
		WHERE t.task_id = l.task_id AND (t.retired_at IS NOT NULL OR t.reference_state = 'bad'));
COMMENT ON FUNCTION cudal1.has_groups IS 'whether a lane of its campaign has groups to hand out';

CREATE FUNCTION @extschema@.cudal1_next_group(campaign text, pool text DEFAULT 'main')
RETURNS TABLE (group_key text, prompt_id bigint, task text, prompt text, size int, system text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET lock_timeout = '10s'
AS $$
DECLARE
	c		cudal1.campaign;
	l		cudal1.campaign_lane;
	g		cudal1.campaign_group;
	from_pool int := cudal1.find_pool(pool, true);
BEGIN
	SELECT x.* INTO c FROM cudal1.campaign AS x WHERE x.name = cudal1_next_group.campaign;
	PERFORM cudal1.check_name('campaign', campaign) WHERE NOT FOUND;
	PERFORM cudal1.check_owner(format('campaign "%s"', c.name), c.created_by);
	PERFORM cudal1.raise_if(c.kind <> 'contrastive'
			OR EXISTS (SELECT FROM cudal1.campaign_lane AS x WHERE x.campaign_id = c.campaign_id
			AND x.model_id IS NOT NULL), '22023',
		format('campaign "%s" hands out no groups', c.name),
		'A campaign of kind contrastive without models does.');
	IF c.state <> 'running' THEN
		RETURN;
	END IF;
	LOOP
		SELECT x.* INTO l FROM cudal1.campaign_lane AS x
			WHERE x.campaign_id = c.campaign_id AND cudal1.has_groups(c, x)
			ORDER BY x.groups, x.lane_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
		EXIT WHEN FOUND;
		-- the lanes that are left are another session's, or the worker's, for a moment
		IF NOT EXISTS (SELECT FROM cudal1.campaign_lane AS x
				WHERE x.campaign_id = c.campaign_id AND cudal1.has_groups(c, x)) THEN
			RETURN;
		END IF;
		BEGIN
			SELECT x.* INTO l FROM cudal1.campaign_lane AS x
				WHERE x.campaign_id = c.campaign_id AND cudal1.has_groups(c, x)
				ORDER BY x.groups, x.lane_id LIMIT 1 FOR NO KEY UPDATE;
			EXIT WHEN FOUND;
		EXCEPTION WHEN lock_not_available THEN
			PERFORM cudal1.raise_if(true, '55P03',
				format('another transaction has taken a group of campaign "%s", and is still open',
					c.name), 'Take groups outside of long transactions.');
		END;
	END LOOP;
	c.pool_id := CASE WHEN pool = 'main' THEN c.pool_id ELSE from_pool END;
	g := cudal1.make_group(c, l);
	RETURN QUERY SELECT g.group_key, g.prompt_id, t.name, p.prompt, g.size, p.system
		FROM cudal1.prompt AS p JOIN cudal1.task AS t USING (task_id)
			WHERE p.prompt_id = g.prompt_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_next_group(text, text) IS
'the next prompt of a contrastive campaign, for a group of size answers; the task with the fewest
groups comes first. No row while the campaign is paused, or when it has made all its groups. What
another session is about to take is waited for, for 10 s. pool: where exemplars come from and
answers go; main is the campaign''s own pool. The campaign''s profile, train unless it or the task
names another, measures the answers. system: the message of role system, NULL where there is none.
Errors: 42704 unknown campaign or pool, 42501 another role''s, 22023 one of another kind, 55P03
another transaction took a group and stays open';

CREATE FUNCTION @extschema@.cudal1_answer_group(group_key text, responses text[])
RETURNS TABLE (ordinal int, candidate_id bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	g		record;
	answer	text;
	v		cudal1.batch_row;
BEGIN
	PERFORM cudal1.raise_if(group_key IS NULL, '22004', 'group_key must not be null');
	SELECT x.*, l.method, c.options, c.created_by AS owner INTO g
		FROM cudal1.campaign_group AS x JOIN cudal1.campaign_lane AS l USING (lane_id)
			JOIN cudal1.campaign AS c USING (campaign_id)
		WHERE x.group_key = cudal1_answer_group.group_key;
	PERFORM cudal1.raise_if(NOT FOUND, '42704', format('group "%s" does not exist', group_key),
		'Groups come from cudal1_next_group().');
	PERFORM cudal1.check_owner(format('group "%s"', g.group_key), g.owner);
	SELECT x.answered_at, x.answers INTO g.answered_at, g.answers FROM cudal1.campaign_group AS x
		WHERE x.group_id = g.group_id FOR NO KEY UPDATE;
	PERFORM cudal1.raise_if(responses IS NULL OR num_nulls(VARIADIC responses) > 0
			OR cardinality(responses) NOT BETWEEN 1 AND 10000, '22023',
		'responses must be an array of 1 to 10000 texts');
	PERFORM cudal1.raise_if(g.answered_at IS NOT NULL AND g.answers <> cardinality(responses),
		'22023', format('group "%s" was answered with %s responses, not %s', g.group_key,
			g.answers, cardinality(responses)),
		'A group is answered once; cudal1_next_group() gives another.');
	UPDATE cudal1.campaign_group AS x
		SET answered_at = clock_timestamp(), answers = cardinality(responses)
		WHERE x.group_id = g.group_id AND x.answered_at IS NULL;
	FOR ordinal, answer IN
		SELECT u.ordinality, u.response FROM unnest(responses) WITH ORDINALITY AS u(response)
			ORDER BY u.ordinality
	LOOP
		v := cudal1.row_of_response(g.prompt_id, answer, g.method, g.group_key,
			'answer ' || ordinal, (g.options ->> 'priority')::int, NULL, g.owner, NULL);
		-- one that came before is known by the hash of its code, which is left when it is pruned
		PERFORM cudal1.raise_if(c.code_hash <> v.hash, '22023',
				format('response %s is not the one that group "%s" was answered with', ordinal,
					g.group_key), 'A group is answered once; cudal1_next_group() gives another.')
			FROM cudal1.candidate AS c WHERE c.candidate_id = v.id;
		candidate_id := cudal1.accept_submission(v);
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_answer_group(text, text[]) IS
'submits the answers to a group''s prompt, in order; sent again, the same answers add nothing and
give the same candidates. Wait for them with cudal1_wait(). Errors: 42704 unknown group, 42501
another role''s, 22023 no texts, or others than those that the group was answered with';

CREATE FUNCTION @extschema@.cudal1_group_result(group_key text, variant text DEFAULT 'paper',
	owner text DEFAULT NULL)
RETURNS TABLE (ordinal int, candidate_id bigint, state text, reward float8, advantage float8,
	failure text, detail text) LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
AS $$
DECLARE
	owners		text[];
	usable		text[];
	its_task	bigint;
BEGIN
	PERFORM cudal1.raise_if(group_key IS NULL, '22004', 'group_key must not be null');
	owners := ARRAY(SELECT p.created_by FROM cudal1.proposal AS p
			WHERE p.group_key = cudal1_group_result.group_key
		UNION SELECT r.created_by FROM cudal1.request AS r
			WHERE r.group_key = cudal1_group_result.group_key
		UNION SELECT c.created_by FROM cudal1.campaign_group AS g JOIN cudal1.campaign_lane AS l
			USING (lane_id) JOIN cudal1.campaign AS c USING (campaign_id)
			WHERE g.group_key = cudal1_group_result.group_key ORDER BY 1);
	PERFORM cudal1.raise_if((owner = ANY (owners)) IS NOT TRUE, '42704',
			format('role "%s" has no group "%s"', owner, group_key),
			'Groups come from cudal1_next_group(), or are the group_key of submissions.')
		WHERE owner IS NOT NULL;
	-- the named owner's, the caller's own, or that of the one role whose things it may use
	usable := CASE WHEN coalesce(owner, cudal1.caller()) = ANY (owners)
			THEN ARRAY[coalesce(owner, cudal1.caller())]
		ELSE ARRAY(SELECT o FROM unnest(owners) AS o WHERE cudal1.owns(o) ORDER BY o) END;
	PERFORM cudal1.raise_if(cardinality(usable) > 1, '22023',
		format('group "%s" is one of several roles', group_key),
		format('Name one of them as owner: %s.', array_to_string(usable, ', ')));
	PERFORM cudal1.raise_if(usable = '{}', '42704', format('group "%s" does not exist', group_key),
		CASE WHEN owners = '{}'
			THEN 'Groups come from cudal1_next_group(), or are the group_key of submissions.'
			ELSE format('To read that of another role, name it as owner: %s.',
			array_to_string(owners, ', ')) END);
	owner := usable[1];
	-- a campaign's group has one task, even if its owner proposes more by its key
	its_task := (SELECT l.task_id
		FROM cudal1.campaign_group AS g JOIN cudal1.campaign_lane AS l USING (lane_id)
			JOIN cudal1.campaign AS c USING (campaign_id)
		WHERE g.group_key = cudal1_group_result.group_key
			AND c.created_by = cudal1_group_result.owner);
	RETURN QUERY
		WITH member AS (
			SELECT row_number() OVER (ORDER BY p.proposal_id)::int AS ordinal, p.candidate_id,
			c.state, c.reward, c.failure, c.detail, p.task_id, p.pool_id,
					row_number() OVER (PARTITION BY p.task_id, p.pool_id ORDER BY p.proposal_id)
						AS place
				FROM cudal1.proposal AS p
					JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id
				WHERE p.group_key = cudal1_group_result.group_key
					AND p.created_by = cudal1_group_result.owner
					AND (its_task IS NULL OR p.task_id = its_task)),
		scored AS (
			SELECT m.task_id, m.pool_id, cudal1.group_advantages(
					array_agg(m.reward ORDER BY m.place), cudal1_group_result.variant) AS advantages
				FROM member AS m GROUP BY m.task_id, m.pool_id)
		SELECT m.ordinal, m.candidate_id, m.state, m.reward, s.advantages[m.place],
				m.failure, m.detail
			FROM member AS m JOIN scored AS s USING (task_id, pool_id) ORDER BY m.ordinal;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_group_result(text, text, text) IS
'rewards and advantages of a group, in the order of its answers; NULL for what has no verdict (yet),
which does not count; failure and detail say why an answer failed. The group is a campaign''s, or
all that a role submitted under the group_key, within each task and pool. variant as in
cudal1_group_advantages(); owner: whose group; NULL: the caller''s, else that of a role it is a
member of (for operators, of any). Errors: 42704 unknown group, 22023 several roles'' groups';

CREATE FUNCTION cudal1.chosen(methods text[], campaign text, tasks text[], pool text)
RETURNS TABLE (proposal_id bigint, request_id bigint, round int)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 100000
AS $$
DECLARE
	only_pool constant int := cudal1.choose_pool(pool);
BEGIN
	PERFORM cudal1.check_name('method', m.name) FROM unnest(methods) AS m (name)
		WHERE m.name IS NOT NULL;
	PERFORM cudal1.check_name('campaign', campaign) WHERE campaign IS NOT NULL;
	PERFORM cudal1.find_task(t.name) FROM unnest(tasks) AS t (name);
	RETURN QUERY
		SELECT p.proposal_id, r.request_id, r.round
			FROM cudal1.proposal AS p JOIN cudal1.task AS t ON t.task_id = p.task_id
				LEFT JOIN cudal1.request AS r ON p.proposal_key = 'request ' || r.request_id
						AND r.candidate_id = p.candidate_id AND r.created_by = p.created_by
				LEFT JOIN cudal1.campaign_lane AS l ON l.lane_id = r.lane_id
				LEFT JOIN cudal1.campaign_group AS g ON g.group_key = p.group_key
				LEFT JOIN cudal1.campaign_lane AS gl ON gl.lane_id = g.lane_id
				LEFT JOIN cudal1.campaign AS k
					ON k.campaign_id = coalesce(l.campaign_id, gl.campaign_id)
						AND k.created_by = p.created_by
			WHERE t.retired_at IS NULL AND coalesce(p.method = ANY (methods), methods IS NULL)
				AND coalesce(t.name = ANY (tasks), tasks IS NULL)
				AND coalesce(p.pool_id = only_pool, pool IS NULL)
				AND coalesce(k.name = chosen.campaign, chosen.campaign IS NULL);
END
$$;
COMMENT ON FUNCTION cudal1.chosen IS
'the proposals by methods, of a campaign, for tasks and in a pool (NULL: all), with the requests
that they answer; error 42704 for what does not exist';

CREATE FUNCTION @extschema@.cudal1_sft_dataset(methods text[] DEFAULT NULL,
	tasks text[] DEFAULT NULL, campaign text DEFAULT NULL, above float8 DEFAULT 0,
	per_task int DEFAULT NULL, pool text DEFAULT NULL, content text DEFAULT 'answer',
	round int DEFAULT NULL, unconfirmed boolean DEFAULT false)
RETURNS SETOF jsonb LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
AS $$
BEGIN
	PERFORM cudal1.raise_if(above IS NULL OR above = 'NaN' OR above < 0, '22023',
		'above must not be negative');
	PERFORM cudal1.raise_if(per_task < 1, '22023', 'per_task must be at least 1');
	PERFORM cudal1.raise_if(content IS NULL OR content NOT IN ('answer', 'code'), '22023',
		format('unknown content "%s"', content),
		'Contents are answer (the whole answer, to its prompt) and code (alone, to the '
			'prompt that shows the reference).');
	PERFORM cudal1.raise_if(unconfirmed IS NULL, '22004', 'unconfirmed must not be null');
	RETURN QUERY
		SELECT jsonb_build_object(
				'messages', CASE WHEN content = 'answer' AND d.prompt IS NOT NULL
						AND d.response IS NOT NULL
					THEN cudal1.chat(d.system, ARRAY[d.prompt, d.response])
					-- a code without a prompt of its own answers an augmenting one
					ELSE cudal1.chat(NULL, ARRAY[(SELECT cudal1.task_prompt(t, false, '{}', '{}',
							'{}', '{}', '{}', w.text)
						FROM cudal1.task AS t, cudal1.find_template('augment', 'augment') AS w
						WHERE t.task_id = d.task_id),
						format(E'```%s\n%s\n```\n', (SELECT f.fence
							FROM cudal1.language_facts() AS f
							WHERE f.language = d.language), rtrim(d.code, E'\n'))]) END,
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
					FROM cudal1.chosen(methods, campaign, tasks, pool) AS r
						JOIN cudal1.proposal AS p ON p.proposal_id = r.proposal_id
						JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id
						JOIN cudal1.task AS t ON t.task_id = c.task_id
						LEFT JOIN cudal1.prompt AS q ON q.prompt_id = p.prompt_id
					WHERE c.purpose = 'normal'
						AND (c.state = 'successful' AND c.reward > above
							OR unconfirmed AND above = 0 AND c.state = 'discarded'
								AND cudal1.is_correct(c))
						AND (cudal1_sft_dataset.round IS NULL OR r.round = cudal1_sft_dataset.round)
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
RETURNS SETOF jsonb LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
AS $$
BEGIN
	PERFORM cudal1.raise_if(reward IS NULL OR reward NOT IN ('speedup', 'binary'), '22023',
		format('unknown reward "%s"', reward),
		'Rewards are speedup (the reward itself) and binary (1 for a successful code, 0 else).');
	RETURN QUERY
		-- A group is everything that was proposed in it. Advantages compare rows that this call
		-- leaves out, too, and those whose answers were pruned.
		WITH member AS (
			SELECT p.proposal_id, p.task_id,
					CASE WHEN p.group_key IS NULL THEN to_jsonb(p.prompt_id)
						ELSE jsonb_build_array(p.created_by, p.pool_id, p.group_key) END AS mates,
					coalesce('key ' || p.group_key
						|| CASE WHEN p.created_by <> cudal1.caller()
							THEN ' of ' || p.created_by ELSE '' END
						|| CASE WHEN p.pool_id <> 1 THEN ' in pool ' || o.name ELSE '' END,
						'prompt ' || p.prompt_id) AS grp,
					CASE WHEN cudal1_rl_dataset.reward = 'speedup' THEN c.reward
						ELSE (c.reward > 0)::int::float8 END AS value
				FROM cudal1.proposal AS p JOIN cudal1.candidate AS c USING (candidate_id)
					JOIN cudal1.task AS t ON t.task_id = p.task_id
					JOIN cudal1.pool AS o ON o.pool_id = p.pool_id
				WHERE num_nonnulls(p.group_key, p.prompt_id) > 0
					AND (cudal1_rl_dataset.tasks IS NULL
						OR t.name = ANY (cudal1_rl_dataset.tasks))),
		numbered AS (
			SELECT m.*, row_number() OVER (PARTITION BY m.task_id, m.mates
				ORDER BY m.proposal_id) AS place FROM member AS m),
		scored AS (
			SELECT n.task_id, n.mates, cudal1.group_advantages(
					array_agg(n.value ORDER BY n.place), cudal1_rl_dataset.variant) AS advantages
				FROM numbered AS n GROUP BY n.task_id, n.mates)
		SELECT jsonb_build_object('system', q.system, 'prompt', q.prompt, 'response', p.response,
			'reward', n.value, 'advantage', s.advantages[n.place], 'group', n.grp, 'task', t.name,
			'level', t.level, 'method', p.method, 'state', c.state, 'failure', c.failure,
			'candidate_id', c.candidate_id, 'proposal_id', p.proposal_id, 'prompt_id', p.prompt_id)
			FROM cudal1.chosen(methods, campaign, tasks, pool) AS r
				JOIN numbered AS n USING (proposal_id) JOIN scored AS s USING (task_id, mates)
				JOIN cudal1.proposal AS p USING (proposal_id)
				JOIN cudal1.candidate AS c USING (candidate_id)
				JOIN cudal1.task AS t ON t.task_id = p.task_id
				JOIN cudal1.prompt AS q ON q.prompt_id = p.prompt_id
			WHERE p.response IS NOT NULL AND c.purpose = 'normal'
			ORDER BY n.task_id, n.grp, n.mates, n.place;
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

CREATE FUNCTION @extschema@.cudal1_conservative_round(speedup float8)
RETURNS float8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_conservative_round';
COMMENT ON FUNCTION @extschema@.cudal1_conservative_round(float8) IS
'two decimals, towards 1 (CUDA-L1, 2.4.4): 1.118 gives 1.11, 0.992 gives 1.00; 100 x within 1e-9 of
an integer is that integer, so 1.15 stays 1.15. Error 22023: NaN, infinite and negative speedups';

CREATE FUNCTION @extschema@.cudal1_score_rounds(reference_times float8[], candidate_times float8[],
									profile text DEFAULT 'default', buckets int[] DEFAULT NULL)
RETURNS TABLE (bucket_means float8[], variance float8, score float8, reward float8, accepted bool)
LANGUAGE C STABLE PARALLEL RESTRICTED SECURITY DEFINER
AS 'MODULE_PATHNAME', 'cudal1_score_rounds';
COMMENT ON FUNCTION @extschema@.cudal1_score_rounds(float8[], float8[], text, int[]) IS
'score of a measurement from the times of its rounds, one reference and one candidate time a round
in any one unit (CUDA-L1, eq. 2 and 3). Estimators and limits are the profile''s; without buckets
the rounds are split contiguously into profile.pairs buckets of sizes that differ by at most one,
else equal numbers mean one bucket. variance is the population variance across the buckets;
accepted: the variance is within the profile''s limit, and there is more than one bucket where it
has one for intervals; reward is NULL otherwise. Where the interval is wide by the profile''s
half_width_limit, the reward is that of its lower end if that is 1 or more, else of the score, at
most 1.
Errors: 22023 times not above 0, NaN, too few rounds; 2202E lengths differ; 42704 unknown profile';

CREATE FUNCTION cudal1.group_advantages(rewards float8[], variant text)
RETURNS float8[] LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_group_advantages';
COMMENT ON FUNCTION cudal1.group_advantages IS 'what cudal1_group_advantages() does';

CREATE FUNCTION @extschema@.cudal1_group_advantages(rewards float8[], variant text DEFAULT 'paper')
RETURNS float8[] LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_group_advantages';
COMMENT ON FUNCTION @extschema@.cudal1_group_advantages(float8[], text) IS
'advantages of one group (CUDA-L1, eq. 4): (r - mean) / deviation. Variants: paper (population
deviation), trl, verl, openrlhf (sample deviation + 1e-4, 1e-6, 1e-9), dr_grpo (r - mean), rloo (r -
mean of the others), smoothed (as paper, cut at +-1.5). Equal rewards and a group of one give 0.
NULLs stay NULL and do not count. Error 22023 for NaN, infinities and unknown variants';

CREATE FUNCTION @extschema@.cudal1_grpo_objective(logp float8[], logp_old float8[],
	logp_ref float8[], advantages float8[], lengths int[], epsilon float8 DEFAULT 0.2,
	beta float8 DEFAULT 0.04, epsilon_high float8 DEFAULT NULL, aggregation text DEFAULT 'sequence')
RETURNS TABLE (objective float8, kl float8, clip_fraction float8)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY DEFINER
AS $$
DECLARE
	high		constant float8 := coalesce(epsilon_high, epsilon);
	tokens		constant int := cardinality(logp);
	sequences	constant int := cardinality(lengths);
BEGIN
	PERFORM cudal1.raise_if(array_ndims(v.numbers) > 1, '2202E',
				format('argument "%s" must be a one-dimensional array', v.argument)),
			cudal1.raise_if(v.numbers IS NULL OR array_position(v.numbers, NULL) IS NOT NULL,
				'22004', format('argument "%s" must not be NULL, nor contain NULL', v.argument)),
			cudal1.raise_if(EXISTS (SELECT FROM unnest(v.numbers) AS x
					WHERE x IN ('NaN', 'Infinity', '-Infinity')), '22023',
				format('argument "%s" must contain finite numbers only', v.argument)),
			cudal1.raise_if(cardinality(v.numbers) <> v.n, '2202E',
				format('argument "%s" must have %s elements', v.argument, v.n))
		FROM (VALUES ('logp', logp, tokens), ('logp_old', logp_old, tokens),
			('logp_ref', coalesce(logp_ref, logp), tokens),
			('lengths', lengths::float8[], sequences),
			('advantages', advantages, CASE cardinality(advantages) WHEN sequences THEN sequences
				ELSE tokens END)) AS v (argument, numbers, n);
	PERFORM cudal1.raise_if(sequences = 0 OR 1 > ANY (lengths)
			OR (SELECT sum(l) FROM unnest(lengths) AS l) <> tokens, '22023',
		'argument "lengths" must hold the tokens of each sequence, at least 1, and add up to all');
	PERFORM cudal1.raise_if(NOT coalesce(v.number >= 0 AND v.number < v.below, false), '22023',
			format('argument "%s" must be at least 0 and below %s', v.argument, v.below))
		FROM (VALUES ('epsilon', epsilon, 1), ('beta', beta, 'Infinity'::float8),
			('epsilon_high', high, 'Infinity')) AS v (argument, number, below);
	PERFORM cudal1.raise_if(logp_ref IS NULL AND beta > 0, '22004',
		'argument "logp_ref" must not be NULL where "beta" is above 0',
		'Pass 0 for "beta" to leave the divergence out.');
	PERFORM cudal1.raise_if(coalesce(aggregation, '') NOT IN ('sequence', 'token'), '22023',
		'argument "aggregation" must be "sequence" or "token"');
	advantages := advantages[:];
	RETURN QUERY
	WITH place AS (
		SELECT row_number() OVER (ORDER BY s.n, g) AS token, s.n AS sequence,
				CASE aggregation WHEN 'token' THEN tokens ELSE s.length * sequences::float8 END
					AS weight
			FROM unnest(lengths) WITH ORDINALITY AS s (length, n)
				CROSS JOIN LATERAL generate_series(1, s.length) AS g),
	token AS (
		SELECT p.weight, exp(greatest(t.logp - t.old, -700)) AS ratio, t.ref - t.logp AS d,
				advantages[CASE sequences WHEN cardinality(advantages) THEN p.sequence
					ELSE t.n END] AS advantage
			FROM unnest(logp, logp_old, logp_ref) WITH ORDINALITY AS t (logp, old, ref, n)
				JOIN place AS p ON p.token = t.n),
	bounded AS (
		SELECT t.*, least(1 + high, greatest(1 - epsilon, t.ratio)) AS bound,
				-- k3; where the policies hardly differ, its series keeps the digits
				CASE WHEN abs(t.d) < 1e-5 THEN t.d * t.d * (0.5 + t.d / 6)
					ELSE exp(greatest(t.d, -700)) - t.d - 1 END AS divergence
			FROM token AS t)
	SELECT sum((least(b.ratio * b.advantage, b.bound * b.advantage)
				- coalesce(beta * b.divergence, 0)) / b.weight), sum(b.divergence / b.weight),
			count(*) FILTER (WHERE b.bound * b.advantage < b.ratio * b.advantage) / tokens::float8
		FROM bounded AS b;
END
$$;
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
