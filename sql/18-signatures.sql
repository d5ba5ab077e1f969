/*
 * Signatures of functions: checked when a task is added, and stored with all defaults filled
 * in. Before them, what reads a JSON value or a text that a user or a model wrote, and raises the
 * error of a bad one.
 */

CREATE FUNCTION cudal1.json_float(value jsonb, low float8 DEFAULT '-1e300',
	high float8 DEFAULT '1e300')
RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN jsonb_typeof(value) IS DISTINCT FROM 'number' THEN NULL
	WHEN (value #>> '{}')::numeric NOT BETWEEN low::numeric AND high::numeric THEN NULL
	WHEN abs((value #>> '{}')::numeric) < 1e-300 THEN 0::float8
	ELSE (value #>> '{}')::float8 END;
COMMENT ON FUNCTION cudal1.json_float IS
'the number of a JSON value within [low, high]; NULL if it is no number or lies outside';

CREATE FUNCTION cudal1.json_int(value jsonb, low bigint DEFAULT 0, high bigint DEFAULT 2147483647)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN jsonb_typeof(value) IS DISTINCT FROM 'number' THEN NULL
	WHEN (value #>> '{}')::numeric NOT BETWEEN low AND high THEN NULL
	WHEN (value #>> '{}')::numeric <> trunc((value #>> '{}')::numeric) THEN NULL
	ELSE (value #>> '{}')::numeric::bigint END;
COMMENT ON FUNCTION cudal1.json_int IS
'the integer of a JSON value within [low, high]; NULL if it is no integer or lies outside';

CREATE FUNCTION cudal1.option_rules(subject text)
RETURNS TABLE (name text, type text, valid text, standard jsonb)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
	SELECT r.name, r.type, r.valid, coalesce(r.standard::jsonb, 'null')
		FROM (VALUES
			('task', 'profile', 'string', NULL, '"default"'),
			('task', 'device', 'string', NULL, NULL),
			('task', 'cores', 'integer', '1 and 1024', '1'),
			('task', 'bucket_width', 'number', '1e-6 and 1e6', '0.25'),
			('task', 'temperature', 'number', '1e-6 and 1e6', '1'),
			('task', 'score_scale', 'choice', 'linear or log', '"linear"'),
			('task', 'strategy', 'choice', 'bucket, island or random', '"bucket"'),
			('task', 'rtol', 'number', '0 and 1e9', NULL),
			('task', 'atol', 'number', '0 and 1e9', NULL),
			('task', 'problem', 'integer', '0 and 2147483647', NULL),
			('task', 'certify', 'boolean', NULL, NULL),
			('task', 'islands', 'integer', '1 and 1000', '10'),
			('task', 'island_reset', 'integer', '1 and 1000000000000', '1000'),
			('task', 'island_temperature', 'number', '1e-6 and 1e6', '0.1'),
			('task', 'island_period', 'integer', '1 and 1000000000000', '30000'),
			('task', 'island_rule', 'choice', 'funsearch or cuda-l1', '"funsearch"'),
			('task', 'baseline', 'string', NULL, '"reference"'),
			('task', 'probes', 'switches',
				'centre, scale, outliers, zeros, rows, held, near, parameters', NULL),
			('task', 'weak', 'choice', 'pay or refuse', '"pay"'),
			('model', 'stream', 'boolean', NULL, 'true'),
			('model', 'connect_seconds', 'number', '0.001 and 3600', '10'),
			('model', 'stall_seconds', 'number', '0.001 and 86400', '120'),
			('model', 'total_seconds', 'number', '0.001 and 86400', '1800'),
			('model', 'backoff_seconds', 'number', '0.001 and 3600', '1'),
			('model', 'max_tries', 'integer', '1 and 100', '8'),
			('model', 'max_answer_bytes', 'integer', '1 and 4194304', '1048576'),
			('model', 'max_body_bytes', 'integer', '1024 and 1073741824', '67108864'),
			('campaign', 'method', 'string', NULL, NULL),
			('campaign', 'ahead', 'integer', '1 and 1000000', '4'),
			('campaign', 'priority', 'integer', '-1000000000 and 1000000000', '0'),
			('campaign', 'template', 'string', NULL, NULL),
			('campaign', 'failures', 'integer', '0 and 100', '0'),
			('vanilla', 'attempts', 'integer', '1 and 1000000', '5'),
			('augment', 'trials', 'integer', '1 and 1000000', '20'),
			('augment', 'successes', 'integer', '1 and 1000000', '2'),
			('self_supervised', 'batch', 'integer', '1 and 1000000', '8'),
			('self_supervised', 'rounds', 'integer', '1 and 1000000', '1'),
			('self_supervised', 'pause', 'boolean', NULL, 'true'),
			('evolve', 'exemplars', 'integer', '1 and 4', '4'),
			('evolve', 'strategy', 'choice', 'bucket, island or random', '"island"'),
			('evolve', 'temperature', 'number', '1e-6 and 1e9', NULL),
			('evolve', 'max_tokens', 'integer', '1 and 1000000000000000', NULL),
			('evolve', 'max_candidates', 'integer', '1 and 1000000', NULL),
			('evolve', 'max_seconds', 'number', '1e-9 and 1e15', NULL),
			('evolve', 'max_cost', 'number', '1e-9 and 1e15', NULL),
			('contrastive', 'exemplars', 'integer', '0 and 4', '2'),
			('contrastive', 'strategy', 'choice', 'bucket, island or random', '"bucket"'),
			('contrastive', 'temperature', 'number', '1e-6 and 1e9', NULL),
			-- as many answers as cudal1_answer_group() takes
			('contrastive', 'group_size', 'integer', '1 and 10000', '8'),
			('contrastive', 'groups', 'integer', '1 and 1000000', NULL),
			('contrastive', 'profile', 'string', NULL, NULL))
			AS r (subject, name, type, valid, standard)
		WHERE r.subject = option_rules.subject
			OR r.subject = 'campaign' AND option_rules.subject NOT IN ('task', 'model');
$$;
COMMENT ON FUNCTION cudal1.option_rules IS
'the options of tasks, models or a kind of campaign: what each may be, and is where left open';

CREATE FUNCTION cudal1.check_options(options jsonb, subject text)
RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
	names	constant text[] := ARRAY(SELECT x.name FROM cudal1.option_rules(subject) AS x);
	r		record;
	low		text;
	high	text;
	choices	text[];
	value	jsonb;
	result	jsonb := '{}';
BEGIN
	PERFORM cudal1.raise_if(options IS NULL OR jsonb_typeof(options) <> 'object', '22023',
		'options must be a JSON object');
	PERFORM cudal1.raise_if(key <> ALL (names), '22023', format('unknown option "%s"', key),
			concat_ws(' ', cudal1.nearest(key, names),
				format('Options are %s.', array_to_string(names, ', '))))
		FROM jsonb_object_keys(options) AS key;
	FOR r IN SELECT x.* FROM cudal1.option_rules(subject) AS x LOOP
		low := split_part(r.valid, ' and ', 1);
		high := split_part(r.valid, ' and ', 2);
		choices := string_to_array(replace(r.valid, ' or ', ', '), ', ');
		-- an option given as null is one left open
		value := coalesce(nullif(options -> r.name, 'null'), r.standard);
		PERFORM cudal1.raise_if(value <> 'null' AND NOT CASE r.type
				WHEN 'integer' THEN cudal1.json_int(value, low::bigint, high::bigint) IS NOT NULL
				WHEN 'number' THEN cudal1.json_float(value, low::float8, high::float8) IS NOT NULL
				WHEN 'choice' THEN value #>> '{}' = ANY (choices)
				WHEN 'switches' THEN jsonb_typeof(value) = 'object' AND NOT EXISTS (
					SELECT FROM jsonb_each(value) AS e
						WHERE jsonb_typeof(e.value) <> 'boolean' OR e.key <> ALL (choices))
				ELSE jsonb_typeof(value) = r.type END, '22023',
			format('option "%s" must be %s%s', r.name, CASE r.type
				WHEN 'integer' THEN 'an integer between ' WHEN 'number' THEN 'a number between '
				WHEN 'switches' THEN 'an object of booleans: ' WHEN 'boolean' THEN 'true or false'
				WHEN 'string' THEN 'a string' END, r.valid),
			CASE r.type WHEN 'choice' THEN cudal1.nearest(value #>> '{}', choices) END);
		-- numbers that the casts of readers take: 4 for 4.0, and 0 for 1e-400
		result := result || jsonb_build_object(r.name, CASE jsonb_typeof(value)
			WHEN 'number' THEN to_jsonb(cudal1.json_float(value)) ELSE value END);
	END LOOP;
	RETURN result;
END
$$;
COMMENT ON FUNCTION cudal1.check_options IS
'the options given, and the others as cudal1.option_rules() has them; error 22023';

CREATE FUNCTION cudal1.json_parts(answer text, pattern text)
RETURNS SETOF jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
	part	text;
BEGIN
	FOR part IN SELECT x.m[1]
		FROM regexp_matches(regexp_replace(answer, '<think>.*</think>', ''), pattern, 'g') AS x(m)
	LOOP
		BEGIN
			RETURN NEXT part::jsonb;
		EXCEPTION WHEN data_exception THEN
			CONTINUE;
		END;
	END LOOP;
END
$$;
COMMENT ON FUNCTION cudal1.json_parts IS
'the parts of an answer that match a pattern and are JSON; <think> tags are skipped';

CREATE FUNCTION cudal1.matches(value text, pattern text, most_bytes int)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(value) > most_bytes THEN false ELSE value ~ pattern END;
COMMENT ON FUNCTION cudal1.matches IS
'whether a text of at most so many bytes matches a regular expression, for which some are too long';

-- Looked at in UTF-8, because a regular expression takes the codes 128 to 159 of every encoding for
-- control characters: bytes of a letter without an encoding, and letters in Windows' encodings.
CREATE FUNCTION cudal1.is_name(value text, most int)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN NOT cudal1.matches(value, '[^[:space:]]', 4 * most) THEN false
	ELSE char_length(value) <= most
		AND NOT cudal1.matches(encode(convert_to(value, 'UTF8'), 'hex'),
			'^(..)*([01].|7f|c2[89].)', 8 * most) END;
COMMENT ON FUNCTION cudal1.is_name IS
'whether a text has 1 to so many characters, is not blank, and has no control character; error 22021
or 22P05 where it holds what Unicode lacks';

CREATE FUNCTION cudal1.bad_signature_if(wrong boolean, problem text, hint text DEFAULT NULL)
RETURNS void LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN cudal1.raise_if(wrong, '22023', 'malformed signature: ' || problem,
	concat_ws(' ', hint, 'For instance {"entry": "solve", "args": [{"name": "x", '
		'"dtype": "float32", "shape": [400, 320], "role": "in"}, {"name": "n", '
		'"dtype": "int32", "role": "scalar", "value": 400}, {"name": "y", '
		'"dtype": "float32", "shape": [320], "role": "out"}]}.'));
COMMENT ON FUNCTION cudal1.bad_signature_if IS
'the error of a malformed signature; its hint ends with one that is well-formed';

CREATE FUNCTION cudal1.plain_number(value jsonb, integral boolean)
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- a parser would take so many digits without a point for an integer that it has no type for
RETURN to_jsonb(CASE WHEN integral THEN trunc((value #>> '{}')::numeric)
	WHEN abs((value #>> '{}')::numeric) >= 1e18 THEN (value #>> '{}')::numeric + 0.0
	ELSE (value #>> '{}')::numeric END);
COMMENT ON FUNCTION cudal1.plain_number IS
'a JSON number as every parser reads it: an integer as 4, not 4.0, a large one with a point';

CREATE FUNCTION cudal1.is_c_name(value jsonb)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(jsonb_typeof(value) = 'string'
	AND cudal1.matches(value #>> '{}', '^[A-Za-z_][A-Za-z0-9_]{0,62}$', 1000)
	-- what a C or C++ compiler would refuse as the name of a parameter
	AND value #>> '{}' <> ALL (ARRAY[
	'alignas', 'alignof', 'and', 'and_eq', 'asm', 'auto', 'bitand', 'bitor', 'bool', 'break',
	'case', 'catch', 'char', 'class', 'compl', 'const', 'constexpr', 'continue', 'decltype',
	'default', 'delete', 'do', 'double', 'else', 'enum', 'explicit', 'export', 'extern',
	'false', 'float', 'for', 'friend', 'goto', 'if', 'inline', 'int', 'long', 'main', 'mutable',
	'namespace', 'new', 'noexcept', 'not', 'not_eq', 'nullptr', 'operator', 'or', 'or_eq',
	'private', 'protected', 'public', 'register', 'restrict', 'return', 'short', 'signed',
	'sizeof', 'static', 'struct', 'switch', 'template', 'this', 'throw', 'true', 'try',
	'typedef', 'typeid', 'typename', 'typeof', 'union', 'unsigned', 'using', 'virtual', 'void',
	'volatile', 'wchar_t', 'while', 'xor', 'xor_eq']), false);
COMMENT ON FUNCTION cudal1.is_c_name IS
'whether a JSON value is a string that can name a function or a parameter in C and C++';

CREATE FUNCTION cudal1.dtypes(OUT name text, OUT width int, OUT lowest numeric,
	OUT highest numeric, OUT integral boolean, OUT c_type text)
RETURNS SETOF record LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
	VALUES ('float64', 8, -1.7e308, 1.7e308, false, 'double'),
		('float32', 4, -3.4e38, 3.4e38, false, 'float'),
		('float16', 2, -65504, 65504, false, '_Float16'),
		('bfloat16', 2, -3.3e38, 3.3e38, false, 'uint16_t'),
		('int64', 8, -9223372036854775808, 9223372036854775807, true, 'int64_t'),
		('int32', 4, -2147483648, 2147483647, true, 'int32_t'),
		('uint8', 1, 0, 255, true, 'uint8_t'),
		('bool', 1, 0, 1, true, 'bool');
$$;
COMMENT ON FUNCTION cudal1.dtypes IS
'the dtypes of signatures: bytes of an element, range, and type in C (bfloat16: its bits)';

CREATE FUNCTION cudal1.check_argument(arg jsonb, label text)
RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
	most	constant numeric := 9e18;	-- what cudal1-measure draws integers from
	dtype	constant text := arg ->> 'dtype';
	role	constant text := arg ->> 'role';
	facts	record;
	init	text;
	low		numeric;
	high	numeric;
BEGIN
	PERFORM cudal1.bad_signature_if(NOT arg ? 'dtype', label || ' has no member "dtype"',
		CASE WHEN arg ? 'type' THEN 'Did you mean "dtype" by "type"?' END);
	SELECT f.* INTO facts FROM cudal1.dtypes() AS f WHERE f.name = dtype;
	-- floating point inputs are normal unless said otherwise, integers need their range
	arg := CASE WHEN role IN ('in', 'inout') THEN jsonb_build_object('init',
		CASE WHEN facts.integral THEN 'integer' ELSE 'normal' END) ELSE '{}' END || arg;
	init := arg ->> 'init';
	PERFORM cudal1.bad_signature_if(coalesce(jsonb_typeof(arg -> m.member) <> 'string'
				OR arg ->> m.member <> ALL (m.words), m.member <> 'init' OR arg ? 'init'),
			format('%s has no valid %s', label, m.member),
			concat_ws(' ', cudal1.nearest(arg ->> m.member, m.words),
				format('It is one of %s.', array_to_string(m.words, ', '))))
		FROM (VALUES ('dtype', ARRAY(SELECT f.name FROM cudal1.dtypes() AS f)),
			('role', '{in,out,inout,scalar}'), ('init', '{normal,uniform,integer,zero}'))
			AS m (member, words);
	PERFORM cudal1.bad_signature_if(key <> ALL (ARRAY['name', 'dtype', 'role'] || CASE role
				WHEN 'scalar' THEN ARRAY['value']
				WHEN 'out' THEN ARRAY['shape']
				ELSE ARRAY['shape', 'init', 'low', 'high'] END),
			format('%s has the member "%s", unknown for role %s', label, key, role), CASE role
				WHEN 'scalar' THEN 'A scalar has name, dtype, role and value.'
				WHEN 'out' THEN 'An output has name, dtype, role and shape.'
				ELSE 'An input has name, dtype, role, shape, init, low and high.' END)
		FROM jsonb_object_keys(arg) AS key;

	IF role = 'scalar' THEN
		PERFORM cudal1.bad_signature_if(facts.width < 4 AND NOT facts.integral,
			format('%s: %s cannot be passed by value', label, dtype),
			(SELECT format('Scalars are %s.', string_agg(f.name, ', '))
				FROM cudal1.dtypes() AS f WHERE f.width >= 4 OR f.integral));
		IF dtype = 'bool' AND jsonb_typeof(arg -> 'value') = 'boolean' THEN
			arg := jsonb_set(arg, '{value}', to_jsonb((arg ->> 'value')::boolean::int));
		END IF;
		PERFORM cudal1.bad_signature_if(jsonb_typeof(arg -> 'value') IS DISTINCT FROM 'number',
			label || ' needs a number as value');
		low := (arg ->> 'value')::numeric;
		PERFORM cudal1.bad_signature_if(facts.integral AND low <> trunc(low),
			format('%s: value of %s must be an integer', label, dtype));
		PERFORM cudal1.bad_signature_if(low NOT BETWEEN facts.lowest AND facts.highest,
			format('%s: value is out of range for %s', label, dtype));
		RETURN jsonb_set(arg, '{value}', cudal1.plain_number(arg -> 'value', facts.integral));
	END IF;

	PERFORM cudal1.bad_signature_if(jsonb_typeof(arg -> 'shape') IS DISTINCT FROM 'array'
		OR jsonb_array_length(arg -> 'shape') NOT BETWEEN 1 AND 8,
		label || ' needs a shape of 1 to 8 dimensions');
	PERFORM cudal1.bad_signature_if(cudal1.json_int(dim, 1, 4294967296) IS NULL,
			label || ': each dimension must be an integer from 1 to 4294967296')
		FROM jsonb_array_elements(arg -> 'shape') AS dim;
	arg := jsonb_set(arg, '{shape}', (SELECT jsonb_agg(cudal1.plain_number(dim, true) ORDER BY i)
		FROM jsonb_array_elements(arg -> 'shape') WITH ORDINALITY AS d (dim, i)));
	PERFORM cudal1.bad_signature_if(facts.integral AND init IN ('normal', 'uniform'),
		format('%s: init %s needs a floating point dtype', label, init),
		'Use "init": "integer" with low and high, or "zero".');
	PERFORM cudal1.bad_signature_if(init IN ('normal', 'zero') AND arg ?| '{low,high}',
		format('%s: init %s takes no low or high', label, init));
	IF role = 'out' OR init IN ('normal', 'zero') THEN
		RETURN arg;
	END IF;
	arg := CASE WHEN init = 'uniform' OR dtype = 'bool' THEN '{"low": 0, "high": 1}'::jsonb
		ELSE '{}' END || arg;
	PERFORM cudal1.bad_signature_if(jsonb_typeof(arg -> 'low') IS DISTINCT FROM 'number'
		OR jsonb_typeof(arg -> 'high') IS DISTINCT FROM 'number',
		format('%s: init %s needs the numbers low and high', label, init));
	low := (arg ->> 'low')::numeric;
	high := (arg ->> 'high')::numeric;
	PERFORM cudal1.bad_signature_if(
		low >= high OR low < greatest(facts.lowest, -most) OR high > least(facts.highest, most)
		OR (init = 'integer' AND (low <> trunc(low) OR high <> trunc(high))),
		format('%s: low and high must be %s with low < high, in the range of %s', label,
			   CASE init WHEN 'integer' THEN 'integers' ELSE 'numbers' END, dtype),
		CASE WHEN greatest(abs(low), abs(high)) > most
			 THEN 'They may not lie beyond -9e18 and 9e18.' END);
	RETURN arg || jsonb_build_object('low', cudal1.plain_number(arg -> 'low', init = 'integer'),
		'high', cudal1.plain_number(arg -> 'high', init = 'integer'));
END
$$;
COMMENT ON FUNCTION cudal1.check_argument IS
'an argument of a signature with its defaults and plain numbers; error 22023';

CREATE FUNCTION cudal1.array_bytes(arg jsonb)
RETURNS numeric LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
	n		numeric := (SELECT f.width FROM cudal1.dtypes() AS f WHERE f.name = arg ->> 'dtype');
	d		text;
BEGIN
	FOR d IN SELECT jsonb_array_elements_text(arg -> 'shape') LOOP
		n := n * d::numeric;
	END LOOP;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.array_bytes IS 'the bytes of an array of a signature';

CREATE FUNCTION cudal1.check_signature(signature jsonb)
RETURNS jsonb LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
	most_bytes	constant numeric := 17179869184;
	-- what cudal1-measure has room for
	most_args	constant int := 32;
	most_arrays	constant int := 16;
	arg			jsonb;
	i			bigint;
	label		text;
	names		text[] := '{}';
	bytes		numeric := 0;
	inputs		int := 0;
	outputs		int := 0;
	args		jsonb := '[]';
BEGIN
	PERFORM cudal1.bad_signature_if(jsonb_typeof(signature) <> 'object', 'it must be a JSON object',
		'Members are entry, args, rtol and atol.');
	PERFORM cudal1.bad_signature_if(key NOT IN ('entry', 'args', 'rtol', 'atol'),
			format('unknown member "%s"', key), 'Members are entry, args, rtol and atol.')
		FROM jsonb_object_keys(signature) AS key;
	PERFORM cudal1.bad_signature_if(NOT cudal1.is_c_name(signature -> 'entry'),
		'entry must be the name of a C function');
	PERFORM cudal1.bad_signature_if(jsonb_typeof(signature -> key) <> 'null'
				AND cudal1.json_float(signature -> key, 0, 1e9) IS NULL,
			format('%s must be a number between 0 and 1e9', key))
		FROM (VALUES ('rtol'), ('atol')) AS k (key);
	PERFORM cudal1.bad_signature_if(jsonb_typeof(signature -> 'args') IS DISTINCT FROM 'array'
		OR jsonb_array_length(signature -> 'args') NOT BETWEEN 1 AND most_args,
		format('args must be an array of 1 to %s arguments', most_args));

	FOR arg, i IN
		SELECT a.value, a.ordinality
			FROM jsonb_array_elements(signature -> 'args') WITH ORDINALITY AS a
	LOOP
		label := format('argument %s', i);
		PERFORM cudal1.bad_signature_if(jsonb_typeof(arg) <> 'object',
			label || ' must be a JSON object');
		PERFORM cudal1.bad_signature_if(NOT cudal1.is_c_name(arg -> 'name'),
			label || ' must have a name that is a C identifier');
		label := format('%s (%s)', label, arg ->> 'name');
		PERFORM cudal1.bad_signature_if((arg ->> 'name') = ANY (names), label || ' repeats a name');
		names := names || (arg ->> 'name');
		arg := cudal1.check_argument(arg, label);
		args := args || jsonb_build_array(arg);
		IF arg ->> 'role' <> 'scalar' THEN
			inputs := inputs + (arg ->> 'role' <> 'out')::int;
			outputs := outputs + (arg ->> 'role' <> 'in')::int;
			bytes := bytes + cudal1.array_bytes(arg);
			PERFORM cudal1.bad_signature_if(bytes > most_bytes,
				'the arrays take more than 16 GiB together');
		END IF;
	END LOOP;

	PERFORM cudal1.bad_signature_if(outputs = 0, 'no argument has the role out or inout');
	PERFORM cudal1.bad_signature_if(inputs > most_arrays OR outputs > most_arrays,
		format('more than %s arguments have the role %s or inout', most_arrays,
			   CASE WHEN inputs > most_arrays THEN 'in' ELSE 'out' END));
	RETURN jsonb_set(signature, '{args}', args);
END
$$;
COMMENT ON FUNCTION cudal1.check_signature IS 'a signature with its defaults; error 22023';
