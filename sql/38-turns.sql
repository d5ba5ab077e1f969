/*
 * Turns. A device serves the trainer that has used it least, by seconds of the device over the
 * trainer's weight (start-time fair queuing). A claim charges an estimate; the seconds that the
 * measurement took replace it. So a trainer with one candidate waits for the job under way and for
 * at most one job of each other trainer, whatever their number, length and priority. A trainer that
 * had nothing to do begins where the last claim started, and gains nothing by having waited.
 *
 * Of the jobs of one trainer the most urgent level goes first. Within a level tasks take turns: the
 * one with the fewest seconds is served until it has used a turn's seconds more, so that groups
 * become complete one after the other. Evaluations, re-verifications and null candidates, which no
 * trainer asked for, are a trainer without a name: it begins a minute late and has an eighth of a
 * share.
 *
 * Each device counts by itself, so claims of two devices do not wait for each other. cudal1.turn
 * holds the trainers that wait for a device or are ahead. A claim looks for others that have jobs
 * among the next few names, so it reads a few index entries, however long the queue is and however
 * many trainers there are. It looks in the places alone that hold jobs for the device. What is
 * stepped over there (to be avoided, not due, locked) is read, too.
 */
CREATE TYPE cudal1.queue_place AS (name text, language text, cores int);
COMMENT ON TYPE cudal1.queue_place IS
'where jobs wait: the class, model or key of a device, the language, the number of cores';

CREATE FUNCTION cudal1.tasks_in_turn(device_id bigint, places cudal1.queue_place[], trainer text,
	level int, task_level float8, OUT places_of cudal1.queue_place[], OUT tasks bigint[])
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	WITH RECURSIVE w AS (
		SELECT p AS place, h.task_id
			FROM unnest(tasks_in_turn.places) AS p CROSS JOIN LATERAL (
				SELECT x.task_id FROM cudal1.job AS x
					WHERE x.device = p.name AND x.language = p.language AND x.cores = p.cores
						AND x.state = 'queued' AND x.trainer = tasks_in_turn.trainer
						AND x.priority = level
					ORDER BY x.task_id LIMIT 1) AS h
		UNION ALL
		SELECT w.place, h.task_id
			FROM w CROSS JOIN LATERAL (
				SELECT x.task_id FROM cudal1.job AS x
					WHERE x.device = (w.place).name AND x.language = (w.place).language
						AND x.cores = (w.place).cores AND x.state = 'queued'
						AND x.trainer = tasks_in_turn.trainer AND x.priority = level
						AND x.task_id > w.task_id
					ORDER BY x.task_id LIMIT 1) AS h)
	SELECT array_agg(o.place), array_agg(o.task_id) INTO places_of, tasks
		FROM (SELECT w.*
				FROM w LEFT JOIN cudal1.task_turn AS k
					ON k.device_id = tasks_in_turn.device_id
						AND k.trainer = tasks_in_turn.trainer AND k.task_id = w.task_id
				ORDER BY coalesce(k.used, task_level), w.task_id) AS o;
END
$$;
COMMENT ON FUNCTION cudal1.tasks_in_turn IS
'the tasks of which a trainer has jobs of this priority in the places, each with its place, those
with the fewest seconds on the device first. task_level: where a task begins that had no job';

CREATE FUNCTION cudal1.take_job(device_id bigint, model text, same bigint[],
	places cudal1.queue_place[], trainer text, task_id bigint, task_level float8)
RETURNS cudal1.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	moment	CONSTANT timestamptz := clock_timestamp();
	level	int := 2147483647;
	parts	record;			-- places, each with the task to look for
	hit		record;
