\set what random(1, 100)
SELECT coalesce(array_agg(candidate_id), '{}') AS ids FROM (SELECT candidate_id FROM cudal1.candidate ORDER BY candidate_id DESC LIMIT 20) AS c WHERE random() < 0.2 \gset
\if :what <= 30
SELECT cudal1_cancel(:ids::bigint[]);
\elif :what <= 50
SELECT cudal1_reverify('0 seconds', 3);
\elif :what <= 65
SELECT cudal1_evaluate(:ids::bigint[], NULL, 'quick');
\elif :what <= 90
SELECT cudal1_import_result(any_task(), 'code ' || :what * 1000 + (random() * 1000)::int, random() * 3, 'import', 'elsewhere');
\else
SELECT cudal1.expire_leases();
\endif
