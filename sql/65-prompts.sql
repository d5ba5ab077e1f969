/*
 * Draws of exemplars. All random numbers are hashes of a seed, so a draw can be repeated on any
 * server. A draw chooses buckets by the counts and means that are kept, or clusters by an index
 * entry each, and then looks for codes by an index.
 *
 * Without replacement and with: Gumbel's trick. Noise is added to ln p, and the largest sums win,
 * which is the law of drawing one after the other and renormalising.
 */

CREATE FUNCTION cudal1.uniform(seed bigint, n bigint)
RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ((hashint8extended(n, seed) & 4503599627370495)::float8 + 0.5) / 4503599627370496::float8;
COMMENT ON FUNCTION cudal1.uniform IS 'the n-th random number of a seed, above 0 and below 1';

CREATE FUNCTION cudal1.code_of_bucket(task_id bigint, pool_id int, bucket int, codes bigint,
	seed bigint)
RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
	-- Hashes spread codes evenly: a stretch of about 100 has more than 200 with a chance below
	-- 1e-16. Each place of a stretch is as likely, so those without a code are drawn again.
	stretches	constant bigint := greatest(round(codes / 100.0), 1);
	width		constant bigint := 4294967296 / stretches + 1;
	places		constant bigint := CASE stretches WHEN 1 THEN codes ELSE 200 END;
	start		bigint;
	id			bigint;
BEGIN
	FOR n IN 1 .. 1000 LOOP
		start := floor(cudal1.uniform(seed, 2 * n) * stretches)::bigint * width - 2147483648;
		SELECT s.candidate_id INTO id FROM cudal1.pool_code AS s
			WHERE s.task_id = code_of_bucket.task_id AND s.pool_id = code_of_bucket.pool_id
				AND s.bucket = code_of_bucket.bucket AND NOT s.copy
				AND hashint8(s.candidate_id) BETWEEN start AND start + width - 1
			ORDER BY hashint8(s.candidate_id), s.candidate_id
			OFFSET floor(cudal1.uniform(seed, 2 * n + 1) * places)::bigint LIMIT 1;
		IF FOUND THEN
			RETURN id;
		END IF;
	END LOOP;
	RAISE EXCEPTION USING ERRCODE = 'data_corrupted',
		MESSAGE = 'a bucket of a task has fewer codes than are counted',
		HINT = 'Look for differences with cudal1_check().';
END
$$;
COMMENT ON FUNCTION cudal1.code_of_bucket IS
'one of the codes of a bucket, each with the same chance';

CREATE FUNCTION cudal1.draw(task text, n int, strategy text, temperature float8, seed bigint,
	pool text DEFAULT 'main', recorded boolean DEFAULT true)
RETURNS TABLE (candidate_id bigint, bucket int, score float8, code text, island int,
	probabilities jsonb)
LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED ROWS 2 SET enable_seqscan = off
	SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
	in_pool	constant int := cudal1.find_pool(pool);
	t		constant cudal1.task := cudal1.find_task(task);
	used	constant text := coalesce(strategy, t.strategy);
	seed	constant bigint := coalesce(seed, uuid_hash_extended(gen_random_uuid(), 0));
	heat	float8 := temperature;
	picks	bigint[] := '{}';
	numbers	bigint[];		-- of the buckets, or of the clusters
	counts	bigint[];		-- of codes of each bucket
	means	float8[];		-- on the task's scale
	total	bigint;
	i		record;			-- the island
	c		bigint := 9223372036854775807;
	mean	float8;
	tries	int := 0;
