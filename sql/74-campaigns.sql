/*
 * Campaigns: the stages and baselines of CUDA-L1 as rows that the worker carries out.
 *
 * cudal1.advance_campaigns() looks at each open lane (a task and a model) and makes the requests
 * that are due. It keeps no state but what follows from the rows, so it can be called by anybody at
 * any time and after any crash. A request is under way in its lane until it is decided: failed, or
 * its candidate has a verdict. Limits count what is under way, so that a stage that ends at two
 * successful codes does not pay for many more.
 */

CREATE FUNCTION cudal1.prompt_kind(kind text, options jsonb)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN kind IN ('evolve', 'contrastive') AND options -> 'exemplars' <> '0'
	THEN 'contrastive' ELSE 'augment' END;
COMMENT ON FUNCTION cudal1.prompt_kind IS
'the kind of prompts that a campaign of a kind makes by its options';

CREATE FUNCTION @extschema@.cudal1_add_campaign(name text, kind text, models text[] DEFAULT NULL,
	tasks text[] DEFAULT NULL, options jsonb DEFAULT '{}', pool text DEFAULT 'main')
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	o		jsonb;
	words	text;			-- the kind of its prompts
	into_pool int := cudal1.find_pool(pool, true);
	id		bigint;
	lanes	bigint;
BEGIN
	PERFORM cudal1.check_label(name);
	PERFORM cudal1.check_word('kind', kind, '{vanilla,augment,self_supervised,evolve,contrastive}');
	o := cudal1.check_options(options, kind);
	words := cudal1.prompt_kind(kind, o);
	PERFORM cudal1.find_template(coalesce(o ->> 'template', words), words, (o ->> 'failures')::int);
	PERFORM cudal1.check_name('profile', o ->> 'profile') WHERE o ->> 'profile' IS NOT NULL;
	PERFORM cudal1.raise_if(NOT cudal1.is_name(o ->> 'method', 90), '22023',
		'option "method" must be a name of 1 to 90 characters');
	PERFORM cudal1.raise_if(kind = 'evolve'
			AND num_nonnulls(o ->> 'max_tokens', o ->> 'max_candidates', o ->> 'max_seconds',
			o ->> 'max_cost') = 0, '22023', 'a campaign of kind evolve needs a budget',
		'Give at least one of the options max_tokens, max_candidates, max_seconds and '
			'max_cost.');
	PERFORM cudal1.raise_if(coalesce(models, '{}') = '{}' AND kind <> 'contrastive', '22023',
		format('a campaign of kind %s needs models', kind),
		'cudal1.model lists them; an operator adds one with cudal1_add_model().');
	PERFORM cudal1.raise_if(models <> '{}' AND kind = 'contrastive' AND o ->> 'groups' IS NULL,
		'22023', 'a contrastive campaign that asks models itself needs the option groups',
		'groups is the number of groups for each task and model; without models a trainer takes '
			'groups by cudal1_next_group().');
	PERFORM cudal1.check_name('model', m.name) FROM unnest(models) AS m(name);
	PERFORM cudal1.raise_if(
		NOT bool_or(coalesce(m.prompt_price, 0) + coalesce(m.completion_price, 0) > 0)
			AND num_nonnulls(o ->> 'max_tokens', o ->> 'max_candidates', o ->> 'max_seconds') = 0,
		'22023',
		format('model "%s" has no prices, so max_cost would never be reached', min(m.name)),
		'Give it prices with cudal1_add_model(), or the campaign another budget.')
		FROM cudal1.model AS m
		WHERE m.name = ANY (models) AND o ->> 'max_cost' IS NOT NULL
		HAVING count(*) > 0;
	PERFORM cudal1.find_task(t.name) FROM unnest(tasks) AS t(name);
	-- a code is measured once, for all roles, and a profile may not verify
	PERFORM cudal1.raise_if(true, '42501',
			format('task "%s" belongs to %s, which chooses its profile', x.name,
				coalesce('role "' || x.created_by || '"', 'the operators')),
			format('Others may name the profiles default, train and %s.', x.profile),
			format('A reward by profile "%s" would be an exemplar for every role.',
				o ->> 'profile'))
		FROM cudal1.task AS x
		WHERE (x.name = ANY (tasks) OR tasks IS NULL AND x.retired_at IS NULL)
			AND o ->> 'profile' NOT IN ('default', 'train', x.profile)
			AND NOT cudal1.owns(x.created_by);

	INSERT INTO cudal1.campaign (name, kind, pool_id, options)
		VALUES (cudal1_add_campaign.name, cudal1_add_campaign.kind, into_pool, o)
		ON CONFLICT DO NOTHING RETURNING campaign_id INTO id;
	PERFORM cudal1.raise_if(NOT FOUND, '23505', format('campaign "%s" exists', name),
		'Add it under another name.');
	INSERT INTO cudal1.campaign_lane (campaign_id, task_id, model_id, method)
		SELECT id, t.task_id, m.model_id,
				CASE WHEN m.model_id IS NULL THEN coalesce(o ->> 'method', cudal1_add_campaign.kind)
					 WHEN o ->> 'method' IS NOT NULL AND cardinality(models) = 1 THEN o ->> 'method'
					 ELSE coalesce(o ->> 'method', cudal1_add_campaign.kind) || ': ' || m.name END
			FROM cudal1.task AS t LEFT JOIN cudal1.model AS m ON m.name = ANY (models)
			WHERE t.name = ANY (tasks)
				OR tasks IS NULL AND t.retired_at IS NULL AND t.reference_state <> 'bad'
			ORDER BY t.task_id, m.model_id;
	GET DIAGNOSTICS lanes = ROW_COUNT;
	PERFORM cudal1.raise_if(lanes = 0, '22023', 'there are no tasks for the campaign',
		'Add tasks with cudal1_add_task().');
	PERFORM cudal1.store(cudal1.caller(), 256 * (1 + lanes));
	PERFORM cudal1.wake();
	RETURN id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_campaign(text, text, text[], text[], jsonb, text) IS
