-- Tasks: everything is validated and resolved when they are added, and never changes after.
SELECT plan(71);

CREATE FUNCTION pg_temp.arg(changes text DEFAULT '{}', removed text DEFAULT '') RETURNS jsonb LANGUAGE sql AS $$
	SELECT ('{"name": "x", "dtype": "float32", "shape": [16], "role": "inout"}'::jsonb || changes::jsonb) - removed
$$;
CREATE FUNCTION pg_temp.signature(VARIADIC args jsonb[]) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('entry', 'solve', 'args', to_jsonb(args))
$$;
CREATE FUNCTION pg_temp.add(name text, signature jsonb DEFAULT pg_temp.signature(pg_temp.arg()), options jsonb DEFAULT '{}', reference text DEFAULT 'void solve(float *x) {}')
RETURNS bigint LANGUAGE sql AS $$
	SELECT cudal1_add_task(name, reference, 'c', signature, 1, options)
$$;

CREATE FUNCTION pg_temp.arrays(many int, role text, others int, other_role text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT pg_temp.signature(VARIADIC array_agg(pg_temp.arg(jsonb_build_object('name', 'x' || i, 'role', CASE WHEN i <= many THEN role ELSE other_role END)::text)))
	FROM generate_series(1, many + others) AS i
$$;

-- identity
SELECT lives_ok($$SELECT pg_temp.add('a')$$, 'a task is added');
SELECT is(pg_temp.add('a'), (SELECT task_id FROM cudal1.task WHERE name = 'a'), 'the same content again is the same task');
SELECT is(pg_temp.add('a', reference => E'void solve(float *x) {}'), (SELECT task_id FROM cudal1.task WHERE name = 'a'), 'line ends do not matter');
SELECT throws_ok($$SELECT pg_temp.add('a', reference => 'void solve(float *x) { }')$$, '23505', 'task "a" exists with other content: reference', 'another reference is other content');
SELECT throws_ok($$SELECT pg_temp.add('a', options => '{"cores": 2}')$$, '23505', 'task "a" exists with other content: options', 'so are other options');
SELECT throws_ok($$SELECT cudal1_add_task('a', 'void solve(float *x) {}', 'c', pg_temp.signature(pg_temp.arg()), 2)$$, '23505', 'task "a" exists with other content: level', 'so is another level');
SELECT throws_ok($$UPDATE cudal1.task SET reference = 'x' WHERE name = 'a'$$, '42501', NULL, 'a reference never changes, not even by hand');
SELECT lives_ok($$SELECT pg_temp.add('crlf', reference => E'a\r\nb')$$, 'CRLF is accepted');
SELECT is(pg_temp.add('crlf', reference => E'a\nb'), (SELECT task_id FROM cudal1.task WHERE name = 'crlf'), 'and is LF');

-- what was left open is resolved and stored
SELECT results_eq($$SELECT profile, device, device_model, cores, bucket_width, temperature, score_scale, strategy, rtol, atol, problem FROM cudal1.task WHERE name = 'a'$$,
	$$VALUES ('default', 'cpu', NULL::text, 1, 0.25::float8, 1::float8, 'linear', 'bucket', NULL::float8, NULL::float8, NULL::int)$$, 'defaults are stored');
SELECT lives_ok($$SELECT pg_temp.add('b', options => '{"profile": "quick", "device": "Xeon 9", "cores": 2, "bucket_width": 0.5, "temperature": 2, "score_scale": "log",
	"strategy": "island", "rtol": 0.01, "atol": 1e-400, "problem": 17}')$$, 'every option is accepted');
SELECT results_eq($$SELECT profile, device, cores, bucket_width, temperature, score_scale, strategy, rtol, atol, problem FROM cudal1.task WHERE name = 'b'$$,
	$$VALUES ('quick', 'Xeon 9', 2, 0.5::float8, 2::float8, 'log', 'island', 0.01::float8, 0::float8, 17)$$, 'and stored');
SELECT lives_ok($$SELECT pg_temp.add('tolerant', '{"entry": "f", "rtol": 0.1, "atol": 0.2, "args": [{"name": "x", "dtype": "int32", "shape": [2, 3], "role": "out"}]}', '{"atol": 0.3}')$$, 'a signature may bring tolerances');
SELECT results_eq($$SELECT rtol, atol FROM cudal1.task WHERE name = 'tolerant'$$, $$VALUES (0.1::float8, 0.3::float8)$$, 'options go before them');
SELECT is((SELECT signature FROM cudal1.task WHERE name = 'a'),
	'{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [16], "role": "inout", "init": "normal"}]}', 'inputs are normal unless said otherwise');

-- devices
CREATE FUNCTION pg_temp.device_of(name text, code text, language text, signature jsonb DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	id		bigint := cudal1_add_task(name, code, language, signature);
BEGIN
	RETURN (SELECT t.device FROM cudal1.task AS t WHERE t.task_id = id);
END
$$;
SELECT is(pg_temp.device_of('p1', 'class Model: pass', 'pytorch'), 'cpu', 'pytorch without a GPU is for the CPU');
SELECT is(pg_temp.device_of('u1', 'x', 'cuda', pg_temp.signature(pg_temp.arg())), 'cuda', 'cuda is for a GPU');
SELECT lives_ok($$SELECT cudal1.register_device('h', '{"key": "GPU-1", "class": "cuda", "model": "H200", "languages": ["cuda", "pytorch"]}')$$, 'a GPU comes');
SELECT is(pg_temp.device_of('p2', 'class Model: pass', 'pytorch'), 'cuda', 'pytorch is for the GPU from now on');
SELECT is((SELECT device FROM cudal1.task WHERE name = 'p1'), 'cpu', 'what was resolved stays');
SELECT is(cudal1_add_task('p1', 'class Model: pass', 'pytorch'), (SELECT task_id FROM cudal1.task WHERE name = 'p1'), 'and is still the same task');
SELECT throws_ok($$SELECT pg_temp.add('z', options => '{"device": "cuda"}')$$, '22023', 'option "device" must be of class cpu for language c', 'c runs on no GPU');
SELECT throws_ok($$SELECT pg_temp.add('z', options => '{"device": "H200"}')$$, '22023', NULL, 'nor by model');
SELECT throws_ok($$SELECT cudal1_add_task('z', 'x', 'cuda', pg_temp.signature(pg_temp.arg()), options => '{"device": "cpu"}')$$, '22023', NULL, 'cuda runs on no CPU');

-- arguments
SELECT throws_ok(q, s, m, m)
FROM (VALUES
	($$SELECT cudal1_add_task(NULL, 'x', 'c')$$, '22004', 'task must not be null'),
	($$SELECT cudal1_add_task(' ', 'x', 'pytorch')$$, '22023', 'task must be a name of 1 to 1000 bytes without control characters'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', level => -1)$$, '22023', 'level must not be negative'),
	($$SELECT cudal1_add_task('z', repeat('x', 1048577), 'pytorch')$$, '54000', 'reference must not be longer than 1 MiB'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '[]')$$, '22023', 'options must be a JSON object'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"widht": 1}')$$, '22023', 'unknown option "widht"'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"cores": 0}')$$, '22023', 'option "cores" must be an integer between 1 and 1024'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"bucket_width": 0}')$$, '22023', 'option "bucket_width" must be a number between 1e-6 and 1e6'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"temperature": -1}')$$, '22023', 'option "temperature" must be a number between 1e-6 and 1e6'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"score_scale": "sqrt"}')$$, '22023', 'option "score_scale" must be linear or log'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"strategy": 1}')$$, '22023', 'option "strategy" must be bucket, island or random'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"rtol": -0.1}')$$, '22023', 'option "rtol" must be a number between 0 and 1e9'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"probes": {"skale": false}}')$$, '22023', 'option "probes" must be an object of booleans: centre, scale, outliers, zeros, rows, held, near, parameters'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"probes": {"scale": 0}}')$$, '22023', 'option "probes" must be an object of booleans: centre, scale, outliers, zeros, rows, held, near, parameters'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"problem": 1.5}')$$, '22023', 'option "problem" must be an integer between 0 and 2147483647'),
	($$SELECT cudal1_add_task('z', 'x', 'pytorch', options => '{"islands": 0}')$$, '22023', 'option "islands" must be an integer between 1 and 1000'))
	AS v (q, s, m);
