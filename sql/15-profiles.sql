/*
 * The shipped measurement profiles. A reward means something only beside the numbers it was
 * measured with, so shipped rows never change: a dump leaves them out, and the version that
 * restores it brings its own.
 */

INSERT INTO cudal1.profile
	(name, shipped, purpose,
	 pairs, looks, futility_pairs, bucket_seconds, block_seconds, window_seconds,
	 bucket_estimator, score_estimator, precision_goal, precision_slope, confidence,
	 half_width_limit, variance_limit, first_checks, min_checks, max_checks, check_seconds,
	 audits, audit_seconds, audit_sigma, audit_margin,
	 run_limit_factor, run_limit_min, run_limit_max, build_seconds, memory_mb, arena_mb,
	 attempts, disturbed_factor, disturbed_attempts, cold_cache, budget_factor, budget_min,
	 verify_above, verify_best_factor, verify_floor, verify_agreement, verify_wait)
VALUES
	('default', true,
		'training rewards: stops as soon as the interval is narrow enough, a few seconds for most '
		'candidates',
	 7, '{7,14,21}', 3, 0.5, 0.010, 1800,
	 'median', 'median_of_buckets', 0.005, 0.05, 0.95, 0.01, NULL,
	 5, 50, 1000, 3,
	 400, 1, 3, 0.25,
	 1000, 1, 30, 120, 4096, 256,
	 3, 2, 3, false, 8, 120,
	 3, 2, 1, 0.1, '30 seconds'),
	('train', true,
		'groups of a trainer: two to four pairs, intervals of 2 %, checks and audits that pay no '
		'cheat more than that',
	 2, '{2,3,4}', 2, 0.25, 0.010, 1800,
	 'median', 'median_of_buckets', 0.02, 0.05, 0.95, 0.05, NULL,
	 5, 50, 1000, 1,
	 200, 0.5, 3, 0.25,
	 1000, 1, 30, 120, 4096, 256,
	 3, 0.5, 3, false, 8, 60,
	 3, 2, 1, 0.1, '30 seconds'),
	('quick', true,
		'demonstrations and tests: seven buckets of 0.1 s, wider intervals, fewer checks',
	 7, '{7}', 3, 0.1, 0.010, 1800,
	 'median', 'median_of_buckets', 0.005, 0.05, 0.95, 0.05, NULL,
	 5, 10, 1000, 0.5,
	 50, 0.3, 3, 0.25,
	 1000, 1, 30, 120, 4096, 256,
	 3, 2, 3, false, 8, 60,
	 3, 2, 1, 0.1, '0 seconds'),
	('certify', true,
		'null candidates of a task: whether the checks are passed counts, so times are hardly '
		'taken and nothing is verified',
	 2, '{2}', NULL, 0.02, 0.002, 60,
	 'median', 'median_of_buckets', 0.005, 0.05, 0.95, NULL, NULL,
	 5, 10, 50, 0.2,
	 0, 0, 3, 0.25,
	 1000, 1, 30, 120, 4096, 256,
	 3, 1000000, 3, false, NULL, 120,
	 NULL, NULL, 1, 0.1, NULL),
	('paper', true,
		'CUDA-L1, section 2.4.4, to the letter: 30 minutes a candidate, 7 buckets, each the mean '
		'of raw ratios, discarded at once above a variance of 0.005, no bound by audits, so that '
		'code is paid that works in timed runs alone; 1000 checks. Other than there: a round is a '
		'block of 10 ms on each side, every run has fresh inputs, every bucket fresh processes, '
		'another process on the GPU is noted and no more, and a task without a successful code '
		'has the previous maximum 1',
	 7, '{7}', NULL, 1800.0 / 7, 0.010, 1800,
	 'mean', 'median_of_buckets', 0, 0, 0.95, NULL, 0.005,
	 5, 1000, 1000, 3,
	 0, 0, 3, 0.25,
	 1000, 1, 30, 120, 4096, 256,
	 3, 2, 3, false, NULL, 120,
	 3, 2, 0, 0.1, NULL),
	('paper_eval', true,
		'published tables, CUDA-L1, section 3.2: 20 minutes a candidate, the mean of all ratios, '
		'no verification, no bound by audits; blocks, inputs and processes as in paper',
	 7, '{7}', NULL, 1200.0 / 7, 0.010, 1200,
	 'mean', 'mean_of_ratios', 0, 0, 0.95, NULL, NULL,
	 5, 1000, 1000, 3,
	 0, 0, 3, 0.25,
	 1000, 1, 30, 120, 4096, 256,
	 3, 2, 3, false, NULL, 120,
	 NULL, NULL, 0, 0.1, NULL);