'adds a campaign over tasks (NULL: all there are) and models, which the worker carries out at once.
Kinds: vanilla (options attempts 5), augment (trials 20, successes 2: done at so many correct
codes, with or without a time), self_supervised (batch 8, rounds 1, pause true: waits after each
round for the model to be trained), evolve (exemplars 4, strategy island, temperature, and a budget:
max_tokens, max_candidates, max_seconds, max_cost), contrastive (exemplars 2, strategy bucket,
group_size 8; exemplars 0: GRPO without comparison, whose prompts show the reference alone; profile:
what measures the groups, NULL: the task''s where its options name one, else train; without models a
trainer takes the groups, with models groups for each lane). All: ahead 4 (requests under way for
each task and model), method (NULL: the kind), priority, template and failures (0) as in
cudal1_prompt().
Candidates are proposed by the method "<method>: <model>". The campaign, its prompts, requests and
groups belong to the caller. pool: where its prompts draw from and its answers go
(cudal1_open_pool()). Errors: 42704 unknown task, model, profile, pool or template, 42501 a pool
of another role, or a profile for another role''s task that is not default, train or the
task''s, 22023 options, 23505 the name is taken, 53400 a quota is used up';

CREATE FUNCTION cudal1.find_campaign(name text)
RETURNS cudal1.campaign LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	SELECT cudal1.check_name('campaign', name);
	-- the owner is checked before the lock, which would make the true owner wait
	SELECT cudal1.check_owner(format('campaign "%s"', x.name), x.created_by)
		FROM cudal1.campaign AS x WHERE x.name = find_campaign.name;
	SELECT x.* FROM cudal1.campaign AS x WHERE x.name = find_campaign.name FOR NO KEY UPDATE;
END;
COMMENT ON FUNCTION cudal1.find_campaign IS 'the caller''s campaign of this name, locked';