BEGIN
	PERFORM cudal1.check_number('n', n, 1, 1000);
	PERFORM cudal1.check_number('temperature', coalesce(temperature, 1), 1e-6, 1e9);
	PERFORM cudal1.check_word('strategy', used, '{bucket,island,random}');
	SELECT array_agg(b.bucket ORDER BY b.bucket), array_agg(b.codes ORDER BY b.bucket),
			array_agg(b.mean ORDER BY b.bucket), sum(b.codes)
		INTO numbers, counts, means, total
		FROM cudal1.bucket AS b WHERE b.task_id = t.task_id AND b.pool_id = in_pool;
	IF total IS NULL THEN
		RETURN;
	END IF;
	IF used = 'bucket' THEN
		heat := coalesce(heat, t.temperature);
		picks := ARRAY(SELECT cudal1.code_of_bucket(t.task_id, in_pool, c.number::int, c.codes,
					hashint8extended(c.number, ~seed))
				FROM (SELECT u.* FROM unnest(numbers, counts, means) AS u (number, codes, mean)
						ORDER BY u.mean / heat - ln(-ln(cudal1.uniform(seed, u.number))) DESC
						LIMIT n) AS c);
	ELSIF used = 'random' AND total <= 2 * n THEN
		picks := ARRAY(SELECT s.candidate_id FROM cudal1.pool_code AS s
			WHERE s.task_id = t.task_id AND s.pool_id = in_pool AND s.bucket IS NOT NULL
				AND NOT s.copy
			ORDER BY hashint8extended(s.candidate_id, seed), s.candidate_id LIMIT n);
	ELSIF used = 'random' THEN
		-- codes that were drawn already are drawn again
		WHILE cardinality(picks) < n LOOP
			picks := picks || ARRAY(SELECT DISTINCT cudal1.code_of_bucket(t.task_id, in_pool,
						c.number::int, c.codes, hashint8extended(g, ~seed))
					FROM generate_series(tries + 1, tries + n - cardinality(picks)) AS g
						CROSS JOIN LATERAL (SELECT u.number, u.codes
							FROM (SELECT v.*, sum(v.codes) OVER (ORDER BY v.number) AS upto
									FROM unnest(numbers, counts) AS v (number, codes))
								AS u
							WHERE u.upto > cudal1.uniform(seed, g) * total
							ORDER BY u.number LIMIT 1) AS c
				EXCEPT SELECT unnest(picks));
			tries := tries + n;
		END LOOP;
	ELSE
		SELECT x.* INTO i FROM (
			SELECT g AS island, coalesce(y.shared, true) AS shared,
					coalesce(y.registrations, total) AS registrations
				FROM generate_series(0, t.islands - 1) AS g LEFT JOIN cudal1.island AS y
						ON y.task_id = t.task_id AND y.pool_id = in_pool AND y.island = g) AS x
			WHERE EXISTS (SELECT FROM cudal1.pool_code AS s
				WHERE s.task_id = t.task_id AND s.pool_id = in_pool
					AND s.island IN (x.island, CASE WHEN x.shared THEN -1 ELSE x.island END)
					AND s.cluster IS NOT NULL)
			ORDER BY hashint8extended(x.island, seed) LIMIT 1;
		IF NOT FOUND THEN
			RETURN;
		END IF;
		-- it falls to 0 within a period of registrations, and starts anew
		heat := coalesce(heat, t.island_temperature)
			* (1 - (i.registrations % t.island_period)::float8 / t.island_period);
		-- clusters from the best one down, until no fraction of 52 bits would draw one
		numbers := '{}';
		means := '{}';
		LOOP
			c := greatest((SELECT max(s.cluster) FROM cudal1.pool_code AS s
					WHERE s.task_id = t.task_id AND s.pool_id = in_pool AND s.island = i.island
						AND s.cluster < c),
				(SELECT max(s.cluster) FROM cudal1.pool_code AS s
					WHERE s.task_id = t.task_id AND s.pool_id = in_pool AND s.island = -1
						AND i.shared AND s.cluster < c));
			mean := CASE t.score_scale WHEN 'log' THEN ln(greatest(c / 100.0::float8, 0.005))
				ELSE c / 100.0::float8 END;
			EXIT WHEN c IS NULL OR (means[1] - mean) / heat > 40;
			numbers := numbers || c;
			means := means || mean;
		END LOOP;
		-- a cluster may be drawn again, a code of it is not
		FOR g IN 1 .. least(n, cardinality(numbers)) LOOP
			picks := picks || ARRAY(SELECT s.candidate_id FROM cudal1.pool_code AS s
				WHERE s.task_id = t.task_id AND s.pool_id = in_pool
					AND s.island IN (i.island, CASE WHEN i.shared THEN -1 ELSE i.island END)
					AND s.cluster = (SELECT u.number
						FROM unnest(numbers, means) AS u (number, mean)
						ORDER BY u.mean / heat
							- ln(-ln(cudal1.uniform(hashint8extended(g, ~seed), u.number))) DESC
						LIMIT 1)
					AND s.candidate_id <> ALL (picks)
				ORDER BY hashint8extended(s.candidate_id, seed + g) LIMIT 1);
		END LOOP;
		island := i.island;
	END IF;
	IF recorded AND used = 'random' THEN
		probabilities := jsonb_build_object('strategy', used, 'codes', total);
	ELSIF recorded THEN
		probabilities := (SELECT jsonb_build_object('strategy', used, 'temperature', heat,
					CASE used WHEN 'bucket' THEN 'buckets' ELSE 'clusters' END,
					jsonb_agg(CASE used WHEN 'bucket'
						THEN jsonb_build_object('bucket', u.number, 'codes', u.codes)
						ELSE jsonb_build_object('cluster', u.number) END
						|| jsonb_build_object('mean', u.mean, 'probability', u.probability)
						ORDER BY u.number))
			FROM (SELECT v.*, v.weight / sum(v.weight) OVER () AS probability
				-- less the largest mean nothing overflows, and above e^-700 nothing underflows
				FROM (SELECT w.*,
						exp(greatest((w.mean - max(w.mean) OVER ()) / heat, -700)) AS weight
					FROM unnest(numbers, counts, means) AS w (number, codes, mean)) AS v) AS u
			WHERE u.probability > 5e-17);
	END IF;
	RETURN QUERY SELECT x.candidate_id,
			cudal1.bucket_of(x.reward, t.bucket_width, t.score_scale), x.reward, x.code,
			draw.island, draw.probabilities
		FROM cudal1.candidate AS x WHERE x.candidate_id = ANY (picks) AND x.reward > 0
		ORDER BY x.reward, x.candidate_id;
