-- The names, arguments, defaults and columns that users rely on. What changes here breaks somebody's trainer or report.
SET client_min_messages = error;
CREATE EXTENSION cudal1;
RESET client_min_messages;

\pset format unaligned
\pset tuples_only on

-- functions for users, in the extension's schema
SELECT p.proname AS function, pg_get_function_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid JOIN pg_proc p ON p.oid = d.objid
WHERE d.refclassid = 'pg_extension'::regclass AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
	AND e.extname = 'cudal1' AND p.pronamespace = e.extnamespace
ORDER BY 1, 2;

-- the entry points of workers and agents
SELECT p.proname AS function, pg_get_function_arguments(p.oid) AS arguments, pg_get_function_result(p.oid) AS result
FROM pg_proc p
WHERE p.pronamespace = 'cudal1'::regnamespace
	AND p.proname IN ('register_device', 'claim', 'heartbeat', 'finish', 'release', 'expire_leases')
ORDER BY 1, 2;

-- columns that users' queries name: those that are not there
SELECT v.relation, c.name
FROM (VALUES
	('task', 'task_id name language level problem reference signature options profile device device_model'),
	('candidate', 'candidate_id task_id code code_hash state failure detail reward score imported created_at decided_at'),
	('measurement', 'measurement_id task_id candidate_id kind device_id device_model profile outcome accepted same_device score reward '
		'lower upper variance pairs rounds bucket_means reference_seconds candidate_seconds checks max_error protocol '
		'detail device_seconds startup_seconds clock_seconds wall_seconds code_hash code_key environment samples evidence measured_at'),
	('proposal', 'proposal_id task_id candidate_id method prompt_id group_key proposal_key island response created_at'),
	('prompt', 'prompt_id task_id kind strategy temperature seed exemplars scores probabilities prompt created_at'),
	('profile', 'name shipped purpose pairs looks bucket_seconds window_seconds estimator precision_goal confidence half_width_limit variance_limit '
		'checks check_seconds run_limit_factor run_limit_max build_seconds memory_mb budget_seconds group_most attempts verify_above'),
	('device', 'device_id device_key host class model cores languages details enabled last_seen'),
	('activity', 'job_id kind task candidate_id device worker phase pairs rounds estimate lower upper seconds_left since')
) AS v (relation, names), unnest(string_to_array(v.names, ' ')) AS c (name)
WHERE NOT EXISTS (SELECT FROM pg_attribute a
				  WHERE a.attrelid = ('cudal1.' || v.relation)::regclass AND a.attname = c.name AND a.attnum > 0 AND NOT a.attisdropped);

-- an extension's object without a comment is one that nobody can look up
SELECT i.type, i.identity
FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid, pg_identify_object(d.classid, d.objid, 0) i
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'cudal1'
	AND i.type IN ('function', 'procedure', 'table', 'view', 'schema') AND obj_description(d.objid, d.classid::regclass::name) IS NULL
ORDER BY 1, 2;

-- nothing is open to PUBLIC
SELECT p.oid::regprocedure AS function
FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
WHERE (p.pronamespace = 'cudal1'::regnamespace OR p.proname LIKE 'cudal1\_%') AND a.grantee = 0
ORDER BY 1;

-- every function pins its search_path, is written in C, or was parsed when it was created
SELECT p.oid::regprocedure AS function
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE (p.pronamespace = 'cudal1'::regnamespace OR p.proname LIKE 'cudal1\_%')
	AND l.lanname <> 'c' AND p.prosqlbody IS NULL
	AND NOT coalesce(p.proconfig, '{}') @> '{"search_path=pg_catalog, pg_temp"}'
ORDER BY 1;

-- the JIT compiler, whose second a disabled path's cost would start, is off wherever paths are
SELECT p.oid::regprocedure AS function
FROM pg_proc p
WHERE (p.pronamespace = 'cudal1'::regnamespace OR p.proname LIKE 'cudal1\_%')
	AND p.proconfig && '{enable_seqscan=off,enable_bitmapscan=off,enable_sort=off,enable_hashjoin=off,enable_mergejoin=off}'
	AND NOT p.proconfig @> '{jit=off}'
ORDER BY 1;

-- the extension goes as it came
DROP EXTENSION cudal1;
SELECT count(*) FROM pg_namespace WHERE nspname = 'cudal1';
