/*
 * Draws of exemplars.  enable_seqscan: a session's cached plans, made while the tables were small, must not scan them when
 * they have grown.
 */

CREATE FUNCTION cudal1.random_seed()
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_random_seed';
COMMENT ON FUNCTION cudal1.random_seed() IS 'a seed from the system''s source of randomness';

CREATE FUNCTION @extschema@.cudal1_sample_exemplars(task text, n int DEFAULT 2, strategy text DEFAULT NULL,
										temperature float8 DEFAULT NULL, seed bigint DEFAULT NULL, pool text DEFAULT 'main')
RETURNS TABLE (candidate_id bigint, bucket int, score float8, code text)
LANGUAGE C VOLATILE PARALLEL RESTRICTED SECURITY DEFINER ROWS 2
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS 'MODULE_PATHNAME', 'cudal1_sample_exemplars';
COMMENT ON FUNCTION @extschema@.cudal1_sample_exemplars(text, int, text, float8, bigint, text) IS
'up to n (1 to 1000) successful candidates of a task from one pool, in ascending score (then candidate_id); score is the reward. Writes nothing. Strategies: bucket (CUDA-L1, eq. 1): n distinct buckets without replacement by softmax(mean / temperature), one code uniformly from each; temperature NULL is the task''s. island: FunSearch''s clusters of equal reward on one island, the temperature (NULL: 0.1) falling with the island''s registrations; clusters are drawn with replacement but no code twice. random: n distinct codes uniformly. NULL is the task''s own strategy. Fewer buckets, clusters or codes give fewer rows. The same seed over the same buckets gives the same rows. Errors: 42704 unknown task or pool, 22023 unknown strategy, n or temperature out of range, 22004 task or pool NULL';

CREATE FUNCTION cudal1.draw(task text, n int, strategy text, temperature float8, seed bigint, pool text DEFAULT 'main')
RETURNS TABLE (candidate_id bigint, bucket int, score float8, code text, island int, epoch int, probabilities jsonb)
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS 'MODULE_PATHNAME', 'cudal1_draw';
COMMENT ON FUNCTION cudal1.draw(text, int, text, float8, bigint, text) IS
'as cudal1_sample_exemplars, with the island (NULL: none) and the probabilities the draw was made from, on every row';

CREATE FUNCTION @extschema@.cudal1_bucket_stats(task text, temperature float8 DEFAULT NULL, pool text DEFAULT 'main')
RETURNS TABLE (bucket int, lower float8, upper float8, codes bigint, mean float8, probability float8)
LANGUAGE C STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 20
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS 'MODULE_PATHNAME', 'cudal1_bucket_stats';
COMMENT ON FUNCTION @extschema@.cudal1_bucket_stats(text, float8, text) IS
'the buckets of a task that hold candidates of a pool: rewards in [lower, upper), their number, mean and the probability of being drawn first at the temperature (NULL: the task''s). Where score_scale is log, buckets, means and softmax are those of ln(reward), while lower, upper and mean are given as speedups (the mean is geometric). Errors: 42704 unknown task or pool, 22023 temperature not above 0';
