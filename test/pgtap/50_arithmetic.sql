-- Rounds, rewards and groups: what is computed agrees with formulas written down elsewhere.
SELECT plan(76);

CREATE FUNCTION pg_temp.close_to(got float8[], expected float8[], tolerance float8 DEFAULT 1e-8) RETURNS boolean
LANGUAGE sql AS $$
	SELECT cardinality(got) = cardinality(expected)
		AND bool_and(g IS NOT DISTINCT FROM e OR abs(g - e) <= tolerance) FROM unnest(got, expected) AS u (g, e)
$$;

-- rounding
SELECT is(cudal1_conservative_round(x), y, format('%s rounds to %s', x, y))
FROM (VALUES (1.118::float8, 1.11::float8), (0.992, 1.00), (1.15, 1.15), (1.0, 1.0), (0, 0), (449.999, 449.99), (0.001, 0.01),
			 (2.9999999999999, 3.0)) AS v (x, y);
SELECT ok(bool_and(cudal1_conservative_round(i / 100.0::float8) = i / 100.0::float8), 'hundredths stay what they are')
FROM generate_series(0, 20000) AS i;
SELECT is(cudal1_conservative_round(NULL), NULL, 'NULL rounds to NULL');
SELECT throws_ok(format('SELECT cudal1_conservative_round(%L)', x), '22023', NULL, format('%s is no speedup', x))
FROM unnest(ARRAY['NaN', 'Infinity', '-Infinity', '-0.5']) AS x;

-- rounds
SELECT results_eq(
	$$SELECT bucket_means, score, reward, accepted FROM cudal1_score_rounds(array_fill(1.118::float8, ARRAY[14]), array_fill(1.0::float8, ARRAY[14]))$$,
	$$VALUES (array_fill(1.118::float8, ARRAY[5]), 1.118::float8, 1.11::float8, true)$$, 'steady rounds give their ratio, rounded');
SELECT results_eq(
	$$SELECT bucket_means FROM cudal1_score_rounds(ARRAY[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]::float8[], array_fill(1.0::float8, ARRAY[16]), 'paper')$$,
	$$VALUES (ARRAY[1.5, 3.5, 5.5, 8, 10.5, 12.5, 15]::float8[])$$, '16 rounds are split contiguously into 7, sizes differing by at most one');
SELECT results_eq(
	$$SELECT bucket_means, score FROM cudal1_score_rounds(ARRAY[3,10,5,30,2,20]::float8[], array_fill(1.0::float8, ARRAY[6]), 'default', ARRAY[1,2,1,3,1,2])$$,
	$$VALUES (ARRAY[3, 15, 30]::float8[], 15::float8)$$, 'default: medians of the buckets given, their median is the score');
SELECT results_eq(
	$$SELECT bucket_means, score FROM cudal1_score_rounds(ARRAY[3,10,5,30,1,20]::float8[], array_fill(1.0::float8, ARRAY[6]), 'paper_eval', ARRAY[1,2,1,3,1,2])$$,
	$$VALUES (ARRAY[3, 15, 30]::float8[], 16::float8)$$, 'paper_eval: the mean of the buckets is the score');
SELECT ok(abs(variance - 2.0 / 3) < 1e-15, 'the variance is that of the population') FROM cudal1_score_rounds(ARRAY[1,2,3]::float8[], ARRAY[1,1,1]::float8[], 'paper', ARRAY[1,2,3]);
SELECT results_eq(
	$$SELECT accepted, reward IS NULL FROM cudal1_score_rounds(ARRAY[1,1,1,1,1,1,1.25]::float8[], array_fill(1.0::float8, ARRAY[7]), 'paper')$$,
	$$VALUES (false, true)$$, 'paper: a variance above 0.005 is not accepted and has no reward');