CREATE FUNCTION cudal1.guard_profile() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		IF NEW.shipped THEN
			RAISE EXCEPTION USING ERRCODE = '42501',
				MESSAGE = format('profile "%s" cannot be marked as shipped', NEW.name),
				DETAIL = 'Shipped profiles come with the extension''s script only.';
		END IF;
	ELSIF OLD.shipped THEN
		RAISE EXCEPTION USING ERRCODE = '42501',
			MESSAGE = format('shipped profile "%s" is immutable', OLD.name),
			HINT = 'Copy it under a new name with cudal1_add_profile() and change the copy.';
	ELSIF TG_OP = 'UPDATE' THEN
		IF NEW.shipped THEN
			RAISE EXCEPTION USING ERRCODE = '42501',
				MESSAGE = format('profile "%s" cannot be marked as shipped', NEW.name);
		ELSIF EXISTS (SELECT FROM cudal1.measurement AS m WHERE m.profile = OLD.name) THEN
			RAISE EXCEPTION USING ERRCODE = '42501',
				MESSAGE = format('profile "%s" has measurements and is immutable', OLD.name),
				HINT = 'Copy it under a new name with cudal1_add_profile() and change the copy.';
		END IF;
	ELSIF EXISTS (SELECT FROM cudal1.job AS j WHERE j.profile = OLD.name) THEN
		RAISE EXCEPTION USING ERRCODE = '23503',
			MESSAGE = format('profile "%s" is wanted by jobs in the queue', OLD.name);
	ELSE
		RETURN OLD;
	END IF;
	RETURN NEW;
END
$$;
COMMENT ON FUNCTION cudal1.guard_profile() IS
'trigger: keeps shipped profiles, and profiles that measurements refer to, as they are';

CREATE TRIGGER guard_profile BEFORE INSERT OR UPDATE OR DELETE ON cudal1.profile
	FOR EACH ROW EXECUTE FUNCTION cudal1.guard_profile();

CREATE FUNCTION @extschema@.cudal1_add_profile(name text, base text, changes jsonb, purpose text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
	SET standard_conforming_strings = on
AS $$
#variable_conflict use_column
DECLARE
	p		cudal1.profile;
	valid	text[];
	-- what cudal1-measure takes (runner/supervisor/job.c); NULL is fine wherever the table has it
	limits	constant jsonb := '{
		"futility_pairs": [2, 1000], "bucket_seconds": [1e-3, 1e5], "block_seconds": [1e-5, 100],
		"window_seconds": [1e-2, 1e6], "precision_goal": [0, 1], "precision_slope": [0, 1],
		"confidence": [0.5, 0.999999], "half_width_limit": [1e-6, 10],
		"variance_limit": [1e-12, 1e6], "first_checks": [1, 1000], "min_checks": [0, 1e6],
		"max_checks": [0, 1e6], "check_seconds": [0, 1e5], "audits": [0, 1e6],
		"audit_seconds": [0, 1e5], "audit_sigma": [0, 100], "audit_margin": [0, 100],
		"run_limit_factor": [1, 1e9], "run_limit_min": [1e-3, 1e5], "run_limit_max": [1e-3, 1e5],
		"build_seconds": [0.1, 1e5], "memory_mb": [64, 1073741824], "arena_mb": [1, 1048576],
		"disturbed_factor": [1e-3, 1e6], "disturbed_attempts": [1, 100],
		"budget_factor": [1, 1e6], "budget_min": [1e-3, 1e6], "verify_above": [1, 1e9],
		"verify_best_factor": [1, 1e9], "verify_floor": [0, 1e9],
		"verify_agreement": [1e-9, 1e9]}';
	unknown	text;
	m		record;
	broken	text;
	members	text[];
	rule	text;
