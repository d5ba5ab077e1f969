-- places over all buckets of a task, in the order in which a draw at random counted codes before
ALTER TABLE cudal1.bucket_slot ADD COLUMN place bigint CHECK (place >= 0);

UPDATE cudal1.bucket_slot AS s SET place = o.place
FROM (SELECT q.candidate_id, pg_catalog.row_number() OVER (PARTITION BY q.task_id ORDER BY q.bucket, q.slot) - 1 AS place
	  FROM cudal1.bucket_slot AS q) AS o
WHERE o.candidate_id OPERATOR(pg_catalog.=) s.candidate_id;

ALTER TABLE cudal1.bucket_slot ALTER COLUMN place SET NOT NULL, ADD UNIQUE (task_id, place);

CREATE TABLE cudal1.placement (
	task_id				bigint PRIMARY KEY,
	codes				bigint NOT NULL CHECK (codes >= 0)
) WITH (fillfactor = 50);

INSERT INTO cudal1.placement (task_id, codes)
SELECT s.task_id, pg_catalog.count(*) FROM cudal1.bucket_slot AS s GROUP BY s.task_id;

ALTER TABLE cudal1.device ADD COLUMN lost int NOT NULL DEFAULT 0, ADD COLUMN lost_candidate bigint, ADD COLUMN rests_until timestamptz,
	ADD COLUMN hardware text NOT NULL GENERATED ALWAYS AS (
		CASE WHEN class = 'cuda' AND pg_catalog.starts_with(pg_catalog.substr(device_key, pg_catalog.length(host) + 2), 'GPU-')
			 THEN pg_catalog.substr(device_key, pg_catalog.length(host) + 2) ELSE device_key END) STORED;
