/*
 * Arithmetic of rounds, rewards and groups.
 */

CREATE FUNCTION cudal1.conservative_round(speedup float8)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_conservative_round';
COMMENT ON FUNCTION cudal1.conservative_round(float8) IS 'what cudal1_conservative_round() does';

CREATE FUNCTION @extschema@.cudal1_conservative_round(speedup float8)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_conservative_round';
COMMENT ON FUNCTION @extschema@.cudal1_conservative_round(float8) IS
'two decimals, towards 1 (CUDA-L1, 2.4.4): 1.118 gives 1.11, 0.992 gives 1.00; 100 x within 1e-9 of an integer is that integer, so 1.15 stays 1.15 and rounding twice changes nothing. Error 22023 for NaN, infinite and negative speedups';

CREATE FUNCTION @extschema@.cudal1_score_rounds(reference_times float8[], candidate_times float8[],
									profile text DEFAULT 'default', buckets int[] DEFAULT NULL)
RETURNS TABLE (bucket_means float8[], variance float8, score float8, reward float8, accepted bool)
LANGUAGE C STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cudal1_score_rounds';
COMMENT ON FUNCTION @extschema@.cudal1_score_rounds(float8[], float8[], text, int[]) IS
'score of a measurement from the times of its rounds, one reference and one candidate time a round in any one unit (CUDA-L1, eq. 2 and 3). Estimators and limits are the profile''s; without buckets the rounds are split contiguously into profile.pairs buckets of sizes that differ by at most one, else equal numbers mean one bucket. variance is the population variance across the buckets; accepted: the variance is within the profile''s limit, and there is more than one bucket where it has one for intervals; reward is NULL otherwise. Where the interval''s half-width exceeds the larger of half_width_limit and precision_slope * |ln score|, the reward is that of its end nearer to 1. Errors: 22023 times not above 0, NaN, too few rounds; 2202E lengths differ; 42704 unknown profile';

CREATE FUNCTION cudal1.group_advantages(rewards float8[], variant text)
RETURNS float8[]
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_group_advantages';
COMMENT ON FUNCTION cudal1.group_advantages(float8[], text) IS 'what cudal1_group_advantages() does';

CREATE FUNCTION @extschema@.cudal1_group_advantages(rewards float8[], variant text DEFAULT 'paper')
RETURNS float8[]
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_group_advantages';
COMMENT ON FUNCTION @extschema@.cudal1_group_advantages(float8[], text) IS
'advantages of one group (CUDA-L1, eq. 4): (r - mean) / deviation. Variants: paper (population deviation), trl, verl, openrlhf (sample deviation + 1e-4, 1e-6, 1e-9), dr_grpo (r - mean), rloo (r - mean of the others), smoothed (as paper, cut at +-1.5). Equal rewards and a group of one give exactly 0; NULL members stay NULL and do not count. Error 22023 for NaN, infinities and unknown variants';

CREATE FUNCTION @extschema@.cudal1_grpo_objective(logp float8[], logp_old float8[], logp_ref float8[], advantages float8[],
									  lengths int[], epsilon float8 DEFAULT 0.2, beta float8 DEFAULT 0.04,
									  epsilon_high float8 DEFAULT NULL, aggregation text DEFAULT 'sequence')
RETURNS TABLE (objective float8, kl float8, clip_fraction float8)
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_grpo_objective';
COMMENT ON FUNCTION @extschema@.cudal1_grpo_objective(float8[], float8[], float8[], float8[], int[], float8, float8, float8, text) IS
'the objective to maximise (CUDA-L1, eq. 5): mean over sequences of the mean over tokens of min(rho A, clip(rho, 1 - epsilon, 1 + epsilon_high) A) - beta k3, with rho = exp(logp - logp_old), k3 = exp(d) - d - 1 and d = logp_ref - logp. logp, logp_old and logp_ref hold natural log-probabilities of all tokens, sequence after sequence; lengths holds the tokens of each sequence; advantages one number a sequence or one a token. epsilon_high NULL equals epsilon; logp_ref NULL (with beta 0) leaves the divergence out; aggregation token averages over all tokens instead. kl is averaged alike; clip_fraction is the share of tokens whose bound was in force. Errors: 2202E lengths do not fit, 22023 NaN and bad parameters, 22004 NULLs, 22003 out of range';