BEGIN
	IF cudal1_add_profile.name IS NULL OR base IS NULL OR changes IS NULL
		OR cudal1_add_profile.purpose IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004',
			MESSAGE = 'name, base, changes and purpose must not be null';
	END IF;
	IF NOT cudal1.matches(cudal1_add_profile.name, '^[a-z][a-z0-9_]{0,62}$', 63) THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = 'name must be a lower case letter, and up to 62 lower case letters, digits '
			'and _ after it';
	END IF;
	IF jsonb_typeof(changes) <> 'object' THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = 'changes must be a JSON object of profile columns';
	END IF;
	SELECT * INTO p FROM cudal1.profile AS b WHERE b.name = base;
	PERFORM cudal1.check_profile(base);
	SELECT array_agg(a.attname::text ORDER BY a.attnum) INTO valid
		FROM pg_attribute AS a
		WHERE a.attrelid = 'cudal1.profile'::regclass AND a.attnum > 0 AND NOT a.attisdropped
			AND a.attname NOT IN ('name', 'shipped', 'purpose');
	SELECT k INTO unknown FROM jsonb_object_keys(changes) AS k WHERE k <> ALL (valid) LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = format('changes has the unknown member "%s"', unknown),
			HINT = format('Valid members are %s.', array_to_string(valid, ', '));
	END IF;
	FOR m IN
		SELECT e.key, e.value, a.attnotnull AS needed, format_type(a.atttypid, NULL) AS type
			FROM jsonb_each(changes) AS e
				JOIN pg_attribute AS a ON a.attrelid = 'cudal1.profile'::regclass
				AND a.attname = e.key
			ORDER BY a.attnum
	LOOP
		IF m.value = 'null' AND m.needed THEN
			RAISE EXCEPTION USING ERRCODE = '22023',
				MESSAGE = format('member "%s" of changes must not be null', m.key);
		END IF;
		BEGIN
			p := jsonb_populate_record(p, jsonb_build_object(m.key, m.value));
		EXCEPTION WHEN data_exception THEN
			RAISE EXCEPTION USING ERRCODE = '22023',
				MESSAGE = format('member "%s" of changes must be of type %s', m.key, m.type);
		END;
		IF m.type = 'double precision'
			AND to_jsonb(p) ->> m.key IN ('NaN', 'Infinity', '-Infinity') THEN
			RAISE EXCEPTION USING ERRCODE = '22023',
				MESSAGE = format('member "%s" of changes must be finite', m.key);
		END IF;
	END LOOP;
	p.name := cudal1_add_profile.name;
	p.shipped := false;
	p.purpose := cudal1_add_profile.purpose;
	IF array_ndims(p.looks) > 1
		OR EXISTS (SELECT FROM unnest(p.looks) WITH ORDINALITY AS l(pairs, i)
			   WHERE l.pairs IS NULL OR l.pairs NOT BETWEEN 2 AND 1000
				OR l.pairs <= p.looks[l.i - 1]) THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = 'looks must be ascending numbers of pairs, each between 2 and 1000';
	END IF;
	BEGIN
		INSERT INTO cudal1.profile SELECT p.*;
	EXCEPTION WHEN check_violation THEN
		-- ranges stand in the table alone
		GET STACKED DIAGNOSTICS broken = CONSTRAINT_NAME;
		SELECT (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute AS a
			WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)),
				substring(regexp_replace(pg_get_constraintdef(k.oid, true),
					'::(text|double precision)', '', 'g') FROM '^CHECK \((.*)\)$')
			INTO members, rule
			FROM pg_constraint AS k WHERE k.conrelid = 'cudal1.profile'::regclass
				AND k.conname = broken;
		RAISE EXCEPTION USING ERRCODE = '22023', HINT = format('Valid is %s.', rule),
			MESSAGE = CASE cardinality(members)
				WHEN 1 THEN format('member "%s" of changes is out of range', members[1])
						   ELSE format('members %s of the profile don''t go together',
							array_to_string(members, ', ')) END;
	END;
	-- also what base brought from a version that took more
	FOR m IN
		SELECT l.key, (l.value ->> 0)::float8 AS low, (l.value ->> 1)::float8 AS high
			FROM jsonb_each(limits) AS l JOIN jsonb_each_text(to_jsonb(p)) AS v USING (key)
			WHERE v.value::float8 NOT BETWEEN (l.value ->> 0)::float8 AND (l.value ->> 1)::float8
			ORDER BY l.key LIMIT 1
	LOOP
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = format('member "%s" of changes is out of range', m.key),
			HINT = format('Valid is %s to %s.', m.low, m.high);
	END LOOP;
	RETURN p.name;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_profile(text, text, jsonb, text) IS
'adds a measurement profile: a copy of base with the columns in changes replaced; returns its name.
Errors: 42704 unknown base, 23505 a name that is taken, 22023 a bad name, an unknown column, a value
of another type or out of range';
