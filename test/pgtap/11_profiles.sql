-- Profiles: the shipped rows hold the protocol's numbers and never change.
SELECT plan(60);

SELECT results_eq('SELECT name FROM cudal1.profile WHERE shipped ORDER BY name', ARRAY['certify', 'default', 'paper', 'paper_eval', 'quick', 'train'],
	'six profiles are shipped');
SELECT is(p.value, e.value, format('%s: %s is %s', e.profile, e.key, e.value))
FROM (VALUES
	('default', 'pairs', '5'), ('default', 'looks', '[5, 9, 15]'), ('default', 'precision_goal', '0.005'), ('default', 'group_most', '1'),
	('default', 'variance_limit', 'null'), ('default', 'budget_seconds', '20'), ('default', 'estimator', '"median"'),
	('quick', 'bucket_seconds', '0.05'), ('quick', 'looks', '[3, 5, 7]'), ('quick', 'verify_above', '3'),
	('train', 'pairs', '2'), ('train', 'looks', '[2, 3, 4]'), ('train', 'precision_goal', '0.02'), ('train', 'verify_above', '3'), ('train', 'group_most', '16'),
	('paper', 'looks', '[7]'), ('paper', 'precision_goal', '0'), ('paper', 'variance_limit', '0.005'), ('paper', 'estimator', '"mean"'), ('paper', 'half_width_limit', 'null'),
	('paper', 'verify_above', '3'), ('paper_eval', 'looks', '[7]'), ('paper_eval', 'precision_goal', '0'), ('paper_eval', 'estimator', '"mean"'), ('paper_eval', 'verify_above', 'null'))
	AS e (profile, key, value)
	LEFT JOIN LATERAL (SELECT j.value::text FROM cudal1.profile AS x, jsonb_each(to_jsonb(x)) AS j WHERE x.name = e.profile AND j.key = e.key) AS p ON true;

SELECT is(round((pairs * bucket_seconds / 60)::numeric, 6), e.minutes, format('%s has %s minutes a candidate, as CUDA-L1 says', name, e.minutes))
FROM cudal1.profile JOIN (VALUES ('paper', 30::numeric), ('paper_eval', 20)) AS e (profile, minutes) ON name = e.profile;
SELECT ok(t.checks = d.checks AND t.window_seconds = d.window_seconds AND t.confidence = d.confidence AND t.verify_above = d.verify_above,
	'train grants a cheat no more than default does') FROM cudal1.profile AS t, cudal1.profile AS d WHERE t.name = 'train' AND d.name = 'default';

SELECT throws_ok($$UPDATE cudal1.profile SET pairs = 8 WHERE name = 'default'$$, '42501', NULL, 'a shipped profile is not changed');
SELECT throws_ok($$DELETE FROM cudal1.profile WHERE name = 'quick'$$, '42501', 'profile "quick" is immutable', 'nor deleted');

SELECT is(cudal1_add_profile('mine', 'quick', '{"bucket_seconds": 0.2, "looks": [7, 14]}', 'for a test'), 'mine', 'a copy differs');
SELECT throws_ok($$UPDATE cudal1.profile SET pairs = 8 WHERE name = 'mine'$$, '42501', 'profile "mine" is immutable', 'once, as it is made');
SELECT results_eq($$SELECT bucket_seconds, looks, shipped, purpose, half_width_limit FROM cudal1.profile WHERE name = 'mine'$$,
	$$VALUES (0.2::float8, '{7,14}'::int[], false, 'for a test', 0.05::float8)$$, 'it differs from its base as asked');
SELECT throws_ok($$SELECT cudal1_add_profile('x', 'quick', '{"bucket": 1}', 'x')$$, '22023', 'changes has the unknown member "bucket"', 'an unknown column is named');
SELECT throws_ok($$SELECT cudal1_add_profile('x', 'quick', '{"looks": [7, 7]}', 'x')$$, '22023', NULL, 'looks ascend');
CREATE FUNCTION pg_temp.refusal(name text, changes jsonb) RETURNS text LANGUAGE sql AS
	$$SELECT tap.answer(format('SELECT cudal1_add_profile(%L, %L, %L, %L)', name, 'quick', changes, 'x'))$$;
SELECT alike(pg_temp.refusal('x', changes::jsonb), '22023 ' || says, 'refused: ' || changes)
FROM (VALUES ('{"attempts": 0}', 'member "attempts" of changes is out of range Valid is attempts >= 1 AND attempts <= 100.'),
	('{"estimator": "x"}', 'member "estimator" of changes is out of range Valid is estimator = ANY (ARRAY[''median'', ''mean'']).'),
	('{"unstable": "discard"}', 'changes has the unknown member "unstable" Valid members are%'),
	('{"budget_seconds": 1e9}', 'member "budget_seconds" of changes is out of range Valid is budget_seconds >= 0.001 AND budget_seconds <= 1000000.'),
	('{"group_most": 33}', 'member "group_most" of changes is out of range Valid is group_most >= 1 AND group_most <= 32.'),
	('{"looks": []}', 'member "looks" of changes is out of range Valid is cardinality(looks) >= 1 AND cardinality(looks) <= 8.'),
	('{"checks": 0}', 'member "checks" of changes is out of range Valid is checks >= 1 AND checks <= 1000.'),
	('{"pairs": 0}', 'member "pairs" of changes is out of range Valid is pairs >= 1 AND pairs <= 1000.'),
	('{"audits": 3}', 'changes has the unknown member "audits" %'),
	('{"pairs": null}', 'member "pairs" of changes must not be null'), ('{"pairs": "x"}', 'member "pairs" of changes must be of type integer'),
	('{"pairs": 1e30}', 'member "pairs" of changes must be of type integer'), ('{"looks": 7}', 'member "looks" of changes must be of type integer[]'),
	('{"memory_mb": true}', 'member "memory_mb" of changes must be of type integer'),
	('{"window_seconds": "NaN"}', 'member "window_seconds" of changes is out of range Valid is window_seconds >= 0.00001 AND window_seconds <= 100.'), ('{"window_seconds": "inf"}', 'member "window_seconds" of changes is out of range Valid is window_seconds >= 0.00001 AND window_seconds <= 100.'),
	('{"looks": [[7, 14], [21, 28]]}', 'looks must be ascending numbers of pairs, each between 2 and 1000'),
	('{"looks": [7, 1001]}', 'looks must be ascending numbers of pairs, each between 2 and 1000'),
	('{"half_width_limit": 100}', 'member "half_width_limit" of changes is out of range Valid is half_width_limit >= 0.000001 AND half_width_limit <= 10.'),
	('{"confidence": 0.4}', 'member "confidence" of changes is out of range Valid is confidence >= 0.5 AND confidence <= 0.999999.'),
	('{"verify_above": 1e30}', 'member "verify_above" of changes is out of range Valid is verify_above > 1 AND verify_above <= 1000000000.')) AS v (changes, says);
SELECT is(pg_temp.refusal('Mine!', '{}'), '22023 name must be a lower case letter, and up to 62 lower case letters, digits and _ after it', 'a bad name, too');
SELECT is(pg_temp.refusal('x', '{"half_width_limit": null, "verify_above": null, "variance_limit": null}'), 'x', 'what may be null can be');
SELECT is(pg_temp.refusal('y', '{"verify_above": 1e9, "confidence": 0.999, "checks": 1000}'), 'y', 'cudal1-measure takes all that is accepted');
