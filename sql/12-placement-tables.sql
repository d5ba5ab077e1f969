/*
 * Where codes lie that exemplars are drawn from: buckets of scores, and islands.
 */

CREATE TABLE cudal1.bucket (
	task_id				bigint NOT NULL,
	pool_id				int NOT NULL,
	bucket				int NOT NULL,
	codes				bigint NOT NULL CHECK (codes >= 0),
	sum_micro			bigint NOT NULL,
	sum_ln_nano			bigint NOT NULL,
	PRIMARY KEY (task_id, pool_id, bucket)
) WITH (fillfactor = 50);
COMMENT ON TABLE cudal1.bucket IS
'the score intervals of a task that hold or held candidates of a pool: count and exact sums';
COMMENT ON COLUMN cudal1.bucket.bucket IS
'k: rewards in [k * width, (k + 1) * width), of ln reward where score_scale is log';
COMMENT ON COLUMN cudal1.bucket.sum_micro IS 'sum of round(reward * 1e6)';
COMMENT ON COLUMN cudal1.bucket.sum_ln_nano IS 'sum of round(ln(reward) * 1e9)';

CREATE TABLE cudal1.bucket_slot (
	task_id				bigint NOT NULL,
	pool_id				int NOT NULL,
	bucket				int NOT NULL,
	slot				bigint NOT NULL CHECK (slot >= 0),
	candidate_id		bigint NOT NULL,
	micro				bigint NOT NULL,
	ln_nano				bigint NOT NULL,
	place				bigint NOT NULL CHECK (place >= 0),
	PRIMARY KEY (task_id, pool_id, bucket, slot),
	UNIQUE (task_id, pool_id, place),
	UNIQUE (candidate_id, pool_id)
);
COMMENT ON TABLE cudal1.bucket_slot IS
'dense slots 0 .. codes - 1 of each bucket, and dense places over all buckets of a task in a pool,
so that a uniform pick is one index entry';
COMMENT ON COLUMN cudal1.bucket_slot.micro IS
'what the candidate added to sum_micro; known still when its reward has changed';
COMMENT ON COLUMN cudal1.bucket_slot.ln_nano IS 'what the candidate added to sum_ln_nano';
COMMENT ON COLUMN cudal1.bucket_slot.place IS
'its number among all placed candidates of the task and pool, 0 .. placement.codes - 1; kept when it
changes its bucket';
-- the best of a pool, and the clusters of islands before these are founded
CREATE INDEX bucket_slot_best ON cudal1.bucket_slot (task_id, pool_id, micro DESC);

CREATE TABLE cudal1.placement (
	task_id				bigint NOT NULL,
	pool_id				int NOT NULL,
	codes				bigint NOT NULL CHECK (codes >= 0),
	PRIMARY KEY (task_id, pool_id)
) WITH (fillfactor = 50);
COMMENT ON TABLE cudal1.placement IS
'how many candidates of a task are in buckets of a pool; the row of pool main is the lock of all of
the task''s pools';

CREATE TABLE cudal1.unplaced (
	task_id				bigint,
	pool_id				int,
	candidate_id		bigint,
	CHECK (num_nonnulls(pool_id, candidate_id) = 1),
	CHECK (candidate_id IS NULL OR task_id IS NOT NULL)
);
COMMENT ON TABLE cudal1.unplaced IS
'what the next claim is to place: a trainer''s transaction that placed it itself would hold up every
verdict of the task until it ends';
COMMENT ON COLUMN cudal1.unplaced.task_id IS
'without a candidate: the task whose islands are to be founded in the pool; NULL: the seeds of the
pool are to be compared, since verdicts may have changed while it was opened';
COMMENT ON COLUMN cudal1.unplaced.candidate_id IS
'a candidate that was proposed again, in all of its pools';

CREATE TABLE cudal1.island (
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	pool_id				int NOT NULL REFERENCES cudal1.pool (pool_id),
	island				int NOT NULL CHECK (island >= 0),
	epoch				int NOT NULL DEFAULT 0,
	registrations		bigint NOT NULL DEFAULT 0,
	since_reset			bigint NOT NULL DEFAULT 0,
	best_reward			float8,
	PRIMARY KEY (task_id, pool_id, island)
);
COMMENT ON TABLE cudal1.island IS
'islands of a task in a pool (FunSearch semantics); an epoch ends when an island is wiped and
founded anew';
COMMENT ON COLUMN cudal1.island.registrations IS
'candidates registered since the island''s epoch began; sets the cluster temperature';
COMMENT ON COLUMN cudal1.island.since_reset IS
'candidates registered from the island''s own prompts since the task''s last reset; their sum sets
off the next';

CREATE TABLE cudal1.island_cell (
	task_id				bigint NOT NULL,
	pool_id				int NOT NULL,
	island				int NOT NULL,
	epoch				int NOT NULL,
	cluster				bigint NOT NULL,
	codes				bigint NOT NULL CHECK (codes >= 0),
	PRIMARY KEY (task_id, pool_id, island, epoch, cluster)
);
COMMENT ON TABLE cudal1.island_cell IS 'clusters of an island: candidates of equal reward';
COMMENT ON COLUMN cudal1.island_cell.cluster IS 'round(reward * 100): the signature of a cluster';

CREATE TABLE cudal1.island_slot (
	task_id				bigint NOT NULL,
	pool_id				int NOT NULL,
	island				int NOT NULL,
	epoch				int NOT NULL,
	cluster				bigint NOT NULL,
	slot				bigint NOT NULL CHECK (slot >= 0),
	candidate_id		bigint NOT NULL,
	PRIMARY KEY (task_id, pool_id, island, epoch, cluster, slot),
	UNIQUE (candidate_id, task_id, pool_id, island, epoch)
);
COMMENT ON TABLE cudal1.island_slot IS
'dense slots of each cluster of an island; rows of ended epochs stay as its history, and keep the
wiped from coming back';
