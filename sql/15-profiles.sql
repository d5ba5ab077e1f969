/*
 * The shipped measurement profiles. A dump leaves their rows out, and the version that restores it
 * brings its own.
 */

INSERT INTO cudal1.profile (name, shipped, purpose) VALUES ('default', true,
	'training rewards: stops as soon as the interval is narrow enough, a few seconds for most '
	'candidates');

-- the others, by what is different in them
INSERT INTO cudal1.profile
	SELECT p.* FROM cudal1.profile AS d, (VALUES
		('train',
			'groups of a trainer: two to four pairs, intervals of 2 %, candidates of a group '
			'measured together',
			'{"pairs": 2, "looks": [2, 3, 4], "bucket_seconds": 0.1, "precision_goal": 0.02, '
			'"half_width_limit": 0.2, "check_seconds": 1, "budget_seconds": 15, '
			'"group_most": 16}'),
		('quick',
			'demonstrations and tests: three to seven pairs, wider intervals',
			'{"pairs": 3, "looks": [3, 5, 7], "bucket_seconds": 0.05, "precision_goal": 0.02, '
			'"half_width_limit": 0.05, "check_seconds": 0.5, "budget_seconds": 10}'),
		('certify',
			'checks of references: whether the checks are passed counts, so times are hardly taken '
			'and nothing is verified',
			'{"pairs": 2, "looks": [2], "bucket_seconds": 0.02, "half_width_limit": null, '
			'"check_seconds": 0.2, "verify_above": null}'),
		('paper',
			'CUDA-L1, section 2.4.4: 30 minutes a candidate, 7 buckets, the mean of the buckets, '
			'discarded at once above a variance of 0.005. Other than there: every run has a fresh '
			'input and a gate, every bucket fresh processes',
			'{"pairs": 7, "looks": [7], "bucket_seconds": 257.14285714285717, '
			'"estimator": "mean", "precision_goal": 0, "half_width_limit": null, '
			'"variance_limit": 0.005, "check_seconds": 60, "budget_seconds": 3600}'),
		('paper_eval',
			'published tables, CUDA-L1, section 3.2: 20 minutes a candidate, the mean of the '
			'buckets, no second measurement',
			'{"pairs": 7, "looks": [7], "bucket_seconds": 171.42857142857142, '
			'"estimator": "mean", "precision_goal": 0, "half_width_limit": null, '
			'"check_seconds": 60, "budget_seconds": 3600, "verify_above": null}')
			) AS x(name, purpose, changes),
		jsonb_populate_record(d, x.changes::jsonb
			|| jsonb_build_object('name', x.name, 'purpose', x.purpose)) AS p
		WHERE d.name = 'default';

CREATE FUNCTION cudal1.guard() RETURNS trigger LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = '42501',
		MESSAGE = format('%s "%s" is immutable', TG_TABLE_NAME, OLD.name), DETAIL = TG_ARGV[0],
		HINT = TG_ARGV[1];
END
$$;
COMMENT ON FUNCTION cudal1.guard IS
'trigger: rejects changes of what rewards rest on; its arguments are the detail and the hint';

CREATE TRIGGER guard BEFORE UPDATE OR DELETE ON cudal1.profile
	FOR EACH ROW EXECUTE FUNCTION cudal1.guard(
		'A reward means something only beside the numbers it was measured with.',
		'Copy it under a new name with cudal1_add_profile() and change the copy.');

CREATE TRIGGER guard
	BEFORE UPDATE OF task_id, name, language, reference, signature, content_hash ON cudal1.task
	FOR EACH ROW EXECUTE FUNCTION cudal1.guard(
		'Rewards of a task are comparable because its reference never changes.',
		'Add the new version under another name.');

CREATE FUNCTION @extschema@.cudal1_add_profile(name text, base text, changes jsonb, purpose text)
RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
	SET standard_conforming_strings = on
AS $$
DECLARE
	p		cudal1.profile;
	valid	text[];
	m		record;
	broken	text;
