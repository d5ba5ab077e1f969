-- One row for each thing that is wrong with a database at rest, none where all is well.
SELECT 'bucket', r::text FROM cudal1.check_of_buckets() AS r
UNION ALL
SELECT 'undecided without exactly one job', c.candidate_id::text FROM cudal1.candidate AS c
	WHERE c.state IN ('queued', 'measuring', 'verifying')
		AND (SELECT count(*) FROM cudal1.job AS j WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify')) <> 1
UNION ALL
SELECT 'decided with a job', c.candidate_id::text FROM cudal1.candidate AS c
	WHERE c.state IN ('successful', 'failed', 'discarded') AND NOT c.imported
		AND EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = c.candidate_id AND j.kind = 'measure')
UNION ALL
SELECT 'state and job disagree', c.candidate_id || ' ' || c.state || ' ' || j.kind || ' ' || j.state
	FROM cudal1.candidate AS c JOIN cudal1.job AS j USING (candidate_id)
	WHERE j.kind = 'measure' AND NOT c.imported AND c.state <> CASE j.state WHEN 'queued' THEN 'queued' ELSE 'measuring' END
		OR j.kind = 'verify' AND c.state NOT IN ('verifying', 'successful', 'failed')
UNION ALL
SELECT 'no proposal', c.candidate_id::text FROM cudal1.candidate AS c
	WHERE NOT EXISTS (SELECT FROM cudal1.proposal AS p WHERE p.candidate_id = c.candidate_id)
UNION ALL
SELECT 'reward of no measurement', c.candidate_id::text FROM cudal1.candidate AS c LEFT JOIN cudal1.measurement AS m USING (measurement_id)
	WHERE c.state = 'successful' AND NOT c.imported AND (m.reward IS DISTINCT FROM c.reward OR NOT m.accepted)
UNION ALL
SELECT 'reward from another model', c.candidate_id::text FROM cudal1.candidate AS c JOIN cudal1.measurement AS m USING (measurement_id) JOIN cudal1.task AS t ON t.task_id = c.task_id
	WHERE c.state = 'successful' AND m.device_model <> t.device_model
UNION ALL
SELECT 'a score above 3 with one measurement', c.candidate_id::text FROM cudal1.candidate AS c
	WHERE c.state = 'successful' AND NOT c.imported AND c.score > 3
		AND (SELECT count(*) FROM cudal1.measurement AS m WHERE m.candidate_id = c.candidate_id AND m.accepted) < 2;