END
$$;
COMMENT ON FUNCTION cudal1.draw IS
'as cudal1_sample_exemplars, with the island and, where recorded, the probabilities on each row';

CREATE FUNCTION @extschema@.cudal1_sample_exemplars(task text, n int DEFAULT 2,
	strategy text DEFAULT NULL, temperature float8 DEFAULT NULL, seed bigint DEFAULT NULL,
	pool text DEFAULT 'main')
RETURNS TABLE (candidate_id bigint, bucket int, score float8, code text)
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SECURITY DEFINER ROWS 2
BEGIN ATOMIC
	SELECT d.candidate_id, d.bucket, d.score, d.code
		FROM cudal1.draw(task, n, strategy, temperature, seed, pool, false) AS d;
END;
COMMENT ON FUNCTION @extschema@.cudal1_sample_exemplars(text, int, text, float8, bigint, text) IS
'up to n (1 to 1000) successful candidates of a task from one pool, in ascending score (then
candidate_id); score is the reward. Writes nothing. Strategies: bucket (CUDA-L1, eq. 1): n distinct
buckets without replacement by softmax(mean / temperature), one code uniformly from each;
temperature NULL is the task''s. island: FunSearch''s clusters of equal reward on one island, the
temperature (NULL: 0.1) falling with the island''s registrations; clusters are drawn with
replacement but no code twice. random: n distinct codes uniformly. NULL is the task''s own strategy.
The same seed over the same buckets gives the same rows. Errors: 42704 unknown task or pool, 22023
unknown strategy, n or temperature out of range, 22004 task or pool NULL';

CREATE FUNCTION @extschema@.cudal1_bucket_stats(task text, temperature float8 DEFAULT NULL,
	pool text DEFAULT 'main')
RETURNS TABLE (bucket int, lower float8, upper float8, codes bigint, mean float8,
	probability float8)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER ROWS 20 SET enable_seqscan = off SET jit = off
BEGIN ATOMIC
	SELECT cudal1.check_number('temperature', coalesce(temperature, 1), 1e-6, 1e9);
	-- one that is retired has its buckets still
	SELECT cudal1.find_task(task) WHERE NOT EXISTS (SELECT FROM cudal1.task AS x
		WHERE x.name = cudal1_bucket_stats.task);
	SELECT b.bucket, CASE t.score_scale WHEN 'log' THEN exp(e.lower) ELSE e.lower END,
			CASE t.score_scale WHEN 'log' THEN exp(e.upper) ELSE e.upper END, b.codes,
			CASE t.score_scale WHEN 'log' THEN exp(b.mean) ELSE b.mean END,
			b.weight / sum(b.weight) OVER ()
		FROM cudal1.find_pool(pool) AS in_pool JOIN cudal1.task AS t
				ON t.name = cudal1_bucket_stats.task
			-- as in cudal1.draw()
			CROSS JOIN LATERAL (SELECT x.bucket, x.codes, x.mean,
					exp(greatest((x.mean - max(x.mean) OVER ())
						/ coalesce(cudal1_bucket_stats.temperature, t.temperature), -700)) AS weight
				FROM cudal1.bucket AS x
				WHERE x.task_id = t.task_id AND x.pool_id = in_pool) AS b
			-- numeric, as in cudal1.bucket_of()
			CROSS JOIN LATERAL (SELECT (b.bucket * t.bucket_width::numeric)::float8 AS lower,
				((b.bucket::numeric + 1) * t.bucket_width::numeric)::float8 AS upper) AS e
		ORDER BY b.bucket;
END;
COMMENT ON FUNCTION @extschema@.cudal1_bucket_stats(text, float8, text) IS
'the buckets of a task that hold candidates of a pool: rewards in [lower, upper), their number, mean
and the probability of being drawn first at the temperature (NULL: the task''s). Where score_scale
is log, buckets, means and softmax are those of ln(reward), while lower, upper and mean are given as
speedups (the mean is geometric). Errors: 42704 unknown task or pool, 22023 a bad temperature';

