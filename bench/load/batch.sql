\set from random(1, 100000)
SELECT count(*) FROM cudal1_submit_batch(ARRAY(SELECT any_task() FROM generate_series(1, 50)), ARRAY(SELECT 'code ' || :from + (random() * 500)::int FROM generate_series(1, 50)), 'load',
	proposal_keys => ARRAY(SELECT CASE WHEN random() < 0.5 THEN 'key ' || (random() * 50000)::int END FROM generate_series(1, 50)));
