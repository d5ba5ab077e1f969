SELECT coalesce(array_agg(candidate_id), '{}') AS ids FROM (SELECT candidate_id FROM cudal1.candidate WHERE state <> 'failed' ORDER BY candidate_id DESC LIMIT 3) AS c \gset
SELECT count(*) FROM cudal1_wait(:ids::bigint[], '20 milliseconds');