BEGIN
	LOOP
		SELECT max(h.priority) INTO level
			FROM unnest(take_job.places) AS p CROSS JOIN LATERAL (
				SELECT x.priority FROM cudal1.job AS x
					WHERE x.device = p.name AND x.language = p.language AND x.cores = p.cores
						AND x.state = 'queued' AND x.trainer = take_job.trainer
						AND x.priority < level
					ORDER BY x.priority DESC LIMIT 1) AS h;
		EXIT WHEN level IS NULL;
		-- the task whose turn it is; then all, those with the fewest seconds first
		FOR half IN CASE WHEN task_id IS NULL THEN 2 ELSE 1 END .. 2 LOOP
			IF half = 1 THEN
				SELECT take_job.places AS places,
						array_fill(take_job.task_id, ARRAY[cardinality(take_job.places)]) AS tasks
					INTO parts;
			ELSE
				SELECT o.places_of AS places, o.tasks INTO parts
					FROM cudal1.tasks_in_turn(device_id, take_job.places, take_job.trainer, level,
						task_level) AS o;
			END IF;
			LOOP
				-- with its candidate, so that of two jobs of one candidate one is claimed
				SELECT f.* INTO hit
					FROM unnest(parts.places, parts.tasks) AS p(name, language, cores, task_id)
						CROSS JOIN LATERAL (
							SELECT x AS job, x.kind = 'measure' AND NOT c.imported
									AND c.state IN ('successful', 'failed') AS is_over
								FROM cudal1.job AS x JOIN cudal1.candidate AS c USING (candidate_id)
								WHERE x.device = p.name AND x.language = p.language
									AND x.cores = p.cores AND x.state = 'queued'
									AND x.trainer = take_job.trainer AND x.priority = level
									AND x.task_id = p.task_id
									AND x.not_before <= moment
									AND (x.avoid_device IS NULL OR x.avoid_device <> ALL (same)
										 OR x.avoid_until <= moment)
									AND (x.kind = 'evaluate'
										 OR EXISTS (SELECT FROM cudal1.task AS t
													WHERE t.task_id = x.task_id
														AND coalesce(t.device_model, take_job.model)
															= take_job.model))
									AND CASE WHEN x.kind IN ('evaluate', 'reverify') THEN true
											 WHEN x.kind = 'measure' AND NOT c.imported
											 THEN c.state NOT IN ('measuring', 'verifying')
											 ELSE NOT EXISTS (
												SELECT FROM cudal1.job AS y
													WHERE y.candidate_id = x.candidate_id
														AND y.state = 'running'
														AND y.kind IN ('measure', 'verify')
													OFFSET 0) END
								ORDER BY x.job_id
								LIMIT 1
								FOR UPDATE OF x SKIP LOCKED FOR NO KEY UPDATE OF c SKIP LOCKED) AS f
					LIMIT 1;
				EXIT WHEN NOT FOUND OR NOT hit.is_over;
				-- queued by a transaction that did not see the verdict yet
				DELETE FROM cudal1.job AS x WHERE x.job_id = (hit.job).job_id;
			END LOOP;
			IF (hit.job).job_id IS NOT NULL THEN
				RETURN hit.job;
			END IF;
		END LOOP;
	END LOOP;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION cudal1.take_job IS
'locks and returns the next job of a trainer for a device and its model, NULL where it can claim
none. same: the device under all of its names; places: those that hold jobs for it; task_id: the
task whose turn goes on, or NULL; task_level: where a task begins that had no job';

CREATE FUNCTION @extschema@.cudal1_set_weight(role name, weight float8)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM cudal1.raise_if(role IS NULL OR weight IS NULL,
		'22004', 'role and weight must not be null');
	PERFORM cudal1.raise_if(NOT (weight >= 0.001 AND weight <= 1000), '22023',
		'weight must lie between 0.001 and 1000');
	PERFORM cudal1.check_name('role', role);
	INSERT INTO cudal1.weight AS w (trainer, weight)
		VALUES (cudal1_set_weight.role, cudal1_set_weight.weight)
		ON CONFLICT (trainer) DO UPDATE SET weight = excluded.weight;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_set_weight(name, float8) IS
'sets a trainer''s share in devices beside others: the seconds of each device are divided among the
trainers that wait for it in proportion to their weights (0.001 to 1000; 1 where none was set), from
the next claim on. Operators only. Errors: 42704 unknown role, 22023 out of range';