SELECT ok(accepted, 'paper: a variance below 0.005 is accepted')
FROM cudal1_score_rounds(ARRAY[1,1,1,1,1,1,1.15]::float8[], array_fill(1.0::float8, ARRAY[7]), 'paper');
SELECT ok(accepted AND reward = 100, 'default: a fast candidate is not thrown away for its absolute variance')
FROM cudal1_score_rounds(ARRAY[100,100.1,99.9,100.2,99.8,100,100]::float8[], array_fill(1.0::float8, ARRAY[7]));
SELECT ok(accepted AND reward = 1, 'default: a wide interval that holds 1 is paid 1.00')
FROM cudal1_score_rounds(ARRAY[1,1.1,0.9,1,1,1.05,0.95]::float8[], array_fill(1.0::float8, ARRAY[7]));
SELECT ok(accepted AND reward = 3.05, 'far from 1 it may be wider, as in a measurement')
FROM cudal1_score_rounds(ARRAY[2.95,3.0,3.05,3.1,3.2,2.9,3.15]::float8[], array_fill(1.0::float8, ARRAY[7]), 'default', ARRAY[1,2,3,4,5,6,7]);
SELECT ok(accepted AND score = 3.05 AND reward BETWEEN 2.3 AND 2.7, 'by a share of the distance; a wider one is paid at its lower end')
FROM cudal1_score_rounds(ARRAY[2.5,3.0,3.05,3.1,3.6,2.7,3.5]::float8[], array_fill(1.0::float8, ARRAY[7]), 'default', ARRAY[1,2,3,4,5,6,7]);
SELECT ok(accepted AND reward BETWEEN 1.9 AND 2.2, 'train: of four buckets, too')
FROM cudal1_score_rounds(ARRAY[3.18,2.58,2.5,2.56]::float8[], array_fill(1.0::float8, ARRAY[4]), 'train', ARRAY[1,2,3,4]);
SELECT ok(accepted AND reward = 1, 'but 1.00 where the interval reaches below')
FROM cudal1_score_rounds(ARRAY[1.9,1.4,1.1,1.4]::float8[], array_fill(1.0::float8, ARRAY[4]), 'train', ARRAY[1,2,3,4]);
SELECT ok(accepted AND score = 0.5 AND reward = 0.5, 'below 1 at its median')
FROM cudal1_score_rounds(ARRAY[0.5,0.55,0.45,0.5,0.5,0.53,0.47]::float8[], array_fill(1.0::float8, ARRAY[7]), 'default', ARRAY[1,2,3,4,5,6,7]);
SELECT ok(accepted AND reward = 1.09, 'train: at its middle, where it excludes 1')
FROM cudal1_score_rounds(ARRAY[1.037,1.1,1.096,1.123]::float8[], array_fill(1.0::float8, ARRAY[4]), 'train', ARRAY[1,2,3,4]);
SELECT ok(accepted AND reward = 1.04, 'and where it does not, as long as it is not wide')
FROM cudal1_score_rounds(ARRAY[0.97,1.1,1.03,1.05]::float8[], array_fill(1.0::float8, ARRAY[4]), 'train', ARRAY[1,2,3,4]);
SELECT ok(NOT accepted AND reward IS NULL, 'one bucket has no interval')
FROM cudal1_score_rounds(ARRAY[1,1]::float8[], ARRAY[1,1]::float8[], 'default', ARRAY[1,1]);
SELECT throws_ok($$SELECT * FROM cudal1_score_rounds(ARRAY[1,0,1,1,1,1,1]::float8[], ARRAY[1,1,1,1,1,1,1]::float8[])$$, '22023', NULL, 'a time of 0 is an error');
SELECT throws_ok($$SELECT * FROM cudal1_score_rounds(ARRAY[1,'NaN',1,1,1,1,1]::float8[], ARRAY[1,1,1,1,1,1,1]::float8[])$$, '22023', NULL, 'a time of NaN is an error');
SELECT throws_ok($$SELECT * FROM cudal1_score_rounds(ARRAY[1,NULL,1,1,1,1,1]::float8[], ARRAY[1,1,1,1,1,1,1]::float8[])$$, '22004', NULL, 'a time of NULL is an error');
SELECT throws_ok($$SELECT * FROM cudal1_score_rounds(ARRAY[1,1]::float8[], ARRAY[1,1]::float8[])$$, '22023', NULL, 'two rounds are too few for seven buckets');
SELECT throws_ok($$SELECT * FROM cudal1_score_rounds(ARRAY[1]::float8[], ARRAY[1]::float8[], 'default', ARRAY[1,2])$$, '2202E', NULL, 'each round has a bucket');
SELECT throws_ok($$SELECT * FROM cudal1_score_rounds('{{1,1}}', '{{1,1}}')$$, '2202E', NULL, 'times are one-dimensional');