SELECT is((SELECT count(*) FROM cudal1.task WHERE name = 'z'), 0::bigint, 'an error adds nothing');

-- signatures
SELECT throws_ok(format('SELECT pg_temp.add(%L, %L)', 'z', signature), '22023', NULL, 'signature: ' || reason)
FROM (VALUES
	('{"entry": "solve"}', 'no args'),
	('{"entry": "solve", "args": [3]}', 'an argument that is no object'),
	(pg_temp.signature(pg_temp.arg()) || '{"entry": "1x"}', 'an entry that is no identifier'),
	(pg_temp.signature(pg_temp.arg()) || '{"entry": "while"}', 'an entry that is a keyword'),
	(pg_temp.signature(pg_temp.arg()) || '{"outputs": 1}', 'an unknown member'),
	(pg_temp.signature(pg_temp.arg()) || '{"rtol": 1e30}', 'a tolerance without bounds'),
	(pg_temp.arrays(17, 'in', 1, 'out'), 'more inputs than the measuring program has room for'),
	(pg_temp.arrays(1, 'in', 17, 'out'), 'more outputs'),
	(pg_temp.arrays(9, 'inout', 8, 'in'), 'arrays that are both count as either'),
	(pg_temp.arrays(16, 'in', 17, 'out'), 'more arguments'),
	(pg_temp.signature(pg_temp.arg(), pg_temp.arg()), 'a name twice'),
	(pg_temp.signature(pg_temp.arg('{}', 'name')), 'no name'),
	(pg_temp.signature(pg_temp.arg('{"shape": [16, 0]}')), 'a dimension of 0'),
	(pg_temp.signature(pg_temp.arg('{"shape": [1.5]}')), 'a broken dimension'),
	(pg_temp.signature(pg_temp.arg('{"shape": [65536, 65536, 65536, 65536]}')), 'more than fits'),
	(pg_temp.signature(pg_temp.arg('{}', 'shape')), 'no shape'),
	(pg_temp.signature(pg_temp.arg('{"role": "out", "init": "zero"}')), 'an init for an output'),
	(pg_temp.signature(pg_temp.arg('{"init": "normal", "dtype": "int32"}')), 'normal integers'),
	(pg_temp.signature(pg_temp.arg('{"init": "integer"}')), 'integers without a range'),
	(pg_temp.signature(pg_temp.arg('{"init": "integer", "low": 5, "high": 5}')), 'an empty range'),
	(pg_temp.signature(pg_temp.arg('{"dtype": "uint8", "init": "integer", "low": 0, "high": 256}')), 'a range beyond the dtype'),
	(pg_temp.signature(pg_temp.arg('{"dtype": "int64", "init": "integer", "low": -9223372036854775808, "high": 0}')), 'a range that the measuring program does not have'),
	(pg_temp.signature(pg_temp.arg(), '{"name": "n", "dtype": "int32", "role": "scalar", "value": 2147483648}'), 'a scalar out of range'),
	(pg_temp.signature(pg_temp.arg(), '{"name": "n", "dtype": "float16", "role": "scalar", "value": 1}'), 'a scalar that cannot be passed'),
	(pg_temp.signature(pg_temp.arg(), '{"name": "n", "dtype": "int32", "role": "scalar", "value": 1, "shape": [1]}'), 'a scalar with a shape'))
	AS v (signature, reason);
