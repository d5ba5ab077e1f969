/*
 * Scores from elsewhere, one for each candidate and device: the same code is often published with its scores on several
 * devices, and the reward of a candidate holds only one of them.
 */

CREATE TABLE cudal1.imported_score (
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	device				text NOT NULL CHECK (device OPERATOR(pg_catalog.<>) ''),
	reward				float8 NOT NULL CHECK (reward OPERATOR(pg_catalog.>=) 0),
	score				float8,
	imported_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	PRIMARY KEY (candidate_id, device),
	CHECK ((reward OPERATOR(pg_catalog.=) 0) OPERATOR(pg_catalog.=) (score IS NULL))
);
COMMENT ON TABLE cudal1.imported_score IS 'scores measured elsewhere, one row for each candidate and device; what reports of a device read beside measurements';
COMMENT ON COLUMN cudal1.imported_score.device IS 'the device as the source of the score names it';
COMMENT ON COLUMN cudal1.imported_score.reward IS 'conservatively rounded score; 0: the candidate failed there';