CREATE FUNCTION cudal1.seconds_of(c cudal1.campaign)
RETURNS float8 LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN c.active_seconds + CASE WHEN c.state = 'running'
	THEN extract(epoch FROM clock_timestamp() - c.resumed_at)::float8 ELSE 0 END;
COMMENT ON FUNCTION cudal1.seconds_of IS 'how long a campaign has been running, pauses apart';

CREATE FUNCTION cudal1.set_campaign(c cudal1.campaign, state text, note text)
RETURNS void LANGUAGE sql VOLATILE PARALLEL UNSAFE
AS $$
	UPDATE cudal1.campaign AS x
		SET state = set_campaign.state, note = set_campaign.note,
			active_seconds = cudal1.seconds_of(x), resumed_at = clock_timestamp(),
			finished_at = CASE WHEN set_campaign.state = 'finished' THEN clock_timestamp() END
		WHERE x.campaign_id = c.campaign_id;
$$;
COMMENT ON FUNCTION cudal1.set_campaign IS
'changes the state of a campaign, keeping account of its running time';

CREATE FUNCTION @extschema@.cudal1_pause_campaign(campaign text)
RETURNS void LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.raise_if(c.state = 'finished', '55000',
				format('campaign "%s" is finished', c.name)),
			cudal1.set_campaign(c, 'paused', 'paused by ' || cudal1.caller())
		FROM cudal1.find_campaign(campaign) AS c;
END;
COMMENT ON FUNCTION @extschema@.cudal1_pause_campaign(text) IS
'makes no further requests; those that wait or are in flight are completed. Errors: 42704 unknown,
42501 another role''s, 55000 finished';

CREATE FUNCTION @extschema@.cudal1_resume_campaign(campaign text)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	c		cudal1.campaign := cudal1.find_campaign(campaign);
BEGIN
	PERFORM cudal1.raise_if(c.state = 'finished', '55000',
		format('campaign "%s" is finished', c.name));
	IF c.state = 'running' THEN
		RETURN;
	END IF;
	UPDATE cudal1.campaign_lane AS l SET failures = 0 WHERE l.campaign_id = c.campaign_id
		AND l.failures > 0;
	IF c.kind = 'self_supervised'
		AND NOT EXISTS (SELECT FROM cudal1.campaign_lane AS l WHERE l.campaign_id = c.campaign_id
		AND l.state = 'open') THEN
		UPDATE cudal1.campaign AS x SET round = x.round + 1 WHERE x.campaign_id = c.campaign_id;
		UPDATE cudal1.campaign_lane AS l SET state = 'open' WHERE l.campaign_id = c.campaign_id;
	END IF;
	PERFORM cudal1.set_campaign(c, 'running', NULL);
	PERFORM cudal1.wake();
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_resume_campaign(text) IS
'goes on with a paused campaign; one of kind self_supervised that completed a round begins the next.
Errors: 42704 unknown, 42501 another role''s, 55000 finished';

CREATE FUNCTION @extschema@.cudal1_end_campaign(campaign text)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	c		cudal1.campaign := cudal1.find_campaign(campaign);
BEGIN
	IF c.state = 'finished' THEN
		RETURN;
	END IF;
	PERFORM cudal1.stop_requests(ARRAY(SELECT r.request_id
		FROM cudal1.request AS r JOIN cudal1.campaign_lane AS l USING (lane_id)
		WHERE l.campaign_id = c.campaign_id AND NOT r.decided));
	UPDATE cudal1.campaign_lane AS l SET state = 'done', note = coalesce(l.note, 'ended')
		WHERE l.campaign_id = c.campaign_id AND l.state = 'open';
	PERFORM cudal1.set_campaign(c, 'finished', 'ended by ' || cudal1.caller());
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_end_campaign(text) IS
'ends a campaign for good: what waits or is in flight is cancelled, what was answered stays. Errors:
42704 unknown, 42501 another role''s';