CREATE FUNCTION cudal1.compose_prompt(contrastive boolean, gpu boolean, hardware text, name text,
	fence text, written text, compiled text, reference text, entry text, tolerance text,
	codes text[], scores float8[], counters text[], failed text[], reasons text[], template text)
RETURNS text LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_compose_prompt';
COMMENT ON FUNCTION cudal1.compose_prompt IS
'the words of a prompt by a template. entry: empty for a module; counters: none, or each code''s';

CREATE FUNCTION cudal1.task_prompt(t cudal1.task, contrastive boolean, codes text[],
	scores float8[], counters text[], failed text[], reasons text[], template text)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
	facts	constant record := (SELECT f FROM cudal1.language_facts() AS f
			WHERE f.language = t.language);
	gpu		constant boolean := coalesce((SELECT bool_or(d.class = 'cuda') FROM cudal1.device AS d
			WHERE d.model = coalesce(t.device_model, t.device)),
		CASE WHEN t.device = ANY (cudal1.classes()) THEN t.device = 'cuda'
			ELSE coalesce(facts.class = 'cuda', false) END);
	entry	constant text := (SELECT format(E'%s\n\nwith the arguments\n\n%s',
			format(facts.declaration, t.signature ->> 'entry', string_agg(format(
				facts.parameters[CASE a.role WHEN 'in' THEN 1 WHEN 'scalar' THEN 3 ELSE 2 END],
				coalesce(facts.types ->> a.dtype, f.c_type), a.name), ', ' ORDER BY e.n)),
			string_agg(format('- `%s`: %s, ', a.name, a.dtype) || CASE a.role
				WHEN 'scalar' THEN format('always %s', a.value)
				WHEN 'in' THEN format('shape %s, input, not to be changed', a.shape)
				WHEN 'out' THEN format('shape %s, output', a.shape)
				ELSE format('shape %s, input and output', a.shape) END, E'\n' ORDER BY e.n))
		FROM jsonb_array_elements(t.signature -> 'args') WITH ORDINALITY AS e (arg, n)
			CROSS JOIN LATERAL jsonb_to_record(e.arg) AS a (name text, dtype text, role text,
				shape text, value text)
			JOIN cudal1.dtypes() AS f ON f.name = a.dtype);
BEGIN
	RETURN cudal1.compose_prompt(contrastive, gpu,
		CASE WHEN t.device_model IS NOT NULL THEN t.device_model
			 WHEN t.device <> ALL (cudal1.classes()) THEN t.device
			 WHEN gpu THEN 'a modern NVIDIA GPU' ELSE 'a modern CPU' END,
		t.name, facts.fence, facts.written, facts.compiled, t.reference,
		CASE WHEN t.signature IS NULL THEN '' ELSE entry END,
		'integers and booleans exactly, floating-point values within '
			|| CASE WHEN num_nulls(t.rtol, t.atol) = 2
			THEN 'the tolerance of their dtype (for float32, 1e-4 of what the output '
				'varies by from input to input plus 1e-3 of the value)'
			ELSE format('%s of what the output varies by from input to input plus %s of '
				'the value', coalesce(t.atol::text, 'the usual share (1e-4 for float32)'),
				coalesce(t.rtol::text, 'the usual share (1e-3 for float32)')) END,
		codes, scores, counters, failed, reasons, template);
END
$$;
COMMENT ON FUNCTION cudal1.task_prompt IS
'the words of a prompt for a task by a template; arrays as in cudal1.compose_prompt()';

CREATE TABLE cudal1.prompt_template (
	template_id			bigint GENERATED BY DEFAULT AS IDENTITY (START WITH 1001) PRIMARY KEY,
	name				text NOT NULL UNIQUE CHECK (name <> ''),
	kind				text NOT NULL CHECK (kind IN ('augment', 'contrastive')),
	text				text NOT NULL,
	system				text,
	shipped				boolean NOT NULL DEFAULT false,
	created_at			timestamptz NOT NULL DEFAULT now(),
	created_by			text NOT NULL DEFAULT cudal1.caller()
);
COMMENT ON TABLE cudal1.prompt_template IS
'words of prompts, with places in braces for what depends on the task: task, expertise, device,
entry, reference, exemplars, counters, failures, requirements, restrictions, answer_format';
COMMENT ON COLUMN cudal1.prompt_template.text IS
'with the place answer_format an answer must have three sections, without it a fenced code will do';
COMMENT ON COLUMN cudal1.prompt_template.system IS
'words of the message of role system, with the same places; NULL: there is none';
COMMENT ON COLUMN cudal1.prompt_template.shipped IS 'part of the extension, not of dumps';

