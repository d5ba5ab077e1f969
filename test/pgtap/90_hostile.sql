-- Every function of the extension, called with everything its argument types can hold: errors have a reason, none is internal, nothing crashes.
SELECT plan(13);
SET LOCAL statement_timeout = '5min';
SET LOCAL client_min_messages = error;

SELECT cudal1_add_task('t', 'class Model: pass', 'pytorch', options => '{"device": "cpu"}') \g /dev/null
SELECT cudal1_add_task('i', 'class Model: pass', 'pytorch', options => '{"device": "cpu", "strategy": "island"}') \g /dev/null
SELECT cudal1.register_device('h', '{"key": "cpu:1", "class": "cpu", "model": "M", "languages": ["pytorch"]}') AS d \gset
SELECT cudal1_submit(task, 'code ' || n) FROM generate_series(1, 6) AS n, (VALUES ('t'), ('i')) AS v (task) \g /dev/null
SELECT cudal1_prompt('t') \g /dev/null
SELECT tap.work(:d, jsonb_build_object('outcome', 'successful', 'score', 0.5 + 0.3 * n)) FROM generate_series(1, 8) AS n \g /dev/null
SELECT cudal1.claim(:d, 'w') \g /dev/null

CREATE TEMPORARY TABLE hostile (type regtype, ordinal int GENERATED ALWAYS AS IDENTITY, expression text);
INSERT INTO hostile (type, expression)
SELECT v.type::regtype, e FROM (VALUES
	('text', ARRAY['''t''', '''''', ''' ''', '''no such''', 'repeat(''x'', 2000000)', 'E''\x01\x7f\r\n''', '''é☃𝄞''', '''%s%n%1$s''', '''"; DROP TABLE x; --''', '''NaN''', '''{"a":''',
		'''trainer''', '''contrastive''', '''island''', '''paper''', '''zero''', '''certify''', '''c''', 'E''## Code Implementation\n```\n''', '''('''])
	, ('name', ARRAY['''postgres''::name', '''''::name', 'repeat(''n'', 63)::name'])
	, ('int', ARRAY['1', '0', '-1', '2', '2147483647', '(-2147483648)'])
	, ('bigint', ARRAY['1::bigint', '0::bigint', '(-1)::bigint', '2::bigint', '9223372036854775807', '(-9223372036854775808)'])
	, ('float8', ARRAY['1::float8', '0::float8', '''-0''::float8', '(-1)::float8', '''NaN''::float8', '''Infinity''::float8', '''-Infinity''::float8', '1e308::float8', '1e-308::float8', '4.9e-324::float8'])
	, ('boolean', ARRAY['true', 'false'])
	, ('interval', ARRAY['''1 ms''::interval', '''0''::interval', '''-1 s''::interval', '''178000000 years''::interval', '''-178000000 years''::interval'])
	, ('timestamptz', ARRAY['now()', '''infinity''::timestamptz', '''-infinity''::timestamptz', '''294276-12-31''::timestamptz', '''4713-01-01 BC''::timestamptz'])
	, ('bytea', ARRAY['''''::bytea', '''\x00ff''::bytea'])
	, ('jsonb', ARRAY['''{}''::jsonb', '''null''::jsonb', '''[]''::jsonb', '''1e1000''::jsonb', '''-1e-1000''::jsonb', '''"x"''::jsonb', '(repeat(''['', 4000) || repeat('']'', 4000))::jsonb',
		'jsonb_build_object(''outcome'', ''successful'', ''score'', 1e300)', '''{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [4294967296, 4294967296], "role": "inout"}]}''::jsonb',
		'''{"entry": "solve", "args": [{"name": "x", "dtype": "int64", "shape": [1], "role": "inout", "init": "integer", "low": -1e99, "high": 1e99}]}''::jsonb',
		'''{"entry": 1, "args": {"a": []}, "profile": [], "cores": {}, "islands": 1e30, "device": 7, "certify": "x", "key": [], "pairs": 1e40, "looks": ["a", null, 1e40]}''::jsonb',
		'(SELECT jsonb_object_agg(n, n) FROM generate_series(1, 20000) AS n)'])
	, ('text[]', ARRAY['''{t}''::text[]', '''{}''::text[]', '''{NULL}''::text[]', '''{t,NULL,no such}''::text[]', '''{{t,t},{t,t}}''::text[]', '''[0:1]={t,t}''::text[]', 'array_fill(''x''::text, ARRAY[20000])'])
	, ('bigint[]', ARRAY['''{1}''::bigint[]', '''{}''::bigint[]', '''{NULL}''::bigint[]', '''{1,NULL,9223372036854775807}''::bigint[]', '''{{1,2},{3,4}}''::bigint[]', '''[5:6]={1,2}''::bigint[]', 'array_fill(1::bigint, ARRAY[20000])'])
	, ('int[]', ARRAY['''{1}''::int[]', '''{}''::int[]', '''{NULL}''::int[]', '''{1,NULL,2147483647}''::int[]', '''{{1,2},{3,4}}''::int[]', '''[5:6]={1,-2147483648}''::int[]', '''{0,1,2}''::int[]'])
	, ('float8[]', ARRAY['''{1,2,3}''::float8[]', '''{}''::float8[]', '''{NULL}''::float8[]', '''{NaN,Infinity,-Infinity,0}''::float8[]', '''{{1,2},{3,4}}''::float8[]', '''{1e308,1e308,-1e308}''::float8[]',
		'''{4.9e-324,1e-308,1}''::float8[]', '''[0:2]={1,2,3}''::float8[]', 'array_fill(1.5::float8, ARRAY[50000])'])
	, ('cudal1.task', ARRAY['(SELECT t FROM cudal1.task AS t WHERE name = ''t'')', 'ROW(NULL)::record::text::cudal1.task'])
	, ('cudal1.candidate', ARRAY['(SELECT c FROM cudal1.candidate AS c ORDER BY candidate_id LIMIT 1)'])
	, ('cudal1.job', ARRAY['(SELECT j FROM cudal1.job AS j ORDER BY job_id LIMIT 1)', '(SELECT j FROM cudal1.job AS j WHERE state = ''running'')'])) AS v (type, expressions),
	unnest(v.expressions) AS e;
INSERT INTO hostile (type, expression) SELECT DISTINCT type, format('NULL::%s', type) FROM hostile;

CREATE TEMPORARY TABLE answers (function regprocedure, call text, state text, message text);

-- each argument takes each value, the others sane ones; then combinations by a fixed sequence
CREATE FUNCTION pg_temp.try(f regprocedure, mixed int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	types	oid[] := (SELECT p.proargtypes::oid[] FROM pg_proc AS p WHERE p.oid = f);
	n		int := (SELECT p.pronargs FROM pg_proc AS p WHERE p.oid = f);
	lists	text[];
	list	text;
	call	text;
BEGIN
	IF n = 0 THEN
		lists := ARRAY[''];
	ELSE
		SELECT array_agg(x.list) INTO lists FROM (
			SELECT string_agg(coalesce(CASE WHEN a.i = v.i THEN v.expression
											ELSE (SELECT h.expression FROM hostile AS h WHERE h.type = types[a.i - 1] ORDER BY h.ordinal LIMIT 1) END,
										'NULL::' || format_type(types[a.i - 1], NULL)), ', ' ORDER BY a.i) AS list
				FROM generate_series(1, n) AS a(i),
					(SELECT b.i, h.ordinal, h.expression FROM generate_series(1, n) AS b(i) JOIN hostile AS h ON h.type = types[b.i - 1]) AS v
				GROUP BY v.i, v.ordinal
			UNION ALL
			SELECT string_agg(coalesce((SELECT (array_agg(h.expression ORDER BY h.ordinal))[1 + abs(hashint4(m * 64 + a.i) % count(*)::int)] FROM hostile AS h WHERE h.type = types[a.i - 1]),
										'NULL::' || format_type(types[a.i - 1], NULL)), ', ' ORDER BY a.i)
				FROM generate_series(1, mixed) AS m, generate_series(1, n) AS a(i)
				GROUP BY m) AS x;
	END IF;
	FOREACH list IN ARRAY lists LOOP
		call := format('SELECT * FROM %s(%s)', f::oid::regproc, list);
		BEGIN
			EXECUTE call;
			INSERT INTO answers VALUES (f, call, '00000', NULL);
		EXCEPTION
			WHEN query_canceled THEN
				INSERT INTO answers VALUES (f, call, SQLSTATE, SQLERRM);
			WHEN OTHERS THEN
				INSERT INTO answers VALUES (f, call, SQLSTATE, SQLERRM);
		END;
	END LOOP;
END
$$;
CREATE TEMPORARY VIEW ours AS
	SELECT p.oid::regprocedure AS f, p.pronamespace = 'cudal1'::regnamespace AS internal
		FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
			JOIN pg_extension AS e ON d.refobjid = e.oid AND e.extname = 'cudal1'
		WHERE p.prorettype <> 'trigger'::regtype;

-- a session of another time may set what it can; it waits for nobody
-- one statement a function, so that each has the whole time
\o /dev/null
SELECT format('SELECT pg_temp.try(%L, 40)', f) FROM ours WHERE NOT internal ORDER BY f::text \gexec
\o
SELECT cmp_ok((SELECT count(*) FROM answers), '>=', 2000::bigint, 'all functions for users are called');
SELECT is_empty($$SELECT DISTINCT ON (function) function, state, message, left(call, 300) FROM answers WHERE state LIKE 'XX%' OR state IN ('0A000', '22P02', '42883', '42P01', '42703', '58000') ORDER BY function$$,
	'no error of theirs is internal, or about their own text');
SELECT is_empty($$SELECT DISTINCT ON (function) function, left(call, 300) FROM answers WHERE state = '57014' ORDER BY function$$, 'none goes on for ever');
SELECT is_empty('SELECT * FROM cudal1.check_of_buckets()', 'buckets agree with their codes');
SELECT is_empty($$SELECT candidate_id, reward FROM cudal1.candidate WHERE reward IN ('NaN', 'Infinity') OR reward < 0$$, 'no reward is out of this world');

-- what they are made of may complain of anything, as long as the server stands
\o /dev/null
SELECT format('SELECT pg_temp.try(%L, 10)', f) FROM ours WHERE internal AND f::text !~ 'sleep_until_verdict' ORDER BY f::text \gexec
\o
SELECT is_empty($$SELECT DISTINCT ON (function) function, state, message, left(call, 300) FROM answers WHERE state = 'XX000' ORDER BY function$$, 'nor of the functions beneath');

-- documents from outside, changed in every place, by a fixed sequence: a member gone, doubled into a string, or of another type
CREATE FUNCTION pg_temp.paths(document jsonb) RETURNS SETOF text[] LANGUAGE sql AS $$
	WITH RECURSIVE p (path, value) AS (
		SELECT '{}'::text[], document
		UNION ALL
		SELECT p.path || k.key, k.value FROM p CROSS JOIN LATERAL (
			SELECT key, value FROM jsonb_each(CASE jsonb_typeof(p.value) WHEN 'object' THEN p.value END)
			UNION ALL
			SELECT (ordinality - 1)::text, value FROM jsonb_array_elements(CASE jsonb_typeof(p.value) WHEN 'array' THEN p.value END) WITH ORDINALITY) AS k)
	SELECT path FROM p WHERE path <> '{}' ORDER BY path
$$;
-- a place that an earlier change took away stays as it is
CREATE FUNCTION pg_temp.change(document jsonb, path text[], value jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE WHEN value IS NULL THEN document #- path ELSE jsonb_set(document, path, value) END;
EXCEPTION WHEN invalid_text_representation THEN
	RETURN document;
END
$$;
CREATE FUNCTION pg_temp.mutants(document jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$
	WITH one AS MATERIALIZED (
		SELECT row_number() OVER (ORDER BY p.path, v.n) AS n, p.path, v.value FROM pg_temp.paths(document) AS p(path),
			unnest(ARRAY[NULL, 'null', 'true', '0', '-1', '1.5', '1e400', '-1e400', '1e-400', '9223372036854775808', '""', '"x"', '"NaN"', '[]', '[[]]', '{}', '{"a": 1}']::jsonb[])
				WITH ORDINALITY AS v(value, n)),
	single AS (SELECT n, CASE WHEN value IS NULL THEN document #- path ELSE jsonb_set(document, path, value) END AS d FROM one)
	SELECT d FROM single
	UNION ALL
	-- two changes at once
	SELECT pg_temp.change(s.d, o.path, o.value)
		FROM single AS s CROSS JOIN generate_series(1, 8) AS k JOIN one AS o ON o.n = 1 + abs(hashint8(s.n * 7919 + k)) % (SELECT count(*) FROM one)
$$;
CREATE TEMPORARY TABLE mutations (subject text, state text, result text);
CREATE FUNCTION pg_temp.feed(subject text, call text, document jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	d		jsonb;
	result	text;
BEGIN
	FOR d IN SELECT m FROM pg_temp.mutants(document) AS m LOOP
		BEGIN
			EXECUTE call INTO result USING d;
			INSERT INTO mutations VALUES (subject, '00000', result);
		EXCEPTION WHEN OTHERS THEN
			INSERT INTO mutations VALUES (subject, SQLSTATE, left(SQLERRM, 200) || ' ' || left(d::text, 300));
		END;
	END LOOP;
END
$$;
SELECT pg_temp.feed('signature', 'SELECT cudal1.check_signature($1)::text', '{"entry": "solve", "rtol": 1e-4, "atol": 1e-5, "args": [
	{"name": "a", "dtype": "float32", "shape": [16, 2], "role": "in", "init": "uniform", "low": -1, "high": 1}, {"name": "b", "dtype": "int64", "shape": [3], "role": "inout", "init": "integer", "low": 0, "high": 9},
	{"name": "c", "dtype": "bfloat16", "shape": [16], "role": "out"}, {"name": "n", "dtype": "int32", "role": "scalar", "value": 16}]}') \g /dev/null
SELECT is_empty($$SELECT DISTINCT state, result FROM mutations WHERE subject = 'signature' AND state NOT IN ('00000', '22023') LIMIT 5$$, 'a signature is accepted or called malformed, whatever it holds');
SELECT pg_temp.feed('result', 'SELECT (cudal1.read_result($1)).outcome', '{"type": "result", "outcome": "successful", "score": 1.5, "lower": 1.4, "upper": 1.6, "variance": 0.001, "pairs": 2, "rounds": 40,
	"bucket_means": [1.5, 1.6], "samples": [[1.5, 1.4], [1.6]], "reference_seconds": 0.001, "checks": 5, "max_error": 0.1, "protocol": 2, "detail": "d", "environment": {"host": "h"}, "evidence": {}}') \g /dev/null
SELECT is_empty($$SELECT DISTINCT state, result FROM mutations WHERE subject = 'result' AND state <> '00000' LIMIT 5$$, 'no result raises an error');
SELECT is_empty($$SELECT result FROM mutations WHERE subject = 'result' AND result IS NULL LIMIT 5$$, 'each has an outcome');
-- a session may read backslashes as old programs do: texts of functions are read as they were written
SELECT cudal1_restore_task('t') \g /dev/null
SET LOCAL standard_conforming_strings = off;
SELECT lives_ok($$SELECT cudal1_import_result('t', NULL, 2, 'published', 'A100')$$, 'a code that nobody has seen is imported');
SELECT is(cudal1.set_switch('USE_X = True', 'USE_X', false), 'USE_X = False', 'a switch is found');
SELECT lives_ok($$SELECT plpgsql_validator(p.oid) FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
	JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'cudal1'$$, 'no function fails to compile');
RESET standard_conforming_strings;

-- texts longer than a regular expression takes
CREATE FUNCTION pg_temp.states_of(calls text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	call	text;
	long	text := repeat(repeat(' ', 1000), 270000);
BEGIN
	FOREACH call IN ARRAY calls LOOP
		BEGIN
			EXECUTE call USING long;
			RETURN NEXT '00000 ' || call;
		EXCEPTION WHEN OTHERS THEN
			RETURN NEXT SQLSTATE || ' ' || call;
		END;
	END LOOP;
END
$$;
SELECT is_empty($$SELECT s FROM pg_temp.states_of(ARRAY['SELECT cudal1_add_task($1, ''r'', ''pytorch'')', 'SELECT cudal1_add_task(''long'', $1, ''pytorch'')',
	'SELECT cudal1_submit(''t'', $1)', 'SELECT cudal1_submit(''t'', ''c'', $1)', 'SELECT cudal1_import_result(''t'', ''c'', 2, ''m'', $1)',
	'SELECT cudal1_evaluate(ARRAY[1], device => $1)', 'SELECT cudal1_add_profile($1, ''quick'', ''{}'', ''p'')',
	'SELECT cudal1_add_model($1, ''http://h/'', ''m'', NULL, ''{}'', 1)', 'SELECT cudal1_add_campaign($1, ''augment'', ''{t}'', ''{m}'')',
	'SELECT cudal1.register_device($1, ''{}'')', 'SELECT cudal1.set_switch(''c'', $1, true)']) AS s WHERE left(s, 5) NOT IN ('22023', '54000')$$,
	'a text that is too long for a regular expression is called too long');