CREATE FUNCTION cudal1.lane_prompt(c cudal1.campaign, l cudal1.campaign_lane)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	o		constant jsonb := c.options;
	kind	constant text := cudal1.prompt_kind(c.kind, o);
	once	constant boolean := c.kind IN ('vanilla', 'augment', 'self_supervised')
		AND o -> 'failures' = '0';
	id		bigint;
BEGIN
	IF once AND l.prompt_id IS NOT NULL THEN
		RETURN l.prompt_id;
	END IF;
	SELECT p.prompt_id INTO STRICT id
		FROM cudal1.task AS t, cudal1.pool AS y, cudal1.make_prompt(t.name,
			CASE kind WHEN 'augment' THEN 2 ELSE (o ->> 'exemplars')::int END,
			CASE kind WHEN 'augment' THEN 'bucket' ELSE o ->> 'strategy' END, kind,
			(o ->> 'temperature')::float8, NULL, y.name, c.created_by, o ->> 'template',
			(o ->> 'failures')::int) AS p
		WHERE t.task_id = l.task_id AND y.pool_id = c.pool_id;
	UPDATE cudal1.campaign_lane AS x SET prompt_id = id WHERE x.lane_id = l.lane_id AND once;
	RETURN id;
END
$$;
COMMENT ON FUNCTION cudal1.lane_prompt IS
'the prompt of a lane''s next request: the same, or a fresh one with exemplars or failures';

CREATE FUNCTION cudal1.make_group(c cudal1.campaign, l cudal1.campaign_lane)
RETURNS cudal1.campaign_group LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	UPDATE cudal1.campaign_lane AS x SET groups = x.groups + 1 WHERE x.lane_id = l.lane_id;
	INSERT INTO cudal1.campaign_group AS x (lane_id, prompt_id, group_key, size)
		VALUES (l.lane_id, cudal1.lane_prompt(c, l),
			format('%s/%s/%s', c.name, l.lane_id, l.groups + 1), (c.options ->> 'group_size')::int)
		RETURNING x.*;
END;
COMMENT ON FUNCTION cudal1.make_group IS 'draws a prompt and opens a group for it';

CREATE FUNCTION cudal1.group_profile(prompt_id bigint, t cudal1.task)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
	RETURN (SELECT COALESCE(c.options ->> 'profile', t.options ->> 'profile', 'train')
		FROM cudal1.campaign_group AS g JOIN cudal1.campaign_lane AS l USING (lane_id)
			JOIN cudal1.campaign AS c USING (campaign_id)
		WHERE g.prompt_id = group_profile.prompt_id LIMIT 1);
END
$$;
COMMENT ON FUNCTION cudal1.group_profile IS
'the profile that measures the answers to the prompt of a group; NULL: it is of no group';

CREATE FUNCTION cudal1.budget_of(c cudal1.campaign, OUT over text, OUT room float8)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
	o			constant jsonb := c.options;
	max_tokens	constant float8 := (o ->> 'max_tokens')::float8;
	max_cost	constant float8 := (o ->> 'max_cost')::float8;
	paid		record;