CREATE FUNCTION cudal1.charge_claim(j cudal1.job, device_id bigint, claims bigint, looked text,
	used float8, task_id bigint, task_level float8)
RETURNS float8
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	unknown		CONSTANT float8 := 5;		-- seconds of a task that was not measured yet
	unasked		CONSTANT float8 := 0.125;	-- the weight of what no trainer asked for
	goes_on		CONSTANT boolean := j.task_id IS NOT DISTINCT FROM task_id;
	own			record;
BEGIN
	WITH own AS MATERIALIZED (
		SELECT coalesce(k.used, task_level) AS used,
				coalesce(w.weight, CASE j.trainer WHEN '' THEN unasked ELSE 1 END) AS weight,
				coalesce((SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY r)
							FROM unnest(k.recent) AS r), unknown) AS seconds
			FROM (VALUES (0)) AS one
				LEFT JOIN cudal1.task_turn AS k
					ON k.device_id = charge_claim.device_id AND k.trainer = j.trainer
						AND k.task_id = j.task_id
				LEFT JOIN cudal1.weight AS w ON w.trainer = j.trainer),
	task AS (
		INSERT INTO cudal1.task_turn AS k (device_id, trainer, task_id, used)
			SELECT charge_claim.device_id, j.trainer, j.task_id, own.used + own.seconds FROM own
			ON CONFLICT (device_id, trainer, task_id) DO UPDATE SET used = excluded.used),
	trainer AS (
		INSERT INTO cudal1.turn AS t (device_id, trainer, used, weight, claims, started, looked,
				task_id, task_started, claimed_at)
			SELECT charge_claim.device_id, j.trainer,
					charge_claim.used + own.seconds / own.weight, own.weight, charge_claim.claims,
					charge_claim.used, charge_claim.looked, j.task_id,
					CASE WHEN goes_on THEN task_level ELSE own.used END,
					CASE WHEN j.profile = 'certify' THEN '-infinity' ELSE clock_timestamp() END
				FROM own
			ON CONFLICT (device_id, trainer) DO UPDATE
				SET used = excluded.used, weight = excluded.weight, claims = excluded.claims,
					started = excluded.started, looked = excluded.looked,
					task_id = excluded.task_id, task_started = excluded.task_started,
					claimed_at = greatest(t.claimed_at, excluded.claimed_at)),
	behind AS (
		-- these had nothing that could be claimed
		UPDATE cudal1.turn AS t SET used = NULL
			WHERE t.device_id = charge_claim.device_id AND t.used < charge_claim.used
				AND t.trainer <> j.trainer)
	SELECT own.used, own.seconds INTO own FROM own;
	IF NOT goes_on THEN
		UPDATE cudal1.task_turn AS k SET used = NULL
			WHERE k.device_id = charge_claim.device_id AND k.trainer = j.trainer
				AND k.used < own.used;
	END IF;
	RETURN own.seconds;
END
$$;
COMMENT ON FUNCTION cudal1.charge_claim IS
'charges the trainer of a job, and its task, with the seconds that the job is expected to hold the
device (the median of the task''s last nine there), and returns them. claims, looked: for
cudal1.turn; used: where the trainer stands; task_id, task_level: as in cudal1.take_job()';

CREATE FUNCTION cudal1.settle_turn(j cudal1.job, seconds float8)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	more	CONSTANT float8 := seconds - j.charged;
BEGIN
	-- a trainer or task that has nothing to do any more owes what it took, but is owed nothing
	UPDATE cudal1.turn AS t
		SET used = coalesce(t.used, (SELECT x.started FROM cudal1.turn AS x
									 WHERE x.device_id = j.device_id
									 ORDER BY x.claims DESC LIMIT 1)) + more / t.weight
		WHERE t.device_id = j.device_id AND t.trainer = j.trainer
			AND (t.used IS NOT NULL AND more <> 0 OR more > 0);
	UPDATE cudal1.task_turn AS k
		SET used = CASE WHEN k.used IS NOT NULL THEN k.used + more
						WHEN more > 0 THEN more + (SELECT t.task_started FROM cudal1.turn AS t
												   WHERE t.device_id = j.device_id
													   AND t.trainer = j.trainer) END,
			recent = CASE WHEN settle_turn.seconds > 0
						  THEN k.recent[greatest(1, cardinality(k.recent) - 7):]
								|| settle_turn.seconds
						  ELSE k.recent END
		WHERE k.device_id = j.device_id AND k.trainer = j.trainer AND k.task_id = j.task_id
			AND more IS NOT NULL;
