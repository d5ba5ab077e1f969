/*
 * What workers and agents need beside the entry points of the queue.
 */

CREATE FUNCTION cudal1.preloaded() RETURNS boolean
LANGUAGE c STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_preloaded';
COMMENT ON FUNCTION cudal1.preloaded() IS
'whether the server has cudal1 in shared_preload_libraries, so that it measures by itself';

CREATE FUNCTION cudal1.wake() RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'cudal1_wake';
COMMENT ON FUNCTION cudal1.wake() IS
'when the transaction commits, wakes this database''s worker, and sends NOTIFY cudal1_work if an agent said it is idle';

CREATE FUNCTION cudal1.wake_waiters() RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'cudal1_wake_waiters';
COMMENT ON FUNCTION cudal1.wake_waiters() IS
'when the transaction commits, wakes the sessions that wait for a verdict';

CREATE FUNCTION cudal1.announce_idle(seconds float8) RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'cudal1_announce_idle';
COMMENT ON FUNCTION cudal1.announce_idle(float8) IS
'an agent outside the server found no work and listens on cudal1_work; seconds: how long this holds (above 0, at most 3600). It claims once more after the call, then waits';

CREATE FUNCTION cudal1.worker_state(OUT database text, OUT pid int, OUT since timestamptz, OUT note text) RETURNS SETOF record
LANGUAGE c VOLATILE STRICT PARALLEL RESTRICTED ROWS 4
AS 'MODULE_PATHNAME', 'cudal1_worker_state';
COMMENT ON FUNCTION cudal1.worker_state() IS
'one row for each database in cudal1.databases: its worker''s process (NULL: none), since when it is so, and what it does; no row without preloading';

CREATE FUNCTION cudal1.check_database() RETURNS boolean
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'cudal1_check_database';
COMMENT ON FUNCTION cudal1.check_database() IS
'whether this database has a worker; warns if not, and says why';

CREATE FUNCTION cudal1.take_back(server text, worker text) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	j			cudal1.job;
	taken		bigint := 0;
BEGIN
	-- one that a session is changing just now waits for its lease to end
	FOR j IN
		SELECT x.* FROM cudal1.job AS x JOIN cudal1.candidate AS c USING (candidate_id)
			WHERE x.state = 'running' AND starts_with(x.worker, server || ' ')
				AND x.worker <> take_back.worker AND cudal1.owns(x.login)
			ORDER BY x.candidate_id, x.job_id
			FOR UPDATE OF x SKIP LOCKED FOR NO KEY UPDATE OF c SKIP LOCKED
	LOOP
		/*
		 * A dead worker is no failure of its candidate. But a job that was claimed again and again without ever failing
		 * may be what kills the workers: from then on it counts, so that it ends.
		 */
		IF j.attempt - j.failures >= 10 THEN
			UPDATE cudal1.job AS x SET lease_until = '-infinity' WHERE x.job_id = j.job_id;
			PERFORM cudal1.expire_leases();
		ELSE
			PERFORM cudal1.give_back(j);
		END IF;
		taken := taken + 1;
	END LOOP;
	RETURN taken;
END
$$;
COMMENT ON FUNCTION cudal1.take_back(text, text) IS
'requeues at once what former workers of a server were measuring when they died, and returns the
number of jobs; server: the beginning that the names of its workers share, worker: the caller''s own
name. Claims of other roles stay';

REVOKE ALL ON FUNCTION cudal1.wake() FROM PUBLIC;
REVOKE ALL ON FUNCTION cudal1.wake_waiters() FROM PUBLIC;
REVOKE ALL ON FUNCTION cudal1.announce_idle(float8) FROM PUBLIC;
REVOKE ALL ON FUNCTION cudal1.worker_state() FROM PUBLIC;
REVOKE ALL ON FUNCTION cudal1.check_database() FROM PUBLIC;
REVOKE ALL ON FUNCTION cudal1.take_back(text, text) FROM PUBLIC;

SELECT cudal1.check_database();