INSERT INTO cudal1.prompt_template (template_id, name, kind, shipped, text) VALUES
	(1, 'contrastive', 'contrastive', true,
		E'**Task: a faster implementation of {task}**\n\nYou are an expert in {expertise}.'
		' Below are a reference and earlier implementations of the same function, each '
		'with its measured score: the reference''s time divided by its own, so 1.00 is as'
		' fast as the reference and 2.00 takes half its time. Compare them, learn what '
		'makes the better ones fast, and write an implementation that does the same and '
		'scores higher than all of them.\n\n{entry}**Reference '
		'code**\n\n{reference}{exemplars}{failures}{requirements}{restrictions}{answer_format}'),
	(2, 'augment', 'augment', true,
		E'**Task: a faster implementation of {task}**\n\nYou are an expert in {expertise}.'
		' Below is a reference implementation. Write one that gives the same results in '
		'less time; its score is the reference''s time divided by its '
		'own.\n\n{entry}**Reference implementation (exact '
		'copy)**\n\n{reference}{failures}{requirements}{restrictions}**Answer**\n\nGive the '
		'complete code in a single fenced code block.\n');

CREATE FUNCTION cudal1.find_template(template text, kind text, failures int DEFAULT 0)
RETURNS cudal1.prompt_template LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
	w		cudal1.prompt_template;
BEGIN
	PERFORM cudal1.check_name('template', template);
	SELECT x.* INTO w FROM cudal1.prompt_template AS x WHERE x.name = find_template.template;
	PERFORM cudal1.raise_if(w.kind <> kind, '22023',
		format('template "%s" is one of kind "%s", not "%s"', w.name, w.kind, kind));
	PERFORM cudal1.raise_if(failures > 0
			AND concat_ws(E'\n', w.system, w.text) NOT LIKE '%{failures}%',
		'22023', format('template "%s" has no place {failures}', w.name));
	RETURN w;
END
$$;
COMMENT ON FUNCTION cudal1.find_template IS
'the template of a name and a kind, with a place for failures where some are to be shown';