BEGIN
	IF c.kind <> 'evolve' THEN
		RETURN;
	END IF;
	SELECT sum(l.tokens)::float8 AS tokens, sum(l.cost) AS cost, sum(l.trials)::float8 AS trials,
			sum(u.moving)::float8 AS moving,
			greatest(sum(l.trials - u.open), 1)::float8 AS answered INTO paid
		FROM cudal1.campaign_lane AS l
			-- what waits for a model that is held, or disabled, holds up no other model
			CROSS JOIN LATERAL (SELECT count(*) AS open, count(*) FILTER (
						WHERE r.state = 'running'
							OR m.enabled AND coalesce(m.not_before <= clock_timestamp(), true))
					AS moving
				FROM cudal1.request AS r JOIN cudal1.model AS m USING (model_id)
				WHERE r.lane_id = l.lane_id AND NOT r.decided
					AND r.state IN ('queued', 'running')) AS u
		WHERE l.campaign_id = c.campaign_id;
	over := CASE WHEN cudal1.seconds_of(c) >= (o ->> 'max_seconds')::float8 THEN 'time over'
				 WHEN paid.tokens >= max_tokens THEN 'tokens spent'
				 WHEN paid.trials >= (o ->> 'max_candidates')::float8 THEN 'candidates made'
				 WHEN paid.cost >= max_cost THEN 'cost reached' END;
	IF over IS NULL THEN
		-- rounded up, because a rest that is smaller than a request would never be spent
		room := least((o ->> 'max_candidates')::float8 - paid.trials, least(
			CASE WHEN paid.tokens > 0
					THEN ceil((max_tokens - paid.tokens) * paid.answered / paid.tokens)
				WHEN max_tokens IS NOT NULL THEN 1 END,
			CASE WHEN paid.cost > 0 THEN ceil((max_cost - paid.cost) * paid.answered / paid.cost)
				WHEN max_cost IS NOT NULL THEN 1 END) - paid.moving);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.budget_of IS
'over: the budget of a campaign that is used up; room: how many requests it may make now, so that
those under way end within the others at the mean of the answered ones. NULL: any number';

CREATE FUNCTION cudal1.advance_lane(c cudal1.campaign, l cudal1.campaign_lane, spent text, most int)
RETURNS int LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
	o			constant jsonb := c.options;
	ahead		constant int := (o ->> 'ahead')::int;
	trials		int;		-- of the lane, at most
	successes	int;
	busy		int;
	want		int;
	over		text;
	g			cudal1.campaign_group;
	id			bigint;
BEGIN
	SELECT count(*) INTO busy FROM cudal1.request AS r
		WHERE r.lane_id = l.lane_id AND NOT r.decided;
	-- the counts of this moment, because answers may have come since the lane was read
	SELECT x.* INTO l FROM cudal1.campaign_lane AS x
		WHERE x.lane_id = l.lane_id FOR NO KEY UPDATE SKIP LOCKED;
	IF NOT FOUND THEN
		RETURN 0;
	END IF;
	-- how many requests are to be made beside those that are busy, or why no more are
	want := 0;
	over := (SELECT CASE WHEN t.retired_at IS NOT NULL THEN 'the task is retired'
			WHEN t.reference_state = 'bad' THEN 'the task''s reference is bad' END
		FROM cudal1.task AS t WHERE t.task_id = l.task_id);
	IF over IS NULL AND c.kind = 'evolve' THEN
		-- what is under way is waited for, unless time is over
		over := CASE WHEN busy = 0 OR spent = 'time over' THEN spent END;
		want := CASE WHEN spent IS NULL THEN ahead - busy ELSE 0 END;
	ELSIF over IS NULL AND c.kind = 'contrastive' THEN
		-- whole groups; those of a lane without a model are a trainer's
		IF l.model_id IS NULL THEN
			RETURN 0;
		ELSIF l.groups >= (o ->> 'groups')::int THEN
			over := CASE busy WHEN 0 THEN 'all groups answered' END;
		ELSIF busy < ahead AND (cudal1.request_room(c.created_by)).requests
				>= (o ->> 'group_size')::int THEN
			want := (o ->> 'group_size')::int;
		END IF;
	ELSIF over IS NULL THEN
		trials := coalesce(o ->> 'attempts', o ->> 'trials', o ->> 'batch')::int
			* CASE c.kind WHEN 'self_supervised' THEN c.round ELSE 1 END;
		SELECT count(DISTINCT r.candidate_id) INTO successes
			FROM cudal1.request AS r JOIN cudal1.candidate AS x USING (candidate_id)
			WHERE o ? 'successes' AND r.lane_id = l.lane_id AND cudal1.is_correct(x);
		want := least(trials - l.trials, (o ->> 'successes')::int - successes - busy, ahead - busy);
		over := CASE WHEN successes >= (o ->> 'successes')::int
				THEN format('%s correct codes', successes)
			WHEN l.trials >= trials AND busy = 0 THEN CASE c.kind
				WHEN 'vanilla' THEN 'all attempts made' WHEN 'augment' THEN 'all trials made'
				ELSE format('round %s complete', c.round) END END;
	END IF;
	IF over IS NOT NULL THEN
		-- augment may have requests under way that are not needed any more, and time may be over
		PERFORM cudal1.stop_requests(ARRAY(SELECT r.request_id FROM cudal1.request AS r
			WHERE r.lane_id = l.lane_id AND NOT r.decided AND r.state IN ('queued', 'running')
			ORDER BY r.request_id FOR UPDATE SKIP LOCKED));
		-- one that another transaction had at this moment is cancelled at the next look
		IF EXISTS (SELECT FROM cudal1.request AS r
				WHERE r.lane_id = l.lane_id AND NOT r.decided AND r.state IN ('queued', 'running')
					AND NOT r.cancel_requested) THEN
			RETURN 0;
		END IF;
		UPDATE cudal1.campaign_lane AS x SET state = 'done', note = over
			WHERE x.lane_id = l.lane_id;
		RETURN 1;
	END IF;
	IF c.kind = 'contrastive' AND want > 0 THEN
		g := cudal1.make_group(c, l);
		most := greatest(most, want);
	END IF;
	-- a campaign waits while its owner has used up a quota
	want := least(want, most,
		CASE WHEN want > 0 THEN (cudal1.request_room(c.created_by)).requests END);
	IF want <= 0 THEN
		RETURN 0;
	END IF;
	FOR i IN 1 .. want LOOP
		IF id IS NULL OR c.kind = 'evolve' OR o -> 'failures' <> '0' THEN
			id := coalesce(g.prompt_id, cudal1.lane_prompt(c, l));
		END IF;
		INSERT INTO cudal1.request (model_id, prompt_id, lane_id, round, method, group_key,
				priority, created_by)
			VALUES (l.model_id, id, l.lane_id, c.round, l.method, g.group_key,
				(o ->> 'priority')::int, c.created_by);
	END LOOP;
	UPDATE cudal1.campaign_lane AS x SET trials = x.trials + want WHERE x.lane_id = l.lane_id;
	RETURN want;
