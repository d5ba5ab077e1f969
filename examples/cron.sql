-- Upkeep by pg_cron: psql -d DATABASE -f examples/cron.sql as a superuser, in the database that
-- cron.database_name names. Run again, it replaces the jobs of the same names.
\set ON_ERROR_STOP on

-- Without background workers pg_cron connects to localhost by TCP, where Debian wants a password,
-- and no job would run.
DO $$
BEGIN
    IF current_setting('cron.use_background_workers', true) IS DISTINCT FROM 'on' THEN
        RAISE EXCEPTION 'cron.use_background_workers is not on'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                HINT = 'Set it to on in postgresql.conf, and restart the server.';
    END IF;
END $$;

-- the best codes, measured again where a verdict is a week old or its driver has changed
SELECT cron.schedule('cudal1 reverify', '0 3 * * *', $$SELECT cudal1_reverify('7 days')$$);

-- each device against itself: cudal1_status() names one that drifts
SELECT cron.schedule('cudal1 devices', '*/30 * * * *', $$SELECT cudal1_measure_aa()$$);

-- texts of candidates that failed three months ago; verdicts stay
SELECT cron.schedule('cudal1 retention', '0 4 * * 0', $$SELECT cudal1_prune('90 days')$$);

-- pg_cron keeps a row of each run for ever
SELECT cron.schedule('cudal1 runs', '15 4 * * *',
    $$DELETE FROM cron.job_run_details WHERE end_time < now() - interval '30 days'$$);

-- derived numbers against their sources: a difference becomes a warning in the server's log
SELECT cron.schedule('cudal1 check', '30 4 * * *', $job$DO $$
DECLARE
    found text;
BEGIN
    SELECT string_agg(c::text, '; ') INTO found FROM cudal1_check() AS c;
    IF found IS NOT NULL THEN
        RAISE WARNING 'cudal1_check: %', found;
    END IF;
END $$$job$);