SELECT lives_ok(format('SELECT pg_temp.add(%L, %L)', 'wide', pg_temp.signature(pg_temp.arg('{"init": "uniform", "low": -1, "high": 1}'),
	pg_temp.arg('{"name": "y", "dtype": "int64", "init": "integer", "low": -5, "high": 5}'), pg_temp.arg('{"name": "z", "dtype": "bool"}'),
	pg_temp.arg('{"name": "w", "dtype": "bfloat16", "init": "zero", "role": "in"}'), '{"name": "n", "dtype": "float64", "role": "scalar", "value": 0.5}',
	'{"name": "m", "dtype": "bool", "role": "scalar", "value": true}')), 'a signature with all roles and inits is accepted');
SELECT is((SELECT signature #>> '{args,2,high}' FROM cudal1.task WHERE name = 'wide'), '1', 'booleans range from 0 to 1');

SELECT lives_ok(format('SELECT pg_temp.add(%L, %L)', 'full', pg_temp.arrays(16, 'in', 16, 'out')), 'as many arrays as there is room for');

-- other languages write 4.0 for 4, and JSONB writes 1e30 without an exponent: the measuring program reads neither
SELECT lives_ok(format('SELECT pg_temp.add(%L, %L)', 'decimals', pg_temp.signature(pg_temp.arg('{"shape": [4.0, 1.6e1], "init": "uniform", "low": 0.0, "high": 0.5}'),
	pg_temp.arg('{"name": "y", "dtype": "int32", "init": "integer", "low": 0.0, "high": 7.00}'), '{"name": "n", "dtype": "int64", "role": "scalar", "value": 64.0}',
	'{"name": "m", "dtype": "float64", "role": "scalar", "value": 1e30}')), 'integers with decimals are integers');
SELECT is((SELECT signature ->> 'args' FROM cudal1.task WHERE name = 'decimals'),
	'[{"low": 0.0, "high": 0.5, "init": "uniform", "name": "x", "role": "inout", "dtype": "float32", "shape": [4, 16]}, '
	'{"low": 0, "high": 7, "init": "integer", "name": "y", "role": "inout", "dtype": "int32", "shape": [16]}, '
	'{"name": "n", "role": "scalar", "dtype": "int64", "value": 64}, '
	'{"name": "m", "role": "scalar", "dtype": "float64", "value": 1000000000000000000000000000000.0}]', 'and are stored as such, large numbers with a point');