-- advantages
SELECT ok(pg_temp.close_to(cudal1_group_advantages(ARRAY[1.0,1.2,3.1,0.8], variant), expected), variant || ' advantages')
FROM (VALUES
	('paper', ARRAY[-0.570492116, -0.353161786, 1.711476349, -0.787822446]::float8[]),
	('trl', ARRAY[-0.494014175, -0.305818299, 1.482042526, -0.682210051]),
	('verl', ARRAY[-0.494060200, -0.305846791, 1.482180601, -0.682273610]),
	('openrlhf', ARRAY[-0.494060665, -0.305847078, 1.482181994, -0.682274251]),
	('dr_grpo', ARRAY[-0.525, -0.325, 1.575, -0.725]),
	('rloo', ARRAY[-0.7, -0.433333333333, 2.1, -0.966666666667])) AS v (variant, expected);
SELECT ok(pg_temp.close_to(cudal1_group_advantages(ARRAY[0,0,0,1], variant), expected), variant || ' advantages of one success')
FROM (VALUES
	('paper', ARRAY[-0.577350269, -0.577350269, -0.577350269, 1.732050808]::float8[]),
	('trl', ARRAY[-0.499900020, -0.499900020, -0.499900020, 1.499700060]),
	('verl', ARRAY[-0.499999000, -0.499999000, -0.499999000, 1.499997000]),
	('rloo', ARRAY[-0.333333333333, -0.333333333333, -0.333333333333, 1])) AS v (variant, expected);
SELECT ok(pg_temp.close_to(cudal1_group_advantages(ARRAY[1,1.1,1.2,1.3,9], 'smoothed'),
	ARRAY[-0.547493126, -0.515662131, -0.483831135, -0.452000139, 1.5]), 'smoothed advantages are cut at 1.5');
SELECT throws_ok($$SELECT cudal1_group_advantages(ARRAY[1.7e308, -1.7e308, 0], 'smoothed')$$, '22003', NULL, 'what overflows is not cut');
SELECT throws_ok($$SELECT * FROM cudal1_grpo_objective('{-1e308}', '{-1e308}', '{1e308}', '{1}', '{1}')$$, '22003', NULL, 'nor a divergence that overflows left out');
SELECT is(cudal1_group_advantages(ARRAY[3.12,3.12,3.12,3.12,3.12,3.12]::float8[], v), array_fill(0::float8, ARRAY[6]), v || ': equal rewards give exactly 0')
FROM unnest(ARRAY['paper', 'openrlhf', 'rloo', 'smoothed']) AS v;
SELECT is(cudal1_group_advantages(ARRAY[5]::float8[], 'verl'), ARRAY[0]::float8[], 'a group of one gives 0');
SELECT is(cudal1_group_advantages('{}'), '{}'::float8[], 'a group of none gives none');
SELECT ok(pg_temp.close_to(cudal1_group_advantages(ARRAY[NULL,1.0,1.2,NULL,3.1,0.8]),
	ARRAY[NULL, -0.570492116, -0.353161786, NULL, 1.711476349, -0.787822446]), 'NULL members stay NULL and do not count');