BEGIN
	PERFORM cudal1.raise_if(name IS NULL OR base IS NULL OR changes IS NULL OR purpose IS NULL,
		'22004', 'name, base, changes and purpose must not be null');
	PERFORM cudal1.raise_if(NOT cudal1.matches(name, '^[a-z][a-z0-9_]{0,62}$', 63), '22023',
		'name must be a lower case letter, and up to 62 lower case letters, digits and _ after it');
	PERFORM cudal1.raise_if(jsonb_typeof(changes) <> 'object', '22023',
		'changes must be a JSON object of profile columns');
	SELECT * INTO p FROM cudal1.profile AS b WHERE b.name = base;
	PERFORM cudal1.check_name('profile', base);
	PERFORM cudal1.raise_if(
		EXISTS (SELECT FROM cudal1.profile AS b WHERE b.name = cudal1_add_profile.name), '23505',
		format('profile "%s" exists already', cudal1_add_profile.name),
		'A profile never changes. Give the new one another name.');
	valid := ARRAY(SELECT k FROM json_object_keys(row_to_json(p)) AS k
		WHERE k NOT IN ('name', 'shipped', 'purpose'));
	PERFORM cudal1.raise_if(k <> ALL (valid), '22023',
			format('changes has the unknown member "%s"', k), concat_ws(' ',
				cudal1.nearest(k, valid),
				format('Valid members are %s.', array_to_string(valid, ', '))))
		FROM jsonb_object_keys(changes) AS k;
	FOR m IN
		SELECT e.key, e.value, a.attnotnull AS needed, format_type(a.atttypid, NULL) AS type
			FROM jsonb_each(changes) AS e
				JOIN pg_attribute AS a ON a.attrelid = 'cudal1.profile'::regclass
				AND a.attname = e.key
			ORDER BY a.attnum
	LOOP
		PERFORM cudal1.raise_if(m.value = 'null' AND m.needed, '22023',
			format('member "%s" of changes must not be null', m.key));
		BEGIN
			p := jsonb_populate_record(p, jsonb_build_object(m.key, m.value));
		EXCEPTION WHEN data_exception THEN
			RAISE EXCEPTION USING ERRCODE = '22023',
				MESSAGE = format('member "%s" of changes must be of type %s', m.key, m.type);
		END;
	END LOOP;
	p.name := name;
	p.shipped := false;
	p.purpose := purpose;
	PERFORM cudal1.raise_if(array_ndims(p.looks) > 1
		OR EXISTS (SELECT FROM unnest(p.looks) WITH ORDINALITY AS l(pairs, i)
			   WHERE l.pairs IS NULL OR l.pairs NOT BETWEEN 2 AND 1000
				OR l.pairs <= p.looks[l.i - 1]), '22023',
		'looks must be ascending numbers of pairs, each between 2 and 1000');
	BEGIN
		INSERT INTO cudal1.profile SELECT p.*;
	EXCEPTION WHEN check_violation THEN
		-- each constraint is of one column
		GET STACKED DIAGNOSTICS broken = CONSTRAINT_NAME;
		SELECT a.attname AS member, substring(regexp_replace(pg_get_constraintdef(k.oid, true),
				'::(text|double precision)', '', 'g') FROM '^CHECK \((.*)\)$') AS rule
			INTO m
			FROM pg_constraint AS k JOIN pg_attribute AS a
				ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
			WHERE k.conrelid = 'cudal1.profile'::regclass AND k.conname = broken;
		RAISE EXCEPTION USING ERRCODE = '22023', HINT = format('Valid is %s.', m.rule),
			MESSAGE = format('member "%s" of changes is out of range', m.member);
	END;
	RETURN p.name;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_profile(text, text, jsonb, text) IS
'adds a measurement profile, base with the columns in changes replaced, and returns its name.
Errors: 42704 unknown base, 23505 the name is taken, 22023 a bad name, column or value';
