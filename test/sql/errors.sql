-- What a session reads of common mistakes: the name, near names, a hint.
\set SHOW_CONTEXT never
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS cudal1;
CREATE ROLE regress_errors;
CREATE FUNCTION mine() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN cudal1_submit('softmx', 'x'); END$$;
SELECT cudal1_add_task('softmax', 'class Model: pass', 'pytorch') > 0 AS added;
SELECT cudal1_submit('softmx', 'x');
SELECT mine();
SELECT * FROM cudal1_prompt('softmax', strategy => 'bukket');
SELECT cudal1_grant('regress_eror', 'trainer');
SELECT cudal1_add_task('t', 'x', 'c');
-- what is done otherwise than it was meant
SET client_min_messages = notice;
SELECT cudal1_add_task('modell', 'class Modell: pass', 'pytorch') > 0 AS added;
SELECT cardinality(exemplars) FROM cudal1_prompt('softmax', n => 100);
SELECT cudal1_add_prompt_template('mine', 'contrastive', '{taks}: {reference} {exemplars} {x}', 'a {rol}') > 0 AS added;
SELECT candidate_id AS id FROM cudal1_prompt('softmax') p, cudal1_submit_response(p.prompt_id, 'no code') candidate_id \gset
SELECT cudal1_evaluate(ARRAY[:id]);
SELECT cudal1_import_result('softmax', NULL, 2, 'published', 'A100') AS id \gset
SELECT cudal1_evaluate(ARRAY[:id]);
SELECT cudal1_import_result('softmax', 'v', 2, 'imported', 'A100') AS id \gset
SELECT cudal1_evaluate(ARRAY[:id]);
SELECT cudal1_reverify();
SELECT cudal1_cancel_jobs(ARRAY[-1]);
SELECT cudal1.register_device('h', '{"key": "cpu:0", "class": "cpu", "model": "M", "languages": ["pytorch"]}') > 0 AS registered;
SELECT cudal1_submit('softmax', 'x', proposal_key => 'k') > 0 AS submitted;
SELECT cudal1_submit('softmax', 'y', proposal_key => 'k') > 0 AS submitted;
UPDATE cudal1.device SET last_seen = now() - interval '9 days';
SELECT cudal1_submit('softmax', 'z') > 0 AS submitted;
SELECT cudal1_retire_task('softmax', 'it is wrong');
SELECT cudal1_add_task('softmax', 'class Model: pass', 'pytorch') > 0 AS added;
SELECT cudal1_restore_task('softmax');
SELECT cudal1_import_result('softmax', 'w', 2, 'imported', 'A100') AS w \gset
SELECT cudal1_withdraw(:w, 'it cheats');
SELECT cudal1_cancel(ARRAY[:w]);
SELECT cudal1_import_result('softmax', 'w', 2, 'imported', 'A100') = :w AS same;
SET client_min_messages = error;
-- without a grant
GRANT EXECUTE ON FUNCTION mine() TO regress_errors;
SET ROLE regress_errors;
SELECT mine();
SELECT * FROM cudal1_status();
SELECT * FROM cudal1.task;
RESET ROLE;
SELECT cudal1_grant('regress_errors', 'trainer');
SET ROLE regress_errors;
SELECT cudal1_evaluate('{1}');
SELECT * FROM cudal1.measurement;
UPDATE cudal1.candidate SET reward = 9;
RESET ROLE;
SELECT cudal1_revoke('regress_errors', 'trainer');
DROP FUNCTION mine();
DROP ROLE regress_errors;
DROP EXTENSION cudal1;