CREATE FUNCTION @extschema@.cudal1_add_prompt_template(name text, kind text, text text,
	system text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
#variable_conflict use_column
DECLARE
	words	constant text := text;
	preface	constant text := system;
	-- as append_place() in src/prompt.c
	places	constant text[] := '{task,expertise,device,entry,reference,exemplars,counters,failures,'
		'requirements,restrictions,answer_format}';
	braced	text;
	id		bigint;
BEGIN
	PERFORM cudal1.raise_if(name IS NULL OR kind IS NULL OR words IS NULL, '22004',
		'name, kind and text must not be null');
	PERFORM cudal1.check_label(name);
	PERFORM cudal1.check_word('kind', kind, '{contrastive,augment}');
	PERFORM cudal1.raise_if(octet_length(words) > 1048576 OR octet_length(preface) > 1048576,
		'54000', 'text and system must not be longer than 1 MiB');
	PERFORM cudal1.raise_if(words NOT LIKE '%{reference}%', '22023',
		'text must have the place {reference}');
	PERFORM cudal1.raise_if(kind = 'contrastive' AND words NOT LIKE '%{exemplars}%',
		'22023', 'text of a contrastive template must have the place {exemplars}');
	PERFORM cudal1.raise_if(kind = 'augment'
			AND concat_ws(E'\n', preface, words) LIKE '%{exemplars}%', '22023',
		'a template of kind augment can''t have the place {exemplars}',
		'Prompts of kind contrastive show exemplars.');
	FOR braced IN
		SELECT DISTINCT split_part(b, '}', 1) FROM string_to_table(concat(words, preface), '{') AS b
			WHERE b LIKE '%}%' AND cudal1.matches(split_part(b, '}', 1), '^[A-Za-z_ -]+$', 30)
				AND split_part(b, '}', 1) <> ALL (places)
			ORDER BY 1 LIMIT 3
	LOOP
		RAISE NOTICE USING
			MESSAGE = format('{%s} is no place of a template and stays as it is', braced),
			HINT = concat_ws(' ', cudal1.nearest(braced, places),
				format('Places are %s.', array_to_string(places, ', ')));
	END LOOP;
	INSERT INTO cudal1.prompt_template AS x (name, kind, text, system)
		VALUES (cudal1_add_prompt_template.name, cudal1_add_prompt_template.kind, words, preface)
		ON CONFLICT (name) DO NOTHING
		RETURNING x.template_id INTO id;
	PERFORM cudal1.store(cudal1.caller(), 256 + octet_length(concat(words, preface))) WHERE FOUND;
	IF id IS NULL THEN
		SELECT x.template_id INTO id FROM cudal1.prompt_template AS x
			WHERE x.name = cudal1_add_prompt_template.name AND x.text = words
				AND x.kind = cudal1_add_prompt_template.kind
				AND x.system IS NOT DISTINCT FROM preface;
		PERFORM cudal1.raise_if(NOT FOUND, '23505',
			format('template "%s" exists with other words', name), 'Add it under another name.');
	END IF;
	RETURN id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_prompt_template(text, text, text, text) IS
'adds words of one''s own for prompts of a kind (contrastive, augment), and returns their id; the
same again returns the same id. text has places in braces: {task}, {expertise}, {device}, {entry},
{reference}, {exemplars} (with their scores), {counters} (a sentence on them, and {exemplars} shows
them: cudal1_counters), {failures} (with their reasons), {requirements}, {restrictions} and
{answer_format}, the three sections; without that place any one fenced code is an answer. Other
words in braces stay as they are, with a NOTICE for the first three; kind augment has no exemplars.
system: words of the message of role system, with the same places (NULL: none). Every role may use a
template. Errors: 23505 other words under the name, 22023 an unknown kind, a place that is missing
or may not be there, 22004 NULLs, 54000 more than 1 MiB, 53400 a quota is used up';

CREATE FUNCTION cudal1.make_prompt(task text, n int, strategy text, kind text,
	temperature float8, seed bigint, pool text, owner text, template text, failures int)
RETURNS TABLE (prompt_id bigint, prompt text, exemplars bigint[], system text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET enable_seqscan = off SET jit = off
AS $$
DECLARE
	t			cudal1.task;
	from_pool	int := cudal1.find_pool(pool);
	used		text;
	used_seed	bigint := COALESCE(seed, uuid_hash_extended(gen_random_uuid(), 0));
	heat		float8;
	drawn		record;
	failed		record;
	w			cudal1.prompt_template;
	counters	text[] := '{}';
	words		text;
	preface		text;
	id			bigint;
BEGIN
	t := cudal1.find_task(task);
	PERFORM cudal1.check_reference(t);
	PERFORM cudal1.check_word('kind', kind, '{contrastive,augment}');
	PERFORM cudal1.check_number('failures', failures, 0, 100);
	w := cudal1.find_template(coalesce(template, kind), kind, failures);
	used := COALESCE(strategy, t.strategy);

	-- an augmenting prompt shows no exemplars, but its arguments are checked alike
	SELECT COALESCE(array_agg(d.candidate_id ORDER BY d.score, d.candidate_id), '{}') AS candidates,
		   COALESCE(array_agg(d.score ORDER BY d.score, d.candidate_id), '{}') AS scores,
		   COALESCE(array_agg(d.code ORDER BY d.score, d.candidate_id), '{}') AS codes,
		   max(d.island) AS island,
		   COALESCE((array_agg(d.probabilities))[1], '{}') AS probabilities INTO drawn
	FROM cudal1.draw(make_prompt.task, make_prompt.n, used, make_prompt.temperature, used_seed,
		make_prompt.pool) AS d;
	-- at first nothing is on any island
	drawn.island := COALESCE(drawn.island,
		CASE used WHEN 'island' THEN abs(hashint8extended(used_seed, 0) % t.islands) END);
	IF kind = 'augment' THEN
		SELECT '{}'::bigint[] AS candidates, '{}'::float8[] AS scores, '{}'::text[] AS codes,
			NULL::int AS island, '{}'::jsonb AS probabilities INTO drawn;
	ELSIF used <> 'random' THEN
		heat := COALESCE(make_prompt.temperature, CASE WHEN used = 'bucket' THEN t.temperature
			ELSE t.island_temperature END);
	END IF;

	-- of the last 1000 codes proposed, the last that failed, the latest last; cheats, withdrawn
	-- codes and answers without code are nothing to be mended
	SELECT coalesce(array_agg(f.candidate_id ORDER BY f.at), '{}') AS candidates,
			coalesce(array_agg(f.code ORDER BY f.at), '{}') AS codes,
			coalesce(array_agg(f.reason ORDER BY f.at), '{}') AS reasons
		INTO failed FROM (SELECT c.candidate_id, c.code, l.at,
				c.failure || coalesce(': ' || nullif(c.detail, ''), '') AS reason
			FROM (SELECT x.candidate_id, max(x.proposal_id) AS at
					FROM (SELECT y.candidate_id, y.proposal_id FROM cudal1.proposal AS y
						WHERE y.pool_id = from_pool AND y.task_id = t.task_id
						ORDER BY y.proposal_id DESC LIMIT CASE failures WHEN 0 THEN 0 ELSE 1000 END)
						AS x GROUP BY x.candidate_id) AS l
				JOIN cudal1.candidate AS c USING (candidate_id)
			WHERE c.state = 'failed' AND c.purpose = 'normal' AND c.code <> '' AND c.failure IN (
				'compile_error', 'launch_failure', 'timeout', 'crash', 'wrong_output')
			ORDER BY l.at DESC LIMIT failures) AS f;
	IF concat_ws(E'\n', w.system, w.text) LIKE '%{counters}%' THEN
		-- of each code on a line, with three digits
		counters := ARRAY(SELECT (SELECT coalesce(string_agg(format('%s %s%s', k.name,
					trim_scale(round(k.shown,
						greatest(2 - floor(log(greatest(abs(k.shown), 1e-9)))::int, 0))),
					nullif(CASE k.unit WHEN 's' THEN ' us' ELSE ' ' || k.unit END, ' ')), ', '
					ORDER BY k.place), '')
				FROM (SELECT x.name, x.unit, x.ordinality AS place,
						(CASE x.unit WHEN 's' THEN 1e6 ELSE 1 END * x.value)::numeric AS shown
					FROM cudal1.counters(u.id) WITH ORDINALITY AS x) AS k)
			FROM unnest(drawn.candidates::bigint[]) WITH ORDINALITY AS u (id, n) ORDER BY u.n);
	END IF;
	words := cudal1.task_prompt(t, kind = 'contrastive', drawn.codes, drawn.scores, counters,
		failed.codes, failed.reasons, w.text);
	preface := CASE WHEN w.system IS NOT NULL
		THEN cudal1.task_prompt(t, kind = 'contrastive', drawn.codes, drawn.scores, counters,
			failed.codes, failed.reasons, w.system) END;
	-- a byte may become six in a line for cudal1-generate, which takes lines of 64 MiB
	PERFORM cudal1.raise_if(octet_length(words) + coalesce(octet_length(preface), 0) > 10485760,
		'54000', 'the prompt would be longer than 10 MiB', 'Ask for fewer exemplars or failures.');
	INSERT INTO cudal1.prompt AS q (task_id, pool_id, kind, template, strategy, temperature, seed,
			island, exemplars, scores, probabilities, failures, system, prompt, created_by)
		VALUES (t.task_id, from_pool, make_prompt.kind, w.name, used, heat, used_seed,
			drawn.island, drawn.candidates, drawn.scores, drawn.probabilities,
			failed.candidates, preface, words, make_prompt.owner)
		RETURNING q.prompt_id INTO id;
	PERFORM cudal1.store(owner, 256 + octet_length(concat(words, preface)));
	-- campaigns ask for at most four, and begin with none
	IF kind = 'contrastive' AND n > 4 AND cardinality(drawn.candidates) < n THEN
		RAISE NOTICE 'the prompt shows % of % exemplars, because strategy % finds no more',
			cardinality(drawn.candidates), n, used;
	END IF;
	RETURN QUERY SELECT id, words, drawn.candidates::bigint[], preface;
END
$$;
COMMENT ON FUNCTION cudal1.make_prompt IS
'what cudal1_prompt() does, for a role, in a pool that it may use';

CREATE FUNCTION @extschema@.cudal1_prompt(task text, n int DEFAULT 2, strategy text DEFAULT NULL,
	kind text DEFAULT 'contrastive', temperature float8 DEFAULT NULL, seed bigint DEFAULT NULL,
	template text DEFAULT NULL, pool text DEFAULT 'main', failures int DEFAULT 0)
RETURNS TABLE (prompt_id bigint, prompt text, exemplars bigint[], system text)
LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT p.prompt_id, p.prompt, p.exemplars, p.system
	FROM cudal1.find_pool(pool, true) AS u,
		LATERAL cudal1.make_prompt(task, n, strategy, kind, temperature, seed, pool,
			cudal1.caller(), template, failures) AS p
	WHERE u IS NOT NULL;
END;
COMMENT ON FUNCTION @extschema@.cudal1_prompt(text, int, text, text, float8, bigint, text, text,
	int) IS
'draws exemplars as cudal1_sample_exemplars does, builds a prompt and records both in cudal1.prompt
with seed, temperature and probabilities, so that the draw can be repeated. kind contrastive
(CUDA-L1, table 3): reference, exemplars in ascending score, or the reference at 1.00 where there is
none yet, and an answer of three sections; augment (table 1): the reference alone, and any one
fenced code as the answer. template: its words (cudal1.prompt_template; NULL: those shipped).
Strategy NULL is the task''s own. pool: where exemplars come from, and where
cudal1_submit_response() places the answers. failures: so many (0 to 100) of the codes that failed
among the last 1000 proposed in the pool are shown with the reasons. system: the message of role
system, NULL where the template has none. Errors: 42704 unknown task, template or pool,
42501 another role''s pool, 22023 unknown kind or strategy, a template of another kind or without a
place for failures, n, temperature or failures out of range, 54000 a prompt above 10 MiB';

CREATE FUNCTION @extschema@.cudal1_record_prompt(task text, prompt text,
	exemplars bigint[] DEFAULT '{}', pool text DEFAULT 'main', system text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET enable_seqscan = off SET jit = off
AS $$
DECLARE
	t		cudal1.task := cudal1.find_task(task);
	in_pool	int := cudal1.find_pool(pool, true);
	island	int;
	id		bigint;
BEGIN
	PERFORM cudal1.raise_if(prompt IS NULL, '22004', 'prompt must not be null');
	PERFORM cudal1.raise_if(octet_length(prompt) > 4194304 OR octet_length(system) > 4194304,
		'54000', 'prompt and system must not be longer than 4 MiB');
	PERFORM cudal1.raise_if(NOT cudal1.matches(prompt, '[^[:space:]]', 4194304), '22023',
		'prompt must not be empty');
	PERFORM cudal1.raise_if(coalesce(array_ndims(exemplars), 1) > 1
			OR cardinality(exemplars) > 1000, '22023',
		'exemplars must be an array of at most 1000 candidates');
	PERFORM cudal1.check_candidates(exemplars, 'exemplars');
	PERFORM cudal1.raise_if(c.task_id <> t.task_id, '22023',
			format('candidate %s belongs to another task than "%s"', c.candidate_id, t.name))
		FROM cudal1.candidate AS c
		WHERE c.candidate_id = ANY (cudal1_record_prompt.exemplars);
	-- one of the islands that hold all exemplars: the answers are placed there
	SELECT i.island INTO island FROM cudal1.island AS i
		WHERE i.task_id = t.task_id AND i.pool_id = in_pool
			AND cudal1_record_prompt.exemplars <> '{}'
			AND NOT EXISTS (SELECT FROM unnest(cudal1_record_prompt.exemplars) AS u (id)
				WHERE NOT EXISTS (SELECT FROM cudal1.pool_code AS s
					WHERE s.candidate_id = u.id AND s.pool_id = i.pool_id AND s.bucket IS NOT NULL
						AND s.island IN (i.island, CASE WHEN i.shared THEN -1 ELSE i.island END)))
		ORDER BY random() LIMIT 1;
	INSERT INTO cudal1.prompt AS q (task_id, pool_id, kind, island, exemplars, scores,
			probabilities, system, prompt, created_by)
		VALUES (t.task_id, in_pool, 'recorded', island,
			cudal1_record_prompt.exemplars, ARRAY(SELECT coalesce(c.reward, 0)
				FROM unnest(cudal1_record_prompt.exemplars) WITH ORDINALITY AS u (id, n)
					JOIN cudal1.candidate AS c ON c.candidate_id = u.id ORDER BY u.n),
			'{}', nullif(cudal1_record_prompt.system, ''), cudal1_record_prompt.prompt,
			cudal1.caller())
		RETURNING q.prompt_id INTO id;
	PERFORM cudal1.store(cudal1.caller(), 256 + octet_length(concat(prompt, system)));
	RETURN id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_record_prompt(text, text, bigint[], text, text) IS
'records a prompt that was made elsewhere and returns its id, by which answers are submitted and
data sets give it. exemplars: the candidates of the task that it shows; where a pool''s islands hold
them all, the prompt and its answers belong to one of these. An answer needs a fenced code, not the
three sections. pool: where cudal1_submit_response() places the answers. system: the message of role
system before it; empty: none. Errors: 42704 unknown task, pool or exemplar, 42501 another role''s
pool, 22023 an empty prompt or an exemplar of another task, 22004 NULLs, 54000 a prompt above 4 MiB,
53400 a quota is used up';

CREATE FUNCTION cudal1.parse_response(response text, code_alone boolean, entry text)
RETURNS TABLE (analysis text, design text, code text, reason text)
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_parse_response';
COMMENT ON FUNCTION cudal1.parse_response IS
'what cudal1_parse_response() does. code_alone: a fenced code will do, without the three sections.
entry: the name that the code defines; NULL: ModelNew or solve';

CREATE FUNCTION @extschema@.cudal1_parse_response(response text)
RETURNS TABLE (analysis text, design text, code text, reason text)
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_parse_response';
COMMENT ON FUNCTION @extschema@.cudal1_parse_response(text) IS
'takes a model''s answer apart into the sections "## Performance Analysis", "## Algorithm Design"
and "## Code Implementation"; one row. reason is NULL when all three are there and the code is
complete, else says what is missing. Headings may vary in case and in the marks, numbers and emoji
around them; reasoning in tags is skipped. Of several fenced blocks under the last heading the code
is the one that defines ModelNew or solve; of several alike the last that is at least half as long
as the longest; blocks labelled as shell, text or output count only where there is no other; without
a fence all text under the heading is the code. Never raises on content';
