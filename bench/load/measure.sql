SELECT coalesce(max(job_id), 0) AS job, coalesce(max(attempt), 0) AS attempt FROM cudal1.claim(:client_id + 1, 'worker ' || :client_id) \gset
SELECT cudal1.heartbeat(:job, :attempt, '{"phase": "measuring", "pairs": 3, "estimate": 1.1}');
SELECT CASE WHEN random() < 0.97 THEN cudal1.finish(:job, :attempt, any_result()) ELSE cudal1.release(:job, :attempt) END;