END
$$;
COMMENT ON FUNCTION cudal1.settle_turn IS
'replaces what a claim was charged with by the seconds that it held the device; NULL: not known, the
charge stays';

CREATE FUNCTION cudal1.take_aa_job(d cudal1.device)
RETURNS cudal1.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	id		bigint;
	j		cudal1.job;
BEGIN
	-- few candidates, whose jobs are asked for by name
	FOR id IN
		SELECT h.job_id
			FROM cudal1.aa_candidate AS k CROSS JOIN LATERAL (
				SELECT x.* FROM cudal1.job AS x
					WHERE x.candidate_id = k.candidate_id AND x.kind = 'evaluate' OFFSET 0) AS h
			WHERE h.state = 'queued' AND h.device IN (d.class, d.model, d.device_key)
				AND h.not_before <= clock_timestamp() AND h.cores <= d.cores
				AND h.language = ANY (d.languages)
			ORDER BY h.priority DESC, h.job_id
	LOOP
		SELECT x.* INTO j FROM cudal1.job AS x
			WHERE x.job_id = id AND x.state = 'queued' FOR UPDATE SKIP LOCKED;
		EXIT WHEN FOUND;
	END LOOP;
	RETURN j;
END
$$;
COMMENT ON FUNCTION cudal1.take_aa_job IS
'locks and returns the next job of a device that drifts: it shows by A/A measurements alone that it
is well again';