SELECT is(cudal1_group_advantages(ARRAY[NULL,2]::float8[]), ARRAY[NULL,0]::float8[], 'a single reward beside NULLs is a group of one');
SELECT throws_ok($$SELECT cudal1_group_advantages(ARRAY[1,'Infinity']::float8[])$$, '22023', NULL, 'an infinite reward is an error');
SELECT ok(pg_temp.close_to(cudal1_group_advantages(ARRAY[1e-200,2e-200]::float8[]), ARRAY[-1,1]), 'tiny differences count as well as large ones');

-- objective: one token of log-ratio ln(rho)
SELECT ok(abs(objective - expected) < 1e-12, format('rho %s, A %s, epsilon %s, %s: %s', rho, a, low, high, expected))
FROM (VALUES (1.35, 1.5, 0.2, 0.2, 1.8), (1.35, 1.5, 0.2, 0.28, 1.92), (0.7, -1, 0.2, 0.2, -0.8), (0.7, 1, 0.2, 0.2, 0.7),
			 (1.1, -2, 0.2, 0.28, -2.2), (4, -1, 0.2, 0.2, -4)) AS v (rho, a, low, high, expected)
CROSS JOIN LATERAL cudal1_grpo_objective(ARRAY[ln(rho)::float8], ARRAY[0]::float8[], NULL, ARRAY[a]::float8[], ARRAY[1], low::float8, 0, high::float8);
SELECT ok(abs(kl - expected) <= 1e-12 * greatest(expected, 1), format('k3 of %s and %s', logp, ref))
FROM (VALUES (-1.2, -1.0, 0.0214027581601699::float8), (-1.0, -1.5, 0.10653065971263342), (-2, -2, 0), (-30, -1, 3.931334297114042e12)) AS v (logp, ref, expected)
CROSS JOIN LATERAL cudal1_grpo_objective(ARRAY[logp]::float8[], ARRAY[logp]::float8[], ARRAY[ref]::float8[], ARRAY[1]::float8[], ARRAY[1]);
SELECT ok(abs(objective - 0.25) < 1e-12, 'sequences count alike, whatever their length')
FROM cudal1_grpo_objective(array_fill(-1::float8, ARRAY[6]), array_fill(-1::float8, ARRAY[6]), NULL, ARRAY[.5,-.5,1,1,1,-1], ARRAY[2,4], 0.2, 0);
SELECT ok(abs(objective - 1.0 / 3) < 1e-12, 'aggregation token: tokens count alike')
FROM cudal1_grpo_objective(array_fill(-1::float8, ARRAY[6]), array_fill(-1::float8, ARRAY[6]), NULL, '[5:10]={.5,-.5,1,1,1,-1}', ARRAY[2,4], 0.2, 0, NULL, 'token');
SELECT ok(abs(clip_fraction - 0.5) < 1e-15 AND abs(objective - (1.2 + 1) / 2) < 1e-12, 'the share of clipped tokens is told')
FROM cudal1_grpo_objective(ARRAY[0.5, 0]::float8[], ARRAY[0, 0]::float8[], NULL, ARRAY[1], ARRAY[2], 0.2, 0);
SELECT throws_ok($$SELECT * FROM cudal1_grpo_objective(ARRAY[0,0], ARRAY[0,0], NULL, ARRAY[1], ARRAY[3], 0.2, 0)$$, '22023', NULL, 'lengths add up to the tokens');
SELECT throws_ok($$SELECT * FROM cudal1_grpo_objective(ARRAY[0,0], ARRAY[0,0], NULL, ARRAY[1], ARRAY[2])$$, '22004', NULL, 'a divergence needs a reference policy');
SELECT throws_ok($$SELECT * FROM cudal1_grpo_objective(ARRAY[0,0], ARRAY[0], NULL, ARRAY[1], ARRAY[2], 0.2, 0)$$, '2202E', NULL, 'each token has its old probability');