END
$$;
COMMENT ON FUNCTION cudal1.advance_lane IS
'makes the requests that are due, or ends the lane; the number of changes. spent: its budget';

CREATE FUNCTION cudal1.advance_campaigns(most int DEFAULT 100)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
	c		cudal1.campaign;
	l		cudal1.campaign_lane;
	f		record;			-- a lane that fails
	n		int;
	budget	record;
	done	bigint := 0;
	problem	text;
BEGIN
	-- also of lanes and campaigns that are over, whose answers are measured to the end
	UPDATE cudal1.request AS r SET decided = true
		WHERE r.request_id = ANY (ARRAY(
			SELECT y.request_id
				FROM cudal1.request AS y JOIN cudal1.candidate AS v USING (candidate_id)
				WHERE y.lane_id IS NOT NULL AND NOT y.decided
					AND v.state IN ('successful', 'failed', 'discarded')
				ORDER BY y.request_id FOR UPDATE OF y SKIP LOCKED));
	FOR c IN
		SELECT x.* FROM cudal1.campaign AS x
			WHERE x.state = 'running'
				AND (x.kind <> 'contrastive' OR x.options ->> 'groups' IS NOT NULL)
			ORDER BY x.campaign_id FOR NO KEY UPDATE SKIP LOCKED
	LOOP
		-- An endpoint that fails three times in a row pauses the campaign. One that refuses a task
		-- and answers others, as when a prompt is too long for its model, ends that lane alone.
		problem := NULL;
		FOR f IN
			SELECT y.lane_id, r.error, r.status IN (400, 413, 422) AND EXISTS (
					SELECT FROM cudal1.campaign_lane AS z JOIN cudal1.request AS q USING (lane_id)
						WHERE z.campaign_id = c.campaign_id AND z.model_id = y.model_id
							AND z.lane_id <> y.lane_id AND q.state = 'answered') AS is_refused
				FROM cudal1.campaign_lane AS y CROSS JOIN LATERAL (
					SELECT x.* FROM cudal1.request AS x
						WHERE x.lane_id = y.lane_id AND x.state = 'failed'
						ORDER BY x.request_id DESC LIMIT 1) AS r
				WHERE y.campaign_id = c.campaign_id AND y.state = 'open' AND y.failures >= 3
				ORDER BY r.request_id FOR NO KEY UPDATE OF y SKIP LOCKED
		LOOP
			IF f.is_refused THEN
				UPDATE cudal1.campaign_lane AS x
					SET state = 'done', note = 'requests fail: ' || f.error
					WHERE x.lane_id = f.lane_id;
				done := done + 1;
			ELSE
				problem := coalesce(f.error, 'no reason given');
			END IF;
		END LOOP;
		IF problem IS NOT NULL THEN
			PERFORM cudal1.set_campaign(c, 'paused', 'requests fail: ' || problem);
			done := done + 1;
			CONTINUE;
		END IF;
		budget := cudal1.budget_of(c);
		-- Lanes with the fewest trials first. A lane that is full is not looked at before time is
		-- over, and none is while all that the budgets have left is under way. A lane that the
		-- endpoint refused comes last, because it would hold up the others where one request is
		-- allowed.
		FOR l IN
			SELECT x.* FROM cudal1.campaign_lane AS x JOIN cudal1.task AS t USING (task_id)
				WHERE x.campaign_id = c.campaign_id AND x.state = 'open'
					AND ((budget.room > 0) IS NOT FALSE OR t.retired_at IS NOT NULL
						 OR t.reference_state = 'bad')
					AND ((SELECT count(*) FROM cudal1.request AS r
							WHERE r.lane_id = x.lane_id AND NOT r.decided)
							< least((c.options ->> 'ahead')::int, (c.options ->> 'successes')::int)
						OR cudal1.seconds_of(c) >= (c.options ->> 'max_seconds')::float8)
				-- those that end take no room
				ORDER BY t.retired_at IS NULL AND t.reference_state <> 'bad',
					x.failures > 0 AND EXISTS (SELECT FROM cudal1.request AS r
						WHERE r.lane_id = x.lane_id AND r.state = 'failed'
							AND r.status IN (400, 413, 422)),
					x.trials, x.lane_id
		LOOP
			BEGIN
				n := cudal1.advance_lane(c, l, budget.over,
					greatest(least(most - done, budget.room), 0)::int);
			EXCEPTION WHEN OTHERS THEN
				IF cudal1.error_passes(SQLSTATE) THEN
					RAISE;
				END IF;
				-- what one campaign can't do must not hold up the others
				PERFORM cudal1.set_campaign(c, 'paused', 'no request can be made: ' || SQLERRM);
				done := done + 1;
				EXIT;
			END;
			done := done + n;
			budget.room := budget.room - n;
			EXIT WHEN done >= most;
		END LOOP;
		IF NOT EXISTS (SELECT FROM cudal1.campaign_lane AS x WHERE x.campaign_id = c.campaign_id
			AND x.state = 'open') THEN
			IF c.kind = 'self_supervised' AND c.round < (c.options ->> 'rounds')::int THEN
				IF (c.options ->> 'pause')::boolean THEN
					PERFORM cudal1.set_campaign(c, 'paused',
						format('round %s of %s is complete: train the model, then resume', c.round,
						c.options ->> 'rounds'));
				ELSE
					UPDATE cudal1.campaign AS x SET round = x.round + 1
						WHERE x.campaign_id = c.campaign_id;
					UPDATE cudal1.campaign_lane AS x SET state = 'open'
						WHERE x.campaign_id = c.campaign_id;
				END IF;
			ELSE
				-- why its lanes ended, with their number where reasons differ
				PERFORM cudal1.set_campaign(c, 'finished', (
					SELECT left(string_agg(CASE WHEN k.kinds > 1 THEN k.lanes || ' '
							ELSE '' END || k.note, ', ' ORDER BY k.lanes DESC, k.note), 2000)
						FROM (SELECT left(x.note, 200) AS note, count(*) AS lanes,
									count(*) OVER () AS kinds
								FROM cudal1.campaign_lane AS x WHERE x.campaign_id = c.campaign_id
								GROUP BY 1) AS k));
			END IF;
			done := done + 1;
		END IF;
		EXIT WHEN done >= most;
	END LOOP;
	RETURN done;