CREATE FUNCTION cudal1.places_of(d cudal1.device)
RETURNS cudal1.queue_place[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN ARRAY(
		WITH RECURSIVE w AS (
			SELECT p.name, l.language, h.cores
				FROM unnest(ARRAY[d.class, d.model, d.device_key]) AS p(name)
					CROSS JOIN unnest(d.languages) AS l(language)
					CROSS JOIN LATERAL (
						SELECT x.cores FROM cudal1.job AS x
							WHERE x.device = p.name AND x.language = l.language
								AND x.state = 'queued' AND x.cores <= d.cores
							ORDER BY x.cores LIMIT 1) AS h
			UNION ALL
			SELECT w.name, w.language, h.cores
				FROM w CROSS JOIN LATERAL (
					SELECT x.cores FROM cudal1.job AS x
						WHERE x.device = w.name AND x.language = w.language
							AND x.state = 'queued' AND x.cores > w.cores AND x.cores <= d.cores
						ORDER BY x.cores LIMIT 1) AS h)
		SELECT (w.name, w.language, w.cores)::cudal1.queue_place FROM w);
END
$$;
COMMENT ON FUNCTION cudal1.places_of IS 'the places that hold jobs which the device could measure';

CREATE FUNCTION cudal1.welcome_trainers(device_id bigint, places cudal1.queue_place[], looked text,
	started float8)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	late		CONSTANT float8 := 60;	-- seconds by which what no trainer asked for begins late
	at_once		CONSTANT int := 3;		-- names of trainers that are looked for in one claim
	beyond		text COLLATE "C";
BEGIN
	WITH RECURSIVE found AS (
		SELECT 0 AS n, NULL::text COLLATE "C" AS trainer,
			welcome_trainers.looked COLLATE "C" AS beyond
		UNION ALL
		SELECT f.n + 1, h.trainer, h.trainer || chr(1)
			FROM found AS f CROSS JOIN LATERAL (
				SELECT min(g.trainer) AS trainer
					FROM unnest(places) AS p CROSS JOIN LATERAL (
						SELECT x.trainer FROM cudal1.job AS x
							WHERE x.device = p.name AND x.language = p.language
								AND x.cores = p.cores AND x.state = 'queued'
								AND x.trainer >= f.beyond
							ORDER BY x.trainer LIMIT 1) AS g) AS h
			WHERE f.n < at_once AND h.trainer IS NOT NULL),
	added AS (
		INSERT INTO cudal1.turn AS t (device_id, trainer, used)
			SELECT welcome_trainers.device_id, f.trainer,
					welcome_trainers.started + CASE f.trainer WHEN '' THEN late ELSE 0 END
				FROM found AS f LEFT JOIN cudal1.turn AS x
					ON x.device_id = welcome_trainers.device_id AND x.trainer = f.trainer
				WHERE f.n > 0 AND x.used IS NULL
			ON CONFLICT (device_id, trainer) DO UPDATE SET used = excluded.used)
	SELECT CASE WHEN max(f.n) = at_once THEN max(f.beyond) END INTO beyond FROM found AS f;
	RETURN beyond;
END
$$;
COMMENT ON FUNCTION cudal1.welcome_trainers IS
'gives a turn to trainers that have something to do again: the next few names from the one where the
last claim stopped looking. Returns where the next claim is to go on; NULL: at the beginning';

CREATE FUNCTION cudal1.next_job(d cudal1.device)
RETURNS cudal1.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	task_turn	CONSTANT float8 := 80;	-- seconds
	last		record;
	places		cudal1.queue_place[];
	same		bigint[];
	looked		text COLLATE "C";
	turn		record;
	j			cudal1.job;
BEGIN
	SELECT coalesce(x.claims, 0) AS claims, coalesce(x.started, 0) AS started,
			coalesce(x.looked, '') AS looked
		INTO last
		FROM (VALUES (0)) AS one LEFT JOIN cudal1.turn AS x ON x.device_id = d.device_id
		ORDER BY x.claims DESC LIMIT 1;
	IF d.untrusted_since IS NOT NULL THEN
		j := cudal1.take_aa_job(d);
		IF j.job_id IS NOT NULL THEN
			j.charged := cudal1.charge_claim(j, d.device_id, last.claims + 1, last.looked,
											 last.started, NULL, 0);
		END IF;
		RETURN j;
	END IF;

	places := cudal1.places_of(d);
	IF places = '{}' THEN
		RETURN NULL;
	END IF;

	looked := cudal1.welcome_trainers(d.device_id, places, last.looked, last.started);
	same := CASE d.class WHEN 'cuda'
						 THEN ARRAY(SELECT x.device_id FROM cudal1.device AS x
									WHERE x.hardware = d.hardware)
						 ELSE ARRAY[d.device_id] END;
	FOR turn IN
		SELECT t.trainer, t.used, t.task_id, t.task_started FROM cudal1.turn AS t
			WHERE t.device_id = d.device_id AND t.used IS NOT NULL
			ORDER BY t.used, t.claims, t.trainer
	LOOP
		IF NOT EXISTS (SELECT FROM cudal1.task_turn AS k
						WHERE k.device_id = d.device_id AND k.trainer = turn.trainer
							AND k.task_id = turn.task_id
							AND k.used < turn.task_started + task_turn) THEN
			turn.task_id := NULL;
		END IF;
		-- the collation of one argument would become that of all
		j := cudal1.take_job(d.device_id, d.model, same, places, turn.trainer COLLATE "default",
							 turn.task_id, turn.task_started);
		IF j.job_id IS NOT NULL THEN
			j.charged := cudal1.charge_claim(j, d.device_id, last.claims + 1, looked, turn.used,
											 turn.task_id, turn.task_started);
			RETURN j;
		END IF;
	END LOOP;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION cudal1.next_job IS
'locks the next job of a device and charges its trainer; NULL where there is none';
