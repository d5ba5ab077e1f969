/*
 * Tasks: a reference, and everything about measuring its candidates that is decided once. What the
 * caller leaves open is resolved when the task is added and stored, so that a later default, or a
 * device plugged in later, changes no reward.
 */

-- a JSON number between two limits, as float8; NULL for anything else
CREATE FUNCTION cudal1.json_float(value jsonb, low float8 DEFAULT '-1e300',
	high float8 DEFAULT '1e300')
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN pg_catalog.jsonb_typeof(value) IS DISTINCT FROM 'number' THEN NULL
				WHEN (value #>> '{}')::numeric NOT BETWEEN low::numeric AND high::numeric THEN NULL
				WHEN pg_catalog.abs((value #>> '{}')::numeric) < 1e-300 THEN 0::float8
				ELSE (value #>> '{}')::float8 END;
END;
COMMENT ON FUNCTION cudal1.json_float(jsonb, float8, float8) IS
'the number of a JSON value within [low, high]; NULL if it is no number or lies outside';

CREATE FUNCTION cudal1.json_int(value jsonb, low bigint DEFAULT 0, high bigint DEFAULT 2147483647)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN pg_catalog.jsonb_typeof(value) IS DISTINCT FROM 'number' THEN NULL
				WHEN (value #>> '{}')::numeric NOT BETWEEN low AND high THEN NULL
				WHEN (value #>> '{}')::numeric <> pg_catalog.trunc((value #>> '{}')::numeric)
					THEN NULL
				ELSE (value #>> '{}')::numeric::bigint END;
END;
COMMENT ON FUNCTION cudal1.json_int(jsonb, bigint, bigint) IS
'the integer of a JSON value within [low, high]; NULL if it is no integer or lies outside';

-- stable as convert_to() is: an immutable one would not be inlined
CREATE FUNCTION cudal1.code_hash(code text)
RETURNS bytea
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
	SELECT pg_catalog.sha256(pg_catalog.convert_to(code, 'UTF8'));
END;
COMMENT ON FUNCTION cudal1.code_hash(text) IS
'SHA-256 of a text in UTF-8: the identity of a code within its task';

CREATE FUNCTION cudal1.salted_hash(kind text, body text)
RETURNS bytea
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
	SELECT pg_catalog.sha256('\x0000'::bytea || pg_catalog.convert_to(kind, 'UTF8') || '\x00'::bytea
		|| pg_catalog.convert_to(body, 'UTF8'));
END;
COMMENT ON FUNCTION cudal1.salted_hash(text, text) IS
'the identity of a text that is no proposed code: a malformed answer, a null candidate. No code has
it, since none holds a zero byte';

CREATE FUNCTION cudal1.matches(value text, pattern text, most_bytes int)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN pg_catalog.octet_length(value) > most_bytes THEN false
		ELSE value ~ pattern END;
END;
COMMENT ON FUNCTION cudal1.matches(text, text, int) IS
'whether a text that takes at most so many bytes matches a regular expression. A longer one does
not, and is not looked at: of a text of 268 million characters a regular expression makes an
internal error';

CREATE FUNCTION cudal1.bad_signature(problem text, hint text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'malformed signature: ' || problem,
		HINT = concat_ws(' ', hint, 'For instance {"entry": "solve", "args": [{"name": "x", '
			'"dtype": "float32", "shape": [400, 320], "role": "in"}, {"name": "n", '
			'"dtype": "int32", "role": "scalar", "value": 400}, {"name": "y", '
			'"dtype": "float32", "shape": [320], "role": "out"}]}.');
END
$$;
COMMENT ON FUNCTION cudal1.bad_signature(text, text) IS
'raises the error of a malformed signature; its hint ends with one that is well-formed';

CREATE FUNCTION cudal1.plain_number(value jsonb, integral boolean)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	x		numeric := (value #>> '{}')::numeric;
BEGIN
	IF integral THEN
		RETURN to_jsonb(trunc(x));
	END IF;
	-- a parser would take so many digits without a point for an integer that it has no type for
	RETURN to_jsonb(CASE WHEN abs(x) >= 1e18 THEN x + 0.0 ELSE x END);
END
$$;
COMMENT ON FUNCTION cudal1.plain_number(jsonb, boolean) IS
'a JSON number as every parser reads it: an integer without decimals (4 for 4.0), else one that has
a point where it is too large for an integer';

CREATE FUNCTION cudal1.is_c_name(value jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(jsonb_typeof(value) = 'string'
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
$$;
COMMENT ON FUNCTION cudal1.is_c_name(jsonb) IS
'whether a JSON value is a string that can name a function or a parameter in C and C++';

CREATE FUNCTION cudal1.dtype_facts(dtype text, OUT width int, OUT lowest numeric,
	OUT highest numeric, OUT integral boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT f.width, f.lowest, f.highest, f.integral
		FROM (VALUES
			('float64', 8, -1.7e308, 1.7e308, false),
			('float32', 4, -3.4e38, 3.4e38, false),
			('float16', 2, -65504, 65504, false),
			('bfloat16', 2, -3.3e38, 3.3e38, false),
			('int64', 8, -9223372036854775808, 9223372036854775807, true),
			('int32', 4, -2147483648, 2147483647, true),
			('uint8', 1, 0, 255, true),
			('bool', 1, 0, 1, true)) AS f(name, width, lowest, highest, integral)
		WHERE f.name = dtype;
$$;
COMMENT ON FUNCTION cudal1.dtype_facts(text) IS
'bytes of an element of a dtype, its range, and whether it holds integers; NULL: no such dtype';

CREATE FUNCTION cudal1.check_members(arg jsonb, label text, role text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	key		text;
	allowed	constant text[] := ARRAY['name', 'dtype', 'role'] || CASE role
		WHEN 'scalar' THEN ARRAY['value']
		WHEN 'out' THEN ARRAY['shape']
		ELSE ARRAY['shape', 'init', 'low', 'high'] END;
BEGIN
	FOR key IN SELECT jsonb_object_keys(arg) LOOP
		IF key <> ALL (allowed) THEN
			PERFORM cudal1.bad_signature(
				format('%s has the member "%s", unknown for role %s', label, key, role),
				CASE role
					WHEN 'scalar' THEN 'A scalar has name, dtype, role and value.'
					WHEN 'out' THEN 'An output has name, dtype, role and shape.'
					ELSE 'An input has name, dtype, role, shape, init, low and high.' END);
		END IF;
	END LOOP;
END
$$;
COMMENT ON FUNCTION cudal1.check_members(jsonb, text, text) IS
'error 22023 where an argument of a signature has a member that its role does not know';

CREATE FUNCTION cudal1.check_value(arg jsonb, label text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	dtype	constant text := arg ->> 'dtype';
	facts	record;
	number	numeric;
BEGIN
	SELECT f.* INTO facts FROM cudal1.dtype_facts(dtype) AS f;
	IF dtype IN ('float16', 'bfloat16') THEN
		PERFORM cudal1.bad_signature(format('%s: %s cannot be passed by value', label, dtype),
			'Scalars are float64, float32, int64, int32, uint8 or bool.');
	END IF;
	IF dtype = 'bool' AND jsonb_typeof(arg -> 'value') = 'boolean' THEN
		arg := jsonb_set(arg, '{value}',
						 CASE WHEN (arg ->> 'value')::boolean THEN '1' ELSE '0' END::jsonb);
	END IF;
	IF jsonb_typeof(arg -> 'value') IS DISTINCT FROM 'number' THEN
		PERFORM cudal1.bad_signature(label || ' needs a number as value');
	END IF;
	number := (arg ->> 'value')::numeric;
	IF number NOT BETWEEN facts.lowest AND facts.highest
		OR (facts.integral AND number <> trunc(number)) THEN
		PERFORM cudal1.bad_signature(format('%s: value is out of range for %s', label, dtype));
	END IF;
	RETURN jsonb_set(arg, '{value}', cudal1.plain_number(arg -> 'value', facts.integral));
END
$$;
COMMENT ON FUNCTION cudal1.check_value(jsonb, text) IS
'a scalar of a signature with its value as a plain number; error 22023 where it has no valid one';

CREATE FUNCTION cudal1.check_shape(arg jsonb, label text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	dim		jsonb;
	shape	jsonb := '[]';
BEGIN
	IF jsonb_typeof(arg -> 'shape') IS DISTINCT FROM 'array'
		OR jsonb_array_length(arg -> 'shape') NOT BETWEEN 1 AND 8 THEN
		PERFORM cudal1.bad_signature(label || ' needs a shape of 1 to 8 dimensions');
	END IF;
	FOR dim IN SELECT jsonb_array_elements(arg -> 'shape') LOOP
		IF cudal1.json_int(dim, 1, 4294967296) IS NULL THEN
			PERFORM cudal1.bad_signature(
				label || ': each dimension must be an integer of at least 1');
		END IF;
		shape := shape || cudal1.plain_number(dim, true);
	END LOOP;
	RETURN jsonb_set(arg, '{shape}', shape);
END
$$;
COMMENT ON FUNCTION cudal1.check_shape(jsonb, text) IS
'an array of a signature with its shape as plain numbers; error 22023 where it has no valid one';

CREATE FUNCTION cudal1.check_init(arg jsonb, label text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	most	constant numeric := 9e18;	-- what cudal1-measure draws integers from
	dtype	constant text := arg ->> 'dtype';
	facts	record;
	init	text;
	low		numeric;
	high	numeric;
BEGIN
	SELECT f.* INTO facts FROM cudal1.dtype_facts(dtype) AS f;
	-- floating point inputs are normal unless said otherwise, integers need their range
	IF NOT arg ? 'init' THEN
		arg := arg || jsonb_build_object('init',
										 CASE WHEN facts.integral THEN 'integer' ELSE 'normal' END);
	END IF;
	init := CASE WHEN jsonb_typeof(arg -> 'init') = 'string' THEN arg ->> 'init' END;
	IF init IS NULL OR init NOT IN ('normal', 'uniform', 'integer', 'zero') THEN
		PERFORM cudal1.bad_signature(label || ' has no valid init',
									 'Inits are normal, uniform, integer and zero.');
	END IF;
	IF facts.integral AND init IN ('normal', 'uniform') THEN
		PERFORM cudal1.bad_signature(
			format('%s: init %s needs a floating point dtype', label, init),
			'Use "init": "integer" with low and high, or "zero".');
	END IF;
	IF init IN ('normal', 'zero') THEN
		IF arg ? 'low' OR arg ? 'high' THEN
			PERFORM cudal1.bad_signature(format('%s: init %s takes no low or high', label, init));
		END IF;
		RETURN arg;
	END IF;

	IF init = 'uniform' OR dtype = 'bool' THEN
		arg := '{"low": 0, "high": 1}'::jsonb || arg;
	END IF;
	IF jsonb_typeof(arg -> 'low') IS DISTINCT FROM 'number'
		OR jsonb_typeof(arg -> 'high') IS DISTINCT FROM 'number' THEN
		PERFORM cudal1.bad_signature(
			format('%s: init %s needs the numbers low and high', label, init));
	END IF;
	low := (arg ->> 'low')::numeric;
	high := (arg ->> 'high')::numeric;
	IF low >= high OR low < greatest(facts.lowest, -most) OR high > least(facts.highest, most)
		OR (init = 'integer' AND (low <> trunc(low) OR high <> trunc(high))) THEN
		PERFORM cudal1.bad_signature(
			format('%s: low and high must be %s with low < high, in the range of %s', label,
				   CASE init WHEN 'integer' THEN 'integers' ELSE 'numbers' END, dtype),
			CASE WHEN greatest(abs(low), abs(high)) > most
				 THEN 'They may not lie beyond -9e18 and 9e18.' END);
	END IF;
	RETURN arg || jsonb_build_object(
		'low', cudal1.plain_number(arg -> 'low', init = 'integer'),
		'high', cudal1.plain_number(arg -> 'high', init = 'integer'));
END
$$;
COMMENT ON FUNCTION cudal1.check_init(jsonb, text) IS
'an input of a signature with how it is filled, defaults included; error 22023 where that makes no
sense';

CREATE FUNCTION cudal1.check_argument(arg jsonb, label text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	role	constant text := CASE WHEN jsonb_typeof(arg -> 'role') = 'string'
		THEN arg ->> 'role' END;
BEGIN
	IF NOT arg ? 'dtype' THEN
		PERFORM cudal1.bad_signature(label || ' has no member "dtype"',
			CASE WHEN arg ? 'type' THEN 'Did you mean "dtype" by "type"?' END);
	END IF;
	IF jsonb_typeof(arg -> 'dtype') <> 'string'
		OR (SELECT f.width FROM cudal1.dtype_facts(arg ->> 'dtype') AS f) IS NULL THEN
		PERFORM cudal1.bad_signature(label || ' has no valid dtype',
			'Types are float64, float32, float16, bfloat16, int64, int32, uint8 and bool.');
	END IF;
	IF role IS NULL OR role NOT IN ('in', 'out', 'inout', 'scalar') THEN
		PERFORM cudal1.bad_signature(label || ' has no valid role',
									 'Roles are in, out, inout and scalar.');
	END IF;
	PERFORM cudal1.check_members(arg, label, role);
	IF role = 'scalar' THEN
		RETURN cudal1.check_value(arg, label);
	END IF;
	arg := cudal1.check_shape(arg, label);
	RETURN CASE WHEN role = 'out' THEN arg ELSE cudal1.check_init(arg, label) END;
END
$$;
COMMENT ON FUNCTION cudal1.check_argument(jsonb, text) IS
'an argument of a signature with its defaults filled in; error 22023 where it is malformed';

CREATE FUNCTION cudal1.check_signature(signature jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	most_bytes	constant numeric := 17179869184;
	-- what cudal1-measure has room for
	most_args	constant int := 32;
	most_arrays	constant int := 16;
	arg			jsonb;
	i			bigint;
	key			text;
	label		text;
	names		text[] := '{}';
	bytes		numeric := 0;
	inputs		int := 0;
	outputs		int := 0;
	args		jsonb := '[]';
BEGIN
	IF jsonb_typeof(signature) <> 'object' THEN
		PERFORM cudal1.bad_signature('it must be a JSON object',
									 'Members are entry, args, rtol and atol.');
	END IF;
	FOR key IN SELECT jsonb_object_keys(signature) LOOP
		IF key NOT IN ('entry', 'args', 'rtol', 'atol') THEN
			PERFORM cudal1.bad_signature(format('unknown member "%s"', key),
										 'Members are entry, args, rtol and atol.');
		END IF;
	END LOOP;
	IF NOT cudal1.is_c_name(signature -> 'entry') THEN
		PERFORM cudal1.bad_signature('entry must be the name of a C function');
	END IF;
	FOREACH key IN ARRAY ARRAY['rtol', 'atol'] LOOP
		IF jsonb_typeof(signature -> key) <> 'null'
			AND cudal1.json_float(signature -> key, 0, 1e9) IS NULL THEN
			PERFORM cudal1.bad_signature(format('%s must be a number between 0 and 1e9', key));
		END IF;
	END LOOP;
	IF jsonb_typeof(signature -> 'args') IS DISTINCT FROM 'array'
		OR jsonb_array_length(signature -> 'args') NOT BETWEEN 1 AND most_args THEN
		PERFORM cudal1.bad_signature(
			format('args must be an array of 1 to %s arguments', most_args));
	END IF;

	FOR arg, i IN
		SELECT a.value, a.ordinality
			FROM jsonb_array_elements(signature -> 'args') WITH ORDINALITY AS a
	LOOP
		label := format('argument %s', i);
		IF jsonb_typeof(arg) <> 'object' THEN
			PERFORM cudal1.bad_signature(label || ' must be a JSON object');
		END IF;
		IF NOT cudal1.is_c_name(arg -> 'name') THEN
			PERFORM cudal1.bad_signature(label || ' must have a name that is a C identifier');
		END IF;
		label := format('%s (%s)', label, arg ->> 'name');
		IF (arg ->> 'name') = ANY (names) THEN
			PERFORM cudal1.bad_signature(label || ' repeats a name');
		END IF;
		names := names || (arg ->> 'name');
		arg := cudal1.check_argument(arg, label);
		args := args || jsonb_build_array(arg);
		IF arg ->> 'role' <> 'scalar' THEN
			inputs := inputs + (arg ->> 'role' <> 'out')::int;
			outputs := outputs + (arg ->> 'role' <> 'in')::int;
			bytes := bytes + cudal1.shape_elements(arg -> 'shape')
				* (SELECT f.width FROM cudal1.dtype_facts(arg ->> 'dtype') AS f);
			IF bytes > most_bytes THEN
				PERFORM cudal1.bad_signature('the arrays take more than 16 GiB together');
			END IF;
		END IF;
	END LOOP;

	IF outputs = 0 THEN
		PERFORM cudal1.bad_signature('no argument has the role out or inout');
	END IF;
	IF inputs > most_arrays OR outputs > most_arrays THEN
		PERFORM cudal1.bad_signature(
			format('more than %s arguments have the role %s or inout', most_arrays,
				   CASE WHEN inputs > most_arrays THEN 'in' ELSE 'out' END));
	END IF;
	RETURN jsonb_set(signature, '{args}', args);
END
$$;
COMMENT ON FUNCTION cudal1.check_signature(jsonb) IS
'the signature of a c or cuda task with its defaults filled in; error 22023 where it is malformed,
naming the argument';

CREATE FUNCTION cudal1.nearest(name text, names text[])
RETURNS text
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_nearest';
COMMENT ON FUNCTION cudal1.nearest(text, text[]) IS
'a sentence with up to three of the names that a mistyped one may have meant, nearest first; NULL
where none is near';

CREATE FUNCTION cudal1.does_not_exist(subject text, name text, names text[], hint text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = '42704',
		MESSAGE = format('%s "%s" does not exist', subject,
			coalesce(cudal1.clip(name, 200), 'NULL')),
		HINT = concat_ws(' ', cudal1.nearest(name, names), hint);
END
$$;
COMMENT ON FUNCTION cudal1.does_not_exist(text, text, text[], text) IS
'error 42704 for a name that is none of these; the hint says which of them are near';

CREATE FUNCTION cudal1.check_role(role name)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = role) THEN
		PERFORM cudal1.does_not_exist('role', role,
			ARRAY(SELECT r.rolname::text FROM pg_roles AS r ORDER BY r.rolname),
			'CREATE ROLE makes it.');
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_role(name) IS 'error 42704 where no role has this name';

CREATE FUNCTION cudal1.check_profile(profile text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	names	text[];
BEGIN
	IF NOT EXISTS (SELECT FROM cudal1.profile AS p WHERE p.name = check_profile.profile) THEN
		names := ARRAY(SELECT p.name FROM cudal1.profile AS p ORDER BY p.name);
		PERFORM cudal1.does_not_exist('profile', profile, names,
			format('Profiles are %s.', array_to_string(names, ', ')));
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_profile(text) IS 'error 42704 where no profile has this name';

CREATE FUNCTION cudal1.find_task(task text)
RETURNS cudal1.task
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task;
BEGIN
	IF find_task.task IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'task must not be null';
	END IF;
	SELECT * INTO t FROM cudal1.task AS x WHERE x.name = find_task.task;
	IF NOT FOUND THEN
		PERFORM cudal1.does_not_exist('task', task,
			ARRAY(SELECT x.name FROM cudal1.task AS x ORDER BY x.name),
			'Add it with cudal1_add_task(); cudal1.task lists those that exist.');
	END IF;
	IF t.retired_at IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('task "%s" is retired', t.name),
			DETAIL = format('Role "%s" retired it: %s', t.retired_by, t.retired_reason),
			HINT = 'cudal1_restore_task() brings it back.';
	END IF;
	RETURN t;
END
$$;
COMMENT ON FUNCTION cudal1.find_task(text) IS
'the task of a name; error 42704 if there is none, or if it is retired';

CREATE FUNCTION cudal1.reference_problem(t cudal1.task)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN t.reference_state = 'bad'
				THEN pg_catalog.format('the reference of task "%s" cannot be measured: %s', t.name,
					t.reference_detail) END;
END;
COMMENT ON FUNCTION cudal1.reference_problem(cudal1.task) IS
'why nothing can be submitted to a task whose reference is bad; NULL: it is not';

CREATE FUNCTION cudal1.check_reference(t cudal1.task)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF t.reference_state = 'bad' THEN
		RAISE EXCEPTION USING ERRCODE = '55000',
			MESSAGE = format('the reference of task "%s" cannot be measured', t.name),
			DETAIL = t.reference_detail,
			HINT = 'Add a mended reference as another task; cudal1_check_reference() has this one '
				'checked again.';
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_reference(cudal1.task) IS
'error 55000 where the reference of a task is bad';

CREATE FUNCTION cudal1.check_ids(argument text, ids bigint[])
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF ids IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = format('%s must not be null', argument);
	END IF;
	IF EXISTS (SELECT FROM unnest(ids) AS u(id) WHERE u.id IS NULL) THEN
		RAISE EXCEPTION USING ERRCODE = '22004',
			MESSAGE = format('%s must not contain nulls', argument);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_ids(text, bigint[]) IS
'error 22004 where an argument that names rows is null or contains nulls';

-- each is looked up, whatever the cached plan of a session was made for: OFFSET 0 keeps the look-up
-- from becoming a join
CREATE FUNCTION cudal1.check_candidates(candidate_ids bigint[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
	SET jit = off
AS $$
DECLARE
	unknown	bigint;
BEGIN
	SELECT u.id INTO unknown FROM unnest(candidate_ids) AS u(id)
		WHERE NOT EXISTS (SELECT FROM cudal1.candidate AS c WHERE c.candidate_id = u.id OFFSET 0)
			LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704',
			MESSAGE = format('candidate %s does not exist', unknown);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_candidates(bigint[]) IS
'error 42704 where one of these does not exist';

CREATE FUNCTION cudal1.warn_no_device(t cudal1.task, device text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	wanted	text := coalesce(warn_no_device.device, t.device_model, t.device);
BEGIN
	IF NOT EXISTS (SELECT FROM cudal1.device AS d
				   WHERE d.enabled AND wanted IN (d.class, d.model, d.device_key)
						AND t.language = ANY (d.languages) AND d.cores >= t.cores) THEN
		RAISE NOTICE USING
			MESSAGE = format('no device can measure task "%s" now', t.name),
			DETAIL = format('It needs an enabled device "%s" with language %s and %s core(s).',
				wanted, t.language, t.cores),
			HINT = 'Its candidates wait in the queue; cudal1_status() says what is missing.';
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.warn_no_device(cudal1.task, text) IS
'a NOTICE where no enabled device of that class, model or key (NULL: the task''s) can measure the
task';

CREATE FUNCTION cudal1.bad_option(option text, expected text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = '22023',
		MESSAGE = format('option "%s" must be %s', option, expected);
END
$$;
COMMENT ON FUNCTION cudal1.bad_option(text, text) IS
'raises the error of a task option that is out of range';

CREATE FUNCTION cudal1.check_task(task text, reference text, language text, signature jsonb,
	level int, options jsonb)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	key		text;
	valid	constant text[] := ARRAY['profile', 'device', 'cores', 'bucket_width', 'temperature',
		'score_scale', 'strategy', 'rtol', 'atol', 'problem', 'certify', 'islands', 'island_reset',
		'island_temperature', 'island_period', 'island_late'];
BEGIN
	IF task IS NULL OR reference IS NULL OR language IS NULL OR options IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004',
			MESSAGE = 'task, reference, language and options must not be null';
	END IF;
	IF NOT cudal1.matches(task, '[^[:space:]]', 1000)
		OR cudal1.matches(task, '[[:cntrl:]]', 1000) THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = 'task must be a name of 1 to 1000 bytes without control characters';
	END IF;
	IF octet_length(reference) > 1048576 THEN
		RAISE EXCEPTION USING ERRCODE = '54000',
			MESSAGE = 'reference must not be longer than 1 MiB';
	END IF;
	IF NOT cudal1.matches(reference, '[^[:space:]]', 1048576) THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'reference must not be empty';
	END IF;
	IF language NOT IN ('c', 'cuda', 'pytorch') THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = format('unknown language "%s"', language),
			HINT = 'Languages are c, cuda and pytorch.';
	END IF;
	IF language = 'pytorch' AND signature IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = 'signature must be null for language pytorch',
			DETAIL = 'The shapes of a PyTorch task come from get_inputs() of its reference.';
	ELSIF language <> 'pytorch' AND signature IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = format('signature must not be null for language %s', language),
			HINT = 'For instance {"entry": "solve", "args": [{"name": "x", "dtype": "float32", '
				'"shape": [1024], "role": "inout"}]}.';
	END IF;
	IF level < 0 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'level must not be negative';
	END IF;
	IF jsonb_typeof(options) <> 'object' THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'options must be a JSON object';
	END IF;
	FOR key IN SELECT jsonb_object_keys(options) LOOP
		IF key <> ALL (valid) THEN
			RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('unknown option "%s"', key),
				HINT = format('Options are %s.', array_to_string(valid, ', '));
		END IF;
	END LOOP;
END
$$;
COMMENT ON FUNCTION cudal1.check_task(text, text, text, jsonb, int, jsonb) IS
'the errors of cudal1_add_task() that concern single arguments, and names of options';

CREATE FUNCTION cudal1.check_island_options(options jsonb)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	key		text;
BEGIN
	IF options ? 'certify' AND jsonb_typeof(options -> 'certify') <> 'boolean' THEN
		PERFORM cudal1.bad_option('certify', 'true or false');
	END IF;
	IF options ? 'islands' AND cudal1.json_int(options -> 'islands', 1, 1000) IS NULL THEN
		PERFORM cudal1.bad_option('islands', 'an integer between 1 and 1000');
	END IF;
	FOREACH key IN ARRAY ARRAY['island_reset', 'island_period'] LOOP
		IF options ? key AND cudal1.json_int(options -> key, 1, 1000000000000) IS NULL THEN
			PERFORM cudal1.bad_option(key, 'an integer between 1 and 1000000000000');
		END IF;
	END LOOP;
	IF options ? 'island_temperature'
		AND cudal1.json_float(options -> 'island_temperature', 1e-6, 1e6) IS NULL THEN
		PERFORM cudal1.bad_option('island_temperature', 'a number between 1e-6 and 1e6');
	END IF;
	IF coalesce(options ->> 'island_late', 'admit') NOT IN ('admit', 'reject') THEN
		PERFORM cudal1.bad_option('island_late', 'admit or reject');
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_island_options(jsonb) IS
'error 22023 for options certify and of islands that are out of range; they are read where they are
used';

CREATE FUNCTION cudal1.read_options(t cudal1.task, options jsonb)
RETURNS cudal1.task
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	t.profile := coalesce(options ->> 'profile', 'default');
	PERFORM cudal1.check_profile(t.profile);
	t.cores := CASE WHEN options ? 'cores' THEN cudal1.json_int(options -> 'cores', 1, 1024)
		ELSE 1 END;
	IF t.cores IS NULL THEN
		PERFORM cudal1.bad_option('cores', 'an integer between 1 and 1024');
	END IF;
	t.bucket_width := CASE WHEN options ? 'bucket_width'
		THEN cudal1.json_float(options -> 'bucket_width', 1e-6, 1e6) ELSE 0.25 END;
	IF t.bucket_width IS NULL THEN
		PERFORM cudal1.bad_option('bucket_width', 'a number between 1e-6 and 1e6');
	END IF;
	t.temperature := CASE WHEN options ? 'temperature'
		THEN cudal1.json_float(options -> 'temperature', 1e-6, 1e6) ELSE 1 END;
	IF t.temperature IS NULL THEN
		PERFORM cudal1.bad_option('temperature', 'a number between 1e-6 and 1e6');
	END IF;
	t.score_scale := coalesce(options ->> 'score_scale', 'linear');
	IF t.score_scale NOT IN ('linear', 'log') THEN
		PERFORM cudal1.bad_option('score_scale', 'linear or log');
	END IF;
	t.strategy := coalesce(options ->> 'strategy', 'bucket');
	IF t.strategy NOT IN ('bucket', 'island', 'random') THEN
		PERFORM cudal1.bad_option('strategy', 'bucket, island or random');
	END IF;
	-- the option goes before the signature's member of the same name
	t.rtol := cudal1.json_float(coalesce(options -> 'rtol', t.signature -> 'rtol'), 0, 1e9);
	IF t.rtol IS NULL AND options ? 'rtol' THEN
		PERFORM cudal1.bad_option('rtol', 'a number between 0 and 1e9');
	END IF;
	t.atol := cudal1.json_float(coalesce(options -> 'atol', t.signature -> 'atol'), 0, 1e9);
	IF t.atol IS NULL AND options ? 'atol' THEN
		PERFORM cudal1.bad_option('atol', 'a number between 0 and 1e9');
	END IF;
	t.problem := cudal1.json_int(options -> 'problem');
	IF t.problem IS NULL AND options ? 'problem' THEN
		PERFORM cudal1.bad_option('problem', 'an integer not below 0');
	END IF;

	PERFORM cudal1.check_island_options(options);
	t.device := cudal1.choose_device(t.language, options);
	RETURN t;
END
$$;
COMMENT ON FUNCTION cudal1.read_options(cudal1.task, jsonb) IS
'a task with what its options say, defaults filled in; error 22023 for an option that is out of
range';

CREATE FUNCTION cudal1.choose_device(language text, options jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	given	constant text := options ->> 'device';
	class	text;
BEGIN
	IF given IS NULL THEN
		RETURN CASE language
					WHEN 'c' THEN 'cpu'
					WHEN 'cuda' THEN 'cuda'
					ELSE CASE WHEN EXISTS (SELECT FROM cudal1.device AS d
										   WHERE d.class = 'cuda' AND d.enabled
											AND 'pytorch' = ANY (d.languages))
						 THEN 'cuda' ELSE 'cpu' END
					END;
	ELSE
		IF jsonb_typeof(options -> 'device') <> 'string'
			OR NOT cudal1.matches(given, '[^[:space:]]', 200) THEN
			PERFORM cudal1.bad_option('device', 'a device class (cpu or cuda) or a device model');
		END IF;
		SELECT d.class INTO class FROM cudal1.device AS d WHERE d.class = given OR d.model = given
			LIMIT 1;
		class := CASE WHEN given IN ('cpu', 'cuda') THEN given ELSE class END;
		IF (language = 'c' AND class = 'cuda') OR (language = 'cuda' AND class = 'cpu') THEN
			PERFORM cudal1.bad_option('device', format('of class %s for language %s',
				CASE language WHEN 'c' THEN 'cpu' ELSE 'cuda' END, language));
		END IF;
		RETURN given;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.choose_device(text, jsonb) IS
'the class or model of devices that measure a task: the option device, else what its language
needs';

CREATE FUNCTION @extschema@.cudal1_add_task(task text, reference text, language text,
	signature jsonb DEFAULT NULL, level int DEFAULT NULL, options jsonb DEFAULT '{}')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task;
BEGIN
	IF jsonb_typeof(signature) = 'null' THEN
		signature := NULL;
	END IF;
	PERFORM cudal1.check_task(task, reference, language, signature, level, options);
	t.name := task;
	t.language := language;
	t.level := level;
	t.reference := replace(reference, E'\r\n', E'\n');
	t.options := options;
	t.content_hash :=
		sha256(convert_to(jsonb_build_array(language, t.reference, signature, level, options)::text,
		'UTF8'));
	IF language <> 'pytorch' THEN
		t.signature := cudal1.check_signature(signature);
	END IF;

	-- an option given as null is one left open
	options := jsonb_strip_nulls(options);
	t := cudal1.read_options(t, options);
	INSERT INTO cudal1.task (name, language, level, problem, reference, signature, options, profile,
			device, cores, bucket_width, temperature, score_scale, strategy, rtol, atol,
			content_hash, created_by)
		VALUES (t.name, t.language, t.level, t.problem, t.reference, t.signature, t.options,
			t.profile, t.device, t.cores, t.bucket_width, t.temperature, t.score_scale, t.strategy,
			t.rtol, t.atol, t.content_hash, cudal1.caller())
		ON CONFLICT (name) DO NOTHING
		RETURNING task_id INTO t.task_id;
	IF NOT FOUND THEN
		SELECT x.task_id INTO t.task_id FROM cudal1.task AS x
			WHERE x.name = t.name AND x.content_hash = t.content_hash;
		IF NOT FOUND THEN
			RAISE EXCEPTION USING ERRCODE = '23505',
				MESSAGE = format('task "%s" exists with other content', t.name),
				DETAIL = 'A task''s reference, language, signature, level and options never '
					'change.',
				HINT = 'Add the new version under another name.';
		END IF;
		SELECT x.* INTO STRICT t FROM cudal1.task AS x WHERE x.task_id = t.task_id;
		IF t.reference_state = 'bad' THEN
			RAISE NOTICE '%', cudal1.reference_problem(t);
		END IF;
	ELSE
		PERFORM cudal1.store(cudal1.caller(), 0, 1024 + octet_length(t.reference));
		-- a device that has nothing to do checks the reference
		PERFORM cudal1.wake();
		IF (options ->> 'certify')::boolean THEN
			PERFORM cudal1.certify(t.task_id);
		END IF;
	END IF;
	RETURN t.task_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_task(text, text, text, jsonb, int, jsonb) IS
'adds a task and returns its id; the same content again returns the same id, other content under
the name is a unique violation. Its reference is checked by the next device that has nothing to do,
or by the first measurement (cudal1.task.reference_state; cudal1_check_reference()).
language: c, cuda or pytorch. signature: for c and cuda, {"entry", "args": [{"name", "dtype",
"shape", "role", "init", "low", "high", "value"}], "rtol", "atol"}.
options: profile (default), device (class or model; c: cpu, cuda: cuda, pytorch: cuda if one is
registered, else cpu), cores (1), bucket_width (0.25), temperature (1), score_scale (linear; log),
strategy (bucket; island, random), rtol, atol (NULL: of each dtype), problem (number within the
level), certify (true: queues null candidates at once, false: never, else a device that has nothing
to do starts them where the setting cudal1.certify says so; see cudal1_certify_task()), islands
(10), island_reset (1000), island_temperature (0.1), island_period (30000), island_late (admit;
reject)';

CREATE FUNCTION cudal1.guard_task() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = '42501', MESSAGE = format('task "%s" is immutable', OLD.name),
		DETAIL = 'Rewards of a task are comparable because its reference never changes.',
		HINT = 'Add the new version under another name.';
END
$$;
COMMENT ON FUNCTION cudal1.guard_task() IS
'trigger: rejects changes of what a task''s rewards rest on';

CREATE TRIGGER guard_task
	BEFORE UPDATE OF task_id, name, language, reference, signature, content_hash ON cudal1.task
	FOR EACH ROW EXECUTE FUNCTION cudal1.guard_task();

/*
 * Mistakes taken back. Nothing is deleted: a retired task keeps its history, a withdrawn candidate
 * its measurements.
 */

CREATE FUNCTION cudal1.stop_jobs(task_id bigint, candidate_id bigint, detail text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	j		cudal1.job;
BEGIN
	FOR j IN
		SELECT x.* FROM cudal1.job AS x
			WHERE (x.task_id = stop_jobs.task_id OR x.candidate_id = stop_jobs.candidate_id)
				AND NOT x.cancel_requested
			ORDER BY x.candidate_id, x.job_id
			FOR UPDATE
	LOOP
		IF j.state = 'running' THEN
			UPDATE cudal1.job AS x SET cancel_requested = true WHERE x.job_id = j.job_id;
		ELSE
			PERFORM cudal1.end_job(j, 'cancelled', NULL, stop_jobs.detail);
		END IF;
	END LOOP;
	PERFORM cudal1.wake();
	PERFORM cudal1.wake_waiters();
END
$$;
COMMENT ON FUNCTION cudal1.stop_jobs(bigint, bigint, text) IS
'ends all jobs of a task or of a candidate: waiting ones at once, running ones as soon as their
worker has stopped';

CREATE FUNCTION cudal1.check_reason(reason text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF reason IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'reason must not be null';
	ELSIF NOT cudal1.matches(reason, '[^[:space:]]', 1900) THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = 'reason must be a text of 1 to 1900 bytes';
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_reason(text) IS
'error 22004 or 22023 for a reason that says nothing, or too much';

CREATE FUNCTION cudal1.own_task(task text)
RETURNS cudal1.task
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task;
BEGIN
	SELECT x.* INTO t FROM cudal1.task AS x WHERE x.name = own_task.task;
	IF NOT FOUND THEN
		t := cudal1.find_task(task);	-- raises the error
	END IF;
	PERFORM cudal1.check_owner(format('task "%s"', t.name), t.created_by);
	RETURN t;
END
$$;
COMMENT ON FUNCTION cudal1.own_task(text) IS
'the caller''s task of this name, retired or not; error 42704 where there is none, 42501 where it is
another role''s';

CREATE FUNCTION @extschema@.cudal1_retire_task(task text, reason text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task := cudal1.own_task(task);
BEGIN
	PERFORM cudal1.check_reason(reason);
	-- jobs are locked before tasks, as everywhere
	PERFORM cudal1.stop_jobs(t.task_id, NULL, 'the task is retired: ' || reason);
	UPDATE cudal1.task AS x SET retired_at = clock_timestamp(), retired_by = cudal1.caller(),
		retired_reason = reason
		WHERE x.task_id = t.task_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_retire_task(text, text) IS
'takes a task out of draws, prompts, submissions, campaigns, data sets, the queue and reports, with
a reason; its candidates and measurements stay. What waits is discarded, what runs is stopped. For
the role that added it and operators. The name stays taken; cudal1_restore_task() takes it back.
Errors: 42704 unknown task, 42501 another role''s, 22004 and 22023 no reason';

CREATE FUNCTION @extschema@.cudal1_restore_task(task text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task := cudal1.own_task(task);
BEGIN
	UPDATE cudal1.task AS x SET retired_at = NULL, retired_by = NULL, retired_reason = NULL
		WHERE x.task_id = t.task_id AND x.retired_at IS NOT NULL;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_restore_task(text) IS
'brings a retired task back; codes that were discarded as it was retired are measured when they are
submitted again. A task that is not retired stays as it is. Errors: 42704 unknown task, 42501
another role''s';

CREATE FUNCTION @extschema@.cudal1_withdraw(candidate_id bigint, reason text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	c		cudal1.candidate;
BEGIN
	PERFORM cudal1.check_ids('candidate_id', ARRAY[cudal1_withdraw.candidate_id]);
	PERFORM cudal1.check_candidates(ARRAY[cudal1_withdraw.candidate_id]);
	PERFORM cudal1.check_reason(reason);
	PERFORM cudal1.stop_jobs(NULL, cudal1_withdraw.candidate_id, 'withdrawn');
	SELECT x.* INTO STRICT c FROM cudal1.candidate AS x
		WHERE x.candidate_id = cudal1_withdraw.candidate_id FOR NO KEY UPDATE;
	PERFORM cudal1.reject_candidate(c, 'withdrawn', c.measurement_id,
		format('withdrawn by an operator: %s', reason));
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_withdraw(bigint, text) IS
'an operator''s verdict on a code that should not have counted: the candidate has failed (reward 0,
failure withdrawn, the reason in detail), leaves buckets, islands and reports, its evaluations
included, and is not measured again when it is proposed again. Its measurements stay. Operators
only. Errors: 42704 unknown candidate, 22004 and 22023 no reason';
