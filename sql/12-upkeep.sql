/*
 * What operators' functions remember: the A/A candidate of each task, and which texts were given up.
 */

CREATE TABLE cudal1.aa_candidate (
	task_id				bigint PRIMARY KEY REFERENCES cudal1.task (task_id),
	candidate_id		bigint NOT NULL UNIQUE REFERENCES cudal1.candidate (candidate_id)
);
COMMENT ON TABLE cudal1.aa_candidate IS 'the reference of a task as its own candidate, made by cudal1_measure_aa(): its true speedup is 1, so what it measures is the device';

CREATE TABLE cudal1.pruned (
	candidate_id		bigint PRIMARY KEY REFERENCES cudal1.candidate (candidate_id),
	bytes				bigint NOT NULL,
	pruned_at			timestamptz NOT NULL DEFAULT pg_catalog.now()
);
COMMENT ON TABLE cudal1.pruned IS 'failed candidates whose code cudal1_prune() removed; their hash, verdict and detail stay';
COMMENT ON COLUMN cudal1.pruned.bytes IS 'length of the code that was removed';