END
$$;
COMMENT ON FUNCTION cudal1.advance_campaigns IS
'takes the running campaigns a step further, by about so many requests; the number of changes';

CREATE VIEW cudal1.campaign_progress AS
	SELECT c.name, c.kind, c.state, c.note, c.round, count(*) AS lanes,
		count(*) FILTER (WHERE l.state = 'done') AS done,
			sum(l.trials + g.answers)::bigint AS trials, sum(r.waiting)::bigint AS waiting,
			sum(r.in_flight)::bigint AS in_flight, sum(r.measuring)::bigint AS measuring,
			sum(l.tokens)::bigint AS tokens, sum(l.cost) AS cost,
			max(s.seconds) AS seconds, max(r.best) AS best,
			sum(r.sum) / NULLIF(sum(r.n), 0)::float8 AS mean,
			CASE WHEN c.state = 'running' THEN LEAST(
				CASE WHEN c.options ->> 'max_seconds' IS NOT NULL
					THEN GREATEST((c.options ->> 'max_seconds')::float8 - max(s.seconds), 0) END,
				CASE WHEN c.options ->> 'max_candidates' IS NULL
					THEN max(s.seconds) * count(*) FILTER (WHERE l.state <> 'done')
						/ NULLIF(count(*) FILTER (WHERE l.state = 'done'), 0)
					ELSE max(s.seconds) * GREATEST((c.options ->> 'max_candidates')::float8
						- sum(l.trials)::float8, 0)
						/ NULLIF(sum(l.trials), 0)::float8 END) END AS seconds_left
		FROM cudal1.campaign AS c JOIN cudal1.campaign_lane AS l USING (campaign_id)
			CROSS JOIN LATERAL (SELECT c.active_seconds + CASE WHEN c.state = 'running'
				THEN extract(epoch FROM clock_timestamp() - c.resumed_at)::float8
				ELSE 0 END AS seconds) AS s
			CROSS JOIN LATERAL (
				SELECT count(x.reward) AS n, sum(x.reward) AS sum, max(x.reward) AS best,
						count(*) FILTER (WHERE y.state = 'queued') AS waiting,
						count(*) FILTER (WHERE y.state = 'running') AS in_flight,
						count(*) FILTER (WHERE y.state = 'answered' AND NOT y.decided) AS measuring
					FROM cudal1.request AS y LEFT JOIN cudal1.candidate AS x USING (candidate_id)
					WHERE y.lane_id = l.lane_id) AS r
			-- of a trainer
			CROSS JOIN LATERAL (SELECT COALESCE(sum(x.answers), 0) AS answers
								FROM cudal1.campaign_group AS x WHERE x.lane_id = l.lane_id) AS g
		GROUP BY c.campaign_id;
COMMENT ON VIEW cudal1.campaign_progress IS
'each campaign: its lanes (a task and a model), how many are done, what is under way, and what it
has cost';
COMMENT ON COLUMN cudal1.campaign_progress.best IS
'the best reward of answers to its requests; NULL before one, and where a trainer answers groups';
COMMENT ON COLUMN cudal1.campaign_progress.mean IS
'the mean reward of the answers that have a verdict, failed ones as 0';
COMMENT ON COLUMN cudal1.campaign_progress.seconds_left IS
'until its budget of seconds or candidates, or its lanes, end at the rate so far; NULL before a rate
is known';
