/*
 * Groups: prompts of a contrastive campaign without models, handed out to a trainer, their answers,
 * and the rewards and advantages of those.
 */

CREATE FUNCTION @extschema@.cudal1_next_group(campaign text, pool text DEFAULT 'main')
RETURNS TABLE (group_key text, prompt_id bigint, task text, prompt text, size int, system text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	c		cudal1.campaign;
	l		cudal1.campaign_lane;
	g		cudal1.campaign_group;
	from_pool int := cudal1.use_pool(cudal1_next_group.pool);
BEGIN
	SELECT x.* INTO c FROM cudal1.campaign AS x WHERE x.name = cudal1_next_group.campaign;
	IF NOT FOUND OR NOT cudal1.owns(c.created_by) THEN
		c := cudal1.find_campaign(cudal1_next_group.campaign);
	END IF;
	PERFORM cudal1.raise_if(c.kind <> 'contrastive'
			OR EXISTS (SELECT FROM cudal1.campaign_lane AS x WHERE x.campaign_id = c.campaign_id
			AND x.model_id IS NOT NULL), '22023',
		format('campaign "%s" hands out no groups', c.name),
		'A campaign of kind contrastive without models does.');
	IF c.state <> 'running' THEN
		RETURN;
	END IF;
	SELECT x.* INTO l FROM cudal1.campaign_lane AS x
		WHERE x.campaign_id = c.campaign_id AND x.state = 'open'
			AND NOT EXISTS (SELECT FROM cudal1.task AS t
				WHERE t.task_id = x.task_id
					AND (t.retired_at IS NOT NULL OR t.reference_state = 'bad'))
			AND (c.options ->> 'groups' IS NULL OR x.groups < (c.options ->> 'groups')::int)
		ORDER BY x.groups, x.lane_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	g := cudal1.make_group(c, l, CASE WHEN cudal1_next_group.pool = 'main' THEN c.pool_id
		ELSE from_pool END);
	RETURN QUERY SELECT g.group_key, g.prompt_id, t.name, p.prompt, g.size, p.system
		FROM cudal1.prompt AS p JOIN cudal1.task AS t USING (task_id)
			WHERE p.prompt_id = g.prompt_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_next_group(text, text) IS
'the next prompt of a contrastive campaign, for a group of size answers; the task with the fewest
groups comes first. No row while the campaign is paused, when it has made all its groups, or while
other sessions take the last. pool: where exemplars come from and answers go; main is the
campaign''s own pool. The campaign''s profile, train unless it or the task names another, measures
the answers. system: the message of role system, NULL where there is none. Errors: 42704 unknown
campaign or pool, 42501 another role''s, 22023 one of another kind';

CREATE FUNCTION @extschema@.cudal1_answer_group(group_key text, responses text[])
RETURNS TABLE (ordinal int, candidate_id bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	g		record;
	n		bigint;
	same	boolean;
BEGIN
	SELECT x.*, l.method, l.task_id, q.pool_id, c.options, c.created_by AS owner INTO g
		FROM cudal1.campaign_group AS x JOIN cudal1.campaign_lane AS l USING (lane_id)
			JOIN cudal1.campaign AS c USING (campaign_id)
			JOIN cudal1.prompt AS q ON q.prompt_id = x.prompt_id
		WHERE x.group_key = cudal1_answer_group.group_key;
	PERFORM cudal1.raise_if(NOT FOUND, '42704',
		format('group "%s" does not exist', coalesce(cudal1_answer_group.group_key, 'NULL')),
		'Groups come from cudal1_next_group().');
	PERFORM cudal1.check_owner(format('group "%s"', g.group_key), g.owner);
	SELECT x.answered_at INTO g.answered_at FROM cudal1.campaign_group AS x
		WHERE x.group_id = g.group_id FOR NO KEY UPDATE;
	PERFORM cudal1.raise_if(responses IS NULL
			OR EXISTS (SELECT FROM unnest(responses) AS u(response) WHERE u.response IS NULL)
			OR cardinality(responses) NOT BETWEEN 1 AND 10000, '22023',
		'responses must be an array of 1 to 10000 texts');
	IF g.answered_at IS NOT NULL THEN
		SELECT count(*) INTO n FROM cudal1.proposal AS p
			WHERE p.created_by = g.owner AND p.task_id = g.task_id AND p.pool_id = g.pool_id
				AND coalesce(p.group_key, '') = g.group_key
				AND p.proposal_key ~ '^answer [0-9]+$';
		PERFORM cudal1.raise_if(n <> cardinality(responses), '22023',
			format('group "%s" was answered with %s responses, not %s', g.group_key,
				n, cardinality(responses)),
			'A group is answered once; cudal1_next_group() gives another.');
		FOR ordinal, candidate_id, same IN
			-- a pruned answer has left the hash of its code, a very long one its beginning
			SELECT u.ordinality, p.candidate_id,
					CASE WHEN p.response IS NOT NULL AND octet_length(u.response) <= 4194304
						THEN p.response = u.response
						ELSE c.code_hash = (SELECT CASE WHEN r.reason IS NULL
								THEN cudal1.code_hash(r.body)
								ELSE cudal1.salted_hash('malformed', r.body) END
							FROM cudal1.read_response(u.response,
								cudal1.code_alone(g.prompt_id)) AS r) END
				FROM unnest(responses) WITH ORDINALITY AS u(response)
					LEFT JOIN cudal1.proposal AS p
						ON p.created_by = g.owner AND p.task_id = g.task_id
							AND p.pool_id = g.pool_id AND coalesce(p.group_key, '') = g.group_key
							AND p.proposal_key = 'answer ' || u.ordinality
					LEFT JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id
				ORDER BY u.ordinality
		LOOP
			PERFORM cudal1.raise_if(same IS NOT TRUE, '22023',
				format('response %s is not the one that group "%s" was answered with', ordinal,
					g.group_key),
				'A group is answered once; cudal1_next_group() gives another.');
			RETURN NEXT;
		END LOOP;
		RETURN;
	END IF;
	UPDATE cudal1.campaign_group AS x SET answered_at = clock_timestamp()
		WHERE x.group_id = g.group_id;
	INSERT INTO cudal1.lane_note (lane_id, trials) VALUES (g.lane_id, cardinality(responses));
	RETURN QUERY
		SELECT u.ordinality::int,
			cudal1.submit_response(g.prompt_id, u.response, g.method, g.group_key, 'answer '
			|| u.ordinality,
				(g.options ->> 'priority')::int, NULL, g.owner, NULL)
			FROM unnest(responses) WITH ORDINALITY AS u(response);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_answer_group(text, text[]) IS
'submits the answers to a group''s prompt, in order; sent again, the same answers add nothing and
give the same candidates. Wait for them with cudal1_wait(). Errors: 42704 unknown group, 42501
another role''s, 22023 no texts, or others than those that the group was answered with';

CREATE FUNCTION cudal1.group_owner(group_key text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	owners	text[];
	usable	text[];
BEGIN
	SELECT array_agg(DISTINCT o.name ORDER BY o.name) INTO owners FROM (
		SELECT p.created_by AS name FROM cudal1.proposal AS p
			WHERE p.group_key = group_owner.group_key
		UNION ALL
		SELECT r.created_by FROM cudal1.request AS r WHERE r.group_key = group_owner.group_key
		UNION ALL
		SELECT c.created_by FROM cudal1.campaign_group AS g JOIN cudal1.campaign_lane AS l
			USING (lane_id) JOIN cudal1.campaign AS c USING (campaign_id)
			WHERE g.group_key = group_owner.group_key) AS o;
	IF cudal1.caller() = ANY (owners) THEN
		RETURN cudal1.caller();
	END IF;
	usable := ARRAY(SELECT o FROM unnest(owners) AS o WHERE cudal1.owns(o) ORDER BY o);
	PERFORM cudal1.raise_if(cardinality(usable) > 1, '22023',
		format('group "%s" is one of several roles', group_owner.group_key),
		format('Name one of them as owner: %s.', array_to_string(usable, ', ')));
	PERFORM cudal1.raise_if(usable = '{}', '42704',
		format('group "%s" does not exist', coalesce(group_owner.group_key, 'NULL')),
		CASE WHEN owners IS NULL
			THEN 'Groups come from cudal1_next_group(), or are the group_key of submissions.'
			ELSE format('To read that of another role, name it as owner: %s.',
			array_to_string(owners, ', ')) END);
	RETURN usable[1];
END
$$;
COMMENT ON FUNCTION cudal1.group_owner IS
'whose group the caller means by a key: its own, else that of a role whose things it may use; error
42704 where there is none, 22023 where there are several';

CREATE FUNCTION @extschema@.cudal1_group_result(group_key text, variant text DEFAULT 'paper',
	owner text DEFAULT NULL)
RETURNS TABLE (ordinal int, candidate_id bigint, state text, reward float8, advantage float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	its_owner	text := coalesce(cudal1_group_result.owner,
		cudal1.group_owner(cudal1_group_result.group_key));
	-- a campaign's group has one task, even if its owner proposes more by its key
	its_task	bigint := (SELECT l.task_id
							FROM cudal1.campaign_group AS g JOIN cudal1.campaign_lane AS l
								USING (lane_id) JOIN cudal1.campaign AS c USING (campaign_id)
							WHERE g.group_key = cudal1_group_result.group_key
								AND c.created_by = its_owner);
BEGIN
	PERFORM cudal1.raise_if(its_task IS NULL
			AND NOT EXISTS (SELECT FROM cudal1.proposal AS p
			WHERE p.group_key = cudal1_group_result.group_key AND p.created_by = its_owner)
			AND NOT EXISTS (SELECT FROM cudal1.request AS r
			WHERE r.group_key = cudal1_group_result.group_key AND r.created_by = its_owner),
		'42704',
		format('role "%s" has no group "%s"', its_owner,
			coalesce(cudal1_group_result.group_key, 'NULL')),
		'Groups come from cudal1_next_group(), or are the group_key of submissions.');
	RETURN QUERY
		WITH member AS (
			SELECT row_number() OVER (ORDER BY p.proposal_id)::int AS ordinal, p.candidate_id,
			c.state, c.reward, p.task_id, p.pool_id,
					row_number() OVER (PARTITION BY p.task_id, p.pool_id ORDER BY p.proposal_id)
						AS place
				FROM cudal1.proposal AS p
					JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id
				WHERE p.group_key = cudal1_group_result.group_key AND p.created_by = its_owner
					AND (its_task IS NULL OR p.task_id = its_task)),
		scored AS (
			SELECT m.task_id, m.pool_id,
			cudal1.group_advantages(array_agg(m.reward ORDER BY m.place),
			cudal1_group_result.variant) AS advantages
				FROM member AS m GROUP BY m.task_id, m.pool_id)
		SELECT m.ordinal, m.candidate_id, m.state, m.reward, s.advantages[m.place]
			FROM member AS m JOIN scored AS s USING (task_id, pool_id) ORDER BY m.ordinal;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_group_result(text, text, text) IS
'rewards and advantages of a group, in the order of its answers; NULL for what has no verdict (yet),
which does not count. The group is a campaign''s, or all that a role submitted under the group_key,
within each task and pool. variant as in cudal1_group_advantages(); owner: whose group; NULL: the
caller''s, else that of a role it is a member of (for operators, of any). Errors: 42704 unknown
group, 22023 several roles'' groups';
