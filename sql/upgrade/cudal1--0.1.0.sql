\echo Use "CREATE EXTENSION cudal1" to load this file. \quit
/*
 * Tables of schema cudal1.
 *
 * History is append-only: candidate, proposal, prompt and measurement rows are never deleted. What is hot is kept
 * narrow and apart: a job row lives from its enqueueing to its verdict, bucket and slot rows hold integers only.
 * Derived rows (bucket, bucket_slot, island_cell, island_slot) are written in the transaction that accepts a score,
 * by cudal1.place_candidate() alone, and can be recounted exactly from candidate (cudal1.recount).
 */

CREATE SCHEMA cudal1;
COMMENT ON SCHEMA cudal1 IS 'CUDA-L1: tasks, candidates, measurements, exemplars and prompts';

-- every number of the measurement protocol is a column here; the runner's built-in defaults equal the row 'default'
CREATE TABLE cudal1.profile (
	name				text PRIMARY KEY CHECK (name OPERATOR(pg_catalog.~) '^[a-z][a-z0-9_]{0,62}$'),
	shipped				boolean NOT NULL DEFAULT false,
	purpose				text NOT NULL,
	-- buckets and their windows
	pairs				int NOT NULL CHECK (pairs BETWEEN 1 AND 1000),
	looks				int[] NOT NULL CHECK (pg_catalog.cardinality(looks) BETWEEN 1 AND 8),
	futility_pairs		int CHECK (futility_pairs >= 2),
	bucket_seconds		float8 NOT NULL CHECK (bucket_seconds > 0),
	block_seconds		float8 NOT NULL CHECK (block_seconds > 0),
	window_seconds		float8 NOT NULL CHECK (window_seconds > 0),
	-- estimators and what is accepted
	bucket_estimator	text NOT NULL CHECK (bucket_estimator IN ('median', 'mean')),
	score_estimator		text NOT NULL CHECK (score_estimator IN ('median_of_buckets', 'mean_of_ratios')),
	precision_goal		float8 NOT NULL CHECK (precision_goal >= 0),
	precision_slope		float8 NOT NULL CHECK (precision_slope >= 0),
	confidence			float8 NOT NULL CHECK (confidence > 0 AND confidence < 1),
	half_width_limit	float8 CHECK (half_width_limit > 0),
	variance_limit		float8 CHECK (variance_limit > 0),
	unstable			text NOT NULL CHECK (unstable IN ('lower_end', 'discard')),
	-- correctness
	first_checks		int NOT NULL CHECK (first_checks >= 1),
	min_checks			int NOT NULL CHECK (min_checks >= 0),
	max_checks			int NOT NULL CHECK (max_checks >= min_checks),
	check_seconds		float8 NOT NULL CHECK (check_seconds >= 0),
	-- audits
	audits				int NOT NULL CHECK (audits >= 0),
	audit_seconds		float8 NOT NULL CHECK (audit_seconds >= 0),
	audit_sigma			float8 NOT NULL CHECK (audit_sigma >= 0),
	audit_margin		float8 NOT NULL CHECK (audit_margin >= 0),
	-- limits
	run_limit_factor	float8 NOT NULL CHECK (run_limit_factor >= 1),
	run_limit_min		float8 NOT NULL CHECK (run_limit_min > 0),
	run_limit_max		float8 NOT NULL CHECK (run_limit_max >= run_limit_min),
	build_seconds		float8 NOT NULL CHECK (build_seconds > 0),
	memory_mb			int NOT NULL CHECK (memory_mb >= 64),
	arena_mb			int NOT NULL CHECK (arena_mb >= 1),
	-- other tries
	attempts			int NOT NULL CHECK (attempts BETWEEN 1 AND 100),
	disturbed_factor	float8 NOT NULL CHECK (disturbed_factor > 0),
	disturbed_attempts	int NOT NULL CHECK (disturbed_attempts >= 1),
	cold_cache			boolean NOT NULL DEFAULT false,
	-- verification
	verify_above		float8 CHECK (verify_above > 1),
	verify_best_factor	float8 CHECK (verify_best_factor > 1),
	verify_agreement	float8 NOT NULL CHECK (verify_agreement > 0),
	verify_wait			interval,
	CHECK (precision_goal = 0 OR futility_pairs IS NULL OR futility_pairs <= pairs)
);
COMMENT ON TABLE cudal1.profile IS 'measurement profiles; shipped rows are immutable, copy one under a new name to change it';
COMMENT ON COLUMN cudal1.profile.pairs IS 'buckets; each is a fresh pair of executor processes in two halves with the order of start swapped';
COMMENT ON COLUMN cudal1.profile.looks IS 'numbers of pairs after which the interval is looked at; the error is divided over the looks';
COMMENT ON COLUMN cudal1.profile.futility_pairs IS 'after this many pairs a candidate whose interval lies below 1 is left; NULL: never';
COMMENT ON COLUMN cudal1.profile.bucket_seconds IS 'seconds of clock time a bucket takes, both sides together';
COMMENT ON COLUMN cudal1.profile.block_seconds IS 'seconds of runs between two readings of the clock';
COMMENT ON COLUMN cudal1.profile.window_seconds IS 'upper bound of a measurement in seconds; the fixed window where precision_goal is 0';
COMMENT ON COLUMN cudal1.profile.precision_goal IS 'relative half-width of the interval to reach; 0: the fixed window of the paper';
COMMENT ON COLUMN cudal1.profile.precision_slope IS 'the goal is max(precision_goal, precision_slope * |ln score|)';
COMMENT ON COLUMN cudal1.profile.half_width_limit IS 'a wider interval after the last look is unstable; NULL: not judged';
COMMENT ON COLUMN cudal1.profile.variance_limit IS 'variance across the buckets above which a measurement is discarded (0.005 in CUDA-L1, 2.4.4); NULL: not judged';
COMMENT ON COLUMN cudal1.profile.unstable IS 'what the last attempt does with an unstable candidate: its interval''s lower end, or discarded';
COMMENT ON COLUMN cudal1.profile.first_checks IS 'inputs that must agree before anything is timed';
COMMENT ON COLUMN cudal1.profile.check_seconds IS 'seconds for comparing outputs of timed runs; between min_checks and max_checks are compared';
COMMENT ON COLUMN cudal1.profile.audits IS 'unannounced blocks of a single run, for each side';
COMMENT ON COLUMN cudal1.profile.audit_margin IS 'share of the reference''s audit time by which honest candidates may differ between audit and block';
COMMENT ON COLUMN cudal1.profile.run_limit_factor IS 'a steady run may take this many times the reference''s time, at least run_limit_min, at most run_limit_max seconds';
COMMENT ON COLUMN cudal1.profile.build_seconds IS 'limit for compiling, and for the first call of code that compiles itself';
COMMENT ON COLUMN cudal1.profile.arena_mb IS 'memory for the inputs and outputs of one block, in MiB';
COMMENT ON COLUMN cudal1.profile.disturbed_factor IS 'a reference slower beside the candidate than alone by more than this multiple of precision_goal is disturbed';
COMMENT ON COLUMN cudal1.profile.verify_above IS 'scores above this are measured again; NULL: never';
COMMENT ON COLUMN cudal1.profile.verify_best_factor IS 'scores above this multiple of the task''s best are measured again';
COMMENT ON COLUMN cudal1.profile.verify_agreement IS 'the second score must lie within this share of the first';
COMMENT ON COLUMN cudal1.profile.verify_wait IS 'how long to wait for another device of the model before the same one may verify; NULL: for ever';

CREATE TABLE cudal1.device (
	device_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	device_key			text NOT NULL UNIQUE,
	host				text NOT NULL,
	class				text NOT NULL CHECK (class IN ('cpu', 'cuda')),
	model				text NOT NULL CHECK (model <> ''),
	cores				int NOT NULL DEFAULT 1 CHECK (cores >= 1),
	languages			text[] NOT NULL,
	details				jsonb NOT NULL DEFAULT '{}',
	enabled				boolean NOT NULL DEFAULT true,
	first_seen			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	last_seen			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	untrusted_since		timestamptz,
	chart_from			timestamptz
);
COMMENT ON TABLE cudal1.device IS 'devices that ever measured here; a row is registered by the worker or agent that supervises it';
COMMENT ON COLUMN cudal1.device.device_key IS 'host and device, for instance ''node7 cpu:1'' or ''node7 GPU-5f…''';
COMMENT ON COLUMN cudal1.device.cores IS 'cores reserved for executors; a task that asks for more is not claimed';
COMMENT ON COLUMN cudal1.device.languages IS 'languages the device''s host can measure (a compiler or PyTorch may be missing)';
COMMENT ON COLUMN cudal1.device.enabled IS 'an operator''s switch: false keeps new jobs away';
COMMENT ON COLUMN cudal1.device.untrusted_since IS 'since when its A/A measurements drift: it measures nothing but those; NULL: trusted';
COMMENT ON COLUMN cudal1.device.chart_from IS 'A/A measurements before this do not count (cudal1_trust_device); NULL: all do';

CREATE TABLE cudal1.task (
	task_id				bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	name				text NOT NULL UNIQUE CHECK (name <> ''),
	language			text NOT NULL CHECK (language IN ('c', 'cuda', 'pytorch')),
	level				int CHECK (level >= 0),
	problem				int CHECK (problem >= 0),
	reference			text NOT NULL CHECK (reference <> ''),
	signature			jsonb,
	options				jsonb NOT NULL,
	profile				text NOT NULL REFERENCES cudal1.profile (name),
	device				text NOT NULL,
	device_model		text,
	cores				int NOT NULL CHECK (cores BETWEEN 1 AND 1024),
	bucket_width		float8 NOT NULL CHECK (bucket_width > 0 AND bucket_width < 'Infinity'),
	temperature			float8 NOT NULL CHECK (temperature > 0 AND temperature < 'Infinity'),
	score_scale			text NOT NULL CHECK (score_scale IN ('linear', 'log')),
	strategy			text NOT NULL CHECK (strategy IN ('bucket', 'island', 'random')),
	rtol				float8 CHECK (rtol >= 0 AND rtol < 'Infinity'),
	atol				float8 CHECK (atol >= 0 AND atol < 'Infinity'),
	content_hash		bytea NOT NULL,
	certified			text CHECK (certified IN ('passed', 'weak')),
	created_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	created_by			text NOT NULL DEFAULT CURRENT_USER,
	CHECK ((language IN ('c', 'cuda')) = (signature IS NOT NULL))
);
COMMENT ON TABLE cudal1.task IS 'a reference and how its candidates are measured; a reference never changes';
COMMENT ON COLUMN cudal1.task.problem IS 'problem number within its level, as in KernelBench';
COMMENT ON COLUMN cudal1.task.device IS 'device class (cpu, cuda) or model on which the task''s rewards are measured';
COMMENT ON COLUMN cudal1.task.device_model IS 'the model, pinned by the first measurement; rewards of one task come from one model';
COMMENT ON COLUMN cudal1.task.bucket_width IS 'width of a score interval, in speedup (linear) or ln speedup (log)';
COMMENT ON COLUMN cudal1.task.rtol IS 'relative tolerance; NULL: the default of each dtype';
COMMENT ON COLUMN cudal1.task.atol IS 'tolerance as a multiple of the output''s root mean square; NULL: the default of each dtype';
COMMENT ON COLUMN cudal1.task.certified IS 'weak: a null candidate passes, so the task does not discriminate; NULL: not certified yet';

-- one function, since the expressions of a CHECK are built anew for each INSERT: spelled out they cost more than the row
CREATE FUNCTION cudal1.candidate_is_possible(state text, failure text, detail text, reward float8, decided boolean, purpose text,
	imported boolean, import_device text)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN purpose IN ('normal', 'null', 'certification', 'ablation')
		AND imported = (import_device IS NOT NULL)
		AND coalesce(octet_length(detail) <= 2000, true)
		AND CASE
			WHEN state IN ('queued', 'measuring', 'verifying') THEN reward IS NULL AND failure IS NULL AND NOT decided AND NOT imported
			WHEN state = 'successful' THEN failure IS NULL AND coalesce(reward > 0 AND reward < 'Infinity', false) AND decided
			WHEN state = 'failed' THEN coalesce(reward = 0 AND decided AND failure IN ('malformed', 'compile_error', 'launch_failure', 'timeout',
				'crash', 'wrong_output', 'cheat', 'reported'), false) AND imported = (failure = 'reported')
			WHEN state = 'discarded' THEN coalesce(reward IS NULL AND decided AND failure IN ('unverified', 'lost', 'cancelled'), false)
				AND NOT imported
			ELSE false END;
END
$$;
COMMENT ON FUNCTION cudal1.candidate_is_possible(text, text, text, float8, boolean, text, boolean, text) IS
'constraint: which failures and rewards go with which state of a candidate';

CREATE TABLE cudal1.candidate (
	candidate_id		bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	code				text NOT NULL,
	code_hash			bytea NOT NULL,
	purpose				text NOT NULL DEFAULT 'normal',
	state				text NOT NULL DEFAULT 'queued',
	failure				text,
	detail				text,
	reward				float8,
	score				float8,
	imported			boolean NOT NULL DEFAULT false,
	import_device		text,
	measurement_id		bigint,
	created_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	decided_at			timestamptz,
	UNIQUE (task_id, code_hash),
	CONSTRAINT candidate_is_possible
		CHECK (cudal1.candidate_is_possible(state, failure, detail, reward, decided_at IS NOT NULL, purpose, imported, import_device))
);
COMMENT ON TABLE cudal1.candidate IS 'one row for each distinct code of a task, measured once';
COMMENT ON COLUMN cudal1.candidate.code_hash IS 'SHA-256 of the code after CRLF -> LF (of the raw response where malformed)';
COMMENT ON COLUMN cudal1.candidate.purpose IS 'normal, null, certification or ablation; only normal candidates are sampled and reported';
COMMENT ON COLUMN cudal1.candidate.state IS 'queued, measuring, verifying; final: successful, failed, discarded';
COMMENT ON COLUMN cudal1.candidate.failure IS 'why it failed (reward 0): malformed, compile_error, launch_failure, timeout, crash, wrong_output, cheat, reported (an imported failure); or was discarded (reward NULL): unverified, lost, cancelled';
COMMENT ON COLUMN cudal1.candidate.detail IS 'what a model or a person learns from: compiler output, first mismatch, signal; at most 2000 bytes';
COMMENT ON COLUMN cudal1.candidate.reward IS 'conservatively rounded score (CUDA-L1, 2.4.4); 0 unsuccessful; NULL undecided or discarded';
COMMENT ON COLUMN cudal1.candidate.score IS 'the accepted score before rounding';
COMMENT ON COLUMN cudal1.candidate.imported IS 'the score was measured elsewhere; a measurement here replaces it';
COMMENT ON COLUMN cudal1.candidate.import_device IS 'the device an imported score was measured on, as its source names it';
COMMENT ON COLUMN cudal1.candidate.measurement_id IS 'the measurement that decided';
-- the best of a task, for verification, re-verification and reports
CREATE INDEX candidate_best ON cudal1.candidate (task_id, reward DESC) WHERE state = 'successful';

CREATE TABLE cudal1.prompt (
	prompt_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	kind				text NOT NULL CHECK (kind IN ('augment', 'contrastive')),
	strategy			text NOT NULL CHECK (strategy IN ('bucket', 'island', 'random')),
	temperature			float8,
	seed				bigint NOT NULL,
	island				int,
	island_epoch		int,
	exemplars			bigint[] NOT NULL,
	scores				float8[] NOT NULL,
	probabilities		jsonb NOT NULL,
	prompt				text NOT NULL,
	created_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	created_by			text NOT NULL DEFAULT SESSION_USER,
	CHECK (pg_catalog.cardinality(exemplars) = pg_catalog.cardinality(scores))
);
COMMENT ON TABLE cudal1.prompt IS 'every prompt handed out, with all that is needed to replay its draw';
COMMENT ON COLUMN cudal1.prompt.exemplars IS 'candidates shown, in the order of the prompt (ascending score)';
COMMENT ON COLUMN cudal1.prompt.probabilities IS 'the buckets, means and probabilities the draw was made from';

CREATE TABLE cudal1.proposal (
	proposal_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	method				text NOT NULL CHECK (method <> ''),
	prompt_id			bigint REFERENCES cudal1.prompt (prompt_id),
	group_key			text,
	proposal_key		text,
	island				int,
	island_epoch		int,
	response			text,
	created_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	created_by			text NOT NULL DEFAULT SESSION_USER
);
COMMENT ON TABLE cudal1.proposal IS 'one row for each submission; several proposals may name one candidate';
COMMENT ON COLUMN cudal1.proposal.group_key IS 'the trainer''s group (GRPO): submissions whose rewards are compared';
COMMENT ON COLUMN cudal1.proposal.proposal_key IS 'idempotency key: a repeated key within (task, group) adds nothing';
COMMENT ON COLUMN cudal1.proposal.response IS 'the model''s whole answer, where it was submitted as one';
CREATE UNIQUE INDEX proposal_key_unique ON cudal1.proposal (task_id, (COALESCE(group_key, '')), proposal_key)
	WHERE proposal_key IS NOT NULL;
CREATE INDEX proposal_candidate ON cudal1.proposal (candidate_id);

CREATE TABLE cudal1.measurement (
	measurement_id		bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	kind				text NOT NULL CHECK (kind IN ('measure', 'verify', 'evaluate', 'reverify')),
	attempt				int NOT NULL,
	device_id			bigint NOT NULL REFERENCES cudal1.device (device_id),
	device_model		text NOT NULL,
	profile				text NOT NULL REFERENCES cudal1.profile (name),
	outcome				text NOT NULL CHECK (outcome IN ('successful', 'unstable', 'compile_error', 'launch_failure', 'timeout',
									'crash', 'wrong_output', 'cheat', 'unverified', 'lost', 'cancelled')),
	accepted			boolean NOT NULL DEFAULT false,
	same_device			boolean,
	score				float8,
	reward				float8,
	lower				float8,
	upper				float8,
	variance			float8,
	pairs				int,
	rounds				int,
	bucket_means		float8[],
	reference_seconds	float8,
	candidate_seconds	float8,
	checks				int,
	max_error			float8,
	audits				int,
	audit_bound			float8,
	detail				text,
	build_seconds		float8,
	device_seconds		float8,
	startup_seconds		float8,
	clock_seconds		float8,
	wall_seconds		float8,
	code_hash			bytea NOT NULL,
	environment			jsonb NOT NULL DEFAULT '{}',
	samples				jsonb,
	evidence			jsonb,
	measured_at			timestamptz NOT NULL DEFAULT pg_catalog.now()
);
COMMENT ON TABLE cudal1.measurement IS 'one row for each finished run of cudal1-measure, with all that a stranger needs to judge it; append-only';
COMMENT ON COLUMN cudal1.measurement.accepted IS 'true on the measurements that decided their candidate';
COMMENT ON COLUMN cudal1.measurement.same_device IS 'a verification: made on the device of the first measurement';
COMMENT ON COLUMN cudal1.measurement.lower IS 'lower end of the interval of the score at the profile''s confidence';
COMMENT ON COLUMN cudal1.measurement.bucket_means IS 'the estimate of each bucket (median or mean of its ratios, as the profile says)';
COMMENT ON COLUMN cudal1.measurement.reference_seconds IS 'median time of one run of the reference';
COMMENT ON COLUMN cudal1.measurement.max_error IS 'largest deviation found in accepted outputs, in tolerances (1 = just tolerated)';
COMMENT ON COLUMN cudal1.measurement.audit_bound IS 'the bound on the score that audits set; NULL without audits';
COMMENT ON COLUMN cudal1.measurement.device_seconds IS 'seconds the device was held';
COMMENT ON COLUMN cudal1.measurement.startup_seconds IS 'seconds of these that executors took to start, to load their code and to end';
COMMENT ON COLUMN cudal1.measurement.clock_seconds IS 'seconds the clock ran';
COMMENT ON COLUMN cudal1.measurement.samples IS 'the single ratios by bucket';
COMMENT ON COLUMN cudal1.measurement.evidence IS 'which detectors spoke and static findings; for operators, not for models in training';
CREATE INDEX measurement_candidate ON cudal1.measurement (candidate_id);

CREATE FUNCTION cudal1.job_is_possible(kind text, state text, worker text, device_id bigint, lease_until timestamptz, first_measurement bigint)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN kind IN ('measure', 'verify', 'evaluate', 'reverify')
		AND (kind = 'verify') = (first_measurement IS NOT NULL)
		AND CASE state WHEN 'queued' THEN num_nonnulls(worker, device_id, lease_until) = 0
					   WHEN 'running' THEN num_nulls(worker, device_id, lease_until) = 0
					   ELSE false END;
END
$$;
COMMENT ON FUNCTION cudal1.job_is_possible(text, text, text, bigint, timestamptz, bigint) IS
'constraint: a running job has a worker, a device and a lease, a queued one has none; a verification has a first measurement';

-- profile and task_id have no foreign keys: each submission would lock those two rows, which all of them share
CREATE TABLE cudal1.job (
	job_id				bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	kind				text NOT NULL,
	task_id				bigint NOT NULL,
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	profile				text NOT NULL,
	device				text NOT NULL,
	cores				int NOT NULL,
	language			text NOT NULL,
	priority			int NOT NULL DEFAULT 0,
	state				text NOT NULL DEFAULT 'queued',
	not_before			timestamptz NOT NULL DEFAULT '-infinity',
	deadline			timestamptz,
	attempt				int NOT NULL DEFAULT 0,
	failures			int NOT NULL DEFAULT 0,
	first_measurement	bigint REFERENCES cudal1.measurement (measurement_id),
	avoid_device		bigint,
	avoid_until			timestamptz,
	cancel_requested	boolean NOT NULL DEFAULT false,
	worker				text,
	device_id			bigint REFERENCES cudal1.device (device_id),
	claimed_at			timestamptz,
	lease_until			timestamptz,
	phase				text,
	pairs				int,
	rounds				int,
	estimate			float8,
	lower				float8,
	upper				float8,
	seconds_left		float8,
	enqueued_at			timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	UNIQUE (candidate_id, kind, profile, device),
	CONSTRAINT job_is_possible
		CHECK (cudal1.job_is_possible(kind, state, worker, device_id, lease_until, first_measurement))
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE cudal1.job IS 'work to do: a row lives from its enqueueing to its verdict; not dumped, cudal1_requeue() re-creates unfinished work';
COMMENT ON COLUMN cudal1.job.device IS 'device class or model, or the key of the one device, that may claim the job';
COMMENT ON COLUMN cudal1.job.deadline IS 'a job not claimed by then is cancelled; one begun is completed';
COMMENT ON COLUMN cudal1.job.attempt IS 'fencing number: counts claims; a heartbeat or result of an older claim is refused';
COMMENT ON COLUMN cudal1.job.failures IS 'attempts that ended lost or unstable; compared with the profile''s attempts';
COMMENT ON COLUMN cudal1.job.avoid_device IS 'verification: the device of the first measurement, avoided until avoid_until (infinity: always)';
CREATE INDEX job_claim ON cudal1.job (device, priority DESC, job_id) WHERE state = 'queued';
CREATE INDEX job_deadline ON cudal1.job (deadline) WHERE deadline IS NOT NULL AND state = 'queued';
CREATE INDEX job_lease ON cudal1.job (lease_until) WHERE state = 'running';

CREATE TABLE cudal1.bucket (
	task_id				bigint NOT NULL,
	bucket				int NOT NULL,
	codes				bigint NOT NULL CHECK (codes >= 0),
	sum_micro			bigint NOT NULL,
	sum_ln_nano			bigint NOT NULL,
	PRIMARY KEY (task_id, bucket)
) WITH (fillfactor = 50);
COMMENT ON TABLE cudal1.bucket IS 'the score intervals of a task that hold or held candidates: count and exact sums';
COMMENT ON COLUMN cudal1.bucket.bucket IS 'k: rewards in [k * width, (k + 1) * width), of ln reward where score_scale is log';
COMMENT ON COLUMN cudal1.bucket.sum_micro IS 'sum of round(reward * 1e6)';
COMMENT ON COLUMN cudal1.bucket.sum_ln_nano IS 'sum of round(ln(reward) * 1e9)';

CREATE TABLE cudal1.bucket_slot (
	task_id				bigint NOT NULL,
	bucket				int NOT NULL,
	slot				bigint NOT NULL CHECK (slot >= 0),
	candidate_id		bigint NOT NULL UNIQUE,
	micro				bigint NOT NULL,
	ln_nano				bigint NOT NULL,
	PRIMARY KEY (task_id, bucket, slot)
);
COMMENT ON TABLE cudal1.bucket_slot IS 'dense slots 0 .. codes - 1 of each bucket, so that a uniform pick is one index entry';
COMMENT ON COLUMN cudal1.bucket_slot.micro IS 'what the candidate added to sum_micro; known still when its reward has changed';
COMMENT ON COLUMN cudal1.bucket_slot.ln_nano IS 'what the candidate added to sum_ln_nano';

CREATE TABLE cudal1.island (
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	island				int NOT NULL CHECK (island >= 0),
	epoch				int NOT NULL DEFAULT 0,
	registrations		bigint NOT NULL DEFAULT 0,
	since_reset			bigint NOT NULL DEFAULT 0,
	best_reward			float8,
	PRIMARY KEY (task_id, island)
);
COMMENT ON TABLE cudal1.island IS 'islands of a task (FunSearch semantics); an epoch ends when an island is wiped and founded anew';
COMMENT ON COLUMN cudal1.island.registrations IS 'candidates registered since the island''s epoch began; sets the cluster temperature';
COMMENT ON COLUMN cudal1.island.since_reset IS 'candidates registered from the island''s own prompts since the task''s last reset; their sum sets off the next';

CREATE TABLE cudal1.island_cell (
	task_id				bigint NOT NULL,
	island				int NOT NULL,
	epoch				int NOT NULL,
	cluster				bigint NOT NULL,
	codes				bigint NOT NULL CHECK (codes >= 0),
	PRIMARY KEY (task_id, island, epoch, cluster)
);
COMMENT ON TABLE cudal1.island_cell IS 'clusters of an island: candidates of equal reward';
COMMENT ON COLUMN cudal1.island_cell.cluster IS 'round(reward * 100): the signature of a cluster';

CREATE TABLE cudal1.island_slot (
	task_id				bigint NOT NULL,
	island				int NOT NULL,
	epoch				int NOT NULL,
	cluster				bigint NOT NULL,
	slot				bigint NOT NULL CHECK (slot >= 0),
	candidate_id		bigint NOT NULL,
	PRIMARY KEY (task_id, island, epoch, cluster, slot),
	UNIQUE (candidate_id, task_id, island, epoch)
);
COMMENT ON TABLE cudal1.island_slot IS 'dense slots of each cluster of an island; rows of ended epochs stay as its history, and keep the wiped from coming back';
/*
 * The shipped measurement profiles. A reward means something only beside the numbers it was measured with, so shipped
 * rows never change: a dump leaves them out, and the version that restores it brings its own.
 */

INSERT INTO cudal1.profile
	(name, shipped, purpose,
	 pairs, looks, futility_pairs, bucket_seconds, block_seconds, window_seconds,
	 bucket_estimator, score_estimator, precision_goal, precision_slope, confidence, half_width_limit, variance_limit, unstable,
	 first_checks, min_checks, max_checks, check_seconds,
	 audits, audit_seconds, audit_sigma, audit_margin,
	 run_limit_factor, run_limit_min, run_limit_max, build_seconds, memory_mb, arena_mb,
	 attempts, disturbed_factor, disturbed_attempts, cold_cache,
	 verify_above, verify_best_factor, verify_agreement, verify_wait)
VALUES
	('default', true, 'training rewards: stops as soon as the interval is narrow enough, a few seconds for most candidates',
	 7, '{7,14,21}', 3, 0.5, 0.010, 1800,
	 'median', 'median_of_buckets', 0.005, 0.05, 0.95, 0.01, NULL, 'lower_end',
	 5, 50, 1000, 3,
	 400, 1, 3, 0.25,
	 1000, 1, 30, 120, 4096, 256,
	 3, 2, 3, false,
	 3, 2, 0.1, '30 seconds'),
	('quick', true, 'demonstrations and tests: seven buckets of 0.1 s, wider intervals, fewer checks',
	 7, '{7}', 3, 0.1, 0.010, 1800,
	 'median', 'median_of_buckets', 0.005, 0.05, 0.95, 0.05, NULL, 'lower_end',
	 5, 10, 1000, 0.5,
	 50, 0.3, 3, 0.25,
	 1000, 1, 30, 120, 4096, 256,
	 3, 2, 3, false,
	 3, 2, 0.1, '0 seconds'),
	('certify', true, 'null candidates of a task: whether the checks are passed counts, so times are hardly taken and nothing is verified',
	 2, '{2}', NULL, 0.02, 0.002, 60,
	 'median', 'median_of_buckets', 0.005, 0.05, 0.95, NULL, NULL, 'lower_end',
	 5, 10, 50, 0.2,
	 0, 0, 3, 0.25,
	 1000, 1, 30, 120, 4096, 256,
	 3, 1000000, 3, false,
	 NULL, NULL, 0.1, NULL),
	('paper', true, 'the letter of CUDA-L1, section 2.4.4: 30 minutes a candidate, 7 buckets of means, variance limit 0.005',
	 7, '{7}', NULL, 1800.0 / 7, 0.010, 1800,
	 'mean', 'median_of_buckets', 0, 0, 0.95, NULL, 0.005, 'discard',
	 5, 1000, 1000, 3,
	 400, 1, 3, 0.25,
	 1000, 1, 30, 120, 4096, 256,
	 3, 2, 3, false,
	 3, 2, 0.1, NULL),
	('paper_eval', true, 'published tables, CUDA-L1, section 3.2: 20 minutes a candidate, the mean of all ratios, no verification',
	 7, '{7}', NULL, 1200.0 / 7, 0.010, 1200,
	 'mean', 'mean_of_ratios', 0, 0, 0.95, NULL, NULL, 'discard',
	 5, 1000, 1000, 3,
	 400, 1, 3, 0.25,
	 1000, 1, 30, 120, 4096, 256,
	 3, 2, 3, false,
	 NULL, NULL, 0.1, NULL);

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
		RAISE EXCEPTION USING ERRCODE = '23503', MESSAGE = format('profile "%s" is wanted by jobs in the queue', OLD.name);
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
AS $$
#variable_conflict use_column
DECLARE
	p		cudal1.profile;
	valid	text[];
	unknown	text;
BEGIN
	IF cudal1_add_profile.name IS NULL OR base IS NULL OR changes IS NULL OR cudal1_add_profile.purpose IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'name, base, changes and purpose must not be null';
	END IF;
	IF jsonb_typeof(changes) <> 'object' THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'changes must be a JSON object of profile columns';
	END IF;
	SELECT * INTO p FROM cudal1.profile AS b WHERE b.name = base;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('profile "%s" does not exist', base),
			HINT = (SELECT 'Profiles are ' || string_agg(b.name, ', ' ORDER BY b.name) || '.' FROM cudal1.profile AS b);
	END IF;
	SELECT array_agg(a.attname::text ORDER BY a.attnum) INTO valid
		FROM pg_attribute AS a
		WHERE a.attrelid = 'cudal1.profile'::regclass AND a.attnum > 0 AND NOT a.attisdropped
			AND a.attname NOT IN ('name', 'shipped', 'purpose');
	SELECT k INTO unknown FROM jsonb_object_keys(changes) AS k WHERE k <> ALL (valid) LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('changes has the unknown member "%s"', unknown),
			HINT = format('Valid members are %s.', array_to_string(valid, ', '));
	END IF;
	p := jsonb_populate_record(p, changes);
	p.name := cudal1_add_profile.name;
	p.shipped := false;
	p.purpose := cudal1_add_profile.purpose;
	IF EXISTS (SELECT FROM unnest(p.looks) WITH ORDINALITY AS l(pairs, i)
			   WHERE l.pairs IS NULL OR l.pairs < 2 OR l.pairs <= p.looks[l.i - 1]) THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'looks must be ascending numbers of pairs, each at least 2';
	END IF;
	INSERT INTO cudal1.profile SELECT p.*;
	RETURN p.name;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_profile(text, text, jsonb, text) IS
'adds a measurement profile: a copy of base with the columns in changes replaced; returns its name. A taken name is a unique violation, an unknown column or a value out of range an error';
/*
 * Tables of models, their requests and the campaigns that make them.
 *
 * An answer costs money, so it is stored as it came before anything looks at it; what is made of it (a candidate) is noted
 * beside it later. A request lives on as the record of its answer. Keys are never here: a model names its key, and the
 * program that talks to the endpoint finds it in a file of the server.
 */

CREATE TABLE cudal1.model (
	model_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	name				text NOT NULL UNIQUE CHECK (name <> ''),
	endpoint			text NOT NULL,
	model				text NOT NULL CHECK (model <> ''),
	key_name			text,
	parameters			jsonb NOT NULL DEFAULT '{}' CHECK (pg_catalog.jsonb_typeof(parameters) = 'object'),
	concurrency			int NOT NULL CHECK (concurrency BETWEEN 1 AND 10000),
	requests_per_minute	float8 CHECK (requests_per_minute > 0 AND requests_per_minute < 'Infinity'),
	prompt_price		float8 CHECK (prompt_price >= 0 AND prompt_price < 'Infinity'),
	completion_price	float8 CHECK (completion_price >= 0 AND completion_price < 'Infinity'),
	stream				boolean NOT NULL,
	connect_seconds		float8 NOT NULL CHECK (connect_seconds > 0 AND connect_seconds <= 3600),
	stall_seconds		float8 NOT NULL CHECK (stall_seconds > 0 AND stall_seconds <= 86400),
	total_seconds		float8 NOT NULL CHECK (total_seconds > 0 AND total_seconds <= 86400),
	backoff_seconds		float8 NOT NULL CHECK (backoff_seconds > 0 AND backoff_seconds <= 3600),
	max_tries			int NOT NULL CHECK (max_tries BETWEEN 1 AND 100),
	max_answer_bytes	int NOT NULL CHECK (max_answer_bytes BETWEEN 1 AND 4194304),
	max_body_bytes		int NOT NULL CHECK (max_body_bytes BETWEEN 1024 AND 1073741824),
	enabled				boolean NOT NULL DEFAULT true,
	not_before			timestamptz NOT NULL DEFAULT '-infinity',
	next_request		timestamptz NOT NULL DEFAULT '-infinity',
	created_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	created_by			text NOT NULL DEFAULT SESSION_USER
);
COMMENT ON TABLE cudal1.model IS 'language models behind endpoints that speak OpenAI''s chat completions';
COMMENT ON COLUMN cudal1.model.name IS 'the name by which campaigns and methods know it';
COMMENT ON COLUMN cudal1.model.endpoint IS 'base address to which /chat/completions is appended: http://..., https://... or unix:/path/of/socket:/v1';
COMMENT ON COLUMN cudal1.model.model IS 'the name that the endpoint knows it by';
COMMENT ON COLUMN cudal1.model.key_name IS 'name of its key in the file cudal1.key_file of the server; NULL: no key is sent';
COMMENT ON COLUMN cudal1.model.parameters IS 'further members of every request''s body, for instance temperature, top_p, max_tokens';
COMMENT ON COLUMN cudal1.model.concurrency IS 'most requests in flight at once';
COMMENT ON COLUMN cudal1.model.prompt_price IS 'price of a million prompt tokens, in any currency';
COMMENT ON COLUMN cudal1.model.completion_price IS 'price of a million completion tokens';
COMMENT ON COLUMN cudal1.model.stall_seconds IS 'a connection on which nothing arrives for so long is given up';
COMMENT ON COLUMN cudal1.model.backoff_seconds IS 'pause after a first failure; it doubles with each, up to 60 times, and varies by half';
COMMENT ON COLUMN cudal1.model.max_tries IS 'failures after which a request has failed; being told to slow down (429) is none';
COMMENT ON COLUMN cudal1.model.not_before IS 'until then the endpoint asked to be left alone (Retry-After)';
COMMENT ON COLUMN cudal1.model.next_request IS 'the schedule that keeps requests_per_minute';

CREATE TABLE cudal1.campaign (
	campaign_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	name				text NOT NULL UNIQUE CHECK (name <> ''),
	kind				text NOT NULL CHECK (kind IN ('vanilla', 'augment', 'self_supervised', 'evolve', 'contrastive')),
	options				jsonb NOT NULL,
	state				text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'paused', 'finished')),
	note				text,
	round				int NOT NULL DEFAULT 1 CHECK (round >= 1),
	active_seconds		float8 NOT NULL DEFAULT 0,
	resumed_at			timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	created_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	created_by			text NOT NULL DEFAULT SESSION_USER,
	finished_at			timestamptz,
	CHECK ((state = 'finished') = (finished_at IS NOT NULL))
);
COMMENT ON TABLE cudal1.campaign IS 'stages and baselines of CUDA-L1 that the worker carries out; what a campaign does next follows from its rows alone';
COMMENT ON COLUMN cudal1.campaign.options IS 'what was decided when it was added, defaults included';
COMMENT ON COLUMN cudal1.campaign.note IS 'why it is paused or finished';
COMMENT ON COLUMN cudal1.campaign.round IS 'self_supervised: the batch that is under way';
COMMENT ON COLUMN cudal1.campaign.active_seconds IS 'seconds it ran before it was last paused';

CREATE TABLE cudal1.campaign_lane (
	lane_id				bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	campaign_id			bigint NOT NULL REFERENCES cudal1.campaign (campaign_id),
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	model_id			bigint REFERENCES cudal1.model (model_id),
	method				text NOT NULL CHECK (method <> ''),
	state				text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done')),
	note				text,
	prompt_id			bigint REFERENCES cudal1.prompt (prompt_id),
	trials				int NOT NULL DEFAULT 0 CHECK (trials >= 0),
	groups				int NOT NULL DEFAULT 0 CHECK (groups >= 0),
	failures			int NOT NULL DEFAULT 0 CHECK (failures >= 0),
	tokens				bigint NOT NULL DEFAULT 0,
	cost				float8 NOT NULL DEFAULT 0
);
COMMENT ON TABLE cudal1.campaign_lane IS 'one row for each task and model of a campaign';
COMMENT ON COLUMN cudal1.campaign_lane.method IS 'under which its candidates are proposed and reported';
COMMENT ON COLUMN cudal1.campaign_lane.prompt_id IS 'the prompt that all its requests share, where they do';
COMMENT ON COLUMN cudal1.campaign_lane.trials IS 'requests made, those that failed without an answer apart';
COMMENT ON COLUMN cudal1.campaign_lane.failures IS 'requests that failed since the last answer';
COMMENT ON COLUMN cudal1.campaign_lane.tokens IS 'prompt and completion tokens, as the endpoint counts them';
CREATE UNIQUE INDEX campaign_lane_unique ON cudal1.campaign_lane (campaign_id, task_id, (COALESCE(model_id, 0)));

CREATE TABLE cudal1.campaign_group (
	group_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	lane_id				bigint NOT NULL REFERENCES cudal1.campaign_lane (lane_id),
	prompt_id			bigint NOT NULL REFERENCES cudal1.prompt (prompt_id),
	group_key			text NOT NULL UNIQUE CHECK (group_key <> ''),
	size				int NOT NULL CHECK (size >= 1),
	created_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	answered_at			timestamptz
);
COMMENT ON TABLE cudal1.campaign_group IS 'groups of a contrastive campaign: answers to one prompt whose rewards are compared (GRPO)';
COMMENT ON COLUMN cudal1.campaign_group.size IS 'answers that were asked for';

CREATE FUNCTION cudal1.request_is_possible(state text, worker text, lease_until timestamptz, answer text, finished_at timestamptz,
	taken_at timestamptz, candidate_id bigint, error text)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN CASE state
		WHEN 'queued' THEN num_nonnulls(worker, lease_until, answer, finished_at, taken_at, candidate_id) = 0
		WHEN 'running' THEN num_nulls(worker, lease_until) = 0 AND num_nonnulls(answer, finished_at, taken_at, candidate_id) = 0
		WHEN 'answered' THEN answer IS NOT NULL AND finished_at IS NOT NULL AND lease_until IS NULL
			AND (taken_at IS NOT NULL OR candidate_id IS NULL)
		WHEN 'failed' THEN finished_at IS NOT NULL AND lease_until IS NULL AND candidate_id IS NULL AND error IS NOT NULL
		WHEN 'cancelled' THEN finished_at IS NOT NULL AND lease_until IS NULL AND candidate_id IS NULL
		ELSE false END;
END
$$;
COMMENT ON FUNCTION cudal1.request_is_possible(text, text, timestamptz, text, timestamptz, timestamptz, bigint, text) IS
'constraint: what goes with which state of a request';

CREATE TABLE cudal1.request (
	request_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	model_id			bigint NOT NULL REFERENCES cudal1.model (model_id),
	purpose				text NOT NULL DEFAULT 'candidate' CHECK (purpose IN ('candidate', 'techniques')),
	prompt_id			bigint REFERENCES cudal1.prompt (prompt_id),
	about				bigint REFERENCES cudal1.candidate (candidate_id),
	lane_id				bigint REFERENCES cudal1.campaign_lane (lane_id),
	method				text NOT NULL CHECK (method <> ''),
	group_key			text,
	priority			int NOT NULL DEFAULT 0,
	state				text NOT NULL DEFAULT 'queued',
	decided				boolean NOT NULL DEFAULT false,
	cancel_requested	boolean NOT NULL DEFAULT false,
	not_before			timestamptz NOT NULL DEFAULT '-infinity',
	attempt				int NOT NULL DEFAULT 0,
	failures			int NOT NULL DEFAULT 0,
	worker				text,
	lease_until			timestamptz,
	status				int,
	error				text,
	answer				text,
	finish_reason		text,
	prompt_tokens		bigint NOT NULL DEFAULT 0,
	completion_tokens	bigint NOT NULL DEFAULT 0,
	cost				float8 NOT NULL DEFAULT 0,
	seconds				float8,
	created_at			timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	created_by			text NOT NULL DEFAULT SESSION_USER,
	finished_at			timestamptz,
	taken_at			timestamptz,
	candidate_id		bigint REFERENCES cudal1.candidate (candidate_id),
	CHECK ((purpose = 'candidate') = (prompt_id IS NOT NULL)),
	CHECK ((purpose = 'techniques') = (about IS NOT NULL)),
	CONSTRAINT request_is_possible
		CHECK (cudal1.request_is_possible(state, worker, lease_until, answer, finished_at, taken_at, candidate_id, error))
);
COMMENT ON TABLE cudal1.request IS 'one row for each answer asked of a model; kept for ever, as the answer was paid for';
COMMENT ON COLUMN cudal1.request.purpose IS 'candidate: the answer becomes one; techniques: it names the techniques of a candidate';
COMMENT ON COLUMN cudal1.request.about IS 'the candidate whose techniques are asked for';
COMMENT ON COLUMN cudal1.request.state IS 'queued, running; final: answered, failed, cancelled';
COMMENT ON COLUMN cudal1.request.decided IS 'nothing more comes of it: its candidate has a verdict, or there is none';
COMMENT ON COLUMN cudal1.request.attempt IS 'fencing number: counts claims; the answer to an older claim is refused';
COMMENT ON COLUMN cudal1.request.failures IS 'tries that failed, those apart that were told to slow down';
COMMENT ON COLUMN cudal1.request.status IS 'HTTP status of the last try';
COMMENT ON COLUMN cudal1.request.error IS 'what went wrong in the last failed try, or with taking the answer';
COMMENT ON COLUMN cudal1.request.answer IS 'the model''s text as it came; of a failed request what had come until then';
COMMENT ON COLUMN cudal1.request.prompt_tokens IS 'as the endpoint counts them, all tries together; 0 where it does not';
COMMENT ON COLUMN cudal1.request.cost IS 'by the prices of the model at that time';
COMMENT ON COLUMN cudal1.request.seconds IS 'seconds of the last try';
COMMENT ON COLUMN cudal1.request.taken_at IS 'when the answer was turned into what it was asked for';
CREATE INDEX request_claim ON cudal1.request (model_id, priority DESC, request_id) WHERE state = 'queued';
CREATE INDEX request_running ON cudal1.request (model_id) WHERE state = 'running';
CREATE INDEX request_answered ON cudal1.request (request_id) WHERE state = 'answered' AND taken_at IS NULL;
CREATE INDEX request_undecided ON cudal1.request (lane_id) WHERE NOT decided;
CREATE INDEX request_lane ON cudal1.request (lane_id);

CREATE TABLE cudal1.technique (
	name				text PRIMARY KEY CHECK (name <> ''),
	pattern				text
);
COMMENT ON TABLE cudal1.technique IS 'names of techniques (CUDA-L1, 3.6); those without a pattern were named by a model or a person';
COMMENT ON COLUMN cudal1.technique.pattern IS 'regular expression, without regard to case, by which it is found in a code';

CREATE TABLE cudal1.candidate_technique (
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	technique			text NOT NULL REFERENCES cudal1.technique (name),
	source				text NOT NULL CHECK (source <> ''),
	PRIMARY KEY (candidate_id, technique, source)
);
COMMENT ON TABLE cudal1.candidate_technique IS 'techniques found in candidates';
COMMENT ON COLUMN cudal1.candidate_technique.source IS 'keywords, or the name of the model that was asked';
/*
 * What operators' functions remember: the A/A candidate of each task, and which texts were given up.
 */

CREATE TABLE cudal1.aa_candidate (
	task_id				bigint PRIMARY KEY REFERENCES cudal1.task (task_id),
	candidate_id		bigint NOT NULL UNIQUE REFERENCES cudal1.candidate (candidate_id)
);
COMMENT ON TABLE cudal1.aa_candidate IS 'the reference of a task as its own candidate, made by cudal1_measure_aa(): its true speedup is 1, so what it measures is the device';

CREATE TABLE cudal1.pruned (
	candidate_id		bigint PRIMARY KEY REFERENCES cudal1.candidate (candidate_id),
	bytes				bigint NOT NULL,
	pruned_at			timestamptz NOT NULL DEFAULT pg_catalog.now()
);
COMMENT ON TABLE cudal1.pruned IS 'failed candidates whose code cudal1_prune() removed; their hash, verdict and detail stay';
COMMENT ON COLUMN cudal1.pruned.bytes IS 'length of the code that was removed';
/*
 * Tasks: a reference, and everything about measuring its candidates that is decided once. What the caller leaves open is
 * resolved when the task is added and stored, so that a later default, or a device plugged in later, changes no reward.
 */

-- a JSON number between two limits, as float8; NULL for anything else
CREATE FUNCTION cudal1.json_float(value jsonb, low float8 DEFAULT '-1e300', high float8 DEFAULT '1e300')
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN pg_catalog.jsonb_typeof(value) IS DISTINCT FROM 'number' THEN NULL
				WHEN (value #>> '{}')::numeric NOT BETWEEN low::numeric AND high::numeric THEN NULL
				WHEN pg_catalog.abs((value #>> '{}')::numeric) < 1e-300 THEN 0::float8
				ELSE (value #>> '{}')::float8 END;
END;
COMMENT ON FUNCTION cudal1.json_float(jsonb, float8, float8) IS
'the number of a JSON value within [low, high]; NULL if it is no number or lies outside';

CREATE FUNCTION cudal1.json_int(value jsonb, low bigint DEFAULT 0, high bigint DEFAULT 2147483647)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN pg_catalog.jsonb_typeof(value) IS DISTINCT FROM 'number' THEN NULL
				WHEN (value #>> '{}')::numeric NOT BETWEEN low AND high THEN NULL
				WHEN (value #>> '{}')::numeric <> pg_catalog.trunc((value #>> '{}')::numeric) THEN NULL
				ELSE (value #>> '{}')::numeric::bigint END;
END;
COMMENT ON FUNCTION cudal1.json_int(jsonb, bigint, bigint) IS
'the integer of a JSON value within [low, high]; NULL if it is no integer or lies outside';

-- stable as convert_to() is: an immutable one would not be inlined
CREATE FUNCTION cudal1.code_hash(code text)
RETURNS bytea
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
	SELECT pg_catalog.sha256(pg_catalog.convert_to(code, 'UTF8'));
END;
COMMENT ON FUNCTION cudal1.code_hash(text) IS 'SHA-256 of a text in UTF-8: the identity of a code within its task';

CREATE FUNCTION cudal1.bad_signature(problem text, hint text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF hint IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'malformed signature: ' || problem;
	END IF;
	RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'malformed signature: ' || problem, HINT = hint;
END
$$;
COMMENT ON FUNCTION cudal1.bad_signature(text, text) IS 'raises the error of a malformed signature';

CREATE FUNCTION cudal1.check_signature(signature jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	identifier	constant text := '^[A-Za-z_][A-Za-z0-9_]{0,62}$';
	-- what a C or C++ compiler would refuse as the name of a parameter
	keywords	constant text[] := ARRAY['alignas', 'alignof', 'and', 'and_eq', 'asm', 'auto', 'bitand', 'bitor', 'bool', 'break',
		'case', 'catch', 'char', 'class', 'compl', 'const', 'constexpr', 'continue', 'decltype', 'default', 'delete', 'do',
		'double', 'else', 'enum', 'explicit', 'export', 'extern', 'false', 'float', 'for', 'friend', 'goto', 'if', 'inline', 'int',
		'long', 'main', 'mutable', 'namespace', 'new', 'noexcept', 'not', 'not_eq', 'nullptr', 'operator', 'or', 'or_eq', 'private',
		'protected', 'public', 'register', 'restrict', 'return', 'short', 'signed', 'sizeof', 'static', 'struct', 'switch',
		'template', 'this', 'throw', 'true', 'try', 'typedef', 'typeid', 'typename', 'typeof', 'union', 'unsigned', 'using',
		'virtual', 'void', 'volatile', 'wchar_t', 'while', 'xor', 'xor_eq'];
	widths		constant jsonb := '{"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "uint8": 1, "bool": 1}';
	lowest		constant jsonb := '{"float64": -1.7e308, "float32": -3.4e38, "float16": -65504, "bfloat16": -3.3e38,
									"int64": -9223372036854775808, "int32": -2147483648, "uint8": 0, "bool": 0}';
	highest		constant jsonb := '{"float64": 1.7e308, "float32": 3.4e38, "float16": 65504, "bfloat16": 3.3e38,
									"int64": 9223372036854775807, "int32": 2147483647, "uint8": 255, "bool": 1}';
	most_bytes	constant numeric := 17179869184;
	arg			jsonb;
	i			bigint;
	key			text;
	label		text;
	names		text[] := '{}';
	dtype		text;
	role		text;
	init		text;
	integral	boolean;
	dim			jsonb;
	elements	numeric;
	bytes		numeric := 0;
	outputs		int := 0;
	limits		numeric[];
	args		jsonb := '[]';
BEGIN
	IF jsonb_typeof(signature) <> 'object' THEN
		PERFORM cudal1.bad_signature('it must be a JSON object', 'Members are entry, args, rtol and atol.');
	END IF;
	FOR key IN SELECT jsonb_object_keys(signature) LOOP
		IF key NOT IN ('entry', 'args', 'rtol', 'atol') THEN
			PERFORM cudal1.bad_signature(format('unknown member "%s"', key), 'Members are entry, args, rtol and atol.');
		END IF;
	END LOOP;
	IF jsonb_typeof(signature -> 'entry') IS DISTINCT FROM 'string'
		OR NOT (signature ->> 'entry') ~ identifier OR (signature ->> 'entry') = ANY (keywords) THEN
		PERFORM cudal1.bad_signature('entry must be the name of a C function', 'For instance "entry": "solve".');
	END IF;
	FOREACH key IN ARRAY ARRAY['rtol', 'atol'] LOOP
		IF jsonb_typeof(signature -> key) <> 'null' AND cudal1.json_float(signature -> key, 0) IS NULL THEN
			PERFORM cudal1.bad_signature(format('%s must be a number not below 0', key));
		END IF;
	END LOOP;
	IF jsonb_typeof(signature -> 'args') IS DISTINCT FROM 'array'
		OR jsonb_array_length(signature -> 'args') NOT BETWEEN 1 AND 64 THEN
		PERFORM cudal1.bad_signature('args must be an array of 1 to 64 arguments');
	END IF;

	FOR arg, i IN SELECT a.value, a.ordinality FROM jsonb_array_elements(signature -> 'args') WITH ORDINALITY AS a LOOP
		label := format('argument %s', i);
		IF jsonb_typeof(arg) <> 'object' THEN
			PERFORM cudal1.bad_signature(label || ' must be a JSON object');
		END IF;
		IF jsonb_typeof(arg -> 'name') IS DISTINCT FROM 'string'
			OR NOT (arg ->> 'name') ~ identifier OR (arg ->> 'name') = ANY (keywords) THEN
			PERFORM cudal1.bad_signature(label || ' must have a name that is a C identifier');
		END IF;
		label := format('%s (%s)', label, arg ->> 'name');
		IF (arg ->> 'name') = ANY (names) THEN
			PERFORM cudal1.bad_signature(label || ' repeats a name');
		END IF;
		names := names || (arg ->> 'name');

		dtype := CASE WHEN jsonb_typeof(arg -> 'dtype') = 'string' THEN arg ->> 'dtype' END;
		IF dtype IS NULL OR NOT widths ? dtype THEN
			PERFORM cudal1.bad_signature(label || ' has no valid dtype',
				'Types are float64, float32, float16, bfloat16, int64, int32, uint8 and bool.');
		END IF;
		integral := dtype IN ('int64', 'int32', 'uint8', 'bool');
		role := CASE WHEN jsonb_typeof(arg -> 'role') = 'string' THEN arg ->> 'role' END;
		IF role IS NULL OR role NOT IN ('in', 'out', 'inout', 'scalar') THEN
			PERFORM cudal1.bad_signature(label || ' has no valid role', 'Roles are in, out, inout and scalar.');
		END IF;

		FOR key IN SELECT jsonb_object_keys(arg) LOOP
			IF key <> ALL (ARRAY['name', 'dtype', 'role'] ||
						   CASE role WHEN 'scalar' THEN ARRAY['value'] WHEN 'out' THEN ARRAY['shape']
						   ELSE ARRAY['shape', 'init', 'low', 'high'] END) THEN
				PERFORM cudal1.bad_signature(format('%s has the member "%s", unknown for role %s', label, key, role),
					CASE role WHEN 'scalar' THEN 'A scalar has name, dtype, role and value.'
							  WHEN 'out' THEN 'An output has name, dtype, role and shape.'
							  ELSE 'An input has name, dtype, role, shape, init, low and high.' END);
			END IF;
		END LOOP;

		IF role = 'scalar' THEN
			IF dtype IN ('float16', 'bfloat16') THEN
				PERFORM cudal1.bad_signature(format('%s: %s cannot be passed by value', label, dtype),
					'Scalars are float64, float32, int64, int32, uint8 or bool.');
			END IF;
			IF dtype = 'bool' AND jsonb_typeof(arg -> 'value') = 'boolean' THEN
				arg := jsonb_set(arg, '{value}', CASE WHEN (arg ->> 'value')::boolean THEN '1' ELSE '0' END::jsonb);
			END IF;
			IF jsonb_typeof(arg -> 'value') IS DISTINCT FROM 'number' THEN
				PERFORM cudal1.bad_signature(label || ' needs a number as value');
			END IF;
			IF (arg ->> 'value')::numeric NOT BETWEEN (lowest ->> dtype)::numeric AND (highest ->> dtype)::numeric
				OR (integral AND (arg ->> 'value')::numeric <> trunc((arg ->> 'value')::numeric)) THEN
				PERFORM cudal1.bad_signature(format('%s: value is out of range for %s', label, dtype));
			END IF;
		ELSE
			IF jsonb_typeof(arg -> 'shape') IS DISTINCT FROM 'array'
				OR jsonb_array_length(arg -> 'shape') NOT BETWEEN 1 AND 8 THEN
				PERFORM cudal1.bad_signature(label || ' needs a shape of 1 to 8 dimensions');
			END IF;
			elements := 1;
			FOR dim IN SELECT jsonb_array_elements(arg -> 'shape') LOOP
				IF cudal1.json_int(dim, 1, 4294967296) IS NULL THEN
					PERFORM cudal1.bad_signature(label || ': each dimension must be an integer of at least 1');
				END IF;
				elements := elements * (dim #>> '{}')::numeric;
			END LOOP;
			bytes := bytes + elements * (widths ->> dtype)::numeric;
			IF bytes > most_bytes THEN
				PERFORM cudal1.bad_signature('the arrays take more than 16 GiB together');
			END IF;
			IF role <> 'in' THEN
				outputs := outputs + 1;
			END IF;
		END IF;

		IF role IN ('in', 'inout') THEN
			-- floating point inputs are normal unless said otherwise, integers need their range
			IF NOT arg ? 'init' THEN
				arg := arg || jsonb_build_object('init', CASE WHEN integral THEN 'integer' ELSE 'normal' END);
			END IF;
			init := CASE WHEN jsonb_typeof(arg -> 'init') = 'string' THEN arg ->> 'init' END;
			IF init IS NULL OR init NOT IN ('normal', 'uniform', 'integer', 'zero') THEN
				PERFORM cudal1.bad_signature(label || ' has no valid init', 'Inits are normal, uniform, integer and zero.');
			END IF;
			IF integral AND init IN ('normal', 'uniform') THEN
				PERFORM cudal1.bad_signature(format('%s: init %s needs a floating point dtype', label, init),
					'Use "init": "integer" with low and high, or "zero".');
			END IF;
			IF init IN ('normal', 'zero') THEN
				IF arg ? 'low' OR arg ? 'high' THEN
					PERFORM cudal1.bad_signature(format('%s: init %s takes no low or high', label, init));
				END IF;
			ELSE
				IF init = 'uniform' OR dtype = 'bool' THEN
					arg := '{"low": 0, "high": 1}'::jsonb || arg;
				END IF;
				IF jsonb_typeof(arg -> 'low') IS DISTINCT FROM 'number' OR jsonb_typeof(arg -> 'high') IS DISTINCT FROM 'number' THEN
					PERFORM cudal1.bad_signature(format('%s: init %s needs the numbers low and high', label, init));
				END IF;
				limits := ARRAY[(arg ->> 'low')::numeric, (arg ->> 'high')::numeric];
				IF limits[1] >= limits[2]
					OR limits[1] < (lowest ->> dtype)::numeric OR limits[2] > (highest ->> dtype)::numeric
					OR (init = 'integer' AND limits <> ARRAY[trunc(limits[1]), trunc(limits[2])]) THEN
					PERFORM cudal1.bad_signature(format('%s: low and high must be %s with low < high, in the range of %s',
						label, CASE init WHEN 'integer' THEN 'integers' ELSE 'numbers' END, dtype));
				END IF;
			END IF;
		END IF;
		args := args || jsonb_build_array(arg);
	END LOOP;

	IF outputs = 0 THEN
		PERFORM cudal1.bad_signature('no argument has the role out or inout');
	END IF;
	RETURN jsonb_set(signature, '{args}', args);
END
$$;
COMMENT ON FUNCTION cudal1.check_signature(jsonb) IS
'the signature of a c or cuda task with its defaults filled in; error 22023 where it is malformed, naming the argument';

CREATE FUNCTION cudal1.find_task(task text)
RETURNS cudal1.task
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task;
BEGIN
	IF find_task.task IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'task must not be null';
	END IF;
	SELECT * INTO t FROM cudal1.task AS x WHERE x.name = find_task.task;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('task "%s" does not exist', find_task.task),
			HINT = 'Add it with cudal1_add_task(); cudal1.task lists those that exist.';
	END IF;
	RETURN t;
END
$$;
COMMENT ON FUNCTION cudal1.find_task(text) IS 'the task of a name; error 42704 if there is none';

CREATE FUNCTION cudal1.warn_no_device(t cudal1.task)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	wanted	text := coalesce(t.device_model, t.device);
BEGIN
	IF NOT EXISTS (SELECT FROM cudal1.device AS d
				   WHERE d.enabled AND (d.class = wanted OR d.model = wanted)
						AND t.language = ANY (d.languages) AND d.cores >= t.cores) THEN
		RAISE NOTICE USING
			MESSAGE = format('no device can measure task "%s" now', t.name),
			DETAIL = format('It needs a device of class or model "%s" with language %s and %s core(s).', wanted, t.language, t.cores),
			HINT = 'Its candidates wait in the queue; cudal1_status() says what is missing.';
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.warn_no_device(cudal1.task) IS 'a NOTICE where no enabled device can measure the task';

CREATE FUNCTION cudal1.bad_option(option text, expected text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('option "%s" must be %s', option, expected);
END
$$;
COMMENT ON FUNCTION cudal1.bad_option(text, text) IS 'raises the error of a task option that is out of range';

CREATE FUNCTION @extschema@.cudal1_add_task(task text, reference text, language text, signature jsonb DEFAULT NULL,
	level int DEFAULT NULL, options jsonb DEFAULT '{}')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task;
	key		text;
	class	text;
	given	text;
	valid	constant text[] := ARRAY['profile', 'device', 'cores', 'bucket_width', 'temperature', 'score_scale', 'strategy', 'rtol',
		'atol', 'problem', 'certify', 'islands', 'island_reset', 'island_temperature', 'island_period', 'island_late'];
BEGIN
	IF task IS NULL OR reference IS NULL OR language IS NULL OR options IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'task, reference, language and options must not be null';
	END IF;
	IF task !~ '[^[:space:]]' OR octet_length(task) > 1000 OR task ~ '[[:cntrl:]]' THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = 'task must be a name of 1 to 1000 bytes without control characters';
	END IF;
	IF reference !~ '[^[:space:]]' THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'reference must not be empty';
	END IF;
	IF octet_length(reference) > 1048576 THEN
		RAISE EXCEPTION USING ERRCODE = '54000', MESSAGE = 'reference must not be longer than 1 MiB';
	END IF;
	IF language NOT IN ('c', 'cuda', 'pytorch') THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('unknown language "%s"', language),
			HINT = 'Languages are c, cuda and pytorch.';
	END IF;
	IF jsonb_typeof(signature) = 'null' THEN
		signature := NULL;
	END IF;
	IF language = 'pytorch' AND signature IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'signature must be null for language pytorch',
			DETAIL = 'The shapes of a PyTorch task come from get_inputs() of its reference.';
	ELSIF language <> 'pytorch' AND signature IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('signature must not be null for language %s', language),
			HINT = 'For instance {"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [1024], "role": "inout"}]}.';
	END IF;
	IF level < 0 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'level must not be negative';
	END IF;
	IF jsonb_typeof(options) <> 'object' THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'options must be a JSON object';
	END IF;
	FOR key IN SELECT jsonb_object_keys(options) LOOP
		IF key <> ALL (valid) THEN
			RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('unknown option "%s"', key),
				HINT = format('Options are %s.', array_to_string(valid, ', '));
		END IF;
	END LOOP;

	t.name := task;
	t.language := language;
	t.level := level;
	t.reference := replace(reference, E'\r\n', E'\n');
	t.options := options;
	t.content_hash := sha256(convert_to(jsonb_build_array(language, t.reference, signature, level, options)::text, 'UTF8'));
	IF language <> 'pytorch' THEN
		t.signature := cudal1.check_signature(signature);
	END IF;

	-- an option given as null is one left open
	options := jsonb_strip_nulls(options);
	t.profile := coalesce(options ->> 'profile', 'default');
	IF jsonb_typeof(options -> 'profile') <> 'string' OR NOT EXISTS (SELECT FROM cudal1.profile AS p WHERE p.name = t.profile) THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('profile "%s" does not exist', t.profile),
			HINT = (SELECT 'Profiles are ' || string_agg(p.name, ', ' ORDER BY p.name) || '.' FROM cudal1.profile AS p);
	END IF;
	t.cores := CASE WHEN options ? 'cores' THEN cudal1.json_int(options -> 'cores', 1, 1024) ELSE 1 END;
	IF t.cores IS NULL THEN
		PERFORM cudal1.bad_option('cores', 'an integer between 1 and 1024');
	END IF;
	t.bucket_width := CASE WHEN options ? 'bucket_width' THEN cudal1.json_float(options -> 'bucket_width', 1e-6, 1e6) ELSE 0.25 END;
	IF t.bucket_width IS NULL THEN
		PERFORM cudal1.bad_option('bucket_width', 'a number between 1e-6 and 1e6');
	END IF;
	t.temperature := CASE WHEN options ? 'temperature' THEN cudal1.json_float(options -> 'temperature', 1e-6, 1e6) ELSE 1 END;
	IF t.temperature IS NULL THEN
		PERFORM cudal1.bad_option('temperature', 'a number between 1e-6 and 1e6');
	END IF;
	t.score_scale := coalesce(options ->> 'score_scale', 'linear');
	IF t.score_scale NOT IN ('linear', 'log') THEN
		PERFORM cudal1.bad_option('score_scale', 'linear or log');
	END IF;
	t.strategy := coalesce(options ->> 'strategy', 'bucket');
	IF t.strategy NOT IN ('bucket', 'island', 'random') THEN
		PERFORM cudal1.bad_option('strategy', 'bucket, island or random');
	END IF;
	-- the option goes before the signature's member of the same name
	t.rtol := cudal1.json_float(coalesce(options -> 'rtol', t.signature -> 'rtol'), 0);
	IF t.rtol IS NULL AND options ? 'rtol' THEN
		PERFORM cudal1.bad_option('rtol', 'a number not below 0');
	END IF;
	t.atol := cudal1.json_float(coalesce(options -> 'atol', t.signature -> 'atol'), 0);
	IF t.atol IS NULL AND options ? 'atol' THEN
		PERFORM cudal1.bad_option('atol', 'a number not below 0');
	END IF;
	t.problem := cudal1.json_int(options -> 'problem');
	IF t.problem IS NULL AND options ? 'problem' THEN
		PERFORM cudal1.bad_option('problem', 'an integer not below 0');
	END IF;

	IF options ? 'certify' AND jsonb_typeof(options -> 'certify') <> 'boolean' THEN
		PERFORM cudal1.bad_option('certify', 'true or false');
	END IF;
	IF options ? 'islands' AND cudal1.json_int(options -> 'islands', 1, 1000) IS NULL THEN
		PERFORM cudal1.bad_option('islands', 'an integer between 1 and 1000');
	END IF;
	FOREACH key IN ARRAY ARRAY['island_reset', 'island_period'] LOOP
		IF options ? key AND cudal1.json_int(options -> key, 1, 1000000000000) IS NULL THEN
			PERFORM cudal1.bad_option(key, 'an integer between 1 and 1000000000000');
		END IF;
	END LOOP;
	IF options ? 'island_temperature' AND cudal1.json_float(options -> 'island_temperature', 1e-6, 1e6) IS NULL THEN
		PERFORM cudal1.bad_option('island_temperature', 'a number between 1e-6 and 1e6');
	END IF;
	IF coalesce(options ->> 'island_late', 'admit') NOT IN ('admit', 'reject') THEN
		PERFORM cudal1.bad_option('island_late', 'admit or reject');
	END IF;

	given := options ->> 'device';
	IF given IS NULL THEN
		t.device := CASE language
					WHEN 'c' THEN 'cpu'
					WHEN 'cuda' THEN 'cuda'
					ELSE CASE WHEN EXISTS (SELECT FROM cudal1.device AS d
										   WHERE d.class = 'cuda' AND d.enabled AND 'pytorch' = ANY (d.languages))
						 THEN 'cuda' ELSE 'cpu' END
					END;
	ELSE
		IF jsonb_typeof(options -> 'device') <> 'string' OR given !~ '[^[:space:]]' OR octet_length(given) > 200 THEN
			PERFORM cudal1.bad_option('device', 'a device class (cpu or cuda) or a device model');
		END IF;
		SELECT d.class INTO class FROM cudal1.device AS d WHERE d.class = given OR d.model = given LIMIT 1;
		class := CASE WHEN given IN ('cpu', 'cuda') THEN given ELSE class END;
		IF (language = 'c' AND class = 'cuda') OR (language = 'cuda' AND class = 'cpu') THEN
			PERFORM cudal1.bad_option('device', format('of class %s for language %s',
				CASE language WHEN 'c' THEN 'cpu' ELSE 'cuda' END, language));
		END IF;
		t.device := given;
	END IF;

	INSERT INTO cudal1.task (name, language, level, problem, reference, signature, options, profile, device, cores,
			bucket_width, temperature, score_scale, strategy, rtol, atol, content_hash, created_by)
		VALUES (t.name, t.language, t.level, t.problem, t.reference, t.signature, t.options, t.profile, t.device, t.cores,
			t.bucket_width, t.temperature, t.score_scale, t.strategy, t.rtol, t.atol, t.content_hash, session_user)
		ON CONFLICT (name) DO NOTHING
		RETURNING task_id INTO t.task_id;
	IF NOT FOUND THEN
		SELECT x.task_id INTO t.task_id FROM cudal1.task AS x WHERE x.name = t.name AND x.content_hash = t.content_hash;
		IF NOT FOUND THEN
			RAISE EXCEPTION USING ERRCODE = '23505',
				MESSAGE = format('task "%s" exists with other content', t.name),
				DETAIL = 'A task''s reference, language, signature, level and options never change.',
				HINT = 'Add the new version under another name.';
		END IF;
	ELSIF coalesce((options ->> 'certify')::boolean, coalesce(nullif(current_setting('cudal1.certify', true), ''), 'off')::boolean) THEN
		PERFORM cudal1.certify(t.task_id);
	END IF;
	RETURN t.task_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_task(text, text, text, jsonb, int, jsonb) IS
'adds a task and returns its id; the same content again returns the same id, other content under the name is a unique violation.
language: c, cuda or pytorch. signature: for c and cuda, {"entry", "args": [{"name", "dtype", "shape", "role", "init", "low", "high", "value"}], "rtol", "atol"}.
options: profile (default), device (class or model; c: cpu, cuda: cuda, pytorch: cuda if one is registered, else cpu), cores (1), bucket_width (0.25),
temperature (1), score_scale (linear; log), strategy (bucket; island, random), rtol, atol (NULL: of each dtype), problem (number within the level), certify (the setting cudal1.certify: whether null candidates are measured, see cudal1_certify_task()), islands (10), island_reset (1000), island_temperature (0.1),
island_period (30000), island_late (admit; reject)';

CREATE FUNCTION cudal1.guard_task() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = '42501', MESSAGE = format('task "%s" is immutable', OLD.name),
		DETAIL = 'Rewards of a task are comparable because its reference never changes.',
		HINT = 'Add the new version under another name.';
END
$$;
COMMENT ON FUNCTION cudal1.guard_task() IS 'trigger: rejects changes of what a task''s rewards rest on';

CREATE TRIGGER guard_task
	BEFORE UPDATE OF task_id, name, language, reference, signature, content_hash ON cudal1.task
	FOR EACH ROW EXECUTE FUNCTION cudal1.guard_task();
/*
 * Submissions. A code is a candidate once, however often it is proposed: the unique index on (task, hash) arbitrates
 * between sessions, as does the one on (task, group, key) for idempotency keys; nothing else is locked. What inserts many
 * rows inserts them in the order of these indexes, so that two batches wait for each other in one direction only.
 */

CREATE FUNCTION cudal1.enqueue_measure(t cudal1.task, candidate_id bigint, priority int, deadline timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language, priority, deadline)
		VALUES ('measure', t.task_id, enqueue_measure.candidate_id, t.profile, coalesce(t.device_model, t.device), t.cores, t.language,
				enqueue_measure.priority, enqueue_measure.deadline)
		ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION cudal1.enqueue_measure(cudal1.task, bigint, int, timestamptz) IS
'queues the measurement of a candidate by its task''s profile on its task''s device';

CREATE FUNCTION cudal1.propose_again(t cudal1.task, candidate_id bigint, priority int, deadline timestamptz)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	c		record;
BEGIN
	SELECT x.state, x.imported INTO c FROM cudal1.candidate AS x WHERE x.candidate_id = propose_again.candidate_id;
	IF c.state IN ('queued', 'measuring', 'verifying') THEN
		-- the job serves the most urgent of its proposals; a row locked by its worker is left alone unless it is being cancelled
		WITH due AS MATERIALIZED (
			SELECT j.job_id FROM cudal1.job AS j
				WHERE j.candidate_id = propose_again.candidate_id AND j.kind IN ('measure', 'verify')
					AND (j.cancel_requested
						 OR (j.state = 'queued'
							 AND (j.priority < propose_again.priority OR j.deadline < coalesce(propose_again.deadline, 'infinity'))))
				ORDER BY j.job_id
				FOR UPDATE)
		UPDATE cudal1.job AS j
			SET cancel_requested = false,
				priority = greatest(j.priority, propose_again.priority),
				deadline = CASE WHEN propose_again.deadline IS NOT NULL THEN greatest(j.deadline, propose_again.deadline) END
			FROM due WHERE j.job_id = due.job_id;
		RETURN false;
	ELSIF c.state = 'discarded' OR c.imported THEN
		SELECT x.state, x.imported INTO c FROM cudal1.candidate AS x
			WHERE x.candidate_id = propose_again.candidate_id FOR NO KEY UPDATE;
		IF c.state = 'discarded' THEN
			UPDATE cudal1.candidate AS x
				SET state = 'queued', failure = NULL, detail = NULL, score = NULL, decided_at = NULL, measurement_id = NULL,
					imported = false, import_device = NULL
				WHERE x.candidate_id = propose_again.candidate_id;
		ELSIF NOT c.imported THEN
			RETURN false;
		END IF;
		PERFORM cudal1.enqueue_measure(t, propose_again.candidate_id, propose_again.priority, propose_again.deadline);
		RETURN true;
	END IF;
	RETURN false;
END
$$;
COMMENT ON FUNCTION cudal1.propose_again(cudal1.task, bigint, int, timestamptz) IS
'what another proposal does to a candidate that exists: a discarded or imported one is queued, a waiting one becomes as urgent as its most urgent proposal; true if a job was queued';

CREATE FUNCTION cudal1.place_again(candidate_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	c		record;
BEGIN
	FOR c IN
		SELECT x.candidate_id, x.purpose FROM cudal1.candidate AS x
			WHERE x.candidate_id = ANY (candidate_ids)
				AND (x.purpose <> 'normal'
					 OR x.state = 'successful' AND EXISTS (SELECT FROM cudal1.island AS i WHERE i.task_id = x.task_id))
			ORDER BY x.task_id, x.candidate_id
	LOOP
		IF c.purpose <> 'normal' THEN
			UPDATE cudal1.candidate AS x SET purpose = 'normal' WHERE x.candidate_id = c.candidate_id;
		END IF;
		PERFORM cudal1.place_candidate(c.candidate_id);
	END LOOP;
END
$$;
COMMENT ON FUNCTION cudal1.place_again(bigint[]) IS
'what an ordinary proposal does to codes that exist: a successful one takes its place on the islands it was proposed from, one measured for another purpose becomes an ordinary candidate';

CREATE FUNCTION cudal1.check_submission(code text, method text, priority int)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN code IS NULL THEN 'code must not be null'
				WHEN method IS NULL THEN 'method must not be null'
				WHEN priority IS NULL THEN 'priority must not be null'
				WHEN code !~ '[^[:space:]]' THEN 'code must not be empty'
				WHEN pg_catalog.octet_length(code) > 1048576 THEN 'code must not be longer than 1 MiB'
				WHEN method !~ '[^[:space:]]' OR pg_catalog.octet_length(method) > 200 THEN 'method must be a name of 1 to 200 bytes'
				WHEN priority NOT BETWEEN -1000000000 AND 1000000000 THEN 'priority must lie between -1000000000 and 1000000000'
		   END;
END;
COMMENT ON FUNCTION cudal1.check_submission(text, text, int) IS 'what is wrong with a submission, or NULL';

-- the one way in for a single submission; response is the model's whole answer, failure is set where that was malformed
CREATE FUNCTION cudal1.accept_submission(t cudal1.task, code text, method text, prompt_id bigint, group_key text, proposal_key text,
	priority int, deadline timestamptz, response text, reason text, purpose text DEFAULT 'normal')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	p			record;
	id			bigint;
	earlier		bigint;
	hash		bytea := cudal1.code_hash(accept_submission.code);
	fresh		boolean;
	queued		boolean := false;
	proposal	bigint;
BEGIN
	IF accept_submission.proposal_key IS NOT NULL THEN
		SELECT x.candidate_id INTO id FROM cudal1.proposal AS x
			WHERE x.task_id = t.task_id AND coalesce(x.group_key, '') = coalesce(accept_submission.group_key, '')
				AND x.proposal_key = accept_submission.proposal_key;
		IF FOUND THEN
			RETURN id;
		END IF;
	END IF;
	IF accept_submission.prompt_id IS NOT NULL THEN
		SELECT x.task_id, x.island, x.island_epoch INTO p FROM cudal1.prompt AS x WHERE x.prompt_id = accept_submission.prompt_id;
		IF NOT FOUND THEN
			RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('prompt %s does not exist', accept_submission.prompt_id);
		ELSIF p.task_id <> t.task_id THEN
			RAISE EXCEPTION USING ERRCODE = '22023',
				MESSAGE = format('prompt %s was made for another task than "%s"', accept_submission.prompt_id, t.name);
		END IF;
	ELSE
		SELECT NULL::int AS island, NULL::int AS island_epoch INTO p;
	END IF;

	IF accept_submission.reason IS NULL THEN
		INSERT INTO cudal1.candidate (task_id, code, code_hash, purpose)
			VALUES (t.task_id, accept_submission.code, hash, accept_submission.purpose)
			ON CONFLICT (task_id, code_hash) DO NOTHING
			RETURNING candidate_id INTO id;
	ELSE
		INSERT INTO cudal1.candidate (task_id, code, code_hash, state, failure, detail, reward, decided_at)
			VALUES (t.task_id, accept_submission.code, hash, 'failed', 'malformed', cudal1.clip(accept_submission.reason), 0, now())
			ON CONFLICT (task_id, code_hash) DO NOTHING
			RETURNING candidate_id INTO id;
	END IF;
	fresh := FOUND;
	IF NOT fresh THEN
		SELECT x.candidate_id INTO STRICT id FROM cudal1.candidate AS x WHERE x.task_id = t.task_id AND x.code_hash = hash;
	END IF;

	IF accept_submission.proposal_key IS NULL THEN
		INSERT INTO cudal1.proposal (task_id, candidate_id, method, prompt_id, group_key, island, island_epoch, response)
			VALUES (t.task_id, id, accept_submission.method, accept_submission.prompt_id, accept_submission.group_key,
					p.island, p.island_epoch, accept_submission.response);
	ELSE
		INSERT INTO cudal1.proposal (task_id, candidate_id, method, prompt_id, group_key, proposal_key, island, island_epoch, response)
			VALUES (t.task_id, id, accept_submission.method, accept_submission.prompt_id, accept_submission.group_key,
					accept_submission.proposal_key, p.island, p.island_epoch, accept_submission.response)
			ON CONFLICT DO NOTHING
			RETURNING proposal_id INTO proposal;
		IF NOT FOUND THEN
			-- another session used the key since we looked: its proposal stands, and a code of ours that it doesn't share goes
			SELECT x.candidate_id INTO STRICT earlier FROM cudal1.proposal AS x
				WHERE x.task_id = t.task_id AND coalesce(x.group_key, '') = coalesce(accept_submission.group_key, '')
					AND x.proposal_key = accept_submission.proposal_key;
			IF fresh THEN
				DELETE FROM cudal1.candidate AS x WHERE x.candidate_id = id;
			END IF;
			RETURN earlier;
		END IF;
	END IF;

	IF accept_submission.reason IS NULL THEN
		IF fresh THEN
			PERFORM cudal1.enqueue_measure(t, id, accept_submission.priority, accept_submission.deadline);
			queued := true;
		ELSE
			queued := cudal1.propose_again(t, id, accept_submission.priority, accept_submission.deadline);
		END IF;
		IF queued THEN
			PERFORM cudal1.warn_no_device(t);
			PERFORM cudal1.wake();
		END IF;
	END IF;
	IF NOT fresh AND accept_submission.purpose = 'normal' THEN
		PERFORM cudal1.place_again(ARRAY[id]);
	END IF;
	RETURN id;
END
$$;
COMMENT ON FUNCTION cudal1.accept_submission(cudal1.task, text, text, bigint, text, text, int, timestamptz, text, text, text) IS
'records a checked submission: candidate, proposal and, where needed, a job; returns the candidate';

CREATE FUNCTION @extschema@.cudal1_submit(task text, code text, method text DEFAULT 'manual', prompt_id bigint DEFAULT NULL,
	group_key text DEFAULT NULL, proposal_key text DEFAULT NULL, priority int DEFAULT 0, deadline timestamptz DEFAULT NULL,
	purpose text DEFAULT 'normal')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	reason	text := cudal1.check_submission(cudal1_submit.code, cudal1_submit.method, cudal1_submit.priority);
	body	text := replace(cudal1_submit.code, E'\r\n', E'\n');
	t		record;
	id		bigint;
BEGIN
	IF reason IS NOT NULL THEN
		PERFORM cudal1.bad_submission(reason);
	END IF;
	IF cudal1_submit.purpose IS NULL OR cudal1_submit.purpose NOT IN ('normal', 'null', 'certification', 'ablation') THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('unknown purpose "%s"', cudal1_submit.purpose),
			HINT = 'Purposes are normal, null, certification and ablation.';
	END IF;
	-- what most submissions are, a new code without prompt or key, in as few statements as can be
	IF cudal1_submit.prompt_id IS NULL AND cudal1_submit.proposal_key IS NULL THEN
		SELECT x.task_id, x.profile, coalesce(x.device_model, x.device) AS device, x.cores, x.language INTO t
			FROM cudal1.task AS x WHERE x.name = cudal1_submit.task;
		IF FOUND THEN
			WITH added AS (
				INSERT INTO cudal1.candidate (task_id, code, code_hash, purpose)
					VALUES (t.task_id, body, cudal1.code_hash(body), cudal1_submit.purpose)
					ON CONFLICT (task_id, code_hash) DO NOTHING
					RETURNING candidate_id),
			proposed AS (
				INSERT INTO cudal1.proposal (task_id, candidate_id, method, group_key)
					SELECT t.task_id, added.candidate_id, cudal1_submit.method, cudal1_submit.group_key FROM added),
			queued AS (
				INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language, priority, deadline)
					SELECT 'measure', t.task_id, added.candidate_id, t.profile, t.device, t.cores, t.language, cudal1_submit.priority,
							cudal1_submit.deadline
						FROM added)
			SELECT added.candidate_id INTO id FROM added;
			IF FOUND THEN
				IF NOT EXISTS (SELECT FROM cudal1.device AS d
							   WHERE d.enabled AND (d.class = t.device OR d.model = t.device) AND t.language = ANY (d.languages)
									AND d.cores >= t.cores) THEN
					PERFORM cudal1.warn_no_device(cudal1.find_task(cudal1_submit.task));
				END IF;
				PERFORM cudal1.wake();
				RETURN id;
			END IF;
		END IF;
	END IF;
	RETURN cudal1.accept_submission(cudal1.find_task(cudal1_submit.task), body, cudal1_submit.method, cudal1_submit.prompt_id,
		cudal1_submit.group_key, cudal1_submit.proposal_key, cudal1_submit.priority, cudal1_submit.deadline, NULL, NULL,
		cudal1_submit.purpose);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_submit(text, text, text, bigint, text, text, int, timestamptz, text) IS
'proposes a code for a task and returns its candidate. Identical code (bytes after CRLF -> LF) is one candidate, measured once; each submission is a proposal.
prompt_id: the prompt that led to it; group_key: submissions whose rewards are compared; proposal_key: a repeated key within (task, group) adds nothing;
priority: higher first; deadline: cancelled if not begun by then; purpose: candidates that are not normal (null, certification, ablation) are neither sampled nor reported. A discarded or imported candidate is queued again. A NOTICE says when no device can run the task';

CREATE FUNCTION cudal1.bad_submission(reason text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RAISE EXCEPTION USING MESSAGE = reason,
		ERRCODE = CASE WHEN reason LIKE '%must not be null' THEN '22004'
					   WHEN reason LIKE '%must not be longer than%' THEN '54000'
					   ELSE '22023' END;
END
$$;
COMMENT ON FUNCTION cudal1.bad_submission(text) IS 'raises the error of a submission that is not one';

CREATE FUNCTION cudal1.clip(detail text, bytes int DEFAULT 2000)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	raw		bytea;
	n		int := bytes;
BEGIN
	IF detail IS NULL OR octet_length(detail) <= bytes THEN
		RETURN detail;
	END IF;
	IF getdatabaseencoding() <> 'UTF8' THEN
		-- a character takes at most four bytes in any server encoding
		detail := left(detail, bytes / 4);
		RETURN detail;
	END IF;
	raw := convert_to(detail, 'UTF8');
	WHILE n > 0 AND get_byte(raw, n) BETWEEN 128 AND 191 LOOP
		n := n - 1;
	END LOOP;
	RETURN convert_from(substring(raw FROM 1 FOR n), 'UTF8');
END
$$;
COMMENT ON FUNCTION cudal1.clip(text, int) IS 'the text cut to at most so many bytes, between characters';

CREATE FUNCTION @extschema@.cudal1_submit_response(prompt_id bigint, response text, method text DEFAULT 'model', group_key text DEFAULT NULL,
	proposal_key text DEFAULT NULL, priority int DEFAULT 0, deadline timestamptz DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	t			cudal1.task;
	parsed		record;
	problem		text;
BEGIN
	IF cudal1_submit_response.prompt_id IS NULL OR cudal1_submit_response.response IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'prompt_id and response must not be null';
	END IF;
	IF octet_length(cudal1_submit_response.response) > 4194304 THEN
		RAISE EXCEPTION USING ERRCODE = '54000', MESSAGE = 'response must not be longer than 4 MiB';
	END IF;
	SELECT x.* INTO t FROM cudal1.prompt AS q JOIN cudal1.task AS x USING (task_id)
		WHERE q.prompt_id = cudal1_submit_response.prompt_id;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('prompt %s does not exist', cudal1_submit_response.prompt_id),
			HINT = 'Prompts come from cudal1_prompt().';
	END IF;
	problem := cudal1.check_submission('-', cudal1_submit_response.method, cudal1_submit_response.priority);
	IF problem IS NOT NULL THEN
		PERFORM cudal1.bad_submission(problem);
	END IF;
	SELECT r.code, r.reason INTO parsed FROM @extschema@.cudal1_parse_response(cudal1_submit_response.response) AS r;
	IF parsed.reason IS NULL THEN
		parsed.reason := cudal1.check_submission(parsed.code, cudal1_submit_response.method, cudal1_submit_response.priority);
	END IF;
	IF parsed.reason IS NULL THEN
		RETURN cudal1.accept_submission(t, replace(parsed.code, E'\r\n', E'\n'), cudal1_submit_response.method,
			cudal1_submit_response.prompt_id, cudal1_submit_response.group_key, cudal1_submit_response.proposal_key,
			cudal1_submit_response.priority, cudal1_submit_response.deadline, cudal1_submit_response.response, NULL);
	END IF;
	RETURN cudal1.accept_submission(t, cudal1_submit_response.response, cudal1_submit_response.method,
		cudal1_submit_response.prompt_id, cudal1_submit_response.group_key, cudal1_submit_response.proposal_key,
		cudal1_submit_response.priority, cudal1_submit_response.deadline, cudal1_submit_response.response, parsed.reason);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_submit_response(bigint, text, text, text, text, int, timestamptz) IS
'proposes the code of a model''s answer to a prompt and returns its candidate; a malformed answer becomes a failed candidate (reward 0), identified by its raw text.
Further arguments as in cudal1_submit()';

CREATE FUNCTION @extschema@.cudal1_submit_batch(tasks text[], codes text[], method text DEFAULT 'manual', group_keys text[] DEFAULT NULL,
	proposal_keys text[] DEFAULT NULL, priority int DEFAULT 0, deadline timestamptz DEFAULT NULL)
RETURNS TABLE (ordinal int, candidate_id bigint, reason text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	n			int := cardinality(tasks);
	problem		text;
	-- one element a row of the batch
	task_ids	bigint[];
	hashes		bytea[];
	reasons		text[];
	leaders		int[];		-- the row whose proposal a row with a repeated key repeats, else the row itself
	ids			bigint[];
	-- sets
	fresh		bigint[];	-- candidates added
	known		bigint[];	-- candidates that existed and got a proposal
	r			record;
BEGIN
	IF tasks IS NULL OR codes IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'tasks and codes must not be null';
	END IF;
	IF cardinality(codes) <> n OR cardinality(group_keys) <> n OR cardinality(proposal_keys) <> n THEN
		RAISE EXCEPTION USING ERRCODE = '2202E', MESSAGE = 'tasks, codes, group_keys and proposal_keys must have the same length',
			DETAIL = format('Their lengths are %s, %s, %s and %s.', n, cardinality(codes), coalesce(cardinality(group_keys)::text, 'null'),
							coalesce(cardinality(proposal_keys)::text, 'null'));
	END IF;
	problem := cudal1.check_submission('-', method, cudal1_submit_batch.priority);
	IF problem IS NOT NULL THEN
		PERFORM cudal1.bad_submission(problem);
	END IF;

	-- judge the rows; a key that was used before ends its row here
	SELECT array_agg(v.task_id ORDER BY v.ord), array_agg(v.hash ORDER BY v.ord), array_agg(v.reason ORDER BY v.ord),
			array_agg(CASE WHEN v.key IS NOT NULL AND v.reason IS NULL THEN v.leader ELSE v.ord END ORDER BY v.ord),
			array_agg(p.candidate_id ORDER BY v.ord)
		INTO task_ids, hashes, reasons, leaders, ids
		FROM (SELECT w.*, min(w.ord) OVER (PARTITION BY w.task_id, coalesce(w.grp, ''), w.key, w.reason IS NULL) AS leader
			  FROM (SELECT u.ord::int AS ord, u.grp, u.key, k.task_id, cudal1.code_hash(replace(u.code, E'\r\n', E'\n')) AS hash,
						CASE WHEN u.task IS NULL THEN 'task must not be null'
							 WHEN k.task_id IS NULL THEN format('task "%s" does not exist', u.task)
							 ELSE cudal1.check_submission(u.code, method, cudal1_submit_batch.priority) END AS reason
					FROM unnest(tasks, codes, group_keys, proposal_keys) WITH ORDINALITY AS u(task, code, grp, key, ord)
						LEFT JOIN cudal1.task AS k ON k.name = u.task) AS w) AS v
			LEFT JOIN cudal1.proposal AS p
				ON v.reason IS NULL AND v.key IS NOT NULL AND p.task_id = v.task_id AND coalesce(p.group_key, '') = coalesce(v.grp, '')
					AND p.proposal_key = v.key;

	-- candidates, in the order of their index
	WITH added AS (
		INSERT INTO cudal1.candidate (task_id, code, code_hash)
			SELECT DISTINCT ON (v.task_id, v.hash) v.task_id, replace(v.code, E'\r\n', E'\n'), v.hash
				FROM unnest(task_ids, codes, hashes, reasons, ids, leaders) WITH ORDINALITY
						AS v(task_id, code, hash, reason, id, leader, ord)
				WHERE v.reason IS NULL AND v.id IS NULL AND v.leader = v.ord
				ORDER BY v.task_id, v.hash
			ON CONFLICT (task_id, code_hash) DO NOTHING
			RETURNING candidate_id)
	SELECT coalesce(array_agg(added.candidate_id), '{}') INTO fresh FROM added;

	-- proposals; keyed ones in the order of their index
	WITH added AS (
		INSERT INTO cudal1.proposal (task_id, candidate_id, method, group_key, proposal_key)
			SELECT v.task_id, c.candidate_id, method, v.grp, v.key
				FROM unnest(task_ids, hashes, reasons, ids, leaders, group_keys, proposal_keys) WITH ORDINALITY
						AS v(task_id, hash, reason, id, leader, grp, key, ord)
					JOIN cudal1.candidate AS c ON c.task_id = v.task_id AND c.code_hash = v.hash
				WHERE v.reason IS NULL AND v.id IS NULL AND v.leader = v.ord
				ORDER BY CASE WHEN v.key IS NOT NULL THEN v.task_id END, CASE WHEN v.key IS NOT NULL THEN coalesce(v.grp, '') END, v.key, v.ord
			ON CONFLICT DO NOTHING
			RETURNING candidate_id)
	SELECT array_agg(DISTINCT added.candidate_id) INTO known FROM added;

	-- a key that another session used meanwhile: its proposal stands, and a code of ours that nobody else proposed goes
	IF proposal_keys IS NOT NULL THEN
		WITH orphan AS (
			DELETE FROM cudal1.candidate AS c
				WHERE c.candidate_id = ANY (fresh) AND c.candidate_id <> ALL (coalesce(known, '{}'))
				RETURNING c.candidate_id)
		SELECT coalesce(array_agg(f.id), '{}') INTO fresh FROM unnest(fresh) AS f(id) WHERE f.id NOT IN (SELECT orphan.candidate_id FROM orphan);
	END IF;

	INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language, priority, deadline)
		SELECT 'measure', k.task_id, c.candidate_id, k.profile, coalesce(k.device_model, k.device), k.cores, k.language,
				cudal1_submit_batch.priority, cudal1_submit_batch.deadline
			FROM cudal1.candidate AS c JOIN cudal1.task AS k USING (task_id)
			WHERE c.candidate_id = ANY (fresh)
			ORDER BY c.candidate_id;

	FOR r IN
		SELECT k AS task, c.candidate_id FROM cudal1.candidate AS c JOIN cudal1.task AS k USING (task_id)
			WHERE c.candidate_id = ANY (known) AND c.candidate_id <> ALL (fresh)
				AND (c.state NOT IN ('successful', 'failed') OR c.imported)
			ORDER BY c.candidate_id
	LOOP
		IF cudal1.propose_again(r.task, r.candidate_id, cudal1_submit_batch.priority, cudal1_submit_batch.deadline) THEN
			fresh := fresh || r.candidate_id;
		END IF;
	END LOOP;

	PERFORM cudal1.place_again(ARRAY(SELECT k.id FROM unnest(known) AS k(id) WHERE k.id <> ALL (fresh)));

	IF cardinality(fresh) > 0 THEN
		PERFORM cudal1.warn_no_device(k) FROM cudal1.task AS k WHERE k.task_id = ANY (task_ids);
		PERFORM cudal1.wake();
	END IF;

	RETURN QUERY
		SELECT v.ord::int, coalesce(v.id, p.candidate_id, c.candidate_id), v.reason
			FROM unnest(task_ids, hashes, reasons, ids, group_keys, proposal_keys) WITH ORDINALITY AS v(task_id, hash, reason, id, grp, key, ord)
				LEFT JOIN cudal1.proposal AS p
					ON v.reason IS NULL AND v.key IS NOT NULL AND p.task_id = v.task_id AND coalesce(p.group_key, '') = coalesce(v.grp, '')
						AND p.proposal_key = v.key
				LEFT JOIN cudal1.candidate AS c
					ON v.reason IS NULL AND v.key IS NULL AND c.task_id = v.task_id AND c.code_hash = v.hash
			ORDER BY v.ord;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_submit_batch(text[], text[], text, text[], text[], int, timestamptz) IS
'many submissions at once, aligned by position; a row that is not accepted has a reason and does not hinder the others. Arguments as in cudal1_submit();
group_keys and proposal_keys may be null, as may their elements. Error 2202E where lengths differ';

CREATE FUNCTION @extschema@.cudal1_reward(candidate_id bigint)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT c.reward FROM cudal1.candidate AS c WHERE c.candidate_id = cudal1_reward.candidate_id;
END;
COMMENT ON FUNCTION @extschema@.cudal1_reward(bigint) IS
'the reward of a candidate: conservatively rounded speedup, 0 unsuccessful, NULL unknown, undecided or discarded';
/*
 * What a trainer does with a submission: wait for it, or take it back.
 */

CREATE FUNCTION @extschema@.cudal1_wait(candidate_ids bigint[], timeout interval DEFAULT '30 seconds')
RETURNS TABLE (candidate_id bigint, state text, reward float8)
LANGUAGE c VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cudal1_wait';
COMMENT ON FUNCTION @extschema@.cudal1_wait(bigint[], interval) IS
'one row per element, in order, as soon as all candidates are final or, at the timeout, as they stand; call it in a loop. A candidate with an imported score is final once
no measurement of it is queued. Errors: 42704 unknown id; 25001 for candidates written by the current transaction, or above READ COMMITTED';

CREATE FUNCTION @extschema@.cudal1_cancel(candidate_ids bigint[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	id		bigint;
	j		cudal1.job;
	c		cudal1.candidate;
	hit		boolean;
	n		bigint := 0;
BEGIN
	IF cudal1_cancel.candidate_ids IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'candidate_ids must not be null';
	END IF;
	IF array_position(cudal1_cancel.candidate_ids, NULL) IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'candidate_ids must not contain nulls';
	END IF;
	SELECT u.id INTO id FROM unnest(cudal1_cancel.candidate_ids) AS u(id)
		WHERE NOT EXISTS (SELECT FROM cudal1.candidate AS x WHERE x.candidate_id = u.id) LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('candidate %s does not exist', id);
	END IF;

	FOR id IN SELECT DISTINCT u.id FROM unnest(cudal1_cancel.candidate_ids) AS u(id) ORDER BY u.id LOOP
		hit := false;
		-- who holds the job may be about to replace it by its verification: look again until there is nothing left
		LOOP
			SELECT x.* INTO j FROM cudal1.job AS x
				WHERE x.candidate_id = id AND x.kind IN ('measure', 'verify') AND NOT x.cancel_requested
				ORDER BY x.job_id LIMIT 1 FOR UPDATE;
			IF NOT FOUND THEN
				EXIT WHEN NOT EXISTS (SELECT FROM cudal1.job AS x
									  WHERE x.candidate_id = id AND x.kind IN ('measure', 'verify') AND NOT x.cancel_requested);
				CONTINUE;
			END IF;
			IF j.state = 'running' THEN
				UPDATE cudal1.job AS x SET cancel_requested = true WHERE x.job_id = j.job_id;
			ELSE
				PERFORM cudal1.end_job(j, 'cancelled', NULL, 'cancelled before it was measured');
			END IF;
			hit := true;
		END LOOP;
		IF NOT hit THEN
			-- undecided without a job (after a restore)
			SELECT x.* INTO c FROM cudal1.candidate AS x
				WHERE x.candidate_id = id AND x.state IN ('queued', 'measuring', 'verifying')
					AND NOT EXISTS (SELECT FROM cudal1.job AS y WHERE y.candidate_id = x.candidate_id AND y.kind IN ('measure', 'verify'))
				FOR NO KEY UPDATE;
			IF FOUND THEN
				PERFORM cudal1.reject_candidate(c, 'cancelled', NULL, 'cancelled before it was measured');
				hit := true;
			END IF;
		END IF;
		n := n + hit::int;
	END LOOP;
	IF n > 0 THEN
		PERFORM cudal1.wake();
		PERFORM cudal1.wake_waiters();
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_cancel(bigint[]) IS
'cancels the measurement of candidates and returns how many were cancelled: waiting ones are discarded at once, running ones as soon as their worker has stopped, whatever it reports.
Decided candidates stay as they are and don''t count; a repeated submission queues a cancelled one again. Error 42704 for an unknown id';
/*
 * The queue and the successors of a state. Everything that moves a candidate is here: cudal1.finish() and what it calls.
 *
 * Order of locks, everywhere: job, candidate, the task's placement (which serialises its buckets), task; several candidates in
 * the order of their ids. Whether a score is verified is decided under the task's locks, so that the previous best is
 * the previous best. FOR NO KEY UPDATE where rows stay: foreign keys of other sessions' inserts need not wait.
 */

CREATE FUNCTION cudal1.register_device(host text, device jsonb)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	id		bigint;
	problem	text;
BEGIN
	problem := CASE
		WHEN register_device.host IS NULL OR register_device.host !~ '^[^[:cntrl:]]{1,200}$' THEN 'host must be a name of 1 to 200 characters'
		WHEN jsonb_typeof(device) IS DISTINCT FROM 'object' THEN 'device must be a JSON object'
		WHEN jsonb_typeof(device -> 'key') IS DISTINCT FROM 'string' OR device ->> 'key' !~ '^[^[:cntrl:]]{1,200}$'
			THEN 'key of device must be a string of 1 to 200 characters'
		WHEN coalesce(device ->> 'class', '') NOT IN ('cpu', 'cuda') THEN 'class of device must be cpu or cuda'
		WHEN jsonb_typeof(device -> 'model') IS DISTINCT FROM 'string' OR device ->> 'model' !~ '^[^[:cntrl:]]{1,200}$'
			OR device ->> 'model' IN ('cpu', 'cuda') THEN 'model of device must be a string of 1 to 200 characters, and no class'
		WHEN device ? 'cores' AND cudal1.json_int(device -> 'cores', 1, 1024) IS NULL
			THEN 'cores of device must be an integer between 1 and 1024'
		WHEN jsonb_typeof(device -> 'languages') IS DISTINCT FROM 'array'
			OR EXISTS (SELECT FROM jsonb_array_elements(device -> 'languages') AS l
					   WHERE jsonb_typeof(l) <> 'string' OR l #>> '{}' NOT IN ('c', 'cuda', 'pytorch'))
			THEN 'languages of device must be an array of c, cuda and pytorch'
		WHEN device ? 'details' AND jsonb_typeof(device -> 'details') <> 'object' THEN 'details of device must be a JSON object'
		WHEN octet_length(device::text) > 65536 THEN 'device must not take more than 64 kB'
		END;
	IF problem IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = problem;
	END IF;
	INSERT INTO cudal1.device AS d (device_key, host, class, model, cores, languages, details)
		SELECT register_device.host || ' ' || (device ->> 'key'), register_device.host, device ->> 'class', device ->> 'model',
				coalesce(cudal1.json_int(device -> 'cores', 1, 1024), 1)::int,
				ARRAY(SELECT DISTINCT l FROM jsonb_array_elements_text(device -> 'languages') AS l ORDER BY l),
				coalesce(device -> 'details', '{}')
		ON CONFLICT (device_key) DO UPDATE
			SET class = excluded.class, model = excluded.model, cores = excluded.cores, languages = excluded.languages,
				details = excluded.details, last_seen = clock_timestamp()
		RETURNING d.device_id INTO id;
	PERFORM cudal1.wake();
	RETURN id;
END
$$;
COMMENT ON FUNCTION cudal1.register_device(text, jsonb) IS
'inserts or refreshes the row of a device, one line of cudal1-measure --devices; returns its device_id. The operator''s switch (enabled) stays';

CREATE FUNCTION @extschema@.cudal1_enable_device(device_key text, enabled boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF cudal1_enable_device.device_key IS NULL OR cudal1_enable_device.enabled IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'device_key and enabled must not be null';
	END IF;
	UPDATE cudal1.device AS d SET enabled = cudal1_enable_device.enabled WHERE d.device_key = cudal1_enable_device.device_key;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('device "%s" does not exist', cudal1_enable_device.device_key),
			HINT = 'cudal1.device lists the devices.';
	END IF;
	PERFORM cudal1.wake();
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_enable_device(text, boolean) IS
'an operator''s switch: a disabled device gets no new jobs; what it measures now is completed';

-- the result of cudal1-measure as the columns it fills; whatever it is, it becomes a row: a malformed one is outcome lost
CREATE FUNCTION cudal1.read_result(result jsonb)
RETURNS cudal1.measurement
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	r		cudal1.measurement;
	problem	text;
	key		text;
BEGIN
	IF jsonb_typeof(result) IS DISTINCT FROM 'object' THEN
		problem := 'it is no JSON object';
	ELSIF octet_length(result::text) > 33554432 THEN
		problem := 'it takes more than 32 MB';
	ELSIF jsonb_typeof(result -> 'outcome') IS DISTINCT FROM 'string'
		OR result ->> 'outcome' NOT IN ('successful', 'unstable', 'compile_error', 'launch_failure', 'timeout', 'crash', 'wrong_output',
										'cheat', 'unverified', 'lost', 'cancelled') THEN
		problem := 'its outcome is unknown';
	END IF;
	IF problem IS NULL THEN
		result := jsonb_strip_nulls(result - 'samples' - 'environment' - 'evidence')
			|| jsonb_build_object('samples', result -> 'samples', 'environment', result -> 'environment', 'evidence', result -> 'evidence');
		FOREACH key IN ARRAY ARRAY['samples', 'environment', 'evidence'] LOOP
			IF jsonb_typeof(result -> key) = 'null' THEN
				result := result - key;
			END IF;
		END LOOP;
		r.outcome := result ->> 'outcome';
		r.score := cudal1.json_float(result -> 'score', 1e-9, 1e9);
		r.lower := cudal1.json_float(result -> 'lower', 0, 1e12);
		r.upper := cudal1.json_float(result -> 'upper', 0, 1e12);
		r.variance := cudal1.json_float(result -> 'variance', 0);
		r.pairs := cudal1.json_int(result -> 'pairs');
		r.rounds := cudal1.json_int(result -> 'rounds');
		r.reference_seconds := cudal1.json_float(result -> 'reference_seconds', 0, 1e9);
		r.candidate_seconds := cudal1.json_float(result -> 'candidate_seconds', 0, 1e9);
		r.checks := cudal1.json_int(result -> 'checks');
		r.max_error := cudal1.json_float(result -> 'max_error', 0);
		r.audits := cudal1.json_int(result -> 'audits');
		r.audit_bound := cudal1.json_float(result -> 'audit_bound', 0);
		r.build_seconds := cudal1.json_float(result -> 'build_seconds', 0, 1e9);
		r.device_seconds := cudal1.json_float(result -> 'device_seconds', 0, 1e9);
		r.startup_seconds := cudal1.json_float(result -> 'startup_seconds', 0, 1e9);
		r.clock_seconds := cudal1.json_float(result -> 'clock_seconds', 0, 1e9);
		r.wall_seconds := cudal1.json_float(result -> 'wall_seconds', 0, 1e9);
		r.samples := result -> 'samples';
		r.environment := coalesce(result -> 'environment', '{}');
		r.evidence := result -> 'evidence';
		-- a member that is there but became NULL is of another type or out of range
		SELECT 'member ' || m.name || ' is no number in its range' INTO problem
			FROM (VALUES ('score', r.score IS NULL), ('lower', r.lower IS NULL), ('upper', r.upper IS NULL),
						 ('variance', r.variance IS NULL), ('pairs', r.pairs IS NULL), ('rounds', r.rounds IS NULL),
						 ('reference_seconds', r.reference_seconds IS NULL), ('candidate_seconds', r.candidate_seconds IS NULL),
						 ('checks', r.checks IS NULL), ('max_error', r.max_error IS NULL), ('audits', r.audits IS NULL),
						 ('audit_bound', r.audit_bound IS NULL), ('build_seconds', r.build_seconds IS NULL),
						 ('device_seconds', r.device_seconds IS NULL), ('startup_seconds', r.startup_seconds IS NULL),
						 ('clock_seconds', r.clock_seconds IS NULL),
						 ('wall_seconds', r.wall_seconds IS NULL)) AS m(name, missing)
			WHERE m.missing AND result ? m.name
			LIMIT 1;
	END IF;
	IF problem IS NULL AND result ? 'detail' THEN
		IF jsonb_typeof(result -> 'detail') = 'string' THEN
			r.detail := cudal1.clip(result ->> 'detail');
		ELSE
			problem := 'member detail is no string';
		END IF;
	END IF;
	IF problem IS NULL AND result ? 'bucket_means' THEN
		IF jsonb_typeof(result -> 'bucket_means') <> 'array' THEN
			problem := 'member bucket_means is no array';
		ELSIF jsonb_array_length(result -> 'bucket_means') > 10000 THEN
			problem := 'member bucket_means has more than 10000 elements';
		ELSE
			SELECT array_agg(cudal1.json_float(b.value, 0, 1e12) ORDER BY b.ordinality) INTO r.bucket_means
				FROM jsonb_array_elements(result -> 'bucket_means') WITH ORDINALITY AS b;
			IF array_position(r.bucket_means, NULL) IS NOT NULL THEN
				problem := 'member bucket_means has an element that is no positive number';
			END IF;
		END IF;
	END IF;
	IF problem IS NULL THEN
		problem := CASE
			WHEN r.outcome = 'successful' AND r.score IS NULL THEN 'a successful one needs a score'
			WHEN r.outcome = 'unstable' AND (r.score IS NULL OR r.lower IS NULL OR r.lower < 1e-9)
				THEN 'an unstable one needs a score and the lower end of its interval'
			WHEN r.lower > r.upper THEN 'its interval is empty'
			WHEN jsonb_typeof(r.environment) <> 'object' THEN 'member environment is no object'
			WHEN octet_length(r.environment::text) > 65536 THEN 'member environment takes more than 64 kB'
			WHEN jsonb_typeof(r.evidence) <> 'object' THEN 'member evidence is no object'
			WHEN octet_length(r.evidence::text) > 65536 THEN 'member evidence takes more than 64 kB'
			WHEN jsonb_typeof(r.samples) <> 'array' THEN 'member samples is no array'
			WHEN jsonb_path_exists(r.samples, 'strict $[*] ? (@.type() != "array")')
				OR jsonb_path_exists(r.samples, 'strict $[*][*] ? (@.type() != "number")', '{}', true)
				THEN 'member samples is no array of arrays of numbers'
			END;
	END IF;
	IF problem IS NOT NULL THEN
		r := NULL;
		r.outcome := 'lost';
		r.environment := '{}';
		r.detail := cudal1.clip('malformed result: ' || problem);
	END IF;
	RETURN r;
END
$$;
COMMENT ON FUNCTION cudal1.read_result(jsonb) IS
'a result of cudal1-measure as the columns of a measurement that it fills; a malformed one becomes the outcome lost, with what is wrong as detail';

CREATE FUNCTION cudal1.claim(device_id bigint, worker text, lease interval DEFAULT '60 seconds')
RETURNS TABLE (job_id bigint, attempt int, job jsonb)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
-- the claim reads the head of an ordered index, also where the queue has grown since the table was last analysed; what is
-- switched off here looks dear where it can't be avoided, and would be compiled for it
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	d		cudal1.device;
	j		cudal1.job;
	heads	int[];
	place	text;
BEGIN
	IF claim.worker IS NULL OR claim.worker = '' THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'worker must be a name';
	END IF;
	IF claim.lease IS NULL OR claim.lease <= '0'::interval THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'lease must be a positive interval';
	END IF;
	SELECT x.* INTO d FROM cudal1.device AS x WHERE x.device_id = claim.device_id;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('device %s does not exist', claim.device_id),
			HINT = 'Register it with cudal1.register_device().';
	END IF;
	IF d.last_seen < clock_timestamp() - '10 seconds'::interval THEN
		UPDATE cudal1.device AS x SET last_seen = clock_timestamp() WHERE x.device_id = d.device_id;
	END IF;
	PERFORM cudal1.cancel_overdue();
	IF NOT d.enabled THEN
		RETURN;
	END IF;

	-- jobs for the class, for the model and for the device itself, the most urgent head first
	FOR place IN
		SELECT p.place FROM unnest(ARRAY[d.class, d.model, d.device_key]) AS p(place)
			CROSS JOIN LATERAL (SELECT x.priority, x.job_id FROM cudal1.job AS x
								WHERE x.device = p.place AND x.state = 'queued'
								ORDER BY x.priority DESC, x.job_id LIMIT 1) AS h
			ORDER BY h.priority DESC, h.job_id
	LOOP
		SELECT x.* INTO j
			FROM cudal1.job AS x
			WHERE x.device = place AND x.state = 'queued'
				AND x.not_before <= clock_timestamp()
				AND x.cores <= d.cores AND x.language = ANY (d.languages)
				-- a device that drifts shows by A/A measurements alone that it is well again
				AND (d.untrusted_since IS NULL
					 OR x.kind = 'evaluate' AND EXISTS (SELECT FROM cudal1.aa_candidate AS k WHERE k.candidate_id = x.candidate_id))
				AND (x.avoid_device IS NULL OR x.avoid_device <> d.device_id OR x.avoid_until <= clock_timestamp())
				AND (x.kind = 'evaluate' OR EXISTS (SELECT FROM cudal1.task AS t WHERE t.task_id = x.task_id
														AND coalesce(t.device_model, d.model) = d.model))
			ORDER BY x.priority DESC, x.job_id
			LIMIT 1
			FOR UPDATE OF x SKIP LOCKED;
		EXIT WHEN FOUND;
	END LOOP;
	IF j.job_id IS NULL THEN
		RETURN;
	END IF;

	UPDATE cudal1.job AS x
		SET state = 'running', attempt = x.attempt + 1, worker = claim.worker, device_id = d.device_id, claimed_at = clock_timestamp(),
			lease_until = clock_timestamp() + claim.lease, phase = NULL, pairs = NULL, rounds = NULL, estimate = NULL, lower = NULL,
			upper = NULL, seconds_left = NULL
		WHERE x.job_id = j.job_id;
	UPDATE cudal1.candidate AS c SET state = 'measuring' WHERE c.candidate_id = j.candidate_id AND c.state = 'queued' AND j.kind = 'measure';

	RETURN QUERY
		SELECT j.job_id, j.attempt + 1, jsonb_build_object(
				'job_id', j.job_id, 'attempt', j.attempt + 1, 'kind', j.kind,
				'task', jsonb_build_object('task_id', t.task_id, 'name', t.name, 'language', t.language, 'reference', t.reference,
										   'signature', t.signature, 'cores', t.cores, 'rtol', t.rtol, 'atol', t.atol),
				'candidate', jsonb_build_object('candidate_id', c.candidate_id, 'code', c.code),
				'profile', to_jsonb(p),
				'device', jsonb_build_object('key', substr(d.device_key, length(d.host) + 2), 'class', d.class))
			FROM cudal1.task AS t, cudal1.candidate AS c, cudal1.profile AS p
			WHERE t.task_id = j.task_id AND c.candidate_id = j.candidate_id AND p.name = j.profile;
END
$$;
COMMENT ON FUNCTION cudal1.claim(bigint, text, interval) IS
'gives a device its next job, highest priority and then oldest first, under a lease; no row when there is none. attempt is the fencing number of the claim';

CREATE FUNCTION cudal1.heartbeat(job_id bigint, attempt int, progress jsonb DEFAULT NULL, lease interval DEFAULT '60 seconds')
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	device	bigint;
	cancel	boolean;
BEGIN
	UPDATE cudal1.job AS j
		SET lease_until = clock_timestamp() + coalesce(heartbeat.lease, '60 seconds'::interval),
			phase = CASE WHEN jsonb_typeof(progress -> 'phase') = 'string' THEN left(progress ->> 'phase', 40) ELSE j.phase END,
			pairs = coalesce(cudal1.json_int(progress -> 'pairs'), j.pairs),
			rounds = coalesce(cudal1.json_int(progress -> 'rounds'), j.rounds),
			estimate = coalesce(cudal1.json_float(progress -> 'estimate'), j.estimate),
			lower = coalesce(cudal1.json_float(progress -> 'lower'), j.lower),
			upper = coalesce(cudal1.json_float(progress -> 'upper'), j.upper),
			seconds_left = coalesce(cudal1.json_float(progress -> 'seconds_left'), j.seconds_left)
		WHERE j.job_id = heartbeat.job_id AND j.attempt = heartbeat.attempt AND j.state = 'running'
		RETURNING j.device_id, j.cancel_requested INTO device, cancel;
	IF NOT FOUND THEN
		RETURN 'lost';
	END IF;
	UPDATE cudal1.device AS d SET last_seen = clock_timestamp()
		WHERE d.device_id = device AND d.last_seen < clock_timestamp() - '10 seconds'::interval;
	RETURN CASE WHEN cancel THEN 'cancel' ELSE 'continue' END;
END
$$;
COMMENT ON FUNCTION cudal1.heartbeat(bigint, int, jsonb, interval) IS
'prolongs the lease of a claim and stores its progress; continue, cancel (end the child, then finish with outcome cancelled) or lost (fenced off: report nothing)';

-- candidate states: each way a candidate can end or wait, one function

CREATE FUNCTION cudal1.accept_score(c cudal1.candidate, score float8, measurement_id bigint, detail text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	UPDATE cudal1.candidate AS x
		SET state = 'successful', failure = NULL, detail = accept_score.detail, score = accept_score.score,
			reward = @extschema@.cudal1_conservative_round(accept_score.score), imported = false, import_device = NULL,
			measurement_id = accept_score.measurement_id, decided_at = clock_timestamp()
		WHERE x.candidate_id = c.candidate_id;
	PERFORM cudal1.place_candidate(c.candidate_id);
	IF c.purpose = 'certification' THEN
		PERFORM cudal1.judge_certification(c.candidate_id);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.accept_score(cudal1.candidate, float8, bigint, text) IS
'makes a candidate successful with the reward of a score; the caller holds the locks of candidate and task';

CREATE FUNCTION cudal1.reject_candidate(c cudal1.candidate, failure text, measurement_id bigint, detail text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	UPDATE cudal1.candidate AS x
		SET state = CASE WHEN reject_candidate.failure IN ('unverified', 'lost', 'cancelled') THEN 'discarded' ELSE 'failed' END,
			reward = CASE WHEN reject_candidate.failure IN ('unverified', 'lost', 'cancelled') THEN NULL ELSE 0 END,
			failure = reject_candidate.failure, detail = cudal1.clip(reject_candidate.detail), score = NULL,
			imported = false, import_device = NULL,
			measurement_id = reject_candidate.measurement_id, decided_at = clock_timestamp()
		WHERE x.candidate_id = c.candidate_id;
	IF c.state = 'successful' THEN
		PERFORM cudal1.place_candidate(c.candidate_id);
	END IF;
	IF c.purpose = 'certification' THEN
		PERFORM cudal1.judge_certification(c.candidate_id);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.reject_candidate(cudal1.candidate, text, bigint, text) IS
'makes a candidate failed (reward 0) or, for unverified, lost and cancelled, discarded (reward NULL); the caller holds the candidate''s lock';

-- ends a job without a verdict: an undecided candidate is discarded, one that was decided before keeps what it has
CREATE FUNCTION cudal1.end_job(j cudal1.job, failure text, measurement_id bigint, detail text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	c		cudal1.candidate;
BEGIN
	DELETE FROM cudal1.job AS x WHERE x.job_id = j.job_id;
	IF j.kind IN ('measure', 'verify') THEN
		SELECT x.* INTO c FROM cudal1.candidate AS x WHERE x.candidate_id = j.candidate_id FOR NO KEY UPDATE;
		IF c.state IN ('queued', 'measuring', 'verifying') THEN
			PERFORM cudal1.reject_candidate(c, failure, measurement_id, detail);
		END IF;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.end_job(cudal1.job, text, bigint, text) IS
'ends a job without a verdict: an undecided candidate is discarded with the failure, a decided one stays as it is';

CREATE FUNCTION cudal1.requeue_job(j cudal1.job, failures int, device text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	UPDATE cudal1.job AS x
		SET state = 'queued', failures = requeue_job.failures, device = coalesce(requeue_job.device, x.device),
			worker = NULL, device_id = NULL, claimed_at = NULL, lease_until = NULL, phase = NULL, pairs = NULL, rounds = NULL,
			estimate = NULL, lower = NULL, upper = NULL, seconds_left = NULL
		WHERE x.job_id = j.job_id;
	UPDATE cudal1.candidate AS c SET state = 'queued' WHERE c.candidate_id = j.candidate_id AND c.state = 'measuring' AND j.kind = 'measure';
	PERFORM cudal1.wake();
END
$$;
COMMENT ON FUNCTION cudal1.requeue_job(cudal1.job, int, text) IS
'puts a running job back into the queue with a number of failures, and where needed for another device';

CREATE FUNCTION cudal1.retry_job(j cudal1.job, failure text, measurement_id bigint, detail text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF j.cancel_requested THEN
		PERFORM cudal1.end_job(j, 'cancelled', measurement_id, 'cancelled while it was measured');
	ELSIF j.failures + 1 < (SELECT p.attempts FROM cudal1.profile AS p WHERE p.name = j.profile) THEN
		PERFORM cudal1.requeue_job(j, j.failures + 1);
	ELSE
		PERFORM cudal1.end_job(j, failure, measurement_id, detail);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.retry_job(cudal1.job, text, bigint, text) IS
'after an attempt without a verdict: another one, or after the profile''s attempts the end';

CREATE FUNCTION cudal1.finish(job_id bigint, attempt int, result jsonb)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	j		cudal1.job;
	c		cudal1.candidate;
	t		cudal1.task;
	p		cudal1.profile;
	d		cudal1.device;
	r		cudal1.measurement;
	first	cudal1.measurement;
	s		float8;				-- the score this measurement stands for
	s1		float8;				-- that of the first, for a verification
	best	float8;
	last	boolean;			-- the profile allows no further attempt
BEGIN
	SELECT x.* INTO j FROM cudal1.job AS x WHERE x.job_id = finish.job_id FOR UPDATE;
	IF NOT FOUND OR j.state <> 'running' OR j.attempt IS DISTINCT FROM finish.attempt THEN
		RETURN 'lost';
	END IF;
	SELECT x.* INTO c FROM cudal1.candidate AS x WHERE x.candidate_id = j.candidate_id FOR NO KEY UPDATE;
	SELECT x.* INTO STRICT t FROM cudal1.task AS x WHERE x.task_id = j.task_id;
	SELECT x.* INTO STRICT p FROM cudal1.profile AS x WHERE x.name = j.profile;
	SELECT x.* INTO STRICT d FROM cudal1.device AS x WHERE x.device_id = j.device_id;
	IF j.first_measurement IS NOT NULL THEN
		SELECT x.* INTO STRICT first FROM cudal1.measurement AS x WHERE x.measurement_id = j.first_measurement;
		s1 := CASE first.outcome WHEN 'unstable' THEN first.lower ELSE first.score END;
	END IF;
	r := cudal1.read_result(result);
	last := j.failures + 1 >= p.attempts;
	s := CASE WHEN r.outcome = 'successful' THEN r.score
			  WHEN r.outcome = 'unstable' AND last AND p.unstable = 'lower_end' THEN r.lower END;
	r.reward := CASE WHEN r.outcome IN ('unverified', 'lost', 'cancelled', 'unstable') AND s IS NULL THEN NULL
					 WHEN s IS NULL THEN 0
					 ELSE @extschema@.cudal1_conservative_round(s) END;

	INSERT INTO cudal1.measurement (task_id, candidate_id, kind, attempt, device_id, device_model, profile, outcome, same_device,
			score, reward, lower, upper, variance, pairs, rounds, bucket_means, reference_seconds, candidate_seconds, checks, max_error,
			audits, audit_bound, detail, build_seconds, device_seconds, startup_seconds, clock_seconds, wall_seconds, code_hash, environment,
			samples, evidence)
		VALUES (j.task_id, j.candidate_id, j.kind, j.attempt, d.device_id, d.model, j.profile, r.outcome,
			CASE WHEN j.kind = 'verify' THEN first.device_id = d.device_id END,
			r.score, r.reward, r.lower, r.upper, r.variance, r.pairs, r.rounds, r.bucket_means, r.reference_seconds, r.candidate_seconds,
			r.checks, r.max_error, r.audits, r.audit_bound, r.detail, r.build_seconds, r.device_seconds, r.startup_seconds, r.clock_seconds,
			r.wall_seconds, c.code_hash, r.environment, r.samples, r.evidence)
		RETURNING measurement_id INTO r.measurement_id;
	UPDATE cudal1.device AS x SET last_seen = clock_timestamp()
		WHERE x.device_id = d.device_id AND x.last_seen < clock_timestamp() - '10 seconds'::interval;
	IF EXISTS (SELECT FROM cudal1.aa_candidate AS k WHERE k.candidate_id = c.candidate_id) THEN
		PERFORM cudal1.judge_device(d.device_id);
	END IF;
	PERFORM cudal1.wake_waiters();

	IF j.cancel_requested THEN
		PERFORM cudal1.end_job(j, 'cancelled', r.measurement_id, 'cancelled while it was measured');
		RETURN 'stored';
	ELSIF r.outcome IN ('unverified', 'lost') OR (r.outcome = 'unstable' AND s IS NULL) THEN
		PERFORM cudal1.retry_job(j, CASE r.outcome WHEN 'lost' THEN 'lost' ELSE 'unverified' END, r.measurement_id, r.detail);
		RETURN 'stored';
	ELSIF r.outcome = 'cancelled' THEN
		-- nobody asked for it, or the candidate was submitted again since
		PERFORM cudal1.retry_job(j, 'lost', r.measurement_id, coalesce(r.detail, 'the worker gave the measurement up'));
		RETURN 'stored';
	ELSIF j.kind = 'evaluate' OR (j.kind = 'reverify' AND c.state IN ('queued', 'measuring', 'verifying')) THEN
		-- an evaluation adds its row, no more; so does a re-measurement that a submission overtook
		DELETE FROM cudal1.job AS x WHERE x.job_id = j.job_id;
		RETURN 'stored';
	ELSIF t.device_model <> d.model THEN
		-- the task was pinned to another model while this one measured
		PERFORM cudal1.requeue_job(j, j.failures, t.device_model);
		RETURN 'stored';
	ELSIF s IS NULL THEN
		IF j.kind = 'reverify' AND NOT last AND r.outcome NOT IN ('wrong_output', 'cheat') THEN
			-- it worked before: that a host is in disorder is likelier than that the code is
			PERFORM cudal1.requeue_job(j, j.failures + 1);
			RETURN 'stored';
		END IF;
		DELETE FROM cudal1.job AS x WHERE x.job_id = j.job_id;
		UPDATE cudal1.measurement AS m SET accepted = true WHERE m.measurement_id = r.measurement_id;
		PERFORM cudal1.reject_candidate(c, r.outcome, r.measurement_id, r.detail);
		RETURN 'stored';
	END IF;

	-- a score: from here on under the task's locks
	PERFORM cudal1.lock_placement(j.task_id);
	SELECT x.* INTO STRICT t FROM cudal1.task AS x WHERE x.task_id = j.task_id FOR NO KEY UPDATE;
	IF t.device_model IS NULL AND c.purpose = 'certification' THEN
		NULL;	-- where rewards are measured is not for a null candidate to decide
	ELSIF t.device_model IS NULL THEN
		UPDATE cudal1.task AS x SET device_model = d.model WHERE x.task_id = j.task_id;
		PERFORM cudal1.pin_jobs(j.task_id, d.model);
	ELSIF t.device_model <> d.model THEN
		PERFORM cudal1.requeue_job(j, j.failures, t.device_model);
		RETURN 'stored';
	END IF;
	DELETE FROM cudal1.job AS x WHERE x.job_id = j.job_id;

	IF j.kind = 'verify' THEN
		IF abs(s - s1) < p.verify_agreement * s1 THEN
			UPDATE cudal1.measurement AS m SET accepted = true WHERE m.measurement_id IN (first.measurement_id, r.measurement_id);
			PERFORM cudal1.accept_score(c, least(s, s1), CASE WHEN s < s1 THEN r.measurement_id ELSE first.measurement_id END, r.detail);
		ELSE
			PERFORM cudal1.reject_candidate(c, 'unverified', r.measurement_id,
				format('two measurements disagree: %s and %s', round(s1::numeric, 4), round(s::numeric, 4)));
		END IF;
		RETURN 'stored';
	END IF;

	SELECT greatest(x.reward, 1) INTO best FROM cudal1.candidate AS x
		WHERE x.task_id = j.task_id AND x.state = 'successful' AND NOT x.imported AND x.purpose = 'normal'
		ORDER BY x.reward DESC LIMIT 1;
	IF (s > p.verify_above OR s > p.verify_best_factor * coalesce(best, 1))
		-- a re-measurement that agrees with the score it repeats is its own verification
		AND NOT (j.kind = 'reverify' AND c.state = 'successful' AND NOT c.imported
				 AND abs(s - c.score) < p.verify_agreement * c.score) THEN
		INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language, priority, first_measurement,
				avoid_device, avoid_until)
			VALUES ('verify', j.task_id, j.candidate_id, j.profile, d.model, j.cores, j.language, j.priority + 1000, r.measurement_id,
				d.device_id,
				CASE WHEN p.verify_wait IS NULL THEN 'infinity'::timestamptz
					 -- nobody to wait for
					 WHEN NOT EXISTS (SELECT FROM cudal1.device AS x
									  WHERE x.device_id <> d.device_id AND x.model = d.model AND x.enabled AND x.cores >= j.cores
										AND j.language = ANY (x.languages) AND x.last_seen > clock_timestamp() - '1 hour'::interval)
						THEN '-infinity'::timestamptz
					 ELSE clock_timestamp() + p.verify_wait END)
			ON CONFLICT DO NOTHING;
		UPDATE cudal1.candidate AS x SET state = 'verifying'
			WHERE x.candidate_id = c.candidate_id AND x.state IN ('queued', 'measuring');
		PERFORM cudal1.wake();
	ELSE
		UPDATE cudal1.measurement AS m SET accepted = true WHERE m.measurement_id = r.measurement_id;
		PERFORM cudal1.accept_score(c, s, r.measurement_id, r.detail);
	END IF;
	RETURN 'stored';
END
$$;
COMMENT ON FUNCTION cudal1.finish(bigint, int, jsonb) IS
'stores the result of a claim: measurement, the candidate''s successor state, buckets, the next job; stored, or lost where the claim was fenced off (nothing is written).
A malformed result counts as the outcome lost';

CREATE FUNCTION cudal1.pin_jobs(task_id bigint, model text)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	-- so that devices of other models need not look at them; what is being claimed right now is sorted out by finish()
	WITH waiting AS MATERIALIZED (
		SELECT j.job_id FROM cudal1.job AS j
			WHERE j.task_id = pin_jobs.task_id AND j.kind <> 'evaluate' AND j.state = 'queued' AND j.device <> pin_jobs.model
			FOR UPDATE SKIP LOCKED)
	UPDATE cudal1.job AS j SET device = pin_jobs.model FROM waiting WHERE j.job_id = waiting.job_id;
END;
COMMENT ON FUNCTION cudal1.pin_jobs(bigint, text) IS 'directs the waiting jobs of a task to the device model that the task was pinned to';

CREATE FUNCTION cudal1.release(job_id bigint, attempt int)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	j		cudal1.job;
BEGIN
	SELECT x.* INTO j FROM cudal1.job AS x WHERE x.job_id = release.job_id FOR UPDATE;
	IF NOT FOUND OR j.state <> 'running' OR j.attempt IS DISTINCT FROM release.attempt THEN
		RETURN 'lost';
	END IF;
	IF j.cancel_requested THEN
		PERFORM cudal1.end_job(j, 'cancelled', NULL, 'cancelled while it was measured');
		PERFORM cudal1.wake_waiters();
	ELSE
		PERFORM cudal1.requeue_job(j, j.failures);
	END IF;
	RETURN 'released';
END
$$;
COMMENT ON FUNCTION cudal1.release(bigint, int) IS
'gives a claim back untouched, for an orderly shutdown; released, or lost where it was fenced off. Does not count as a failure';

CREATE FUNCTION cudal1.cancel_overdue()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	due		bigint[];
	j		cudal1.job;
	n		bigint := 0;
BEGIN
	-- by the index of deadlines first: asked for in the order of locks, the planner may walk the whole queue, and each claim would
	due := ARRAY(SELECT x.job_id FROM cudal1.job AS x WHERE x.state = 'queued' AND x.deadline <= clock_timestamp()
				 ORDER BY x.deadline LIMIT 1000);
	IF due = '{}' THEN
		RETURN 0;
	END IF;
	FOR j IN
		SELECT x.* FROM cudal1.job AS x
			WHERE x.job_id = ANY (due) AND x.state = 'queued' AND x.deadline <= clock_timestamp()
			ORDER BY x.candidate_id
			FOR UPDATE SKIP LOCKED
	LOOP
		PERFORM cudal1.end_job(j, 'cancelled', NULL, 'its deadline passed before a device was free');
		n := n + 1;
	END LOOP;
	IF n > 0 THEN
		PERFORM cudal1.wake_waiters();
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.cancel_overdue() IS 'cancels waiting jobs whose deadline has passed; returns their number';

CREATE FUNCTION cudal1.expire_leases()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	ended	bigint[];
	j		cudal1.job;
	n		bigint := 0;
BEGIN
	-- by the index of leases first, for the same reason as in cancel_overdue()
	ended := ARRAY(SELECT x.job_id FROM cudal1.job AS x WHERE x.state = 'running' AND x.lease_until < clock_timestamp()
				   ORDER BY x.lease_until);
	FOR j IN
		SELECT x.* FROM cudal1.job AS x
			WHERE x.job_id = ANY (ended) AND x.state = 'running' AND x.lease_until < clock_timestamp()
			ORDER BY x.candidate_id
			FOR UPDATE SKIP LOCKED
	LOOP
		PERFORM cudal1.retry_job(j, 'lost', NULL, format('the worker %s was lost while it measured', j.worker));
		n := n + 1;
	END LOOP;
	IF n > 0 THEN
		PERFORM cudal1.wake_waiters();
	END IF;
	PERFORM cudal1.cancel_overdue();
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.expire_leases() IS
'requeues running jobs whose lease ended, each a failure, or ends them after the profile''s attempts; returns their number';
/*
 * Measurements beside the first: evaluations for published tables, re-verification by cron, scores from elsewhere, and the
 * work of a restored database.
 */

CREATE FUNCTION @extschema@.cudal1_evaluate(candidate_ids bigint[], device text DEFAULT NULL, profile text DEFAULT 'paper_eval',
	priority int DEFAULT 0)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	id		bigint;
	n		bigint;
BEGIN
	IF cudal1_evaluate.candidate_ids IS NULL OR cudal1_evaluate.profile IS NULL OR cudal1_evaluate.priority IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'candidate_ids, profile and priority must not be null';
	END IF;
	IF array_position(cudal1_evaluate.candidate_ids, NULL) IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'candidate_ids must not contain nulls';
	END IF;
	IF cudal1_evaluate.priority NOT BETWEEN -1000000000 AND 1000000000 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'priority must lie between -1000000000 and 1000000000';
	END IF;
	IF cudal1_evaluate.device !~ '[^[:space:]]' THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'device must be a device class (cpu or cuda) or a device model';
	END IF;
	IF NOT EXISTS (SELECT FROM cudal1.profile AS p WHERE p.name = cudal1_evaluate.profile) THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('profile "%s" does not exist', cudal1_evaluate.profile),
			HINT = (SELECT 'Profiles are ' || string_agg(p.name, ', ' ORDER BY p.name) || '.' FROM cudal1.profile AS p);
	END IF;
	SELECT u.id INTO id FROM unnest(cudal1_evaluate.candidate_ids) AS u(id)
		WHERE NOT EXISTS (SELECT FROM cudal1.candidate AS c WHERE c.candidate_id = u.id) LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('candidate %s does not exist', id);
	END IF;

	WITH added AS (
		INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language, priority)
			SELECT 'evaluate', t.task_id, c.candidate_id, cudal1_evaluate.profile,
					coalesce(cudal1_evaluate.device, t.device_model, t.device), t.cores, t.language, cudal1_evaluate.priority
				FROM cudal1.candidate AS c JOIN cudal1.task AS t USING (task_id)
				WHERE c.candidate_id = ANY (cudal1_evaluate.candidate_ids) AND c.state = 'successful'
				ORDER BY c.candidate_id
			ON CONFLICT DO NOTHING
			RETURNING 1)
	SELECT count(*) INTO n FROM added;
	IF n > 0 THEN
		PERFORM cudal1.wake();
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_evaluate(bigint[], text, text, int) IS
'queues a measurement for published tables (CUDA-L1, 3.2) of each successful candidate, on a device class or model (NULL: the task''s); returns the jobs queued.
An evaluation adds a row to cudal1.measurement and never changes a reward. Candidates that are not successful are passed over; errors: 42704 for an unknown id or profile';

CREATE FUNCTION cudal1.measured_otherwise(measurement_id bigint)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	-- a member that either side does not know says nothing
	SELECT EXISTS (
		SELECT FROM cudal1.measurement AS m
			CROSS JOIN LATERAL (
				SELECT d.details FROM cudal1.device AS d
					WHERE d.model = m.device_model AND d.enabled
					ORDER BY d.last_seen DESC LIMIT 1) AS now
			CROSS JOIN (VALUES ('runner'), ('driver')) AS k (member)
			WHERE m.measurement_id = measured_otherwise.measurement_id
				AND m.environment ->> k.member <> now.details ->> k.member);
END;
COMMENT ON FUNCTION cudal1.measured_otherwise(bigint) IS
'whether a measurement was made with another driver or another version of cudal1-measure than the last seen device of its model has';

CREATE FUNCTION @extschema@.cudal1_reverify(older_than interval DEFAULT '7 days', best_per_task int DEFAULT 1)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	n		bigint;
BEGIN
	IF cudal1_reverify.older_than IS NULL OR cudal1_reverify.best_per_task IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'older_than and best_per_task must not be null';
	END IF;
	IF cudal1_reverify.older_than < '0'::interval THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'older_than must not be negative';
	END IF;
	IF cudal1_reverify.best_per_task < 1 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'best_per_task must be at least 1';
	END IF;
	-- cron may run late, or twice at once: the second has nothing to add
	IF NOT pg_try_advisory_xact_lock(hashtextextended('cudal1_reverify', 0)) THEN
		RETURN 0;
	END IF;
	WITH added AS (
		INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language, priority)
			SELECT 'reverify', t.task_id, b.candidate_id, t.profile, coalesce(t.device_model, t.device), t.cores, t.language, -1000
				FROM cudal1.task AS t
					CROSS JOIN LATERAL (
						SELECT c.candidate_id, c.decided_at, c.measurement_id FROM cudal1.candidate AS c
							WHERE c.task_id = t.task_id AND c.state = 'successful' AND NOT c.imported AND c.purpose = 'normal'
							ORDER BY c.reward DESC, c.candidate_id
							LIMIT cudal1_reverify.best_per_task) AS b
				WHERE (b.decided_at <= clock_timestamp() - cudal1_reverify.older_than
					   OR cudal1.measured_otherwise(b.measurement_id))
					AND NOT EXISTS (SELECT FROM cudal1.job AS j
									WHERE j.candidate_id = b.candidate_id AND j.kind IN ('measure', 'verify', 'reverify'))
				ORDER BY b.candidate_id
			ON CONFLICT DO NOTHING
			RETURNING 1)
	SELECT count(*) INTO n FROM added;
	IF n > 0 THEN
		PERFORM cudal1.wake();
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_reverify(interval, int) IS
'queues, behind other work, another measurement of each task''s best measured candidates whose verdict is older than that, or was made with another driver or runner than the devices of its model have now; returns the jobs queued. The new verdict replaces reward and
bucket in one transaction; a score that had to be verified stands as it is measured where it agrees with the old one, else it is verified again. What cron calls; overlapping calls queue once';

CREATE FUNCTION @extschema@.cudal1_requeue()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task;
	id		bigint;
	n		bigint := 0;
BEGIN
	FOR id IN
		SELECT c.candidate_id FROM cudal1.candidate AS c
			WHERE c.state IN ('queued', 'measuring', 'verifying')
				AND NOT EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify'))
			ORDER BY c.candidate_id
	LOOP
		-- another session may have decided it, or queued it, since
		UPDATE cudal1.candidate AS c SET state = 'queued'
			WHERE c.candidate_id = id AND c.state IN ('queued', 'measuring', 'verifying')
				AND NOT EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify'));
		IF FOUND THEN
			SELECT x.* INTO t FROM cudal1.task AS x JOIN cudal1.candidate AS c USING (task_id) WHERE c.candidate_id = id;
			IF EXISTS (SELECT FROM cudal1.null_candidate AS k WHERE k.candidate_id = id) THEN
				PERFORM cudal1.enqueue_null(t, id);
			ELSE
				PERFORM cudal1.enqueue_measure(t, id, 0, NULL);
			END IF;
			n := n + 1;
		END IF;
	END LOOP;
	IF n > 0 THEN
		PERFORM cudal1.wake();
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_requeue() IS
'queues the measurement of every undecided candidate that has no job, as after a restore (jobs are not dumped); returns their number. A verification begins with its first measurement again';

CREATE FUNCTION @extschema@.cudal1_import_result(task text, code text, speedup float8, method text, device text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	t		cudal1.task;
	c		cudal1.candidate;
	problem	text := cudal1.check_submission(cudal1_import_result.code, cudal1_import_result.method, 0);
	s		float8 := nullif(cudal1_import_result.speedup, 0);
	body	text := replace(cudal1_import_result.code, E'\r\n', E'\n');
	hash	bytea;
BEGIN
	IF problem IS NOT NULL THEN
		PERFORM cudal1.bad_submission(problem);
	END IF;
	IF cudal1_import_result.device IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'device must not be null';
	END IF;
	IF cudal1_import_result.device !~ '[^[:space:]]' OR octet_length(cudal1_import_result.device) > 200 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'device must be a name of 1 to 200 bytes';
	END IF;
	IF s NOT BETWEEN 1e-9 AND 1e9 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'speedup must be null, 0 or lie between 1e-9 and 1e9';
	END IF;
	t := cudal1.find_task(cudal1_import_result.task);
	hash := cudal1.code_hash(body);

	INSERT INTO cudal1.candidate (task_id, code, code_hash) VALUES (t.task_id, body, hash)
		ON CONFLICT (task_id, code_hash) DO NOTHING;
	SELECT x.* INTO STRICT c FROM cudal1.candidate AS x WHERE x.task_id = t.task_id AND x.code_hash = hash FOR NO KEY UPDATE;
	INSERT INTO cudal1.proposal (task_id, candidate_id, method) VALUES (t.task_id, c.candidate_id, cudal1_import_result.method);
	INSERT INTO cudal1.imported_score (candidate_id, device, reward, score)
		VALUES (c.candidate_id, cudal1_import_result.device, coalesce(@extschema@.cudal1_conservative_round(s), 0), s)
		ON CONFLICT (candidate_id, device) DO UPDATE SET reward = excluded.reward, score = excluded.score, imported_at = now();

	IF c.state IN ('successful', 'failed') AND NOT c.imported
		OR EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify')) THEN
		RAISE NOTICE USING MESSAGE = format('candidate %s is measured here, its imported score is not used', c.candidate_id);
	ELSIF c.imported AND c.import_device <> cudal1_import_result.device THEN
		-- a reward comes from one device; the other is a report's business
		RETURN c.candidate_id;
	ELSE
		PERFORM cudal1.lock_placement(t.task_id);
		UPDATE cudal1.candidate AS x
			SET code = body, state = CASE WHEN s IS NULL THEN 'failed' ELSE 'successful' END,
				failure = CASE WHEN s IS NULL THEN 'reported' END,
				detail = NULL, score = s,
				reward = coalesce(@extschema@.cudal1_conservative_round(s), 0),
				imported = true, import_device = cudal1_import_result.device, measurement_id = NULL, decided_at = now()
			WHERE x.candidate_id = c.candidate_id;
		PERFORM cudal1.place_candidate(c.candidate_id);
		PERFORM cudal1.wake_waiters();
		RETURN c.candidate_id;
	END IF;
	-- the proposal counts for islands all the same
	IF c.state = 'successful' THEN
		PERFORM cudal1.place_candidate(c.candidate_id);
	END IF;
	RETURN c.candidate_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_import_result(text, text, float8, text, text) IS
'records a score measured elsewhere, on the device named, and returns its candidate; speedup NULL or 0 is a failed candidate. It takes part in buckets, sampling and reports, never in
the decision what to verify. A measurement made here goes before it: a later submission of the code is measured and replaces it, and an import over one is only a proposal. Of several devices the first sets the reward; cudal1.imported_score keeps
the last score of each, and reports of a device read it. Operators only';
/*
 * Certification: does a task tell work from the lack of it?
 *
 * A null candidate does not do the task's work and should fail its checks: it writes zeros, copies an input, answers with the
 * mean or with the output for other inputs, looks at half of its inputs, or computes in lower precision. Where one passes, any
 * candidate can, and the task's rewards mean nothing. Null candidates are written here from the task's signature or around its
 * reference, run at the lowest priority with a profile that checks and hardly times, and are candidates like others, but that
 * nobody proposed them: their purpose keeps them out of buckets and reports, and their hash is salted, so that a proposal of the
 * same text is a candidate of its own, measured in full.
 */

CREATE TABLE cudal1.null_candidate (
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	name				text NOT NULL CHECK (name IN ('zeros', 'input_copy', 'mean', 'other_inputs', 'half_work', 'lower_precision')),
	candidate_id		bigint NOT NULL UNIQUE REFERENCES cudal1.candidate (candidate_id),
	PRIMARY KEY (task_id, name)
);
COMMENT ON TABLE cudal1.null_candidate IS 'candidates that do not do a task''s work; one that is successful makes its task weak';

CREATE FUNCTION cudal1.shape_elements(shape jsonb)
RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	n		numeric := 1;
	d		text;
BEGIN
	FOR d IN SELECT jsonb_array_elements_text(shape) LOOP
		n := n * d::numeric;
	END LOOP;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.shape_elements(jsonb) IS 'the number of elements of an array of that shape';

CREATE FUNCTION cudal1.null_codes_of_signature(t cudal1.task)
RETURNS TABLE (name text, code text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	widths		constant jsonb := '{"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "uint8": 1, "bool": 1}';
	types		constant jsonb := '{"float64": "double", "float32": "float", "int64": "long long", "int32": "int", "uint8": "unsigned char"}';
	-- what is kept of a number: several times less than the tolerance of its type asks for
	masks		constant jsonb := '{"float64": "0xFFFFFFFF00000000ULL", "float32": "0xFFFF0000U", "float16": "0xFFC0U", "bfloat16": "0xFFF0U"}';
	cuda		constant boolean := t.language = 'cuda';
	entry		constant text := t.signature ->> 'entry';
	arg			record;
	source		text;
	original	text;		-- the reference under another name
	opening		text;
	parameters	text := '';
	given		text := '';		-- the reference called with what we are given
	halved		text := '';		-- and with copies of the inputs
	zeros		text := '';
	copies		text := '';
	means		text := '';
	buffers		text := '';
	keep		text := '';
	recall		text := '';
	halves		text := '';
	rounds		text := '';
	rounds_out	text := '';
	can_copy	boolean := false;
	can_average	boolean := true;
	can_round	boolean := false;
BEGIN
	FOR arg IN
		SELECT 'cudal1_a' || a.ordinality AS id, a.value ->> 'role' AS role, a.value ->> 'dtype' AS dtype,
				n.elements, n.elements * (widths ->> (a.value ->> 'dtype'))::numeric AS bytes,
				'cudal1_mask' || 8 * (widths ->> (a.value ->> 'dtype'))::int AS masker, masks ->> (a.value ->> 'dtype') AS mask
			FROM jsonb_array_elements(t.signature -> 'args') WITH ORDINALITY AS a
				CROSS JOIN LATERAL (SELECT cudal1.shape_elements(a.value -> 'shape') AS elements) AS n
			ORDER BY a.ordinality
	LOOP
		parameters := parameters || CASE WHEN parameters = '' THEN '' ELSE ', ' END
			|| CASE arg.role WHEN 'scalar' THEN coalesce(types ->> arg.dtype, CASE WHEN cuda THEN 'bool' ELSE '_Bool' END) || ' '
							 WHEN 'in' THEN 'const void *' ELSE 'void *' END || arg.id;
		given := given || CASE WHEN given = '' THEN '' ELSE ', ' END
			|| CASE WHEN cuda AND arg.role <> 'scalar' THEN format('cudal1_any{(void *) %s}', arg.id) ELSE arg.id END;
		halved := halved || CASE WHEN halved = '' THEN '' ELSE ', ' END
			|| CASE WHEN arg.role = 'scalar' THEN arg.id
					ELSE format(CASE WHEN cuda THEN 'cudal1_any{(void *) %s}' ELSE '%s' END,
								CASE arg.role WHEN 'in' THEN arg.id || '_copy' ELSE arg.id END) END;
		CONTINUE WHEN arg.role = 'scalar';

		IF arg.role = 'in' THEN
			buffers := buffers || format(E'\tstatic char *%1$s_copy;\n\tif (!%1$s_copy)\n\t\t%1$s_copy = (char *) CUDAL1_MEMORY(%2$s);\n'
				|| E'\tCUDAL1_COPY(%1$s_copy, %1$s, %2$s);\n', arg.id, arg.bytes);
			halves := halves || format(E'\tCUDAL1_ZERO(%1$s_copy + %2$s, %3$s);\n', arg.id, div(arg.bytes, 2), arg.bytes - div(arg.bytes, 2));
			rounds := rounds || CASE WHEN arg.mask IS NULL THEN '' ELSE
				format(E'\t%1$s(%2$s_copy, %3$s, %4$s);\n', arg.masker, arg.id, arg.elements, arg.mask) END;
		ELSE
			zeros := zeros || format(E'\tCUDAL1_ZERO(%s, %s);\n', arg.id, arg.bytes);
			keep := keep || format(E'\tstatic char *%1$s_first;\n', arg.id);
			recall := recall || format(E'\tif (cudal1_known)\n\t\tCUDAL1_COPY(%1$s, %1$s_first, %2$s);\n\telse\n\t{\n'
				|| E'\t\t%1$s_first = (char *) CUDAL1_MEMORY(%2$s);\n\t\tCUDAL1_COPY(%1$s_first, %1$s, %2$s);\n\t}\n', arg.id, arg.bytes);
			IF types ? arg.dtype THEN
				means := means || format(CASE WHEN cuda THEN E'\tcudal1_average<<<1, 1>>>((%3$s *) %1$s, %2$s);\n'
					ELSE E'\t{\n\t\t%3$s *v = (%3$s *) %1$s;\n\t\tdouble sum = 0;\n\t\tfor (unsigned long i = 0; i < %2$s; i++)\n\t\t\tsum += v[i];\n'
						|| E'\t\tfor (unsigned long i = 0; i < %2$s; i++)\n\t\t\tv[i] = (%3$s) (sum / %2$s);\n\t}\n' END,
					arg.id, arg.elements, types ->> arg.dtype);
			ELSE
				can_average := false;
			END IF;
			IF arg.role = 'inout' THEN
				-- to leave it as it is, is to answer with the input
				can_copy := true;
				halves := halves || format(E'\tCUDAL1_ZERO((char *) %1$s + %2$s, %3$s);\n', arg.id, div(arg.bytes, 2), arg.bytes - div(arg.bytes, 2));
				rounds := rounds || CASE WHEN arg.mask IS NULL THEN '' ELSE
					format(E'\t%1$s((char *) %2$s, %3$s, %4$s);\n', arg.masker, arg.id, arg.elements, arg.mask) END;
			ELSE
				SELECT format(E'\tfor (unsigned long i = 0; i < %1$s; i += %2$s)\n\t\tCUDAL1_COPY((char *) %3$s + i, %4$s, %1$s - i < %2$s ? %1$s - i : %2$s);\n',
							  arg.bytes, s.bytes, arg.id, 'cudal1_a' || s.ordinality) INTO source
					FROM (SELECT a.ordinality, cudal1.shape_elements(a.value -> 'shape') * (widths ->> arg.dtype)::numeric AS bytes
							FROM jsonb_array_elements(t.signature -> 'args') WITH ORDINALITY AS a
							WHERE a.value ->> 'role' IN ('in', 'inout') AND a.value ->> 'dtype' = arg.dtype) AS s
					ORDER BY s.bytes = arg.bytes DESC, s.bytes DESC, s.ordinality LIMIT 1;
				can_copy := can_copy OR source IS NOT NULL;
				copies := copies || coalesce(source, format(E'\tCUDAL1_ZERO(%s, %s);\n', arg.id, arg.bytes));
			END IF;
			IF arg.mask IS NOT NULL THEN
				can_round := true;
				rounds_out := rounds_out || format(E'\t%1$s((char *) %2$s, %3$s, %4$s);\n', arg.masker, arg.id, arg.elements, arg.mask);
			END IF;
		END IF;
	END LOOP;

	original := format(E'#define %1$s cudal1_reference\n%2$s\n#undef %1$s\n', entry, t.reference);
	IF cuda THEN
		opening := E'#include <cuda_runtime.h>\n'
			|| E'#define CUDAL1_COPY(to, from, n) cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToDevice, 0)\n'
			|| E'#define CUDAL1_ZERO(to, n) cudaMemsetAsync(to, 0, n, 0)\n'
			|| E'static void *CUDAL1_MEMORY(size_t n) { void *p = 0; cudaMalloc(&p, n); return p; }\n'
			|| E'struct cudal1_any { void *p; template <typename T> operator T *() const { return (T *) p; } };\n'
			|| E'template <typename T> __global__ void cudal1_average(T *v, unsigned long n)\n{\n\tdouble sum = 0;\n'
			|| E'\tfor (unsigned long i = 0; i < n; i++)\n\t\tsum += v[i];\n\tfor (unsigned long i = 0; i < n; i++)\n\t\tv[i] = (T) (sum / n);\n}\n'
			|| E'template <typename T> __global__ void cudal1_keep(T *v, unsigned long n, T mask)\n{\n'
			|| E'\tunsigned long i = blockIdx.x * (unsigned long) blockDim.x + threadIdx.x;\n\tif (i < n)\n\t\tv[i] &= mask;\n}\n'
			|| E'#define CUDAL1_MASKER(name, type) static void name(char *v, unsigned long n, type mask) { cudal1_keep<type><<<(n + 255) / 256, 256>>>((type *) v, n, mask); }\n';
	ELSE
		opening := E'#define CUDAL1_COPY(to, from, n) __builtin_memcpy(to, from, n)\n'
			|| E'#define CUDAL1_ZERO(to, n) __builtin_memset(to, 0, n)\n#define CUDAL1_MEMORY(n) __builtin_malloc(n)\n'
			|| E'#define CUDAL1_MASKER(name, type) static void name(void *p, unsigned long n, type mask) '
			|| E'{ type *v = (type *) p; for (unsigned long i = 0; i < n; i++) v[i] &= mask; }\n';
	END IF;
	opening := opening || E'CUDAL1_MASKER(cudal1_mask16, unsigned short)\nCUDAL1_MASKER(cudal1_mask32, unsigned int)\n'
		|| E'CUDAL1_MASKER(cudal1_mask64, unsigned long long)\n';

	RETURN QUERY
		SELECT v.name, format(E'/* null candidate: %s */\n%s%s%svoid\n%s(%s)\n{\n%s}\n', v.about, CASE WHEN v.calls THEN original ELSE '' END, opening,
				CASE WHEN cuda THEN 'extern "C" ' ELSE '' END, entry, parameters, v.body)
			FROM (VALUES
				('zeros', 'zeros', true, false, zeros),
				('input_copy', 'a copy of an input', can_copy, false, copies),
				('mean', 'the mean of the output everywhere', can_average, true, format(E'\tcudal1_reference(%s);\n%s', given, means)),
				('other_inputs', 'the output for the first inputs, whatever the inputs are', true, true,
					keep || format(E'\tstatic int cudal1_known;\n\tif (!cudal1_known)\n\t\tcudal1_reference(%s);\n%s\tcudal1_known = 1;\n', given, recall)),
				('half_work', 'the work on half of each input', halves <> '', true,
					buffers || halves || format(E'\tcudal1_reference(%s);\n', halved)),
				('lower_precision', 'fewer digits than the tolerance asks for', can_round, true,
					buffers || rounds || format(E'\tcudal1_reference(%s);\n', halved) || rounds_out)) AS v (name, about, applies, calls, body)
			WHERE v.applies;
END
$$;
COMMENT ON FUNCTION cudal1.null_codes_of_signature(cudal1.task) IS
'the null candidates of a c or cuda task; one that does not apply (no input of an output''s type, no floating point output) is left out';

CREATE FUNCTION cudal1.null_codes_of_model(t cudal1.task)
RETURNS TABLE (name text, code text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT v.name, t.reference || format($python$


# null candidate: %s
import torch as _torch

_first = []


def _each(value, change):
    if isinstance(value, _torch.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_each(v, change) for v in value])
    if isinstance(value, dict):
        return {k: _each(v, change) for k, v in value.items()}
    return value


def _half(x):
    flat = x.clone().reshape(-1)
    flat[flat.numel() // 2:] = 0
    return flat.reshape(x.shape)


def _fewer_digits(x):
    if not x.is_floating_point():
        return x
    digits = {_torch.float64: 20, _torch.float32: 8, _torch.float16: 5, _torch.bfloat16: 4}[x.dtype]
    wide = x if x.dtype == _torch.float64 else x.float()
    fraction, exponent = _torch.frexp(wide)
    return _torch.ldexp((fraction * 2.0 ** digits).floor() / 2.0 ** digits, exponent).to(x.dtype)


def _input_like(x, inputs):
    flat = next((i.reshape(-1) for i in inputs if isinstance(i, _torch.Tensor) and i.numel() > 0), None)
    if flat is None:
        return _torch.zeros_like(x)
    return flat.repeat(-(-x.numel() // flat.numel()))[:x.numel()].reshape(x.shape).to(x.dtype)


class ModelNew(Model):
    def forward(self, *inputs):
        reference = super().forward
%s
$python$, v.about, v.body)
		FROM (VALUES
			('zeros', 'zeros', '        return _each(reference(*inputs), _torch.zeros_like)'),
			('input_copy', 'a copy of an input',
				E'        kept = _each(list(inputs), _torch.clone)\n        return _each(reference(*inputs), lambda x: _input_like(x, kept))'),
			('mean', 'the mean of the output everywhere',
				'        return _each(reference(*inputs), lambda x: _torch.full_like(x, x.double().mean().to(x.dtype).item()))'),
			('other_inputs', 'the output for the first inputs, whatever the inputs are',
				E'        if not _first:\n            _first.append(_each(reference(*inputs), _torch.clone))\n        return _each(_first[0], _torch.clone)'),
			('half_work', 'the work on half of each input', '        return reference(*_each(list(inputs), _half))'),
			('lower_precision', 'fewer digits than the tolerance asks for',
				'        return _each(reference(*_each(list(inputs), _fewer_digits)), _fewer_digits)')) AS v (name, about, body);
$$;
COMMENT ON FUNCTION cudal1.null_codes_of_model(cudal1.task) IS
'the null candidates of a pytorch task: its Model with inputs or outputs replaced';

CREATE FUNCTION cudal1.certify(task_id bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	t		cudal1.task;
	v		record;
	c		cudal1.candidate;
	n		bigint := 0;
BEGIN
	-- two callers at once: the second finds what the first has added
	SELECT x.* INTO STRICT t FROM cudal1.task AS x WHERE x.task_id = certify.task_id FOR NO KEY UPDATE;
	FOR v IN
		SELECT s.* FROM cudal1.null_codes_of_signature(t) AS s WHERE t.language <> 'pytorch'
		UNION ALL SELECT s.* FROM cudal1.null_codes_of_model(t) AS s WHERE t.language = 'pytorch'
	LOOP
		SELECT x.* INTO c FROM cudal1.null_candidate AS k JOIN cudal1.candidate AS x USING (candidate_id)
			WHERE k.task_id = t.task_id AND k.name = v.name;
		IF NOT FOUND THEN
			INSERT INTO cudal1.candidate (task_id, code, code_hash, purpose)
				VALUES (t.task_id, v.code, cudal1.code_hash('null candidate ' || v.code), 'certification')
				RETURNING * INTO c;
			INSERT INTO cudal1.null_candidate (task_id, name, candidate_id) VALUES (t.task_id, v.name, c.candidate_id);
		ELSIF c.state = 'discarded' THEN
			UPDATE cudal1.candidate AS x
				SET state = 'queued', failure = NULL, detail = NULL, score = NULL, decided_at = NULL, measurement_id = NULL
				WHERE x.candidate_id = c.candidate_id AND x.state = 'discarded';
			CONTINUE WHEN NOT FOUND;
		ELSE
			CONTINUE;
		END IF;
		PERFORM cudal1.enqueue_null(t, c.candidate_id);
		n := n + 1;
	END LOOP;
	IF n > 0 THEN
		PERFORM cudal1.wake();
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.certify(bigint) IS
'queues the null candidates of a task that were not measured yet; returns their number';

CREATE FUNCTION cudal1.enqueue_null(t cudal1.task, candidate_id bigint)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language, priority)
		VALUES ('measure', t.task_id, enqueue_null.candidate_id, 'certify', COALESCE(t.device_model, t.device), t.cores, t.language, -1000000000)
		ON CONFLICT DO NOTHING;
END;
COMMENT ON FUNCTION cudal1.enqueue_null(cudal1.task, bigint) IS 'queues the measurement of a null candidate, behind all other work';

CREATE FUNCTION cudal1.judge_certification(candidate_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	id		bigint;
BEGIN
	SELECT k.task_id INTO id FROM cudal1.null_candidate AS k WHERE k.candidate_id = judge_certification.candidate_id;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	-- of two that end at once, the second sees the first
	PERFORM FROM cudal1.task AS t WHERE t.task_id = id FOR NO KEY UPDATE;
	UPDATE cudal1.task AS t
		SET certified = (SELECT CASE WHEN bool_or(c.state = 'successful') THEN 'weak' WHEN bool_and(c.state = 'failed') THEN 'passed' END
						 FROM cudal1.null_candidate AS k JOIN cudal1.candidate AS c USING (candidate_id) WHERE k.task_id = id)
		WHERE t.task_id = id;
END
$$;
COMMENT ON FUNCTION cudal1.judge_certification(bigint) IS
'after the verdict on a null candidate: its task is weak if one passed, passed if all failed, and undecided while one waits or was discarded; the caller holds the candidate''s lock';

CREATE FUNCTION @extschema@.cudal1_certify_task(task text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	t		cudal1.task := cudal1.find_task(task);
	n		bigint := cudal1.certify(t.task_id);
BEGIN
	IF n > 0 THEN
		PERFORM cudal1.warn_no_device(t);
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_certify_task(text) IS
'queues, behind all other work, the null candidates of a task (zeros, a copy of an input, the mean, the output for other inputs, half the work, lower precision) that have no verdict; returns their number.
cudal1.task.certified then says weak where one passes, passed where all fail; cudal1.null_candidate names them. They are neither sampled nor reported. Adding a task does it where its option certify or, without one, the setting cudal1.certify (off) says so. Error 42704: unknown task';
/*
 * Scores from elsewhere, one for each candidate and device: the same code is often published with its scores on several
 * devices, and the reward of a candidate holds only one of them.
 */

CREATE TABLE cudal1.imported_score (
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	device				text NOT NULL CHECK (device OPERATOR(pg_catalog.<>) ''),
	reward				float8 NOT NULL CHECK (reward OPERATOR(pg_catalog.>=) 0),
	score				float8,
	imported_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	PRIMARY KEY (candidate_id, device),
	CHECK ((reward OPERATOR(pg_catalog.=) 0) OPERATOR(pg_catalog.=) (score IS NULL))
);
COMMENT ON TABLE cudal1.imported_score IS 'scores measured elsewhere, one row for each candidate and device; what reports of a device read beside measurements';
COMMENT ON COLUMN cudal1.imported_score.device IS 'the device as the source of the score names it';
COMMENT ON COLUMN cudal1.imported_score.reward IS 'conservatively rounded score; 0: the candidate failed there';
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
	left_over	record;
	taken		bigint := 0;
BEGIN
	FOR left_over IN
		SELECT j.job_id, j.attempt, j.failures
		FROM cudal1.job j
		WHERE j.state = 'running'
		AND starts_with(j.worker, server || ' ')
		AND j.worker <> take_back.worker
		ORDER BY j.candidate_id, j.job_id
	LOOP
		/*
		 * A dead worker is no failure of its candidate. But a job that was claimed again and again without ever failing
		 * may be what kills the workers: from then on it counts, so that it ends.
		 */
		IF left_over.attempt - left_over.failures >= 10 THEN
			UPDATE cudal1.job
			SET lease_until = '-infinity'
			WHERE job_id = left_over.job_id AND attempt = left_over.attempt AND state = 'running';
			PERFORM cudal1.expire_leases();
		ELSE
			PERFORM cudal1.release(left_over.job_id, left_over.attempt);
		END IF;
		taken := taken + 1;
	END LOOP;
	RETURN taken;
END
$$;
COMMENT ON FUNCTION cudal1.take_back(text, text) IS
'requeues at once what former workers of a server were measuring when they died, and returns the number of jobs; server: the beginning that the names of its workers share, worker: the caller''s own name';

REVOKE ALL ON FUNCTION cudal1.wake() FROM PUBLIC;
REVOKE ALL ON FUNCTION cudal1.wake_waiters() FROM PUBLIC;
REVOKE ALL ON FUNCTION cudal1.announce_idle(float8) FROM PUBLIC;
REVOKE ALL ON FUNCTION cudal1.worker_state() FROM PUBLIC;
REVOKE ALL ON FUNCTION cudal1.check_database() FROM PUBLIC;
REVOKE ALL ON FUNCTION cudal1.take_back(text, text) FROM PUBLIC;

SELECT cudal1.check_database();
/*
 * Arithmetic of rounds, rewards and groups.
 */

CREATE FUNCTION @extschema@.cudal1_conservative_round(speedup float8)
RETURNS float8
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_conservative_round';
COMMENT ON FUNCTION @extschema@.cudal1_conservative_round(float8) IS
'two decimals, towards 1 (CUDA-L1, 2.4.4): 1.118 gives 1.11, 0.992 gives 1.00; 100 x within 1e-9 of an integer is that integer, so 1.15 stays 1.15 and rounding twice changes nothing. Error 22023 for NaN, infinite and negative speedups';

CREATE FUNCTION @extschema@.cudal1_score_rounds(reference_times float8[], candidate_times float8[],
									profile text DEFAULT 'default', buckets int[] DEFAULT NULL)
RETURNS TABLE (bucket_means float8[], variance float8, score float8, reward float8, accepted bool)
LANGUAGE C STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cudal1_score_rounds';
COMMENT ON FUNCTION @extschema@.cudal1_score_rounds(float8[], float8[], text, int[]) IS
'score of a measurement from the times of its rounds, one reference and one candidate time a round in any one unit (CUDA-L1, eq. 2 and 3). Estimators and limits are the profile''s; without buckets the rounds are split contiguously into profile.pairs buckets of sizes that differ by at most one, else equal numbers mean one bucket. variance is the population variance across the buckets; reward is NULL unless accepted. Errors: 22023 times not above 0, NaN, too few rounds; 2202E lengths differ; 42704 unknown profile';

CREATE FUNCTION @extschema@.cudal1_group_advantages(rewards float8[], variant text DEFAULT 'paper')
RETURNS float8[]
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_group_advantages';
COMMENT ON FUNCTION @extschema@.cudal1_group_advantages(float8[], text) IS
'advantages of one group (CUDA-L1, eq. 4): (r - mean) / deviation. Variants: paper (population deviation), trl, verl, openrlhf (sample deviation + 1e-4, 1e-6, 1e-9), dr_grpo (r - mean), rloo (r - mean of the others), smoothed (as paper, cut at +-1.5). Equal rewards and a group of one give exactly 0; NULL members stay NULL and do not count. Error 22023 for NaN, infinities and unknown variants';

CREATE FUNCTION @extschema@.cudal1_grpo_objective(logp float8[], logp_old float8[], logp_ref float8[], advantages float8[],
									  lengths int[], epsilon float8 DEFAULT 0.2, beta float8 DEFAULT 0.04,
									  epsilon_high float8 DEFAULT NULL, aggregation text DEFAULT 'sequence')
RETURNS TABLE (objective float8, kl float8, clip_fraction float8)
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_grpo_objective';
COMMENT ON FUNCTION @extschema@.cudal1_grpo_objective(float8[], float8[], float8[], float8[], int[], float8, float8, float8, text) IS
'the objective to maximise (CUDA-L1, eq. 5): mean over sequences of the mean over tokens of min(rho A, clip(rho, 1 - epsilon, 1 + epsilon_high) A) - beta k3, with rho = exp(logp - logp_old), k3 = exp(d) - d - 1 and d = logp_ref - logp. logp, logp_old and logp_ref hold natural log-probabilities of all tokens, sequence after sequence; lengths holds the tokens of each sequence; advantages one number a sequence or one a token. epsilon_high NULL equals epsilon; logp_ref NULL (with beta 0) leaves the divergence out; aggregation token averages over all tokens instead. kl is averaged alike; clip_fraction is the share of tokens whose bound was in force. Errors: 2202E lengths do not fit, 22023 NaN and bad parameters, 22004 NULLs, 22003 out of range';
/*
 * Buckets and islands: rows derived from candidate, kept by one function.
 *
 * A candidate that is successful and of normal purpose has one slot in the bucket of its reward, every other has none;
 * place_candidate() makes that so, whatever was so before, and may be called twice.  Slots are dense: the last one moves
 * into a hole.  What is placed for one task is serialised by one lock, taken first and held to the end of the
 * transaction.  Locks on single bucket rows, even in ascending order, would let two transactions that accept several scores
 * each (an import) wait for each other; and a bucket row is locked to the end of the transaction anyway.
 */

CREATE FUNCTION cudal1.bucket_of(reward float8, width float8, score_scale text)
RETURNS int
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_bucket_of';
COMMENT ON FUNCTION cudal1.bucket_of(float8, float8, text) IS
'number k of the interval [k * width, (k + 1) * width) that holds a reward above 0, or its natural logarithm where score_scale is log; rewards on an edge in decimal arithmetic are on it';

CREATE FUNCTION cudal1.reward_micro(reward float8)
RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT pg_catalog.round(LEAST(reward, 1e9) * 1e6)::bigint;
END;
COMMENT ON FUNCTION cudal1.reward_micro(float8) IS
'a reward''s share of bucket.sum_micro; rewards above 1e9 count as 1e9, so that sums hold';

CREATE FUNCTION cudal1.reward_ln_nano(reward float8)
RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT pg_catalog.round(pg_catalog.ln(reward) * 1e9)::bigint;
END;
COMMENT ON FUNCTION cudal1.reward_ln_nano(float8) IS 'a reward''s share of bucket.sum_ln_nano';

CREATE FUNCTION cudal1.reward_cluster(reward float8)
RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT pg_catalog.round(LEAST(reward, 1e9) * 100)::bigint;
END;
COMMENT ON FUNCTION cudal1.reward_cluster(float8) IS 'the cluster of an island that a reward belongs to';

CREATE FUNCTION cudal1.lock_placement(task_id bigint)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashint8extended(task_id, 7166185011));
END;
COMMENT ON FUNCTION cudal1.lock_placement(bigint) IS
'serialises, to the end of the transaction, everything that writes the buckets and islands of one task';

/*
 * Islands.  Constants are FunSearch's but for the period of the reset, which counts registrations where FunSearch counts four
 * hours: a count is reproducible and does not depend on how fast the devices are.
 */
CREATE FUNCTION cudal1.island_constants(options jsonb, OUT islands int, OUT reset_after bigint, OUT temperature float8,
										OUT period bigint, OUT admit_late boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT COALESCE((options OPERATOR(pg_catalog.->>) 'islands')::int, 10),
		   COALESCE((options OPERATOR(pg_catalog.->>) 'island_reset')::bigint, 1000),
		   COALESCE((options OPERATOR(pg_catalog.->>) 'island_temperature')::float8, 0.1),
		   COALESCE((options OPERATOR(pg_catalog.->>) 'island_period')::bigint, 30000),
		   COALESCE((options OPERATOR(pg_catalog.->>) 'island_late') OPERATOR(pg_catalog.=) 'admit', true);
END;
COMMENT ON FUNCTION cudal1.island_constants(jsonb) IS
'constants of a task''s islands from its options: islands (10), island_reset (1000 registrations from the islands'' own prompts between two resets), island_temperature (0.1), island_period (30000 registrations in which the temperature falls to 0 and starts anew), island_late (admit: a result of a prompt older than the island''s epoch joins the new epoch, as in FunSearch; reject: it joins no island)';

CREATE FUNCTION cudal1.register_on_island(task_id bigint, island int, epoch int, cluster bigint, candidate_id bigint)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH cell AS (
		INSERT INTO cudal1.island_cell AS c (task_id, island, epoch, cluster, codes)
		VALUES (register_on_island.task_id, register_on_island.island, register_on_island.epoch,
				register_on_island.cluster, 1)
		ON CONFLICT (task_id, island, epoch, cluster) DO UPDATE SET codes = c.codes + 1
		RETURNING c.codes - 1 AS slot
	)
	INSERT INTO cudal1.island_slot (task_id, island, epoch, cluster, slot, candidate_id)
	SELECT register_on_island.task_id, register_on_island.island, register_on_island.epoch,
		   register_on_island.cluster, cell.slot, register_on_island.candidate_id
	FROM cell;
END;
COMMENT ON FUNCTION cudal1.register_on_island(bigint, int, int, bigint, bigint) IS
'gives a candidate the next slot of a cluster; the caller holds the task''s lock';

CREATE FUNCTION cudal1.leave_island(task_id bigint, island int, epoch int, cluster bigint, slot bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	last bigint;
BEGIN
	UPDATE cudal1.island_cell AS c SET codes = c.codes - 1
	WHERE c.task_id = leave_island.task_id AND c.island = leave_island.island AND c.epoch = leave_island.epoch
		AND c.cluster = leave_island.cluster
	RETURNING c.codes INTO last;
	DELETE FROM cudal1.island_slot AS s
	WHERE s.task_id = leave_island.task_id AND s.island = leave_island.island AND s.epoch = leave_island.epoch
		AND s.cluster = leave_island.cluster AND s.slot = leave_island.slot;
	IF leave_island.slot < last THEN
		UPDATE cudal1.island_slot AS s SET slot = leave_island.slot
		WHERE s.task_id = leave_island.task_id AND s.island = leave_island.island AND s.epoch = leave_island.epoch
			AND s.cluster = leave_island.cluster AND s.slot = last;
	END IF;
END;
$$;
COMMENT ON FUNCTION cudal1.leave_island(bigint, int, int, bigint, bigint) IS
'takes the candidate of a slot out of its cluster, the last slot moves into the hole; the caller holds the task''s lock';

CREATE FUNCTION cudal1.note_best(task_id bigint)
RETURNS void
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	UPDATE cudal1.island AS i SET best_reward = best.reward
	FROM (SELECT j.island, (SELECT c.cluster / 100.0::float8 FROM cudal1.island_cell AS c
							WHERE c.task_id = j.task_id AND c.island = j.island AND c.epoch = j.epoch AND c.codes > 0
							ORDER BY c.cluster DESC LIMIT 1) AS reward
		  FROM cudal1.island AS j WHERE j.task_id = note_best.task_id) AS best
	WHERE i.task_id = note_best.task_id AND i.island = best.island AND i.best_reward IS DISTINCT FROM best.reward;
END;
COMMENT ON FUNCTION cudal1.note_best(bigint) IS 'brings best_reward of a task''s islands up to date';

CREATE FUNCTION cudal1.found_islands(task_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	PERFORM cudal1.lock_placement(found_islands.task_id);
	IF EXISTS (SELECT FROM cudal1.island AS i WHERE i.task_id = found_islands.task_id) THEN
		RETURN;
	END IF;
	INSERT INTO cudal1.island (task_id, island, registrations)
	SELECT t.task_id, i.island,
		   (SELECT pg_catalog.count(*) FROM cudal1.bucket_slot AS s WHERE s.task_id = t.task_id)
	FROM cudal1.task AS t
	CROSS JOIN LATERAL cudal1.island_constants(t.options) AS k
	CROSS JOIN LATERAL pg_catalog.generate_series(0, k.islands - 1) AS i (island)
	WHERE t.task_id = found_islands.task_id;

	INSERT INTO cudal1.island_slot (task_id, island, epoch, cluster, slot, candidate_id)
	SELECT s.task_id, i.island, 0, k.cluster,
		   pg_catalog.row_number() OVER (PARTITION BY i.island, k.cluster ORDER BY s.candidate_id) - 1, s.candidate_id
	FROM cudal1.bucket_slot AS s
	JOIN cudal1.candidate AS c ON c.candidate_id = s.candidate_id
	JOIN cudal1.island AS i ON i.task_id = s.task_id
	CROSS JOIN LATERAL (SELECT cudal1.reward_cluster(c.reward) AS cluster) AS k
	WHERE s.task_id = found_islands.task_id;

	INSERT INTO cudal1.island_cell (task_id, island, epoch, cluster, codes)
	SELECT s.task_id, s.island, s.epoch, s.cluster, pg_catalog.count(*)
	FROM cudal1.island_slot AS s
	WHERE s.task_id = found_islands.task_id
	GROUP BY s.task_id, s.island, s.epoch, s.cluster;
	PERFORM cudal1.note_best(found_islands.task_id);
END;
$$;
COMMENT ON FUNCTION cudal1.found_islands(bigint) IS
'founds a task''s islands, all of them holding every placed candidate (none came from an island''s prompt yet); does nothing where they exist. A task has islands from its first prompt by strategy island on, or from its first reward where that is its own strategy';

CREATE FUNCTION cudal1.reset_islands(task_id bigint)
RETURNS int
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	ranked int[];
	weaker int;
	survivors int;
	wiped cudal1.island;
	founder record;
BEGIN
	PERFORM cudal1.lock_placement(reset_islands.task_id);
	-- islands of equal best are ranked by a hash: as good as noise, and the same wherever the same history is replayed
	ranked := ARRAY(SELECT i.island FROM cudal1.island AS i WHERE i.task_id = reset_islands.task_id
					ORDER BY i.best_reward NULLS FIRST,
							 pg_catalog.hashint8extended(i.island, pg_catalog.hashint8extended(i.task_id, i.epoch)));
	weaker := pg_catalog.cardinality(ranked) / 2;
	survivors := pg_catalog.cardinality(ranked) - weaker;
	FOR n IN 1 .. weaker LOOP
		UPDATE cudal1.island AS i SET epoch = i.epoch + 1, registrations = 0
		WHERE i.task_id = reset_islands.task_id AND i.island = ranked[n]
		RETURNING i.* INTO wiped;
		DELETE FROM cudal1.island_cell AS c
		WHERE c.task_id = wiped.task_id AND c.island = wiped.island AND c.epoch < wiped.epoch;

		-- the founder: the best of a survivor, each survivor with the same chance
		SELECT s.candidate_id, s.cluster INTO founder
		FROM cudal1.island AS i
		JOIN cudal1.island_slot AS s ON s.task_id = i.task_id AND s.island = i.island AND s.epoch = i.epoch
		WHERE i.task_id = wiped.task_id
			AND i.island = ranked[weaker + 1 + (pg_catalog.abs(pg_catalog.hashint8extended(wiped.island,
									pg_catalog.hashint8extended(wiped.task_id, wiped.epoch)) % survivors))::int]
		ORDER BY s.cluster DESC, s.slot LIMIT 1;
		IF FOUND THEN
			PERFORM cudal1.register_on_island(wiped.task_id, wiped.island, wiped.epoch, founder.cluster,
											  founder.candidate_id);
			UPDATE cudal1.island AS i SET registrations = 1
			WHERE i.task_id = wiped.task_id AND i.island = wiped.island;
		END IF;
	END LOOP;
	UPDATE cudal1.island AS i SET since_reset = 0 WHERE i.task_id = reset_islands.task_id;
	PERFORM cudal1.note_best(reset_islands.task_id);
	RETURN weaker;
END;
$$;
COMMENT ON FUNCTION cudal1.reset_islands(bigint) IS
'wipes the weaker half of a task''s islands (the smaller half of an odd number) by best reward; each starts a new epoch with the best candidate of a surviving island. Returns the number wiped';

CREATE FUNCTION cudal1.place_on_islands(candidate_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
	wanted record;
	place record;
	changed boolean := false;
	registered boolean := false;
BEGIN
	SELECT c.task_id, c.state = 'successful' AND c.purpose = 'normal' AS placed, cudal1.reward_cluster(c.reward) AS cluster,
		   k.reset_after, k.admit_late
	INTO wanted
	FROM cudal1.candidate AS c
	JOIN cudal1.task AS t ON t.task_id = c.task_id
	CROSS JOIN LATERAL cudal1.island_constants(t.options) AS k
	WHERE c.candidate_id = place_on_islands.candidate_id;

	FOR place IN
		SELECT i.island, i.epoch, s.cluster, s.slot,
			   EXISTS (SELECT FROM cudal1.island_slot AS o
					   WHERE o.candidate_id = place_on_islands.candidate_id AND o.task_id = i.task_id
						   AND o.island = i.island) AS known,
			   p.proposed, p.current, p.own, p.free
		FROM cudal1.island AS i
		LEFT JOIN cudal1.island_slot AS s ON s.candidate_id = place_on_islands.candidate_id AND s.task_id = i.task_id
			AND s.island = i.island AND s.epoch = i.epoch
		CROSS JOIN LATERAL (
			SELECT pg_catalog.count(*) = 0 OR COALESCE(pg_catalog.bool_or(r.island IS NULL OR r.island = i.island), false) AS proposed,
				   COALESCE(pg_catalog.bool_or(r.island = i.island AND r.island_epoch >= i.epoch), false) AS current,
				   COALESCE(pg_catalog.bool_or(r.island = i.island), false) AS own,
				   COALESCE(pg_catalog.bool_or(r.island IS NULL), true) AS free
			FROM cudal1.proposal AS r WHERE r.candidate_id = place_on_islands.candidate_id) AS p
		WHERE i.task_id = wanted.task_id
		ORDER BY i.island
	LOOP
		IF place.slot IS NOT NULL AND (NOT wanted.placed OR place.cluster <> wanted.cluster) THEN
			PERFORM cudal1.leave_island(wanted.task_id, place.island, place.epoch, place.cluster, place.slot);
			IF wanted.placed THEN
				PERFORM cudal1.register_on_island(wanted.task_id, place.island, place.epoch, wanted.cluster,
												  place_on_islands.candidate_id);
			END IF;
			changed := true;
		ELSIF place.slot IS NULL AND wanted.placed AND place.proposed
			AND (place.current OR NOT place.known)	-- who was wiped comes back by a new proposal only
			AND (place.current OR place.free OR wanted.admit_late)
		THEN
			PERFORM cudal1.register_on_island(wanted.task_id, place.island, place.epoch, wanted.cluster,
											  place_on_islands.candidate_id);
			UPDATE cudal1.island AS i
			SET registrations = i.registrations + 1, since_reset = i.since_reset + place.own::int
			WHERE i.task_id = wanted.task_id AND i.island = place.island;
			changed := true;
			registered := true;
		END IF;
	END LOOP;

	IF NOT wanted.placed THEN
		DELETE FROM cudal1.island_slot AS s
		WHERE s.candidate_id = place_on_islands.candidate_id AND s.task_id = wanted.task_id;
	END IF;
	IF changed THEN
		PERFORM cudal1.note_best(wanted.task_id);
	END IF;
	IF registered AND (SELECT pg_catalog.sum(i.since_reset) FROM cudal1.island AS i
					   WHERE i.task_id = wanted.task_id) >= wanted.reset_after
	THEN
		PERFORM cudal1.reset_islands(wanted.task_id);
	END IF;
END;
$$;
COMMENT ON FUNCTION cudal1.place_on_islands(bigint) IS
'makes a candidate''s island slots agree with its state: on the island whose prompt it answers, on all islands without one; the caller holds the task''s lock';

-- enable_seqscan: a session's cached plans, made while the tables were small, must not scan them when they have grown
CREATE FUNCTION cudal1.place_candidate(candidate_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
	wanted record;
	old cudal1.bucket_slot;
	last bigint;
	strategy text;
BEGIN
	SELECT c.task_id, t.strategy INTO wanted
	FROM cudal1.candidate AS c JOIN cudal1.task AS t ON t.task_id = c.task_id
	WHERE c.candidate_id = place_candidate.candidate_id;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = pg_catalog.format('candidate %s does not exist', place_candidate.candidate_id);
	END IF;
	strategy := wanted.strategy;
	PERFORM cudal1.lock_placement(wanted.task_id);

	-- read under the lock, so that of two transactions the later one sees what the earlier one wrote
	SELECT c.task_id, b.placed,
		   CASE WHEN b.placed THEN cudal1.bucket_of(c.reward, t.bucket_width, t.score_scale) END AS bucket,
		   CASE WHEN b.placed THEN cudal1.reward_micro(c.reward) END AS micro,
		   CASE WHEN b.placed THEN cudal1.reward_ln_nano(c.reward) END AS ln_nano
	INTO wanted
	FROM cudal1.candidate AS c
	JOIN cudal1.task AS t ON t.task_id = c.task_id
	CROSS JOIN LATERAL (SELECT c.state = 'successful' AND c.purpose = 'normal' AS placed) AS b
	WHERE c.candidate_id = place_candidate.candidate_id;
	SELECT s.* INTO old FROM cudal1.bucket_slot AS s WHERE s.candidate_id = place_candidate.candidate_id;

	IF old.bucket = wanted.bucket THEN
		IF old.micro <> wanted.micro OR old.ln_nano <> wanted.ln_nano THEN
			UPDATE cudal1.bucket AS b
			SET sum_micro = b.sum_micro - old.micro + wanted.micro, sum_ln_nano = b.sum_ln_nano - old.ln_nano + wanted.ln_nano
			WHERE b.task_id = old.task_id AND b.bucket = old.bucket;
			UPDATE cudal1.bucket_slot AS s SET micro = wanted.micro, ln_nano = wanted.ln_nano
			WHERE s.candidate_id = place_candidate.candidate_id;
		END IF;
	ELSE
		IF old.bucket IS NOT NULL THEN
			UPDATE cudal1.bucket AS b
			SET codes = b.codes - 1, sum_micro = b.sum_micro - old.micro, sum_ln_nano = b.sum_ln_nano - old.ln_nano
			WHERE b.task_id = old.task_id AND b.bucket = old.bucket
			RETURNING b.codes INTO last;
			DELETE FROM cudal1.bucket_slot AS s WHERE s.candidate_id = place_candidate.candidate_id;
			IF old.slot < last THEN
				UPDATE cudal1.bucket_slot AS s SET slot = old.slot
				WHERE s.task_id = old.task_id AND s.bucket = old.bucket AND s.slot = last;
			END IF;
		END IF;
		IF wanted.placed THEN
			INSERT INTO cudal1.bucket AS b (task_id, bucket, codes, sum_micro, sum_ln_nano)
			VALUES (wanted.task_id, wanted.bucket, 1, wanted.micro, wanted.ln_nano)
			ON CONFLICT (task_id, bucket) DO UPDATE
				SET codes = b.codes + 1, sum_micro = b.sum_micro + excluded.sum_micro,
					sum_ln_nano = b.sum_ln_nano + excluded.sum_ln_nano
			RETURNING b.codes - 1 INTO last;
			INSERT INTO cudal1.bucket_slot (task_id, bucket, slot, candidate_id, micro, ln_nano)
			VALUES (wanted.task_id, wanted.bucket, last, place_candidate.candidate_id, wanted.micro, wanted.ln_nano);
		END IF;
	END IF;

	IF EXISTS (SELECT FROM cudal1.island AS i WHERE i.task_id = wanted.task_id) THEN
		PERFORM cudal1.place_on_islands(place_candidate.candidate_id);
	ELSIF strategy = 'island' AND wanted.placed THEN
		PERFORM cudal1.found_islands(wanted.task_id);
	END IF;
END;
$$;
COMMENT ON FUNCTION cudal1.place_candidate(bigint) IS
'makes bucket, slot and islands agree with a candidate''s present state and reward: one slot where it is successful and of normal purpose, else none; calling it again changes nothing. To be called in every transaction that changes a candidate''s state or reward, or adds a proposal to a successful one. Error 42704: unknown candidate';

CREATE FUNCTION cudal1.rebucket(task text, bucket_width float8 DEFAULT NULL, score_scale text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	id bigint;
	placed bigint;
BEGIN
	IF rebucket.bucket_width <= 0 OR rebucket.bucket_width >= 'Infinity' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'argument "bucket_width" must be a finite number above 0';
	END IF;
	IF rebucket.score_scale NOT IN ('linear', 'log') THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'argument "score_scale" must be "linear" or "log"';
	END IF;
	SELECT t.task_id INTO id FROM cudal1.task AS t WHERE t.name = rebucket.task;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = pg_catalog.format('task "%s" does not exist', rebucket.task);
	END IF;
	PERFORM cudal1.lock_placement(id);
	UPDATE cudal1.task AS t
	SET bucket_width = COALESCE(rebucket.bucket_width, t.bucket_width),
		score_scale = COALESCE(rebucket.score_scale, t.score_scale)
	WHERE t.task_id = id;

	DELETE FROM cudal1.bucket_slot AS s WHERE s.task_id = id;
	DELETE FROM cudal1.bucket AS b WHERE b.task_id = id;
	INSERT INTO cudal1.bucket_slot (task_id, bucket, slot, candidate_id, micro, ln_nano)
	SELECT c.task_id, k.bucket, pg_catalog.row_number() OVER (PARTITION BY k.bucket ORDER BY c.candidate_id) - 1,
		   c.candidate_id, cudal1.reward_micro(c.reward), cudal1.reward_ln_nano(c.reward)
	FROM cudal1.candidate AS c
	JOIN cudal1.task AS t ON t.task_id = c.task_id
	CROSS JOIN LATERAL (SELECT cudal1.bucket_of(c.reward, t.bucket_width, t.score_scale) AS bucket) AS k
	WHERE c.task_id = id AND c.state = 'successful' AND c.purpose = 'normal';
	GET DIAGNOSTICS placed = ROW_COUNT;
	INSERT INTO cudal1.bucket (task_id, bucket, codes, sum_micro, sum_ln_nano)
	SELECT s.task_id, s.bucket, pg_catalog.count(*), pg_catalog.sum(s.micro), pg_catalog.sum(s.ln_nano)
	FROM cudal1.bucket_slot AS s
	WHERE s.task_id = id
	GROUP BY s.task_id, s.bucket;
	RETURN placed;
END;
$$;
COMMENT ON FUNCTION cudal1.rebucket(text, float8, text) IS
'changes a task''s bucket_width (above 0, in speedup or ln speedup) and score_scale (linear, log), NULL keeps one, and builds its buckets anew in one transaction; without either it repairs them. Islands stay. Returns the number of candidates placed. Operators only. Errors: 42704 unknown task, 22023 bad argument';

CREATE FUNCTION cudal1.recount(task_id bigint DEFAULT NULL)
RETURNS TABLE (task bigint, difference text, place text, expected text, found text)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH placed AS (
		SELECT c.task_id, c.candidate_id, cudal1.bucket_of(c.reward, t.bucket_width, t.score_scale) AS bucket,
			   cudal1.reward_micro(c.reward) AS micro, cudal1.reward_ln_nano(c.reward) AS ln_nano,
			   cudal1.reward_cluster(c.reward) AS cluster
		FROM cudal1.candidate AS c
		JOIN cudal1.task AS t ON t.task_id = c.task_id
		WHERE c.state = 'successful' AND c.purpose = 'normal'
			AND (recount.task_id IS NULL OR c.task_id = recount.task_id)
	), slots AS (
		SELECT s.* FROM cudal1.bucket_slot AS s WHERE recount.task_id IS NULL OR s.task_id = recount.task_id
	), members AS (
		SELECT s.* FROM cudal1.island_slot AS s
		JOIN cudal1.island AS i ON i.task_id = s.task_id AND i.island = s.island AND i.epoch = s.epoch
		WHERE recount.task_id IS NULL OR s.task_id = recount.task_id
	)
	SELECT COALESCE(b.task_id, p.task_id), 'bucket',
		   pg_catalog.format('bucket %s', COALESCE(b.bucket, p.bucket)),
		   pg_catalog.format('%s codes, %s, %s', p.codes, p.micro, p.ln_nano),
		   pg_catalog.format('%s codes, %s, %s', b.codes, b.sum_micro, b.sum_ln_nano)
	FROM (SELECT q.task_id, q.bucket, q.codes, q.sum_micro, q.sum_ln_nano FROM cudal1.bucket AS q
		  WHERE recount.task_id IS NULL OR q.task_id = recount.task_id) AS b
	FULL JOIN (SELECT q.task_id, q.bucket, pg_catalog.count(*) AS codes, pg_catalog.sum(q.micro) AS micro,
					  pg_catalog.sum(q.ln_nano) AS ln_nano
			   FROM placed AS q GROUP BY q.task_id, q.bucket) AS p
		ON p.task_id = b.task_id AND p.bucket = b.bucket
	WHERE COALESCE(b.codes, 0) <> COALESCE(p.codes, 0) OR COALESCE(b.sum_micro, 0) <> COALESCE(p.micro, 0)
		OR COALESCE(b.sum_ln_nano, 0) <> COALESCE(p.ln_nano, 0)
	UNION ALL
	SELECT COALESCE(s.task_id, p.task_id), 'slot',
		   pg_catalog.format('candidate %s', COALESCE(s.candidate_id, p.candidate_id)),
		   pg_catalog.format('bucket %s', p.bucket), pg_catalog.format('bucket %s', s.bucket)
	FROM slots AS s
	FULL JOIN placed AS p ON p.candidate_id = s.candidate_id AND p.task_id = s.task_id
	WHERE (s.bucket, s.micro, s.ln_nano) IS DISTINCT FROM (p.bucket, p.micro, p.ln_nano)
	UNION ALL
	SELECT s.task_id, 'slots not dense', pg_catalog.format('bucket %s', s.bucket),
		   pg_catalog.format('0 .. %s', pg_catalog.count(*) - 1),
		   pg_catalog.format('%s .. %s', pg_catalog.min(s.slot), pg_catalog.max(s.slot))
	FROM slots AS s
	GROUP BY s.task_id, s.bucket
	HAVING pg_catalog.min(s.slot) <> 0 OR pg_catalog.max(s.slot) <> pg_catalog.count(*) - 1
	UNION ALL
	SELECT COALESCE(e.task_id, m.task_id), 'island cell',
		   pg_catalog.format('island %s, cluster %s', COALESCE(e.island, m.island), COALESCE(e.cluster, m.cluster)),
		   pg_catalog.format('%s codes', m.codes), pg_catalog.format('%s codes', e.codes)
	FROM (SELECT q.task_id, q.island, q.epoch, q.cluster, q.codes FROM cudal1.island_cell AS q
		  WHERE recount.task_id IS NULL OR q.task_id = recount.task_id) AS e
	FULL JOIN (SELECT q.task_id, q.island, q.epoch, q.cluster, pg_catalog.count(*) AS codes
			   FROM members AS q GROUP BY q.task_id, q.island, q.epoch, q.cluster) AS m
		ON m.task_id = e.task_id AND m.island = e.island AND m.epoch = e.epoch AND m.cluster = e.cluster
	WHERE COALESCE(e.codes, 0) <> COALESCE(m.codes, 0)
	UNION ALL
	SELECT m.task_id, 'island slots not dense', pg_catalog.format('island %s, cluster %s', m.island, m.cluster),
		   pg_catalog.format('0 .. %s', pg_catalog.count(*) - 1),
		   pg_catalog.format('%s .. %s', pg_catalog.min(m.slot), pg_catalog.max(m.slot))
	FROM members AS m
	GROUP BY m.task_id, m.island, m.cluster
	HAVING pg_catalog.min(m.slot) <> 0 OR pg_catalog.max(m.slot) <> pg_catalog.count(*) - 1
	UNION ALL
	SELECT m.task_id, 'island slot', pg_catalog.format('candidate %s on island %s', m.candidate_id, m.island),
		   pg_catalog.format('cluster %s', p.cluster), pg_catalog.format('cluster %s', m.cluster)
	FROM members AS m
	LEFT JOIN placed AS p ON p.candidate_id = m.candidate_id
	WHERE m.cluster IS DISTINCT FROM p.cluster
	UNION ALL
	SELECT i.task_id, 'island best', pg_catalog.format('island %s', i.island),
		   m.best::text, i.best_reward::text
	FROM cudal1.island AS i
	LEFT JOIN (SELECT q.task_id, q.island, pg_catalog.max(q.cluster) / 100.0::float8 AS best
			   FROM members AS q GROUP BY q.task_id, q.island) AS m ON m.task_id = i.task_id AND m.island = i.island
	WHERE (recount.task_id IS NULL OR i.task_id = recount.task_id) AND i.best_reward IS DISTINCT FROM m.best;
END;
COMMENT ON FUNCTION cudal1.recount(bigint) IS
'compares all derived rows of a task (NULL: of all tasks) with a count from cudal1.candidate; one row a difference, none where all agree. Reads every candidate';
/*
 * Draws of exemplars.  enable_seqscan: a session's cached plans, made while the tables were small, must not scan them when
 * they have grown.
 */

CREATE FUNCTION cudal1.random_seed()
RETURNS bigint
LANGUAGE C VOLATILE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_random_seed';
COMMENT ON FUNCTION cudal1.random_seed() IS 'a seed from the system''s source of randomness';

CREATE FUNCTION @extschema@.cudal1_sample_exemplars(task text, n int DEFAULT 2, strategy text DEFAULT 'bucket',
										temperature float8 DEFAULT NULL, seed bigint DEFAULT NULL)
RETURNS TABLE (candidate_id bigint, bucket int, score float8, code text)
LANGUAGE C VOLATILE PARALLEL RESTRICTED SECURITY DEFINER ROWS 2
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS 'MODULE_PATHNAME', 'cudal1_sample_exemplars';
COMMENT ON FUNCTION @extschema@.cudal1_sample_exemplars(text, int, text, float8, bigint) IS
'up to n (1 to 1000) successful candidates of a task, in ascending score (then candidate_id); score is the reward. Writes nothing. Strategies: bucket (CUDA-L1, eq. 1): n distinct buckets without replacement by softmax(mean / temperature), one code uniformly from each; temperature NULL is the task''s. island: FunSearch''s clusters of equal reward on one island, the temperature (NULL: 0.1) falling with the island''s registrations; clusters are drawn with replacement but no code twice. random: n distinct codes uniformly. NULL is the task''s own strategy. Fewer buckets, clusters or codes give fewer rows. The same seed over the same buckets gives the same rows. Errors: 42704 unknown task, 22023 unknown strategy, n or temperature out of range, 22004 task NULL';

CREATE FUNCTION cudal1.draw(task text, n int, strategy text, temperature float8, seed bigint)
RETURNS TABLE (candidate_id bigint, bucket int, score float8, code text, island int, epoch int, probabilities jsonb)
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 2
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS 'MODULE_PATHNAME', 'cudal1_draw';
COMMENT ON FUNCTION cudal1.draw(text, int, text, float8, bigint) IS
'as cudal1_sample_exemplars, with the island (NULL: none) and the probabilities the draw was made from, on every row';

CREATE FUNCTION @extschema@.cudal1_bucket_stats(task text, temperature float8 DEFAULT NULL)
RETURNS TABLE (bucket int, lower float8, upper float8, codes bigint, mean float8, probability float8)
LANGUAGE C STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 20
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS 'MODULE_PATHNAME', 'cudal1_bucket_stats';
COMMENT ON FUNCTION @extschema@.cudal1_bucket_stats(text, float8) IS
'the buckets of a task that hold candidates: rewards in [lower, upper), their number, mean and the probability of being drawn first at the temperature (NULL: the task''s). Where score_scale is log, buckets, means and softmax are those of ln(reward), while lower, upper and mean are given as speedups (the mean is geometric). Errors: 42704 unknown task, 22023 temperature not above 0';
/*
 * Prompts: a draw, its words, its record.
 */

CREATE FUNCTION cudal1.entry_declaration(language text, signature jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT pg_catalog.format(E'%svoid %s(%s)\n\nwith the arguments\n\n%s',
			CASE WHEN language = 'cuda' THEN 'extern "C" ' ELSE '' END, signature ->> 'entry',
			pg_catalog.string_agg(pg_catalog.format('%s%s%s%s', CASE WHEN a.arg ->> 'role' = 'in' THEN 'const ' ELSE '' END, a.type,
				CASE WHEN a.arg ->> 'role' = 'scalar' THEN ' ' ELSE ' *' END, a.arg ->> 'name'), ', ' ORDER BY a.place),
			pg_catalog.string_agg(CASE WHEN a.arg ->> 'role' = 'scalar'
				THEN pg_catalog.format('- `%s`: %s, always %s', a.arg ->> 'name', a.arg ->> 'dtype', a.arg ->> 'value')
				ELSE pg_catalog.format('- `%s`: %s, shape %s, %s', a.arg ->> 'name', a.arg ->> 'dtype', a.arg ->> 'shape',
					CASE WHEN a.arg ->> 'role' = 'in' THEN 'input, not to be changed' WHEN a.arg ->> 'role' = 'out' THEN 'output'
						 ELSE 'input and output' END) END, E'\n' ORDER BY a.place))
	FROM (SELECT e.value AS arg, e.ordinality AS place,
				 CASE WHEN e.value ->> 'dtype' = 'float64' THEN 'double'
					  WHEN e.value ->> 'dtype' = 'float32' THEN 'float'
					  WHEN e.value ->> 'dtype' = 'float16' THEN CASE WHEN language = 'cuda' THEN '__half' ELSE '_Float16' END
					  WHEN e.value ->> 'dtype' = 'bfloat16' THEN CASE WHEN language = 'cuda' THEN '__nv_bfloat16' ELSE 'uint16_t' END
					  WHEN e.value ->> 'dtype' = 'bool' THEN 'bool'
					  ELSE (e.value ->> 'dtype') || '_t' END AS type
		  FROM pg_catalog.jsonb_array_elements(signature -> 'args') WITH ORDINALITY AS e) AS a;
END;
COMMENT ON FUNCTION cudal1.entry_declaration(text, jsonb) IS
'the C declaration of a task''s entry point and a line on each argument; bfloat16 is uint16_t (its bits) in C';

CREATE FUNCTION cudal1.tolerance_words(rtol float8, atol float8)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT CASE WHEN rtol IS NULL AND atol IS NULL
				THEN 'integers and booleans exactly, floating-point values within the tolerance of their dtype (for float32, 1e-4 of the output''s root mean square plus 1e-3 of the value)'
				ELSE pg_catalog.format('integers and booleans exactly, floating-point values within %s of the output''s root mean square plus %s of the value',
					COALESCE(atol::text, 'the usual share (1e-4 for float32)'), COALESCE(rtol::text, 'the usual share (1e-3 for float32)')) END;
END;
COMMENT ON FUNCTION cudal1.tolerance_words(float8, float8) IS 'a task''s tolerance in words';

CREATE FUNCTION cudal1.compose_prompt(contrastive boolean, language text, gpu boolean, hardware text, name text, reference text,
									  entry text, tolerance text, codes text[], scores float8[])
RETURNS text
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_compose_prompt';
COMMENT ON FUNCTION cudal1.compose_prompt(boolean, text, boolean, text, text, text, text, text, text[], float8[]) IS
'the words of a prompt; entry is NULL for pytorch, no other argument may be NULL; codes and scores in the order to be shown';

CREATE FUNCTION @extschema@.cudal1_prompt(task text, n int DEFAULT 2, strategy text DEFAULT 'bucket', kind text DEFAULT 'contrastive',
							  temperature float8 DEFAULT NULL, seed bigint DEFAULT NULL)
RETURNS TABLE (prompt_id bigint, prompt text, exemplars bigint[])
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	t			cudal1.task;
	used		text;
	used_seed	bigint := COALESCE(cudal1_prompt.seed, cudal1.random_seed());
	heat		float8;
	gpu			boolean;
	drawn		record;
	words		text;
	id			bigint;
BEGIN
	t := cudal1.find_task(cudal1_prompt.task);
	IF cudal1_prompt.kind IS NULL OR cudal1_prompt.kind NOT IN ('contrastive', 'augment') THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('kind "%s" does not exist', cudal1_prompt.kind),
			HINT = 'Valid kinds are "contrastive" and "augment".';
	END IF;
	used := COALESCE(cudal1_prompt.strategy, t.strategy);
	IF used = 'island' AND cudal1_prompt.kind = 'contrastive' THEN
		PERFORM cudal1.found_islands(t.task_id);
	END IF;

	-- an augmenting prompt shows no exemplars, but its arguments are checked alike
	SELECT COALESCE(array_agg(d.candidate_id ORDER BY d.score, d.candidate_id), '{}') AS candidates,
		   COALESCE(array_agg(d.score ORDER BY d.score, d.candidate_id), '{}') AS scores,
		   COALESCE(array_agg(d.code ORDER BY d.score, d.candidate_id), '{}') AS codes,
		   max(d.island) AS island, max(d.epoch) AS epoch,
		   COALESCE((array_agg(d.probabilities))[1], '{}') AS probabilities
	INTO drawn
	FROM cudal1.draw(cudal1_prompt.task, cudal1_prompt.n, used, cudal1_prompt.temperature, used_seed) AS d;
	IF cudal1_prompt.kind = 'augment' THEN
		SELECT '{}'::bigint[] AS candidates, '{}'::float8[] AS scores, '{}'::text[] AS codes, NULL::int AS island,
			   NULL::int AS epoch, '{}'::jsonb AS probabilities INTO drawn;
	END IF;
	IF used <> 'random' AND cudal1_prompt.kind = 'contrastive' THEN
		heat := COALESCE(cudal1_prompt.temperature, CASE WHEN used = 'bucket' THEN t.temperature
							ELSE (SELECT k.temperature FROM cudal1.island_constants(t.options) AS k) END);
	END IF;

	gpu := COALESCE((SELECT bool_or(d.class = 'cuda') FROM cudal1.device AS d WHERE d.model = COALESCE(t.device_model, t.device)),
					CASE WHEN t.device IN ('cpu', 'cuda') THEN t.device = 'cuda' ELSE t.language = 'cuda' END);
	words := cudal1.compose_prompt(cudal1_prompt.kind = 'contrastive', t.language, gpu,
		CASE WHEN t.device_model IS NOT NULL THEN t.device_model
			 WHEN t.device NOT IN ('cpu', 'cuda') THEN t.device
			 WHEN gpu THEN 'a modern NVIDIA GPU' ELSE 'a modern CPU' END,
		t.name, t.reference, cudal1.entry_declaration(t.language, t.signature), cudal1.tolerance_words(t.rtol, t.atol),
		drawn.codes, drawn.scores);

	INSERT INTO cudal1.prompt (task_id, kind, strategy, temperature, seed, island, island_epoch, exemplars, scores,
							   probabilities, prompt)
	VALUES (t.task_id, cudal1_prompt.kind, used, heat, used_seed, drawn.island, drawn.epoch, drawn.candidates, drawn.scores,
			drawn.probabilities, words)
	RETURNING prompt_id INTO id;
	RETURN QUERY SELECT id, words, drawn.candidates::bigint[];
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_prompt(text, int, text, text, float8, bigint) IS
'draws exemplars as cudal1_sample_exemplars does, builds a prompt and records both in cudal1.prompt with seed, temperature and probabilities, so that the draw can be repeated. kind contrastive (CUDA-L1, table 3): reference, exemplars in ascending score, or the reference at 1.00 where there is none yet; augment (table 1): the reference alone. Both demand the headings "## Performance Analysis", "## Algorithm Design" and "## Code Implementation". Strategy island founds the task''s islands if it has none. Errors: 42704 unknown task, 22023 unknown kind or strategy, n or temperature out of range';
/*
 * What models send.
 */

CREATE FUNCTION @extschema@.cudal1_parse_response(response text)
RETURNS TABLE (analysis text, design text, code text, reason text)
LANGUAGE C IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'cudal1_parse_response';
COMMENT ON FUNCTION @extschema@.cudal1_parse_response(text) IS
'takes a model''s answer apart into the sections "## Performance Analysis", "## Algorithm Design" and "## Code Implementation"; one row. reason is NULL when all three are there and the code is complete, else says what is missing. Headings may vary in case, hashes, bold marks, numbers and colons; reasoning in <think> tags is skipped. Of several code fences under the last heading the last counts that is at least half as long as the longest; fences labelled as shell, text or output count only where there is no other; without a fence all text under the heading is the code. Never raises on content';
/*
 * Models and requests. Everything that moves a request is here; cudal1-generate makes one try at a time and decides nothing.
 *
 * Order of locks: model, request, lane, then those of a submission. An answer is accepted for the newest claim alone, but also
 * when that claim's lease has ended meanwhile, as long as nobody claimed the request again: it was paid for.
 */

CREATE FUNCTION cudal1.find_model(name text)
RETURNS cudal1.model
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	m		cudal1.model;
BEGIN
	IF find_model.name IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'model must not be null';
	END IF;
	SELECT x.* INTO m FROM cudal1.model AS x WHERE x.name = find_model.name;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('model "%s" does not exist', find_model.name),
			HINT = 'cudal1.model lists the models; an operator adds one with cudal1_add_model().';
	END IF;
	RETURN m;
END
$$;
COMMENT ON FUNCTION cudal1.find_model(text) IS 'the model of this name; error 42704 where there is none';

CREATE FUNCTION cudal1.check_options(options jsonb, defaults jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	o		record;
BEGIN
	IF options IS NULL OR jsonb_typeof(options) <> 'object' THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'options must be a JSON object';
	END IF;
	FOR o IN SELECT e.key, e.value FROM jsonb_each(options) AS e LOOP
		IF NOT defaults ? o.key THEN
			RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('unknown option "%s"', o.key),
				HINT = 'Options are ' || (SELECT string_agg(k, ', ' ORDER BY k) FROM jsonb_object_keys(defaults) AS k) || '.';
		END IF;
		IF jsonb_typeof(o.value) <> jsonb_typeof(defaults -> o.key) AND jsonb_typeof(defaults -> o.key) <> 'null' THEN
			RAISE EXCEPTION USING ERRCODE = '22023',
				MESSAGE = format('option "%s" must be of type %s', o.key, jsonb_typeof(defaults -> o.key));
		END IF;
	END LOOP;
	RETURN defaults || options;
END
$$;
COMMENT ON FUNCTION cudal1.check_options(jsonb, jsonb) IS 'the defaults with the options given; error 22023 for an unknown one or one of another type';

CREATE FUNCTION @extschema@.cudal1_add_model(name text, endpoint text, model text, key_name text DEFAULT NULL, parameters jsonb DEFAULT '{}',
	concurrency int DEFAULT 8, requests_per_minute float8 DEFAULT NULL, prompt_price float8 DEFAULT NULL,
	completion_price float8 DEFAULT NULL, options jsonb DEFAULT '{}')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	o			jsonb := cudal1.check_options(cudal1_add_model.options, '{"stream": true, "connect_seconds": 10, "stall_seconds": 120,
						"total_seconds": 1800, "backoff_seconds": 1, "max_tries": 8, "max_answer_bytes": 1048576, "max_body_bytes": 67108864}');
	m			cudal1.model;
	problem		text;
BEGIN
	IF num_nulls(cudal1_add_model.name, cudal1_add_model.endpoint, cudal1_add_model.model, cudal1_add_model.parameters,
				 cudal1_add_model.concurrency) > 0 THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'name, endpoint, model, parameters and concurrency must not be null';
	END IF;
	problem := CASE
		WHEN cudal1_add_model.name !~ '^[^[:cntrl:]]{1,100}$' THEN 'name must be a name of 1 to 100 characters'
		WHEN cudal1_add_model.model !~ '^[^[:cntrl:]]{1,255}$' THEN 'model must be a name of 1 to 255 characters'
		WHEN cudal1_add_model.endpoint !~ '^(https?://[][A-Za-z0-9._:-]+(/[A-Za-z0-9._~%/-]*)?|unix:/[^:[:cntrl:]]{1,107}:(/[A-Za-z0-9._~%/-]*)?)$'
			THEN 'endpoint must be http://host/path, https://host/path or unix:/path/of/socket:/path, without user, query and blanks'
		WHEN cudal1_add_model.key_name !~ '^[A-Za-z_][A-Za-z0-9_.-]{0,62}$' THEN 'key_name must be a name of letters, digits and _ . -, not the key itself'
		WHEN jsonb_typeof(cudal1_add_model.parameters) <> 'object' THEN 'parameters must be a JSON object'
		WHEN cudal1_add_model.parameters ?| ARRAY['model', 'messages', 'stream', 'stream_options', 'n']
			THEN 'parameters must not contain model, messages, stream, stream_options or n'
		WHEN octet_length(cudal1_add_model.parameters::text) > 65536 THEN 'parameters must not take more than 64 kB'
		WHEN cudal1_add_model.concurrency NOT BETWEEN 1 AND 10000 THEN 'concurrency must lie between 1 and 10000'
		WHEN NOT (cudal1_add_model.requests_per_minute > 0 AND cudal1_add_model.requests_per_minute < 'Infinity')
			THEN 'requests_per_minute must be above 0'
		WHEN NOT (cudal1_add_model.prompt_price >= 0 AND cudal1_add_model.prompt_price < 'Infinity') THEN 'prompt_price must not be negative'
		WHEN NOT (cudal1_add_model.completion_price >= 0 AND cudal1_add_model.completion_price < 'Infinity')
			THEN 'completion_price must not be negative'
		WHEN coalesce(cudal1.json_float(o -> 'connect_seconds', 0.001, 3600), 0) = 0 THEN 'option connect_seconds must lie between 0.001 and 3600'
		WHEN coalesce(cudal1.json_float(o -> 'stall_seconds', 0.001, 86400), 0) = 0 THEN 'option stall_seconds must lie between 0.001 and 86400'
		WHEN coalesce(cudal1.json_float(o -> 'total_seconds', 0.001, 86400), 0) = 0 THEN 'option total_seconds must lie between 0.001 and 86400'
		WHEN coalesce(cudal1.json_float(o -> 'backoff_seconds', 0.001, 3600), 0) = 0 THEN 'option backoff_seconds must lie between 0.001 and 3600'
		WHEN cudal1.json_int(o -> 'max_tries', 1, 100) IS NULL THEN 'option max_tries must be an integer between 1 and 100'
		WHEN cudal1.json_int(o -> 'max_answer_bytes', 1, 4194304) IS NULL THEN 'option max_answer_bytes must be an integer between 1 and 4194304'
		WHEN cudal1.json_int(o -> 'max_body_bytes', 1024, 1073741824) IS NULL
			THEN 'option max_body_bytes must be an integer between 1024 and 1073741824'
		END;
	IF problem IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = problem;
	END IF;
	INSERT INTO cudal1.model AS x (name, endpoint, model, key_name, parameters, concurrency, requests_per_minute, prompt_price,
			completion_price, stream, connect_seconds, stall_seconds, total_seconds, backoff_seconds, max_tries, max_answer_bytes,
			max_body_bytes)
		VALUES (cudal1_add_model.name, regexp_replace(cudal1_add_model.endpoint, '/+$', ''), cudal1_add_model.model, cudal1_add_model.key_name,
				cudal1_add_model.parameters, cudal1_add_model.concurrency, cudal1_add_model.requests_per_minute,
				cudal1_add_model.prompt_price, cudal1_add_model.completion_price, (o ->> 'stream')::boolean,
				(o ->> 'connect_seconds')::float8, (o ->> 'stall_seconds')::float8, (o ->> 'total_seconds')::float8,
				(o ->> 'backoff_seconds')::float8, (o ->> 'max_tries')::int, (o ->> 'max_answer_bytes')::int,
				(o ->> 'max_body_bytes')::int)
		ON CONFLICT (name) DO NOTHING
		RETURNING x.* INTO m;
	IF FOUND THEN
		PERFORM cudal1.wake();
		RETURN m.model_id;
	END IF;
	SELECT x.* INTO STRICT m FROM cudal1.model AS x WHERE x.name = cudal1_add_model.name;
	IF (m.endpoint, m.model, m.parameters) IS DISTINCT FROM
		(regexp_replace(cudal1_add_model.endpoint, '/+$', ''), cudal1_add_model.model, cudal1_add_model.parameters) THEN
		RAISE EXCEPTION USING ERRCODE = '23505', MESSAGE = format('model "%s" exists with another content', cudal1_add_model.name),
			DETAIL = 'Endpoint, model and parameters stay, so that a method''s name keeps its meaning.',
			HINT = 'Add it under another name.';
	END IF;
	-- limits, prices and the key may change at any time
	UPDATE cudal1.model AS x
		SET key_name = cudal1_add_model.key_name, concurrency = cudal1_add_model.concurrency,
			requests_per_minute = cudal1_add_model.requests_per_minute, prompt_price = cudal1_add_model.prompt_price,
			completion_price = cudal1_add_model.completion_price, stream = (o ->> 'stream')::boolean,
			connect_seconds = (o ->> 'connect_seconds')::float8, stall_seconds = (o ->> 'stall_seconds')::float8,
			total_seconds = (o ->> 'total_seconds')::float8, backoff_seconds = (o ->> 'backoff_seconds')::float8,
			max_tries = (o ->> 'max_tries')::int, max_answer_bytes = (o ->> 'max_answer_bytes')::int,
			max_body_bytes = (o ->> 'max_body_bytes')::int
		WHERE x.model_id = m.model_id;
	PERFORM cudal1.wake();
	RETURN m.model_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_model(text, text, text, text, jsonb, int, float8, float8, float8, jsonb) IS
'adds a model behind an endpoint that speaks OpenAI''s chat completions, and returns its id; operators only. endpoint: base address, http(s)://host/v1 or unix:/path/of/socket:/v1; key_name: the name of its key in the
server''s file cudal1.key_file, never the key; parameters: members of every request (temperature, max_tokens, ...); prices are for a million tokens. Options: stream (true), connect_seconds (10), stall_seconds (120: nothing arrives), total_seconds (1800),
backoff_seconds (1), max_tries (8), max_answer_bytes (1 MiB), max_body_bytes (64 MiB). Added again with the same endpoint, model and parameters, key, limits, prices and options become the new ones; errors: 23505 another content under the name, 22023 values out of range';

CREATE FUNCTION @extschema@.cudal1_enable_model(model text, enabled boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	m		cudal1.model := cudal1.find_model(cudal1_enable_model.model);
BEGIN
	IF cudal1_enable_model.enabled IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'enabled must not be null';
	END IF;
	UPDATE cudal1.model AS x SET enabled = cudal1_enable_model.enabled WHERE x.model_id = m.model_id;
	PERFORM cudal1.wake();
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_enable_model(text, boolean) IS
'an operator''s switch: a disabled model gets no new requests; those in flight are completed';

CREATE FUNCTION @extschema@.cudal1_generate(prompt_id bigint, model text, n int DEFAULT 1, method text DEFAULT NULL,
	group_key text DEFAULT NULL, priority int DEFAULT 0)
RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	m		cudal1.model := cudal1.find_model(cudal1_generate.model);
	problem	text;
BEGIN
	IF cudal1_generate.n IS NULL OR cudal1_generate.n NOT BETWEEN 1 AND 10000 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'n must lie between 1 and 10000';
	END IF;
	problem := cudal1.check_submission('-', coalesce(cudal1_generate.method, m.name), cudal1_generate.priority);
	IF problem IS NOT NULL THEN
		PERFORM cudal1.bad_submission(problem);
	END IF;
	IF cudal1_generate.prompt_id IS NULL OR NOT EXISTS (SELECT FROM cudal1.prompt AS p WHERE p.prompt_id = cudal1_generate.prompt_id) THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('prompt %s does not exist', coalesce(cudal1_generate.prompt_id::text, 'NULL')),
			HINT = 'Prompts come from cudal1_prompt().';
	END IF;
	PERFORM cudal1.wake();
	RETURN QUERY
		INSERT INTO cudal1.request AS r (model_id, prompt_id, method, group_key, priority)
			SELECT m.model_id, cudal1_generate.prompt_id, coalesce(cudal1_generate.method, m.name), cudal1_generate.group_key,
					cudal1_generate.priority
				FROM generate_series(1, cudal1_generate.n)
			RETURNING r.request_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_generate(bigint, text, int, text, text, int) IS
'asks a model for n (1 to 10000) answers to a prompt and returns the requests; each answer becomes a candidate. method: NULL is the model''s name; further arguments as in cudal1_submit(). Errors: 42704 unknown prompt or model, 22023 n out of range';

CREATE FUNCTION @extschema@.cudal1_cancel_requests(request_ids bigint[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	r		cudal1.request;
	n		bigint := 0;
BEGIN
	IF request_ids IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'request_ids must not be null';
	END IF;
	FOR r IN
		SELECT x.* FROM cudal1.request AS x
			WHERE x.request_id = ANY (request_ids) AND x.state IN ('queued', 'running')
			ORDER BY x.request_id FOR UPDATE
	LOOP
		IF r.state = 'queued' THEN
			PERFORM cudal1.end_request(r, 'cancelled', 'cancelled before it was sent');
		ELSE
			UPDATE cudal1.request AS x SET cancel_requested = true WHERE x.request_id = r.request_id;
		END IF;
		n := n + 1;
	END LOOP;
	IF n > 0 THEN
		PERFORM cudal1.wake();
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_cancel_requests(bigint[]) IS
'cancels requests that are waiting or in flight and returns their number; an answer that arrives first is kept';

CREATE FUNCTION cudal1.end_request(r cudal1.request, state text, error text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	UPDATE cudal1.request AS x
		SET state = end_request.state, error = cudal1.clip(end_request.error), decided = true, worker = NULL, lease_until = NULL,
			finished_at = clock_timestamp()
		WHERE x.request_id = r.request_id;
	-- what brought no answer is no trial of its campaign
	IF r.lane_id IS NOT NULL THEN
		UPDATE cudal1.campaign_lane AS l
			SET trials = greatest(l.trials - 1, 0), failures = l.failures + (end_request.state = 'failed')::int
			WHERE l.lane_id = r.lane_id;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.end_request(cudal1.request, text, text) IS 'ends a request that brought no answer';

CREATE FUNCTION cudal1.retry_request(r cudal1.request, failures int, pause float8, error text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF r.cancel_requested THEN
		PERFORM cudal1.end_request(r, 'cancelled', 'cancelled while it was in flight');
		RETURN;
	END IF;
	UPDATE cudal1.request AS x
		SET state = 'queued', failures = retry_request.failures, worker = NULL, lease_until = NULL,
			not_before = clock_timestamp() + make_interval(secs => retry_request.pause),
			error = coalesce(cudal1.clip(retry_request.error), x.error)
		WHERE x.request_id = r.request_id;
END
$$;
COMMENT ON FUNCTION cudal1.retry_request(cudal1.request, int, float8, text) IS 'queues a request again, not to be sent before pause seconds have passed';

CREATE FUNCTION cudal1.claim_requests(worker text, room int, lease interval DEFAULT '60 seconds')
RETURNS TABLE (request_id bigint, attempt int, job jsonb)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	m		cudal1.model;
	n		int;
	got		int;
	gap		interval;
	start	timestamptz;
BEGIN
	IF claim_requests.worker IS NULL OR claim_requests.worker = '' THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'worker must be a name';
	END IF;
	IF claim_requests.lease IS NULL OR claim_requests.lease <= '0'::interval THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'lease must be a positive interval';
	END IF;
	-- the lock on the model keeps two claims from counting the same free places
	FOR m IN
		SELECT x.* FROM cudal1.model AS x
			WHERE x.enabled AND x.not_before <= clock_timestamp()
				AND EXISTS (SELECT FROM cudal1.request AS r WHERE r.model_id = x.model_id AND r.state = 'queued')
			ORDER BY x.model_id
			FOR NO KEY UPDATE
	LOOP
		n := least(room, m.concurrency - (SELECT count(*)::int FROM cudal1.request AS r WHERE r.model_id = m.model_id AND r.state = 'running'));
		IF m.requests_per_minute IS NOT NULL THEN
			gap := make_interval(secs => 60 / m.requests_per_minute);
			start := greatest(m.next_request, clock_timestamp() - gap);
			n := least(n, floor(extract(epoch FROM clock_timestamp() - start) * m.requests_per_minute / 60 + 0.001)::int);
			IF start > clock_timestamp() THEN
				n := 0;
			END IF;
		END IF;
		CONTINUE WHEN n <= 0;
		RETURN QUERY
			WITH due AS MATERIALIZED (
				SELECT r.request_id FROM cudal1.request AS r
					WHERE r.model_id = m.model_id AND r.state = 'queued' AND r.not_before <= clock_timestamp()
					ORDER BY r.priority DESC, r.request_id
					LIMIT n FOR UPDATE SKIP LOCKED),
			sent AS (
				UPDATE cudal1.request AS r
					SET state = 'running', attempt = r.attempt + 1, worker = claim_requests.worker,
						lease_until = clock_timestamp() + claim_requests.lease
					FROM due WHERE r.request_id = due.request_id
					RETURNING r.request_id, r.attempt, r.prompt_id, r.purpose, r.about)
			SELECT s.request_id, s.attempt, jsonb_build_object('type', 'job', 'request_id', s.request_id, 'attempt', s.attempt,
					'endpoint', m.endpoint, 'key', m.key_name,
					'connect_seconds', m.connect_seconds, 'stall_seconds', m.stall_seconds, 'total_seconds', m.total_seconds,
					'max_answer_bytes', m.max_answer_bytes, 'max_body_bytes', m.max_body_bytes,
					'body', m.parameters || jsonb_build_object('model', m.model, 'messages', jsonb_build_array(jsonb_build_object(
							'role', 'user', 'content', CASE s.purpose WHEN 'candidate' THEN p.prompt ELSE cudal1.technique_question(s.about) END)))
						|| CASE WHEN m.stream THEN '{"stream": true, "stream_options": {"include_usage": true}}' ELSE '{"stream": false}' END::jsonb)
				FROM sent AS s LEFT JOIN cudal1.prompt AS p ON p.prompt_id = s.prompt_id
				ORDER BY s.request_id;
		GET DIAGNOSTICS got = ROW_COUNT;
		room := room - got;
		IF m.requests_per_minute IS NOT NULL AND got > 0 THEN
			UPDATE cudal1.model AS x SET next_request = start + got * gap WHERE x.model_id = m.model_id;
		END IF;
		EXIT WHEN room <= 0;
	END LOOP;
END
$$;
COMMENT ON FUNCTION cudal1.claim_requests(text, int, interval) IS
'gives cudal1-generate up to room requests to send, as the limits of their models allow, each under a lease; job is a line of its input. attempt is the fencing number of the claim';

CREATE FUNCTION cudal1.next_request()
RETURNS float8
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
	SELECT min(greatest(0, extract(epoch FROM greatest(statement_timestamp(), m.not_before, f.first_due,
				CASE WHEN m.requests_per_minute IS NOT NULL AND isfinite(m.next_request)
					 THEN m.next_request + make_interval(secs => 60 / m.requests_per_minute) END) - clock_timestamp())))::float8
		FROM cudal1.model AS m
			CROSS JOIN LATERAL (SELECT min(r.not_before) AS first_due FROM cudal1.request AS r
								WHERE r.model_id = m.model_id AND r.state = 'queued') AS f
		WHERE m.enabled AND f.first_due IS NOT NULL;
$$;
COMMENT ON FUNCTION cudal1.next_request() IS
'seconds until a waiting request may be sent, 0 if now; concurrency apart. NULL: none waits';

CREATE FUNCTION cudal1.hold_requests(worker text, lease interval DEFAULT '60 seconds')
RETURNS TABLE (request_id bigint, attempt int)
LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
	UPDATE cudal1.request AS r SET lease_until = clock_timestamp() + hold_requests.lease
		WHERE r.state = 'running' AND r.worker = hold_requests.worker
			AND r.request_id IN (SELECT x.request_id FROM cudal1.request AS x
								 WHERE x.state = 'running' AND x.worker = hold_requests.worker FOR UPDATE SKIP LOCKED);
	SELECT r.request_id, r.attempt FROM cudal1.request AS r
		WHERE r.state = 'running' AND r.worker = hold_requests.worker AND r.cancel_requested;
$$;
COMMENT ON FUNCTION cudal1.hold_requests(text, interval) IS 'prolongs the leases of a worker''s requests in flight and returns those to be cancelled';

CREATE FUNCTION cudal1.release_requests(worker text, lost boolean DEFAULT false)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	r		cudal1.request;
	n		bigint := 0;
BEGIN
	FOR r IN
		SELECT x.* FROM cudal1.request AS x WHERE x.state = 'running' AND x.worker = release_requests.worker
			ORDER BY x.request_id FOR UPDATE
	LOOP
		PERFORM cudal1.lose_request(r, lost, 'cudal1-generate ended before the answer had come');
		n := n + 1;
	END LOOP;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.release_requests(text, boolean) IS
'gives a worker''s claims back and returns their number; lost: the program died of them, so it counts as a failure of each';

CREATE FUNCTION cudal1.lose_request(r cudal1.request, counts boolean, error text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	most	int := (SELECT m.max_tries FROM cudal1.model AS m WHERE m.model_id = r.model_id);
BEGIN
	IF counts AND r.failures + 1 >= most THEN
		PERFORM cudal1.end_request(r, 'failed', error);
	ELSE
		PERFORM cudal1.retry_request(r, r.failures + counts::int, 0, CASE WHEN counts THEN error END);
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.lose_request(cudal1.request, boolean, text) IS 'queues a request again whose sender is gone, or ends it after the model''s max_tries';

CREATE FUNCTION cudal1.expire_requests(server text DEFAULT NULL, worker text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	r		cudal1.request;
	n		bigint := 0;
BEGIN
	FOR r IN
		SELECT x.* FROM cudal1.request AS x
			WHERE x.state = 'running'
				AND (x.lease_until < clock_timestamp()
					 OR starts_with(x.worker, expire_requests.server || ' ') AND x.worker <> expire_requests.worker)
			ORDER BY x.request_id FOR UPDATE SKIP LOCKED
	LOOP
		-- who was sent many times without ever failing may be what kills the workers
		PERFORM cudal1.lose_request(r, r.attempt - r.failures >= 10, 'its worker was lost while it was in flight');
		n := n + 1;
	END LOOP;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.expire_requests(text, text) IS
'queues requests again whose lease ended or, where server and worker are given, that former workers of the server had in flight; returns their number. An answer of such a claim that was kept still counts until the request is claimed again';

CREATE FUNCTION cudal1.finish_request(answer jsonb)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	r			cudal1.request;
	m			cudal1.model;
	outcome		text := finish_request.answer ->> 'outcome';
	detail		text := coalesce(finish_request.answer ->> 'detail', outcome);
	tokens_in	bigint := coalesce(cudal1.json_int(finish_request.answer -> 'prompt_tokens', 0, 1000000000), 0);
	tokens_out	bigint := coalesce(cudal1.json_int(finish_request.answer -> 'completion_tokens', 0, 1000000000), 0);
	price		float8;
	pause		float8;
BEGIN
	SELECT x.* INTO r FROM cudal1.request AS x
		WHERE x.request_id = cudal1.json_int(finish_request.answer -> 'request_id', 1, 9223372036854775807) FOR UPDATE;
	IF NOT FOUND OR r.attempt IS DISTINCT FROM cudal1.json_int(finish_request.answer -> 'attempt', 1) OR r.state NOT IN ('running', 'queued') THEN
		RETURN 'lost';
	END IF;
	SELECT x.* INTO STRICT m FROM cudal1.model AS x WHERE x.model_id = r.model_id;
	price := (tokens_in * coalesce(m.prompt_price, 0) + tokens_out * coalesce(m.completion_price, 0)) / 1e6;
	UPDATE cudal1.request AS x
		SET prompt_tokens = x.prompt_tokens + tokens_in, completion_tokens = x.completion_tokens + tokens_out, cost = x.cost + price,
			status = coalesce(cudal1.json_int(finish_request.answer -> 'status', 100, 999)::int, x.status),
			seconds = coalesce(cudal1.json_float(finish_request.answer -> 'seconds', 0, 1e6), x.seconds)
		WHERE x.request_id = r.request_id;
	IF r.lane_id IS NOT NULL THEN
		UPDATE cudal1.campaign_lane AS l
			SET tokens = l.tokens + tokens_in + tokens_out, cost = l.cost + price,
				failures = CASE outcome WHEN 'answered' THEN 0 ELSE l.failures END
			WHERE l.lane_id = r.lane_id;
	END IF;

	IF outcome = 'answered' AND jsonb_typeof(finish_request.answer -> 'text') = 'string' THEN
		UPDATE cudal1.request AS x
			SET state = 'answered', answer = finish_request.answer ->> 'text', finish_reason = left(finish_request.answer ->> 'finish_reason', 100),
				error = NULL, worker = NULL, lease_until = NULL, finished_at = clock_timestamp()
			WHERE x.request_id = r.request_id;
		RETURN 'stored';
	END IF;
	IF outcome = 'cancelled' AND r.cancel_requested THEN
		PERFORM cudal1.end_request(r, 'cancelled', 'cancelled while it was in flight');
	ELSIF outcome = 'throttled' AND r.attempt < 1000 THEN
		-- the endpoint means all of us
		pause := coalesce(cudal1.json_float(finish_request.answer -> 'retry_after', 0, 86400), m.backoff_seconds * (0.5 + random()));
		UPDATE cudal1.model AS x
			SET not_before = greatest(x.not_before, clock_timestamp() + make_interval(secs => least(pause, 3600)))
			WHERE x.model_id = m.model_id;
		PERFORM cudal1.retry_request(r, r.failures, 0, detail);
	ELSIF coalesce(outcome, '') NOT IN ('refused', 'oversized') AND r.failures + 1 < m.max_tries AND r.attempt < 1000 THEN
		pause := greatest(least(coalesce(cudal1.json_float(finish_request.answer -> 'retry_after', 0, 86400), 0), 3600),
						  m.backoff_seconds * least(60, power(2, r.failures)) * (0.5 + random()));
		PERFORM cudal1.retry_request(r, r.failures + 1, pause, detail);
	ELSE
		PERFORM cudal1.end_request(r, 'failed', coalesce(detail, 'cudal1-generate gave no outcome'));
		UPDATE cudal1.request AS x SET answer = nullif(finish_request.answer ->> 'text', ''), failures = x.failures + 1
			WHERE x.request_id = r.request_id;
	END IF;
	RETURN 'stored';
END
$$;
COMMENT ON FUNCTION cudal1.finish_request(jsonb) IS
'stores what cudal1-generate reports of one try: an answer, or what went wrong, which is tried again after a pause, or ends the request; stored, or lost where the claim was fenced off (nothing is written)';

CREATE FUNCTION cudal1.finish_requests(answers text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	line	text;
	a		jsonb;
	acks	text := '';
BEGIN
	FOR line IN SELECT l FROM unnest(string_to_array(answers, E'\n')) AS l WHERE l <> '' LOOP
		BEGIN
			a := line::jsonb;
		EXCEPTION WHEN OTHERS THEN
			-- characters that this database cannot hold: the answer is broken, but whose it is stands before them
			BEGIN
				a := jsonb_build_object('request_id', substring(line FROM '"request_id": ?(\d+)')::bigint,
					'attempt', substring(line FROM '"attempt": ?(\d+)')::int,
					'outcome', 'refused', 'detail', 'the answer cannot be stored: ' || SQLERRM);
			EXCEPTION WHEN OTHERS THEN
				RAISE LOG 'cudal1: an unreadable answer was left out: %', SQLERRM;
				CONTINUE;
			END;
		END;
		CONTINUE WHEN jsonb_typeof(a -> 'request_id') IS DISTINCT FROM 'number' OR jsonb_typeof(a -> 'attempt') IS DISTINCT FROM 'number';
		PERFORM cudal1.finish_request(a);
		acks := acks || jsonb_build_object('type', 'stored', 'request_id', a -> 'request_id', 'attempt', a -> 'attempt')::text || E'\n';
	END LOOP;
	RETURN acks;
END
$$;
COMMENT ON FUNCTION cudal1.finish_requests(text) IS
'cudal1.finish_request() for lines of cudal1-generate; returns the lines that tell it to forget what is stored';

CREATE FUNCTION cudal1.take_answers(most int DEFAULT 100)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	r		cudal1.request;
	id		bigint;
	problem	text;
	n		bigint := 0;
BEGIN
	FOR r IN
		SELECT x.* FROM cudal1.request AS x WHERE x.state = 'answered' AND x.taken_at IS NULL
			ORDER BY x.request_id LIMIT most FOR UPDATE SKIP LOCKED
	LOOP
		id := NULL;
		problem := NULL;
		BEGIN
			IF r.purpose = 'candidate' THEN
				id := @extschema@.cudal1_submit_response(r.prompt_id, r.answer, r.method, r.group_key, 'request ' || r.request_id, r.priority);
			ELSE
				PERFORM cudal1.take_techniques(r.about, r.answer, (SELECT m.name FROM cudal1.model AS m WHERE m.model_id = r.model_id));
			END IF;
		EXCEPTION WHEN OTHERS THEN
			-- what another moment may cure is tried again; the answer stays
			IF left(SQLSTATE, 2) IN ('40', '53', '55', '57', '58') THEN
				RAISE;
			END IF;
			problem := SQLERRM;
		END;
		UPDATE cudal1.request AS x
			SET taken_at = clock_timestamp(), candidate_id = id, error = cudal1.clip(problem), decided = id IS NULL
			WHERE x.request_id = r.request_id;
		n := n + 1;
	END LOOP;
	RETURN n;
END
$$;
COMMENT ON FUNCTION cudal1.take_answers(int) IS
'turns stored answers into what they were asked for, candidates or techniques, and returns their number; an answer that cannot be taken stays, with the reason in error';

CREATE VIEW cudal1.model_use AS
	SELECT m.name, m.enabled, count(r.request_id) FILTER (WHERE r.state = 'queued') AS waiting,
			count(r.request_id) FILTER (WHERE r.state = 'running') AS in_flight,
			count(r.request_id) FILTER (WHERE r.state = 'answered') AS answered,
			count(r.request_id) FILTER (WHERE r.state = 'failed') AS failed,
			COALESCE(sum(r.prompt_tokens), 0)::bigint AS prompt_tokens, COALESCE(sum(r.completion_tokens), 0)::bigint AS completion_tokens,
			COALESCE(sum(r.cost), 0) AS cost,
			percentile_cont(0.5) WITHIN GROUP (ORDER BY r.seconds) FILTER (WHERE r.state = 'answered') AS median_seconds,
			CASE WHEN m.not_before > clock_timestamp() THEN m.not_before END AS held_until,
			(SELECT x.error FROM cudal1.request AS x WHERE x.model_id = m.model_id AND x.error IS NOT NULL
				ORDER BY x.request_id DESC LIMIT 1) AS last_error
		FROM cudal1.model AS m LEFT JOIN cudal1.request AS r USING (model_id)
		GROUP BY m.model_id;
COMMENT ON VIEW cudal1.model_use IS 'each model''s requests, tokens and cost so far';
/*
 * Campaigns: the stages and baselines of CUDA-L1 as rows that the worker carries out.
 *
 * cudal1.advance_campaigns() looks at each open lane (a task and a model) and makes the requests that are due. It keeps no
 * state but what follows from the rows, so it can be called by anybody at any time and after any crash. A request is under way
 * in its lane until it is decided: failed, or its candidate has a verdict. Limits count what is under way, so that a stage that
 * ends at two successful codes does not pay for many more.
 */

CREATE FUNCTION cudal1.campaign_options(kind text)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT '{"method": null, "ahead": 4, "priority": 0}'::jsonb || CASE kind
		WHEN 'vanilla' THEN '{"attempts": 5}'::jsonb
		WHEN 'augment' THEN '{"trials": 20, "successes": 2}'::jsonb
		WHEN 'self_supervised' THEN '{"batch": 8, "rounds": 1, "pause": true}'::jsonb
		WHEN 'evolve' THEN '{"exemplars": 2, "strategy": "bucket", "temperature": null, "max_tokens": null, "max_candidates": null, "max_seconds": null, "max_cost": null}'::jsonb
		WHEN 'contrastive' THEN '{"exemplars": 2, "strategy": "bucket", "temperature": null, "group_size": 8, "groups": null}'::jsonb
		END;
END;
COMMENT ON FUNCTION cudal1.campaign_options(text) IS
'options of a kind of campaign and their defaults: attempts 5 (CUDA-L1, 3.3), trials 20 and successes 2 (2.2); ahead: requests under way for each task and model';

CREATE FUNCTION @extschema@.cudal1_add_campaign(name text, kind text, models text[] DEFAULT NULL, tasks text[] DEFAULT NULL,
	options jsonb DEFAULT '{}')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	o		jsonb := cudal1.campaign_options(cudal1_add_campaign.kind);
	id		bigint;
	number	text;
	wrong	text;
BEGIN
	IF cudal1_add_campaign.name IS NULL OR cudal1_add_campaign.name !~ '^[^[:cntrl:]]{1,100}$' THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'name must be a name of 1 to 100 characters';
	END IF;
	IF cudal1_add_campaign.kind IS NULL OR cudal1_add_campaign.kind NOT IN ('vanilla', 'augment', 'self_supervised', 'evolve', 'contrastive') THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('unknown kind of campaign "%s"', cudal1_add_campaign.kind),
			HINT = 'Kinds are vanilla, augment, self_supervised, evolve and contrastive.';
	END IF;
	o := cudal1.check_options(cudal1_add_campaign.options, o);
	FOREACH number IN ARRAY ARRAY['ahead', 'attempts', 'trials', 'successes', 'batch', 'rounds', 'exemplars', 'group_size', 'groups', 'max_tokens',
			'max_candidates'] LOOP
		IF coalesce(o -> number, 'null') <> 'null'
			AND cudal1.json_int(o -> number, 1, CASE number WHEN 'exemplars' THEN 4 WHEN 'max_tokens' THEN 1000000000000000 ELSE 1000000 END) IS NULL THEN
			RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('option "%s" must be an integer of at least 1', number),
				HINT = CASE number WHEN 'exemplars' THEN 'At most 4 exemplars fit into a prompt.' ELSE 'See cudal1.campaign_options().' END;
		END IF;
	END LOOP;
	FOREACH number IN ARRAY ARRAY['max_seconds', 'max_cost', 'temperature'] LOOP
		IF coalesce(o -> number, 'null') <> 'null' AND coalesce(cudal1.json_float(o -> number, 0, 1e15), 0) = 0 THEN
			RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('option "%s" must be a number above 0', number);
		END IF;
	END LOOP;
	IF o ? 'strategy' AND coalesce(o ->> 'strategy', '') NOT IN ('bucket', 'island', 'random') THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('unknown strategy "%s"', o ->> 'strategy'),
			HINT = 'Strategies are bucket, island and random.';
	END IF;
	IF cudal1.json_int(o -> 'priority', -1000000000, 1000000000) IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'option "priority" must be an integer between -1000000000 and 1000000000';
	END IF;
	IF o ->> 'method' IS NOT NULL AND (jsonb_typeof(o -> 'method') <> 'string' OR o ->> 'method' !~ '^[^[:cntrl:]]{1,90}$') THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'option "method" must be a name of 1 to 90 characters';
	END IF;
	IF cudal1_add_campaign.kind = 'evolve' AND num_nonnulls(o ->> 'max_tokens', o ->> 'max_candidates', o ->> 'max_seconds', o ->> 'max_cost') = 0 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'a campaign of kind evolve needs a budget',
			HINT = 'Give at least one of the options max_tokens, max_candidates, max_seconds and max_cost.';
	END IF;
	IF coalesce(cardinality(models), 0) = 0 THEN
		IF cudal1_add_campaign.kind <> 'contrastive' THEN
			RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('a campaign of kind %s needs models', cudal1_add_campaign.kind),
				HINT = 'cudal1.model lists them.';
		END IF;
	ELSIF cudal1_add_campaign.kind = 'contrastive' AND o ->> 'groups' IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'a contrastive campaign that asks models itself needs the option groups',
			HINT = 'groups is the number of groups for each task and model; without models a trainer takes groups by cudal1_next_group().';
	END IF;
	PERFORM cudal1.find_model(m.name) FROM unnest(models) AS m(name);
	PERFORM cudal1.find_task(t.name) FROM unnest(tasks) AS t(name);

	INSERT INTO cudal1.campaign (name, kind, options)
		VALUES (cudal1_add_campaign.name, cudal1_add_campaign.kind, o)
		RETURNING campaign_id INTO id;
	INSERT INTO cudal1.campaign_lane (campaign_id, task_id, model_id, method)
		SELECT id, t.task_id, m.model_id,
				CASE WHEN m.model_id IS NULL THEN coalesce(o ->> 'method', cudal1_add_campaign.kind)
					 WHEN o ->> 'method' IS NOT NULL AND cardinality(models) = 1 THEN o ->> 'method'
					 ELSE coalesce(o ->> 'method', cudal1_add_campaign.kind) || ': ' || m.name END
			FROM cudal1.task AS t
				LEFT JOIN cudal1.model AS m ON m.name = ANY (models)
			WHERE t.name = ANY (tasks) OR tasks IS NULL
			ORDER BY t.task_id, m.model_id;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'there are no tasks for the campaign', HINT = 'Add tasks with cudal1_add_task().';
	END IF;
	PERFORM cudal1.wake();
	RETURN id;
EXCEPTION WHEN unique_violation THEN
	RAISE EXCEPTION USING ERRCODE = '23505', MESSAGE = format('campaign "%s" exists', cudal1_add_campaign.name);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_add_campaign(text, text, text[], text[], jsonb) IS
'adds a campaign over tasks (NULL: all there are) and models, which the worker carries out at once. Kinds: vanilla (options attempts 5), augment (trials 20, successes 2: done at so many successful codes), self_supervised (batch 8, rounds 1, pause true: waits after each round
for the model to be trained), evolve (exemplars 2, strategy bucket, temperature, and a budget: max_tokens, max_candidates, max_seconds, max_cost), contrastive (exemplars 2, strategy, group_size 8; without models a trainer takes the groups, with models groups for each lane). All: ahead 4 (requests under way for each
task and model), method (NULL: the kind), priority. Candidates are proposed by the method "<method>: <model>". Errors: 42704 unknown task or model, 22023 options, 23505 the name is taken';

CREATE FUNCTION cudal1.find_campaign(name text)
RETURNS cudal1.campaign
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	c		cudal1.campaign;
BEGIN
	SELECT x.* INTO c FROM cudal1.campaign AS x WHERE x.name = find_campaign.name FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('campaign "%s" does not exist', coalesce(find_campaign.name, 'NULL')),
			HINT = 'cudal1.campaign_progress lists the campaigns.';
	END IF;
	RETURN c;
END
$$;
COMMENT ON FUNCTION cudal1.find_campaign(text) IS 'the campaign of this name, locked; error 42704 where there is none';

CREATE FUNCTION cudal1.set_campaign(c cudal1.campaign, state text, note text)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
	UPDATE cudal1.campaign AS x
		SET state = set_campaign.state, note = set_campaign.note,
			active_seconds = x.active_seconds
				+ CASE WHEN x.state = 'running' THEN extract(epoch FROM clock_timestamp() - x.resumed_at)::float8 ELSE 0 END,
			resumed_at = clock_timestamp(),
			finished_at = CASE WHEN set_campaign.state = 'finished' THEN clock_timestamp() END
		WHERE x.campaign_id = c.campaign_id;
$$;
COMMENT ON FUNCTION cudal1.set_campaign(cudal1.campaign, text, text) IS 'changes the state of a campaign, keeping account of its running time';

CREATE FUNCTION @extschema@.cudal1_pause_campaign(campaign text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	c		cudal1.campaign := cudal1.find_campaign(campaign);
BEGIN
	IF c.state = 'finished' THEN
		RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = format('campaign "%s" is finished', c.name);
	END IF;
	PERFORM cudal1.set_campaign(c, 'paused', 'paused by ' || SESSION_USER);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_pause_campaign(text) IS
'makes no further requests; those that wait or are in flight are completed. Errors: 42704 unknown, 55000 finished';

CREATE FUNCTION @extschema@.cudal1_resume_campaign(campaign text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	c		cudal1.campaign := cudal1.find_campaign(campaign);
BEGIN
	IF c.state = 'finished' THEN
		RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = format('campaign "%s" is finished', c.name);
	END IF;
	IF c.state = 'running' THEN
		RETURN;
	END IF;
	UPDATE cudal1.campaign_lane AS l SET failures = 0 WHERE l.campaign_id = c.campaign_id AND l.failures > 0;
	IF c.kind = 'self_supervised' AND NOT EXISTS (SELECT FROM cudal1.campaign_lane AS l WHERE l.campaign_id = c.campaign_id AND l.state = 'open') THEN
		UPDATE cudal1.campaign AS x SET round = x.round + 1 WHERE x.campaign_id = c.campaign_id;
		UPDATE cudal1.campaign_lane AS l SET state = 'open' WHERE l.campaign_id = c.campaign_id;
	END IF;
	PERFORM cudal1.set_campaign(c, 'running', NULL);
	PERFORM cudal1.wake();
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_resume_campaign(text) IS
'goes on with a paused campaign; one of kind self_supervised that completed a round begins the next. Errors: 42704 unknown, 55000 finished';

CREATE FUNCTION @extschema@.cudal1_end_campaign(campaign text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	c		cudal1.campaign := cudal1.find_campaign(campaign);
BEGIN
	IF c.state = 'finished' THEN
		RETURN;
	END IF;
	PERFORM @extschema@.cudal1_cancel_requests(ARRAY(SELECT r.request_id
		FROM cudal1.request AS r JOIN cudal1.campaign_lane AS l USING (lane_id)
		WHERE l.campaign_id = c.campaign_id AND NOT r.decided AND r.state IN ('queued', 'running')));
	UPDATE cudal1.campaign_lane AS l SET state = 'done', note = coalesce(l.note, 'ended') WHERE l.campaign_id = c.campaign_id AND l.state = 'open';
	PERFORM cudal1.set_campaign(c, 'finished', 'ended by ' || SESSION_USER);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_end_campaign(text) IS
'ends a campaign for good: what waits or is in flight is cancelled, what was answered stays. Error 42704 unknown';

CREATE FUNCTION cudal1.lane_prompt(l cudal1.campaign_lane, kind text, o jsonb)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	id		bigint := CASE WHEN kind IN ('vanilla', 'augment', 'self_supervised') THEN l.prompt_id END;
	task	text;
BEGIN
	IF id IS NOT NULL THEN
		RETURN id;
	END IF;
	SELECT t.name INTO STRICT task FROM cudal1.task AS t WHERE t.task_id = l.task_id;
	IF kind IN ('vanilla', 'augment', 'self_supervised') THEN
		SELECT p.prompt_id INTO STRICT id FROM @extschema@.cudal1_prompt(task, kind => 'augment') AS p;
		UPDATE cudal1.campaign_lane AS x SET prompt_id = id WHERE x.lane_id = l.lane_id;
	ELSE
		SELECT p.prompt_id INTO STRICT id
			FROM @extschema@.cudal1_prompt(task, (o ->> 'exemplars')::int, o ->> 'strategy', 'contrastive', (o ->> 'temperature')::float8) AS p;
	END IF;
	RETURN id;
END
$$;
COMMENT ON FUNCTION cudal1.lane_prompt(cudal1.campaign_lane, text, jsonb) IS
'the prompt of a lane''s next request: the same augmenting one each time, or a fresh draw of exemplars for evolve and contrastive';

CREATE FUNCTION cudal1.make_group(c cudal1.campaign, l cudal1.campaign_lane)
RETURNS cudal1.campaign_group
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	g		cudal1.campaign_group;
BEGIN
	INSERT INTO cudal1.campaign_group AS x (lane_id, prompt_id, group_key, size)
		VALUES (l.lane_id, cudal1.lane_prompt(l, c.kind, c.options), format('%s/%s/%s', c.name, l.lane_id, l.groups + 1), (c.options ->> 'group_size')::int)
		RETURNING x.* INTO g;
	UPDATE cudal1.campaign_lane AS x SET groups = x.groups + 1 WHERE x.lane_id = l.lane_id;
	RETURN g;
END
$$;
COMMENT ON FUNCTION cudal1.make_group(cudal1.campaign, cudal1.campaign_lane) IS 'draws a prompt and opens a group for it';

CREATE FUNCTION cudal1.advance_lane(c cudal1.campaign, l cudal1.campaign_lane, most int)
RETURNS int
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	o			constant jsonb := c.options;
	ahead		constant int := (o ->> 'ahead')::int;
	busy		int;
	successes	int;
	want		int := 0;
	over		text;
	g			cudal1.campaign_group;
	spent		record;
	id			bigint;
BEGIN
	UPDATE cudal1.request AS r SET decided = true
		FROM cudal1.candidate AS x
		WHERE r.lane_id = l.lane_id AND NOT r.decided AND r.candidate_id = x.candidate_id
			AND x.state IN ('successful', 'failed', 'discarded');
	SELECT count(*) INTO busy FROM cudal1.request AS r WHERE r.lane_id = l.lane_id AND NOT r.decided;
	-- counts as they are now: an answer or a failure may have been noted since the lane was read
	SELECT x.* INTO STRICT l FROM cudal1.campaign_lane AS x WHERE x.lane_id = l.lane_id FOR NO KEY UPDATE;

	CASE c.kind
	WHEN 'vanilla' THEN
		want := least((o ->> 'attempts')::int - l.trials, ahead - busy);
		IF l.trials >= (o ->> 'attempts')::int AND busy = 0 THEN
			over := 'all attempts made';
		END IF;
	WHEN 'augment' THEN
		SELECT count(DISTINCT r.candidate_id) INTO successes
			FROM cudal1.request AS r JOIN cudal1.candidate AS x USING (candidate_id)
			WHERE r.lane_id = l.lane_id AND x.state = 'successful';
		want := least((o ->> 'trials')::int - l.trials, (o ->> 'successes')::int - successes - busy, ahead - busy);
		IF successes >= (o ->> 'successes')::int THEN
			over := format('%s successful codes', successes);
		ELSIF l.trials >= (o ->> 'trials')::int AND busy = 0 THEN
			over := 'all trials made';
		END IF;
	WHEN 'self_supervised' THEN
		want := least(c.round * (o ->> 'batch')::int - l.trials, ahead - busy);
		IF l.trials >= c.round * (o ->> 'batch')::int AND busy = 0 THEN
			over := format('round %s complete', c.round);
		END IF;
	WHEN 'evolve' THEN
		SELECT sum(x.tokens) AS tokens, sum(x.trials) AS candidates, sum(x.cost) AS cost,
				c.active_seconds + extract(epoch FROM clock_timestamp() - c.resumed_at) AS seconds
			INTO spent FROM cudal1.campaign_lane AS x WHERE x.campaign_id = c.campaign_id;
		over := CASE WHEN spent.tokens >= (o ->> 'max_tokens')::bigint THEN 'tokens spent'
					 WHEN spent.candidates >= (o ->> 'max_candidates')::bigint THEN 'candidates made'
					 WHEN spent.cost >= (o ->> 'max_cost')::float8 THEN 'cost reached'
					 WHEN spent.seconds >= (o ->> 'max_seconds')::float8 THEN 'time over' END;
		IF over IS NULL THEN
			want := least(ahead - busy, coalesce((o ->> 'max_candidates')::bigint - spent.candidates, ahead));
		ELSIF busy > 0 THEN
			over := NULL;
		END IF;
	ELSE
		-- contrastive with models: whole groups
		IF l.model_id IS NULL THEN
			RETURN 0;
		ELSIF l.groups < (o ->> 'groups')::int AND busy < ahead THEN
			g := cudal1.make_group(c, l);
			want := g.size;
			most := greatest(most, want);
		ELSIF l.groups >= (o ->> 'groups')::int AND busy = 0 THEN
			over := 'all groups answered';
		END IF;
	END CASE;

	IF over IS NOT NULL THEN
		-- of augment, what is still under way is not needed any more
		PERFORM @extschema@.cudal1_cancel_requests(ARRAY(SELECT r.request_id FROM cudal1.request AS r
			WHERE r.lane_id = l.lane_id AND NOT r.decided AND r.state IN ('queued', 'running')));
		UPDATE cudal1.campaign_lane AS x SET state = 'done', note = over WHERE x.lane_id = l.lane_id;
		RETURN 1;
	END IF;
	want := least(want, most);
	IF want <= 0 THEN
		RETURN 0;
	END IF;
	FOR i IN 1 .. want LOOP
		IF id IS NULL OR c.kind = 'evolve' THEN
			id := coalesce(g.prompt_id, cudal1.lane_prompt(l, c.kind, o));
		END IF;
		INSERT INTO cudal1.request (model_id, prompt_id, lane_id, method, group_key, priority, created_by)
			VALUES (l.model_id, id, l.lane_id, l.method, g.group_key, (o ->> 'priority')::int, c.created_by);
	END LOOP;
	UPDATE cudal1.campaign_lane AS x SET trials = x.trials + want WHERE x.lane_id = l.lane_id;
	RETURN want;
END
$$;
COMMENT ON FUNCTION cudal1.advance_lane(cudal1.campaign, cudal1.campaign_lane, int) IS
'notes verdicts, makes the requests that are due, or ends the lane; returns the number of changes';

CREATE FUNCTION cudal1.advance_campaigns(most int DEFAULT 100)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	c		cudal1.campaign;
	l		cudal1.campaign_lane;
	n		int;
	done	bigint := 0;
	problem	text;
BEGIN
	FOR c IN
		SELECT x.* FROM cudal1.campaign AS x
			WHERE x.state = 'running' AND (x.kind <> 'contrastive' OR x.options ->> 'groups' IS NOT NULL)
			ORDER BY x.campaign_id FOR NO KEY UPDATE SKIP LOCKED
	LOOP
		-- an endpoint that fails again and again is not asked for ever
		SELECT r.error INTO problem
			FROM cudal1.campaign_lane AS x JOIN cudal1.request AS r USING (lane_id)
			WHERE x.campaign_id = c.campaign_id AND x.state = 'open' AND x.failures >= 3 AND r.state = 'failed'
			ORDER BY r.request_id DESC LIMIT 1;
		IF FOUND THEN
			PERFORM cudal1.set_campaign(c, 'paused', 'requests fail: ' || coalesce(problem, 'no reason given'));
			done := done + 1;
			CONTINUE;
		END IF;
		-- the least served first
		FOR l IN
			SELECT x.* FROM cudal1.campaign_lane AS x WHERE x.campaign_id = c.campaign_id AND x.state = 'open'
				ORDER BY x.trials, x.lane_id
		LOOP
			n := cudal1.advance_lane(c, l, most - done::int);
			done := done + n;
			EXIT WHEN done >= most;
		END LOOP;
		IF NOT EXISTS (SELECT FROM cudal1.campaign_lane AS x WHERE x.campaign_id = c.campaign_id AND x.state = 'open') THEN
			IF c.kind = 'self_supervised' AND c.round < (c.options ->> 'rounds')::int THEN
				IF (c.options ->> 'pause')::boolean THEN
					PERFORM cudal1.set_campaign(c, 'paused', format('round %s of %s is complete: train the model, then resume', c.round, c.options ->> 'rounds'));
				ELSE
					UPDATE cudal1.campaign AS x SET round = x.round + 1 WHERE x.campaign_id = c.campaign_id;
					UPDATE cudal1.campaign_lane AS x SET state = 'open' WHERE x.campaign_id = c.campaign_id;
				END IF;
			ELSE
				PERFORM cudal1.set_campaign(c, 'finished', 'all tasks done');
			END IF;
			done := done + 1;
		END IF;
		EXIT WHEN done >= most;
	END LOOP;
	RETURN done;
END
$$;
COMMENT ON FUNCTION cudal1.advance_campaigns(int) IS
'takes the running campaigns a step further, about most requests at a time, and returns the number of changes; what the worker calls. A campaign of which three requests in a row failed is paused, with the reason';

CREATE FUNCTION @extschema@.cudal1_next_group(campaign text)
RETURNS TABLE (group_key text, prompt_id bigint, task text, prompt text, size int)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	c		cudal1.campaign;
	l		cudal1.campaign_lane;
	g		cudal1.campaign_group;
BEGIN
	SELECT x.* INTO c FROM cudal1.campaign AS x WHERE x.name = cudal1_next_group.campaign;
	IF NOT FOUND THEN
		c := cudal1.find_campaign(cudal1_next_group.campaign);
	END IF;
	IF c.kind <> 'contrastive' OR EXISTS (SELECT FROM cudal1.campaign_lane AS x WHERE x.campaign_id = c.campaign_id AND x.model_id IS NOT NULL) THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('campaign "%s" hands out no groups', c.name),
			HINT = 'A campaign of kind contrastive without models does.';
	END IF;
	IF c.state <> 'running' THEN
		RETURN;
	END IF;
	SELECT x.* INTO l FROM cudal1.campaign_lane AS x
		WHERE x.campaign_id = c.campaign_id AND x.state = 'open'
			AND (c.options ->> 'groups' IS NULL OR x.groups < (c.options ->> 'groups')::int)
		ORDER BY x.groups, x.lane_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	g := cudal1.make_group(c, l);
	RETURN QUERY SELECT g.group_key, g.prompt_id, t.name, p.prompt, g.size
		FROM cudal1.prompt AS p JOIN cudal1.task AS t USING (task_id) WHERE p.prompt_id = g.prompt_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_next_group(text) IS
'the next prompt of a contrastive campaign, for a group of size answers; the task with the fewest groups comes first. No row while the campaign is paused, when it has made all its groups, or while other trainers take the last. Errors: 42704 unknown campaign, 22023 one of another kind';

CREATE FUNCTION @extschema@.cudal1_answer_group(group_key text, responses text[])
RETURNS TABLE (ordinal int, candidate_id bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	g		record;
BEGIN
	SELECT x.*, l.method, c.options INTO g
		FROM cudal1.campaign_group AS x JOIN cudal1.campaign_lane AS l USING (lane_id) JOIN cudal1.campaign AS c USING (campaign_id)
		WHERE x.group_key = cudal1_answer_group.group_key FOR NO KEY UPDATE OF x;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('group "%s" does not exist', coalesce(cudal1_answer_group.group_key, 'NULL')),
			HINT = 'Groups come from cudal1_next_group().';
	END IF;
	IF responses IS NULL OR array_position(responses, NULL) IS NOT NULL OR cardinality(responses) NOT BETWEEN 1 AND 10000 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'responses must be an array of 1 to 10000 texts';
	END IF;
	UPDATE cudal1.campaign_group AS x SET answered_at = coalesce(x.answered_at, clock_timestamp()) WHERE x.group_id = g.group_id;
	IF g.answered_at IS NULL THEN
		UPDATE cudal1.campaign_lane AS l SET trials = l.trials + cardinality(responses) WHERE l.lane_id = g.lane_id;
	END IF;
	RETURN QUERY
		SELECT u.ordinality::int, @extschema@.cudal1_submit_response(g.prompt_id, u.response, g.method, g.group_key, 'answer ' || u.ordinality,
				(g.options ->> 'priority')::int)
			FROM unnest(responses) WITH ORDINALITY AS u(response);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_answer_group(text, text[]) IS
'submits the answers to a group''s prompt, in order; sent again, the same group adds nothing and gives the same candidates. Wait for them with cudal1_wait(). Errors: 42704 unknown group, 22023 no texts';

CREATE FUNCTION @extschema@.cudal1_group_result(group_key text, variant text DEFAULT 'paper')
RETURNS TABLE (ordinal int, candidate_id bigint, state text, reward float8, advantage float8)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
	WITH member AS (
		SELECT row_number() OVER (ORDER BY p.proposal_id)::int AS ordinal, p.candidate_id, c.state, c.reward
			FROM cudal1.campaign_group AS g JOIN cudal1.campaign_lane AS l USING (lane_id)
				JOIN cudal1.proposal AS p ON p.task_id = l.task_id AND coalesce(p.group_key, '') = g.group_key
				JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id
			WHERE g.group_key = cudal1_group_result.group_key),
	scored AS (
		SELECT @extschema@.cudal1_group_advantages(array_agg(m.reward ORDER BY m.ordinal), cudal1_group_result.variant) AS advantages FROM member AS m)
	SELECT m.ordinal, m.candidate_id, m.state, m.reward, s.advantages[m.ordinal] FROM member AS m, scored AS s ORDER BY m.ordinal;
$$;
COMMENT ON FUNCTION @extschema@.cudal1_group_result(text, text) IS
'rewards and advantages of a group, in the order of its answers; NULL for what has no verdict (yet), which does not count. variant as in cudal1_group_advantages()';

CREATE VIEW cudal1.campaign_progress AS
	SELECT c.name, c.kind, c.state, c.note, c.round, count(*) AS lanes, count(*) FILTER (WHERE l.state = 'done') AS done,
			sum(l.trials)::bigint AS trials, sum(u.waiting)::bigint AS waiting, sum(u.in_flight)::bigint AS in_flight,
			sum(u.measuring)::bigint AS measuring,
			sum(l.tokens)::bigint AS tokens, sum(l.cost) AS cost,
			c.active_seconds + CASE WHEN c.state = 'running' THEN extract(epoch FROM clock_timestamp() - c.resumed_at)::float8 ELSE 0 END AS seconds
		FROM cudal1.campaign AS c JOIN cudal1.campaign_lane AS l USING (campaign_id)
			CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE r.state = 'queued') AS waiting,
									count(*) FILTER (WHERE r.state = 'running') AS in_flight,
									count(*) FILTER (WHERE r.state = 'answered') AS measuring
								FROM cudal1.request AS r WHERE r.lane_id = l.lane_id AND NOT r.decided) AS u
		GROUP BY c.campaign_id;
COMMENT ON VIEW cudal1.campaign_progress IS 'each campaign: its lanes (a task and a model), how many are done, what is under way, and what it has cost';
/*
 * Data for trainers, as sets of jsonb that COPY turns into JSONL.
 */

CREATE FUNCTION cudal1.plain_prompt(task_id bigint)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT cudal1.compose_prompt(false, t.language,
			coalesce((SELECT bool_or(d.class = 'cuda') FROM cudal1.device AS d WHERE d.model = coalesce(t.device_model, t.device)),
					 CASE WHEN t.device IN ('cpu', 'cuda') THEN t.device = 'cuda' ELSE t.language = 'cuda' END),
			coalesce(t.device_model, CASE WHEN t.device = 'cpu' THEN 'a modern CPU' WHEN t.device = 'cuda' THEN 'a modern NVIDIA GPU' ELSE t.device END),
			t.name, t.reference, cudal1.entry_declaration(t.language, t.signature), cudal1.tolerance_words(t.rtol, t.atol), '{}', '{}')
		FROM cudal1.task AS t WHERE t.task_id = plain_prompt.task_id;
$$;
COMMENT ON FUNCTION cudal1.plain_prompt(bigint) IS 'the words of an augmenting prompt for a task, not recorded: what a code without a prompt of its own answers in a data set';

CREATE FUNCTION @extschema@.cudal1_sft_dataset(methods text[] DEFAULT NULL, tasks text[] DEFAULT NULL, campaign text DEFAULT NULL,
	above float8 DEFAULT 0, per_task int DEFAULT NULL)
RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF above IS NULL OR above = 'NaN' OR above < 0 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'above must not be negative';
	END IF;
	IF per_task < 1 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'per_task must be at least 1';
	END IF;
	IF campaign IS NOT NULL AND NOT EXISTS (SELECT FROM cudal1.campaign AS c WHERE c.name = cudal1_sft_dataset.campaign) THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('campaign "%s" does not exist', campaign);
	END IF;
	RETURN QUERY
		SELECT jsonb_build_object(
				'messages', jsonb_build_array(
					jsonb_build_object('role', 'user', 'content', coalesce(d.prompt, cudal1.plain_prompt(d.task_id))),
					jsonb_build_object('role', 'assistant', 'content',
						coalesce(d.response, format(E'## Code Implementation\n\n```%s\n%s\n```\n',
							CASE d.language WHEN 'pytorch' THEN 'python' ELSE d.language END, rtrim(d.code, E'\n'))))),
				'task', d.task, 'level', d.level, 'candidate_id', d.candidate_id, 'proposal_id', d.proposal_id, 'prompt_id', d.prompt_id,
				'request_id', d.request_id, 'method', d.method, 'reward', d.reward, 'device', d.device)
			FROM (SELECT x.*, row_number() OVER (PARTITION BY x.task_id ORDER BY x.reward DESC, x.candidate_id) AS place FROM (
				SELECT DISTINCT ON (c.candidate_id) c.candidate_id, c.code, c.reward, t.task_id, t.name AS task, t.language, t.level,
						coalesce(c.import_device, t.device_model, t.device) AS device,
						p.proposal_id, p.method, p.prompt_id, p.response, q.prompt, r.request_id
					FROM cudal1.candidate AS c JOIN cudal1.task AS t USING (task_id) JOIN cudal1.proposal AS p USING (candidate_id)
						LEFT JOIN cudal1.prompt AS q ON q.prompt_id = p.prompt_id
						LEFT JOIN cudal1.request AS r ON p.proposal_key = 'request ' || r.request_id AND r.candidate_id = c.candidate_id
						LEFT JOIN cudal1.campaign_lane AS l ON l.lane_id = r.lane_id
						LEFT JOIN cudal1.campaign_group AS g ON g.group_key = p.group_key
						LEFT JOIN cudal1.campaign_lane AS gl ON gl.lane_id = g.lane_id
						LEFT JOIN cudal1.campaign AS k ON k.campaign_id = coalesce(l.campaign_id, gl.campaign_id)
					WHERE c.state = 'successful' AND c.purpose = 'normal' AND c.reward > above
						AND (methods IS NULL OR p.method = ANY (methods))
						AND (cudal1_sft_dataset.tasks IS NULL OR t.name = ANY (cudal1_sft_dataset.tasks))
						AND (cudal1_sft_dataset.campaign IS NULL OR k.name = cudal1_sft_dataset.campaign)
					-- one row a code: the first that came as an answer, else the first
					ORDER BY c.candidate_id, p.response IS NULL, p.proposal_id) AS x) AS d
			WHERE per_task IS NULL OR d.place <= per_task
			ORDER BY d.task_id, d.reward DESC, d.candidate_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_sft_dataset(text[], text[], text, float8, int) IS
'chat messages of successful codes for supervised fine-tuning, one row for each code (identical ones are one candidate), best first within a task. Members: messages (user: the prompt, assistant: the whole answer, or the code alone where it did not come as an answer), task, level, reward, device, method, candidate_id, proposal_id, prompt_id, request_id.
methods, tasks, campaign: NULL is all; above: rewards above it; per_task: at most so many of the best of each task. COPY (SELECT cudal1_sft_dataset()) TO STDOUT is not yet JSONL, as COPY doubles backslashes: use psql -At or COPY ... (FORMAT csv, QUOTE e''\x01'', DELIMITER e''\x02'')';

CREATE FUNCTION @extschema@.cudal1_rl_dataset(methods text[] DEFAULT NULL, tasks text[] DEFAULT NULL, campaign text DEFAULT NULL,
	variant text DEFAULT 'paper', reward text DEFAULT 'speedup')
RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF cudal1_rl_dataset.reward IS NULL OR cudal1_rl_dataset.reward NOT IN ('speedup', 'binary') THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('unknown reward "%s"', cudal1_rl_dataset.reward),
			HINT = 'Rewards are speedup (the reward itself) and binary (1 for a successful code, 0 else).';
	END IF;
	IF cudal1_rl_dataset.campaign IS NOT NULL AND NOT EXISTS (SELECT FROM cudal1.campaign AS c WHERE c.name = cudal1_rl_dataset.campaign) THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('campaign "%s" does not exist', cudal1_rl_dataset.campaign);
	END IF;
	RETURN QUERY
		WITH member AS (
			SELECT p.proposal_id, p.task_id, t.name AS task, t.level, p.prompt_id, q.prompt, p.response, p.method, p.group_key, c.candidate_id, c.state, c.failure,
					coalesce('key ' || p.group_key, 'prompt ' || p.prompt_id, 'proposal ' || p.proposal_id) AS grp,
					CASE WHEN cudal1_rl_dataset.reward = 'speedup' THEN c.reward ELSE (c.reward > 0)::int::float8 END AS value
				FROM cudal1.proposal AS p JOIN cudal1.candidate AS c USING (candidate_id) JOIN cudal1.task AS t ON t.task_id = p.task_id
					JOIN cudal1.prompt AS q ON q.prompt_id = p.prompt_id
					LEFT JOIN cudal1.request AS r ON p.proposal_key = 'request ' || r.request_id AND r.candidate_id = c.candidate_id
					LEFT JOIN cudal1.campaign_lane AS l ON l.lane_id = r.lane_id
					LEFT JOIN cudal1.campaign_group AS g ON g.group_key = p.group_key
					LEFT JOIN cudal1.campaign_lane AS gl ON gl.lane_id = g.lane_id
					LEFT JOIN cudal1.campaign AS k ON k.campaign_id = coalesce(l.campaign_id, gl.campaign_id)
				WHERE p.response IS NOT NULL AND c.purpose = 'normal'
					AND (methods IS NULL OR p.method = ANY (methods))
					AND (cudal1_rl_dataset.tasks IS NULL OR t.name = ANY (cudal1_rl_dataset.tasks))
					AND (cudal1_rl_dataset.campaign IS NULL OR k.name = cudal1_rl_dataset.campaign)),
		numbered AS (
			SELECT m.*, row_number() OVER (PARTITION BY m.task_id, m.grp ORDER BY m.proposal_id) AS place FROM member AS m),
		scored AS (
			SELECT n.task_id, n.grp, @extschema@.cudal1_group_advantages(array_agg(n.value ORDER BY n.place), cudal1_rl_dataset.variant) AS advantages
				FROM numbered AS n GROUP BY n.task_id, n.grp)
		SELECT jsonb_build_object('prompt', n.prompt, 'response', n.response, 'reward', n.value, 'advantage', s.advantages[n.place],
				'group', n.grp, 'task', n.task, 'level', n.level, 'method', n.method, 'state', n.state, 'failure', n.failure,
				'candidate_id', n.candidate_id, 'proposal_id', n.proposal_id, 'prompt_id', n.prompt_id)
			FROM numbered AS n JOIN scored AS s USING (task_id, grp)
			ORDER BY n.task_id, s.grp, n.place;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_rl_dataset(text[], text[], text, text, text) IS
'prompts, answers, rewards and advantages for reinforcement learning, one row for each answer. Members: prompt, response, reward (NULL: no verdict), advantage, group (answers of one group_key, else of one prompt), task, level, method, state, failure, candidate_id, proposal_id, prompt_id.
methods, tasks, campaign: NULL is all; variant as in cudal1_group_advantages(); reward: speedup, or binary (1 successful, 0 not: CUDA-L1, 2.3)';
/*
 * Techniques (CUDA-L1, 3.6): what successful codes do. Keywords find what leaves a trace in the text; a model can be asked for
 * the rest, with the same list of terms and room for its own.
 */

INSERT INTO cudal1.technique (name, pattern) VALUES
	('memory layout optimization', '\.contiguous\s*\(|channels_last|transpose[sd]?\s+(layout|copy)|struct of arrays|\mSoA\M|packed?\s+(panel|tile|layout|buffer)'),
	('memory access optimization', '__ldg\s*\(|__restrict__|\mrestrict\M|prefetch|coalesc|aligned_alloc|__builtin_assume_aligned'),
	('memory coalescing', 'coalesc|threadIdx\.x\s*\+\s*blockIdx\.x|blockIdx\.x\s*\*\s*blockDim\.x\s*\+\s*threadIdx\.x|\mfloat4\M|\mint4\M'),
	('operation fusion', '\mfus(e|ed|es|ing|ion)\M|torch\.compile|addmm|baddbmm|scaled_dot_product_attention'),
	('shared memory usage', '__shared__|extern\s+__shared__|tl\.static_shared'),
	('warp-level optimization', '__shfl_|__ballot_sync|__syncwarp|warp(size|_reduce|reduce|shuffle)|cooperative_groups'),
	('thread block configuration', '<<<|dim3\s|__launch_bounds__|BLOCK_SIZE|tl\.constexpr|num_warps'),
	('register optimization', '\mregister\M|__launch_bounds__|register\s+(tile|tiling|block)|#pragma\s+unroll'),
	('loop unrolling', '#pragma\s+(GCC\s+)?unroll|\munroll(ed|ing)?\M'),
	('tiling', '\mtil(e|es|ed|ing)\M|\mblock(ed|ing)\M|TILE_|BLOCK_[MNK]\M'),
	('vectorization', '\mfloat4\M|_mm(256|512)?_|immintrin\.h|vector_size|#pragma\s+omp\s+simd|vectori[sz]'),
	('mixed precision', '\mhalf2?\M|__half|bfloat16|\mfloat16\M|\.half\(\)|autocast|allow_tf32'),
	('tensor cores', 'wmma|mma\.sync|nvcuda|tl\.dot|wgmma'),
	('stream management', 'cudaStream|torch\.cuda\.(Stream|stream)|getCurrentCUDAStream'),
	('cuda graphs', 'cudaGraph|CUDAGraph|make_graphed_callables'),
	('asynchronous copies', 'cp\.async|cuda::memcpy_async|__pipeline_|cudaMemcpyAsync|\mtma\M'),
	('parallel reduction', 'parallel\s+reduction|tree\s+reduction|reduce_sum|warp_?reduce|block_?reduce|#pragma\s+omp[^\n]*reduction'),
	('multithreading', '#pragma\s+omp\s+parallel|pthread_create|std::thread|at::parallel_for'),
	('algebraic simplification', 'algebraic(ally)?|broadcast(ed|ing)?\M[^\n]{0,60}(instead|product)|\meinsum\M|avoid(s|ing)?\s+(the\s+)?(full|explicit)'),
	('just-in-time compilation', 'load_inline|@triton\.jit|torch\.compile|torch\.jit\.script|nvrtc'),
	('fast math', 'fast_?math|__expf\s*\(|__fdividef|rsqrtf?\s*\(|-Ofast|__frcp_'),
	('in-place operations', '\.(relu|add|mul|sub|div|clamp|exp|sigmoid|tanh)_\s*\(|inplace\s*=\s*True|out\s*=\s*[a-z_]+\s*\)'),
	('preallocated buffers', 'torch\.empty(_like)?\s*\(|register_buffer|preallocat|workspace|scratch');

CREATE FUNCTION cudal1.techniques_of(code text)
RETURNS SETOF text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT t.name FROM cudal1.technique AS t WHERE t.pattern IS NOT NULL AND code ~* t.pattern ORDER BY t.name;
$$;
COMMENT ON FUNCTION cudal1.techniques_of(text) IS 'the techniques whose keywords a code contains';

CREATE FUNCTION @extschema@.cudal1_extract_techniques(candidate_ids bigint[] DEFAULT NULL, model text DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	m		cudal1.model;
	n		bigint;
BEGIN
	IF cudal1_extract_techniques.model IS NOT NULL THEN
		m := cudal1.find_model(cudal1_extract_techniques.model);
		INSERT INTO cudal1.request (model_id, purpose, about, method)
			SELECT m.model_id, 'techniques', c.candidate_id, 'techniques'
				FROM cudal1.candidate AS c
				WHERE (c.candidate_id = ANY (candidate_ids) OR candidate_ids IS NULL AND c.state = 'successful' AND c.purpose = 'normal')
					AND NOT EXISTS (SELECT FROM cudal1.request AS r
									WHERE r.about = c.candidate_id AND r.model_id = m.model_id AND r.state IN ('queued', 'running', 'answered'))
				ORDER BY c.candidate_id;
		GET DIAGNOSTICS n = ROW_COUNT;
		IF n > 0 THEN
			PERFORM cudal1.wake();
		END IF;
		RETURN n;
	END IF;
	WITH chosen AS MATERIALIZED (
		SELECT c.candidate_id, c.code FROM cudal1.candidate AS c
			WHERE c.candidate_id = ANY (candidate_ids) OR candidate_ids IS NULL AND c.state = 'successful' AND c.purpose = 'normal'),
	found AS (
		INSERT INTO cudal1.candidate_technique (candidate_id, technique, source)
			SELECT c.candidate_id, f.technique, 'keywords' FROM chosen AS c CROSS JOIN LATERAL cudal1.techniques_of(c.code) AS f(technique)
				ORDER BY 1, 2
			ON CONFLICT DO NOTHING)
	SELECT count(*) INTO n FROM chosen;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_extract_techniques(bigint[], text) IS
'notes the techniques of candidates (NULL: all successful ones) in cudal1.candidate_technique: found by keywords, or asked of a model, which answers by and by. Returns the number of candidates looked at, or of requests made (none for those asked before). Error 42704 unknown model';

CREATE FUNCTION cudal1.technique_question(candidate_id bigint)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format(E'Which optimisation techniques does the following %s code use, compared with its reference? Answer with a JSON array of strings and nothing else. '
			'Use these terms where they fit:\n\n%s\n\nand terms of your own, lower case and of at most four words, for what they do not name.\n\n'
			'Reference:\n\n%s\n\nCode:\n\n%s\n', t.language,
			(SELECT string_agg('- ' || k.name, E'\n' ORDER BY k.name) FROM cudal1.technique AS k WHERE k.pattern IS NOT NULL), t.reference, c.code)
		FROM cudal1.candidate AS c JOIN cudal1.task AS t USING (task_id) WHERE c.candidate_id = technique_question.candidate_id;
$$;
COMMENT ON FUNCTION cudal1.technique_question(bigint) IS 'what a model is asked about the techniques of a candidate';

CREATE FUNCTION cudal1.take_techniques(candidate_id bigint, answer text, source text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	list	text := substring(answer FROM '\[[^][]*\]');
	names	text[];
BEGIN
	BEGIN
		names := ARRAY(SELECT DISTINCT lower(btrim(e)) FROM jsonb_array_elements_text(list::jsonb) AS e);
	EXCEPTION WHEN OTHERS THEN
		names := NULL;
	END;
	IF names IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'the answer holds no JSON array of strings';
	END IF;
	names := ARRAY(SELECT n FROM unnest(names) AS n WHERE n ~ '^[[:alnum:]][^[:cntrl:]]{1,79}$' ORDER BY n LIMIT 50);
	INSERT INTO cudal1.technique (name) SELECT n FROM unnest(names) AS n ON CONFLICT DO NOTHING;
	INSERT INTO cudal1.candidate_technique (candidate_id, technique, source)
		SELECT take_techniques.candidate_id, n, take_techniques.source FROM unnest(names) AS n ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION cudal1.take_techniques(bigint, text, text) IS 'stores the techniques that a model named; error 22023 where the answer is no list';

CREATE VIEW cudal1.technique_frequency AS
	SELECT k.technique, k.source, count(*) AS candidates, count(DISTINCT c.task_id) AS tasks,
			count(*)::float8 / NULLIF((SELECT count(DISTINCT x.candidate_id) FROM cudal1.candidate_technique AS x
				JOIN cudal1.candidate AS y USING (candidate_id) WHERE x.source = k.source AND y.state = 'successful'), 0) AS share,
			avg(c.reward) AS mean_reward, percentile_cont(0.5) WITHIN GROUP (ORDER BY c.reward) AS median_reward
		FROM cudal1.candidate_technique AS k JOIN cudal1.candidate AS c USING (candidate_id)
		WHERE c.state = 'successful' AND c.purpose = 'normal'
		GROUP BY k.technique, k.source;
COMMENT ON VIEW cudal1.technique_frequency IS 'how often each technique occurs in successful codes: candidates, tasks, share of all candidates looked at by the source, and the rewards of codes that use it';
/*
 * What is going on, and why nothing is: views for a glance, cudal1_status() for the reasons.
 */

CREATE VIEW cudal1.activity AS
	SELECT j.job_id, j.kind, t.name AS task, j.candidate_id, d.device_key AS device, j.worker, j.phase, j.pairs, j.rounds,
		   j.estimate, j.lower, j.upper, j.seconds_left, j.claimed_at AS since, j.lease_until, j.attempt, j.failures, j.cancel_requested
	FROM cudal1.job AS j
		JOIN cudal1.task AS t ON t.task_id = j.task_id
		JOIN cudal1.device AS d ON d.device_id = j.device_id
	WHERE j.state = 'running';
COMMENT ON VIEW cudal1.activity IS 'what is being measured now, one row for each claimed job';
COMMENT ON COLUMN cudal1.activity.phase IS 'building, waiting (for the device), checking, calibrating, measuring or auditing; NULL before the first word of the child';
COMMENT ON COLUMN cudal1.activity.estimate IS 'score so far, with the interval from lower to upper';
COMMENT ON COLUMN cudal1.activity.seconds_left IS 'estimated seconds until the measurement ends';
COMMENT ON COLUMN cudal1.activity.failures IS 'attempts that ended lost or unstable before this one';

CREATE VIEW cudal1.queue AS
	SELECT j.job_id, j.kind, t.name AS task, j.candidate_id, j.device, j.language, j.priority, j.profile, j.enqueued_at, j.deadline,
		   j.failures,
		   CASE WHEN j.deadline OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp() THEN 'its deadline has passed'
				WHEN j.not_before OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp() THEN pg_catalog.format('not before %s', j.not_before)
				WHEN NOT EXISTS (SELECT FROM cudal1.device AS d
								 WHERE d.enabled AND j.device IN (d.class, d.model, d.device_key) AND j.language OPERATOR(pg_catalog.=) ANY (d.languages)
									AND d.cores OPERATOR(pg_catalog.>=) j.cores)
					THEN pg_catalog.format('no enabled device %s with language %s and %s core(s)', j.device, j.language, j.cores)
				WHEN NOT EXISTS (SELECT FROM cudal1.aa_candidate AS k
								 WHERE k.candidate_id OPERATOR(pg_catalog.=) j.candidate_id AND j.kind OPERATOR(pg_catalog.=) 'evaluate')
					AND NOT EXISTS (SELECT FROM cudal1.device AS d
									WHERE d.enabled AND d.untrusted_since IS NULL AND j.device IN (d.class, d.model, d.device_key)
										AND j.language OPERATOR(pg_catalog.=) ANY (d.languages) AND d.cores OPERATOR(pg_catalog.>=) j.cores)
					THEN pg_catalog.format('the A/A measurements of every device %s drift', j.device)
				WHEN j.avoid_until OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp()
					AND NOT EXISTS (SELECT FROM cudal1.device AS d
									WHERE d.enabled AND j.device IN (d.class, d.model) AND j.language OPERATOR(pg_catalog.=) ANY (d.languages)
										AND d.cores OPERATOR(pg_catalog.>=) j.cores AND d.device_id OPERATOR(pg_catalog.<>) j.avoid_device)
					THEN CASE WHEN j.avoid_until OPERATOR(pg_catalog.=) 'infinity'::timestamptz THEN 'needs another device of the same model to verify'
						 ELSE pg_catalog.format('waits for another device of the same model until %s', j.avoid_until) END
		   END AS waits_for
	FROM cudal1.job AS j JOIN cudal1.task AS t ON t.task_id OPERATOR(pg_catalog.=) j.task_id
	WHERE j.state OPERATOR(pg_catalog.=) 'queued'
	ORDER BY j.priority DESC, j.job_id;
COMMENT ON VIEW cudal1.queue IS 'jobs that wait, in the order in which they are claimed';
COMMENT ON COLUMN cudal1.queue.device IS 'device class or model, or the key of the one device, that may claim the job';
COMMENT ON COLUMN cudal1.queue.waits_for IS 'why no device can claim the job now; NULL: it waits its turn';

CREATE FUNCTION cudal1.ago(since timestamptz)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN s < 120 THEN pg_catalog.format('%s s', pg_catalog.round(s))
				WHEN s < 7200 THEN pg_catalog.format('%s min', pg_catalog.round(s / 60))
				WHEN s < 172800 THEN pg_catalog.format('%s h', pg_catalog.round(s / 3600))
				ELSE pg_catalog.format('%s days', pg_catalog.round(s / 86400)) END
		FROM (SELECT GREATEST(0, EXTRACT(epoch FROM pg_catalog.clock_timestamp() - since)) AS s) AS x;
END;
COMMENT ON FUNCTION cudal1.ago(timestamptz) IS 'how long ago, rounded, in words';

CREATE FUNCTION @extschema@.cudal1_status()
RETURNS TABLE (item text, value text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	w		record;
	d		record;
	r		record;
	here	constant text := current_database();
BEGIN
	RETURN QUERY SELECT 'version', e.extversion, NULL::text FROM pg_extension AS e WHERE e.extname = 'cudal1';

	-- the server
	IF cudal1.preloaded() THEN
		RETURN QUERY SELECT 'preload', 'yes', NULL;
	ELSE
		RETURN QUERY SELECT 'preload', 'no',
			'Add cudal1 to shared_preload_libraries in postgresql.conf and restart the server; without it only agents outside the server measure.';
	END IF;
	IF pg_is_in_recovery() THEN
		RETURN QUERY SELECT 'server', 'standby', 'Nothing is measured until this server is promoted.';
	END IF;
	SELECT s.* INTO w FROM cudal1.worker_state() AS s WHERE s.database = here;
	IF FOUND THEN
		RETURN QUERY SELECT 'database', format('%s is listed in cudal1.databases', here), NULL;
		IF w.pid IS NULL THEN
			RETURN QUERY SELECT 'worker', coalesce('none: ' || nullif(w.note, ''), 'none'),
				'The launcher starts it within seconds; if it does not, the server''s log says why (max_worker_processes may be used up).';
		ELSE
			RETURN QUERY SELECT 'worker', format('process %s for %s', w.pid, cudal1.ago(w.since)) || coalesce(', ' || nullif(w.note, ''), ''), NULL;
		END IF;
	ELSIF cudal1.preloaded() THEN
		RETURN QUERY SELECT 'database', format('%s is not listed in cudal1.databases', here),
			format('ALTER SYSTEM SET cudal1.databases = %L; then SELECT pg_reload_conf();',
				   (SELECT string_agg(n.name, ', ') FROM (SELECT s.database AS name FROM cudal1.worker_state() AS s
														  UNION SELECT here) AS n));
	ELSE
		RETURN QUERY SELECT 'database', here, 'Its worker starts once the library is preloaded and cudal1.databases names it (default: postgres).';
	END IF;
	IF current_setting('cudal1.enabled', true) = 'off' THEN
		RETURN QUERY SELECT 'measuring', 'switched off', 'ALTER SYSTEM SET cudal1.enabled = on; then SELECT pg_reload_conf();';
	END IF;

	-- devices
	IF NOT EXISTS (SELECT FROM cudal1.device) THEN
		RETURN QUERY SELECT 'devices', 'none',
			'A worker or an agent registers what cudal1-measure --devices prints on its host; run that by hand to see what it finds.';
	END IF;
	FOR d IN
		SELECT x.*, (SELECT count(*) FROM cudal1.job AS j WHERE j.device_id = x.device_id AND j.state = 'running') AS running
			FROM cudal1.device AS x ORDER BY x.class, x.device_key
	LOOP
		RETURN QUERY SELECT 'device ' || d.device_key,
			format('%s, %s, %s core(s), languages: %s; %s; seen %s ago', d.class, d.model, d.cores,
				   coalesce(nullif(array_to_string(d.languages, ' '), ''), 'none'),
				   CASE WHEN NOT d.enabled THEN 'disabled' WHEN d.untrusted_since IS NOT NULL THEN 'not trusted' WHEN d.running > 0 THEN 'measuring' ELSE 'idle' END, cudal1.ago(d.last_seen)),
			nullif(concat_ws(' ',
				CASE WHEN NOT d.enabled THEN format('Enable it with SELECT cudal1_enable_device(%L, true).', d.device_key) END,
				CASE WHEN d.untrusted_since IS NOT NULL
					 THEN format('Its A/A measurements drift since %s (cudal1.aa_chart), so its queue waits; mend it, then SELECT cudal1_trust_device(%L).',
								 date_trunc('second', d.untrusted_since), d.device_key) END,
				CASE WHEN jsonb_typeof(d.details -> 'problems') = 'array' AND jsonb_array_length(d.details -> 'problems') > 0
					 THEN 'Problems: ' || (SELECT string_agg(p, '; ') FROM jsonb_array_elements_text(d.details -> 'problems') AS p) || '.' END), '');
	END LOOP;
	FOR r IN
		SELECT x.host,
				(SELECT string_agg(DISTINCT format('%s %s', e.key, e.value #>> '{}'), ', ')
					FROM cudal1.device AS y, jsonb_each(y.details) AS e
					WHERE y.host = x.host AND e.key IN ('gcc', 'cc', 'clang', 'nvcc', 'python', 'torch', 'cuda', 'driver')
						AND jsonb_typeof(e.value) IN ('string', 'number')) AS compilers,
				max(x.details ->> 'sandbox') AS sandbox
			FROM cudal1.device AS x GROUP BY x.host ORDER BY x.host
	LOOP
		RETURN QUERY SELECT 'compilers on ' || r.host, coalesce(r.compilers, 'none known'),
			CASE WHEN r.compilers IS NULL THEN 'Install gcc for c, nvcc for cuda, python3 with torch for pytorch.' END;
		RETURN QUERY SELECT 'sandbox on ' || r.host, coalesce(r.sandbox, 'none'),
			CASE WHEN r.sandbox IS NULL THEN 'Install bubblewrap and allow unprivileged user namespaces.' END;
	END LOOP;
	FOR r IN
		SELECT DISTINCT coalesce(t.device_model, t.device) AS wanted, t.language, t.cores FROM cudal1.task AS t
			WHERE NOT EXISTS (SELECT FROM cudal1.device AS x
							  WHERE x.enabled AND coalesce(t.device_model, t.device) IN (x.class, x.model)
								AND t.language = ANY (x.languages) AND x.cores >= t.cores)
			ORDER BY 1, 2, 3
	LOOP
		RETURN QUERY SELECT format('tasks in %s on %s', r.language, r.wanted), 'no device can measure them',
			format('They need an enabled device of class or model "%s" with language %s and %s core(s).', r.wanted, r.language, r.cores);
	END LOOP;

	-- the queue
	SELECT count(*) FILTER (WHERE j.state = 'queued') AS waiting, count(*) FILTER (WHERE j.state = 'running') AS running,
			count(*) FILTER (WHERE j.state = 'running' AND j.lease_until < clock_timestamp()) AS silent,
			min(j.enqueued_at) FILTER (WHERE j.state = 'queued') AS oldest
		INTO r FROM cudal1.job AS j;
	RETURN QUERY SELECT 'queue',
		format('%s waiting, %s running', r.waiting, r.running) || coalesce(', the oldest waiting for ' || cudal1.ago(r.oldest), ''),
		CASE WHEN r.silent > 0 THEN format('%s claim(s) gave no sign of life in time; a living worker takes them over.', r.silent)
			 WHEN r.waiting > 0 THEN (SELECT format('%s of them cannot be claimed now; cudal1.queue.waits_for says why.', count(*))
									  FROM cudal1.queue AS q WHERE q.waits_for IS NOT NULL HAVING count(*) > 0) END;
	SELECT count(*) AS n INTO r FROM cudal1.candidate AS c
		WHERE c.state IN ('queued', 'measuring', 'verifying')
			AND NOT EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify'));
	IF r.n > 0 THEN
		RETURN QUERY SELECT 'undecided without a job', r.n::text, 'After a restore, SELECT cudal1_requeue() queues them again.';
	END IF;
	SELECT count(*) AS n, (array_agg(m.detail ORDER BY m.measurement_id DESC))[1] AS detail INTO r
		FROM (SELECT x.* FROM cudal1.measurement AS x ORDER BY x.measurement_id DESC LIMIT 100) AS m
		WHERE m.outcome IN ('lost', 'unverified') AND m.measured_at > clock_timestamp() - '1 hour'::interval;
	IF r.n > 0 THEN
		RETURN QUERY SELECT 'lost or unverified', format('%s of the last 100 measurements, within an hour', r.n), 'The last one said: ' || r.detail;
	END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_status() IS
'why something is or is not being measured: preloading, database and worker, devices, compilers, sandbox, queue; hint says what to do where something is wrong';
/*
 * Reports: the columns of the paper's tables 4 to 7.
 *
 * The reward that chose the best of many candidates is biased upwards: among equals the luckiest measurement wins.  So where
 * any of a task's candidates has been evaluated (a measurement of its own, after the choice), evaluations alone speak for
 * that task; where none has, its best reward does, and a NOTICE says so.
 */

CREATE FUNCTION cudal1.best_speedups(method text, device text)
RETURNS TABLE (task_id bigint, level int, candidate_id bigint, speedup float8, evaluated boolean)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH asked AS (
		-- what was asked for: a class, a model, or nothing
		SELECT best_speedups.device AS name, best_speedups.device IN ('cpu', 'cuda') AS is_class,
			   CASE WHEN best_speedups.device IN ('cpu', 'cuda') THEN best_speedups.device
					ELSE (SELECT d.class FROM cudal1.device AS d WHERE d.model = best_speedups.device
						  ORDER BY d.device_id LIMIT 1) END AS class
	), tasks AS (
		SELECT t.task_id, t.level, t.device_model
		FROM cudal1.task AS t
		CROSS JOIN asked AS a
		CROSS JOIN LATERAL (
			SELECT CASE WHEN t.device IN ('cpu', 'cuda') THEN t.device
						WHEN t.language IN ('c', 'cuda') THEN CASE WHEN t.language = 'c' THEN 'cpu' ELSE 'cuda' END
						ELSE (SELECT d.class FROM cudal1.device AS d WHERE d.model = t.device
							  ORDER BY d.device_id LIMIT 1) END AS class) AS k
		WHERE a.name IS NULL OR a.class IS NULL OR k.class IS NULL OR k.class = a.class
	), results AS (
		SELECT t.task_id, c.candidate_id, c.state, c.reward, COALESCE(m.device_model, c.import_device) AS model
		FROM tasks AS t
		JOIN cudal1.candidate AS c ON c.task_id = t.task_id
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = c.measurement_id
		WHERE c.purpose = 'normal'
			AND (best_speedups.method IS NULL
				 OR EXISTS (SELECT FROM cudal1.proposal AS p
							WHERE p.candidate_id = c.candidate_id AND p.method = best_speedups.method))
	), evaluations AS (
		-- the last word on a candidate and a model; a failure there (reward 0) is one
		SELECT DISTINCT ON (r.candidate_id) r.task_id, r.candidate_id, m.reward AS speedup
		FROM results AS r
		CROSS JOIN asked AS a
		JOIN tasks AS t ON t.task_id = r.task_id
		JOIN cudal1.measurement AS m ON m.candidate_id = r.candidate_id
		WHERE m.kind = 'evaluate' AND m.reward IS NOT NULL
			AND m.device_model = CASE WHEN a.name IS NULL OR a.is_class THEN COALESCE(t.device_model, m.device_model)
									  ELSE a.name END
		ORDER BY r.candidate_id, m.measurement_id DESC
	), rewards AS (
		SELECT r.task_id, r.candidate_id, r.reward AS speedup
		FROM results AS r
		CROSS JOIN asked AS a
		WHERE r.state = 'successful' AND (a.name IS NULL OR a.is_class OR r.model = a.name)
			AND NOT EXISTS (SELECT FROM evaluations AS e WHERE e.task_id = r.task_id)
		UNION ALL
		-- the same code with its score on another device than the one its reward is from
		SELECT r.task_id, r.candidate_id, i.reward
		FROM results AS r
		CROSS JOIN asked AS a
		JOIN cudal1.imported_score AS i ON i.candidate_id = r.candidate_id AND i.device = a.name
		WHERE i.reward > 0 AND NOT a.is_class AND r.model IS DISTINCT FROM a.name
			AND NOT EXISTS (SELECT FROM evaluations AS e WHERE e.task_id = r.task_id)
	)
	SELECT DISTINCT ON (t.task_id) t.task_id, t.level, b.candidate_id, b.speedup, b.evaluated
	FROM tasks AS t
	LEFT JOIN (SELECT e.task_id, e.candidate_id, e.speedup, true AS evaluated FROM evaluations AS e WHERE e.speedup > 0
			   UNION ALL
			   SELECT w.task_id, w.candidate_id, w.speedup, false FROM rewards AS w) AS b ON b.task_id = t.task_id
	ORDER BY t.task_id, b.speedup DESC NULLS LAST, b.candidate_id;
END;
COMMENT ON FUNCTION cudal1.best_speedups(text, text) IS
'the best successful candidate of each task by a method (NULL: any) on a device class or model (NULL: each task''s own), one row a task; speedup NULL where none succeeded; evaluated tells evaluations from training rewards. With a device, tasks of another class are left out';

CREATE FUNCTION cudal1.check_report(method text, device text, missing text DEFAULT 'zero')
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF check_report.missing IS NULL OR check_report.missing NOT IN ('zero', 'one', 'drop') THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'argument "missing" must be "zero", "one" or "drop"';
	END IF;
	IF check_report.device NOT IN ('cpu', 'cuda')
		AND NOT EXISTS (SELECT FROM cudal1.device AS d WHERE d.model = check_report.device)
		AND NOT EXISTS (SELECT FROM cudal1.imported_score AS i WHERE i.device = check_report.device)
		AND NOT EXISTS (SELECT FROM cudal1.candidate AS c WHERE c.import_device = check_report.device)
		AND NOT EXISTS (SELECT FROM cudal1.task AS t WHERE t.device = check_report.device)
	THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object',
			MESSAGE = format('device "%s" is not known', check_report.device),
			HINT = 'Name a class (cpu, cuda), or a model in cudal1.device or of an imported result.';
	END IF;
	IF check_report.method IS NOT NULL
		AND NOT EXISTS (SELECT FROM cudal1.proposal AS p WHERE p.method = check_report.method)
	THEN
		RAISE NOTICE 'nothing was proposed by method "%"', check_report.method;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.check_report(text, text, text) IS
'arguments that reports share: error 22023 for a bad missing, 42704 for an unknown device, a NOTICE for a method without proposals';

CREATE FUNCTION @extschema@.cudal1_speedup_report(method text DEFAULT NULL, device text DEFAULT NULL, missing text DEFAULT 'zero')
RETURNS TABLE (level text, tasks bigint, mean float8, max float8, p75 float8, p50 float8, p25 float8, success bigint,
			   speedup bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	levels int[];
	speedups float8[];
	trained bigint;
BEGIN
	PERFORM cudal1.check_report(cudal1_speedup_report.method, cudal1_speedup_report.device, cudal1_speedup_report.missing);

	SELECT array_agg(b.level ORDER BY b.task_id), array_agg(b.speedup ORDER BY b.task_id),
		   count(*) FILTER (WHERE NOT b.evaluated)
	INTO levels, speedups, trained
	FROM cudal1.best_speedups(cudal1_speedup_report.method, cudal1_speedup_report.device) AS b;

	RETURN QUERY
	SELECT CASE WHEN grouping(b.level) = 1 THEN 'All' ELSE COALESCE(b.level::text, 'none') END,
		   count(b.counted), avg(b.counted), max(b.counted),
		   percentile_cont(0.75) WITHIN GROUP (ORDER BY b.counted),
		   percentile_cont(0.5) WITHIN GROUP (ORDER BY b.counted),
		   percentile_cont(0.25) WITHIN GROUP (ORDER BY b.counted),
		   count(b.achieved), count(*) FILTER (WHERE b.achieved > 1.00)
	FROM (SELECT u.level, u.achieved,
				 CASE WHEN cudal1_speedup_report.missing = 'zero' THEN COALESCE(u.achieved, 0)
					  WHEN cudal1_speedup_report.missing = 'one' THEN COALESCE(u.achieved, 1)
					  ELSE u.achieved END AS counted
		  FROM unnest(levels, speedups) AS u (level, achieved)) AS b
	GROUP BY GROUPING SETS ((b.level), ())
	ORDER BY grouping(b.level), b.level NULLS LAST;

	IF trained > 0 THEN
		RAISE NOTICE USING
			MESSAGE = format('training rewards are shown for %s task(s)', trained),
			DETAIL = 'The best of many training rewards is biased upwards; evaluations replace them where there are any.';
	END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_speedup_report(text, text, text) IS
'the columns of CUDA-L1''s tables 4 to 7: one row a level, ''none'' for tasks without one, and ''All''. Each task counts with its best successful candidate by the method (of a proposal; NULL: any) on the device (class or model; NULL: the task''s own). missing: zero (a task without success counts 0, the paper''s way), one (counts 1.00), drop (is left out of tasks, mean and percentiles). tasks = all of the level, attempted or not, on devices of the class asked for; percentiles are linear; success = tasks with a successful candidate; speedup = those above 1.00. Imported results count; null, certification and ablation candidates do not. Evaluations are preferred where a task has any; a NOTICE counts the tasks that show training rewards. Errors: 22023 bad missing, 42704 unknown device';
/*
 * The paper's tables, one call each, and comparisons task by task.
 *
 * What a table makes of tasks without success decides its figures as much as the codes do, so every row says which convention
 * it follows and for how many tasks. Single tasks carry means of speedups (one of 449 in 250 adds 1.8), so geometric and
 * trimmed means stand beside them.
 */

CREATE FUNCTION cudal1.summarise(levels int[], speedups float8[], missing text, cut float8)
RETURNS TABLE (level text, tasks bigint, mean float8, max float8, p75 float8, p50 float8, p25 float8, success bigint, speedup bigint,
			   geometric_mean float8, trimmed_mean float8, convention text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF summarise.cut IS NULL OR NOT (summarise.cut >= 0 AND summarise.cut < 0.5) THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'argument "cut" must be a share of at least 0 and below 0.5';
	END IF;
	RETURN QUERY
	WITH counted AS (
		SELECT g.label, g.place, u.achieved,
			   CASE WHEN summarise.missing = 'zero' THEN coalesce(u.achieved, 0)
					WHEN summarise.missing = 'one' THEN coalesce(u.achieved, 1)
					ELSE u.achieved END AS x
		FROM unnest(summarise.levels, summarise.speedups) AS u (level, achieved)
			CROSS JOIN LATERAL (VALUES (coalesce(u.level::text, 'none'), coalesce(u.level, 2147483647)::bigint),
									   ('All', 2147483648)) AS g (label, place)
	), ranked AS (
		SELECT c.*, row_number() OVER w AS r, count(c.x) OVER (PARTITION BY c.label) AS n
		FROM counted AS c WINDOW w AS (PARTITION BY c.label ORDER BY c.x NULLS LAST)
	), rows AS (
		SELECT r.label, r.place, count(r.x) AS tasks, avg(r.x) AS mean, max(r.x) AS max,
			   percentile_cont(0.75) WITHIN GROUP (ORDER BY r.x) AS p75, percentile_cont(0.5) WITHIN GROUP (ORDER BY r.x) AS p50,
			   percentile_cont(0.25) WITHIN GROUP (ORDER BY r.x) AS p25, count(r.achieved) AS success,
			   count(*) FILTER (WHERE r.achieved > 1) AS speedup,
			   CASE WHEN min(r.x) = 0 THEN 0 ELSE exp(avg(ln(nullif(r.x, 0)))) END AS geometric_mean,
			   avg(r.x) FILTER (WHERE r.r > floor(r.n * summarise.cut) AND r.r <= r.n - floor(r.n * summarise.cut)) AS trimmed_mean,
			   count(*) - count(r.achieved) AS without
		FROM ranked AS r GROUP BY r.label, r.place)
	SELECT x.label, x.tasks, x.mean, x.max, x.p75, x.p50, x.p25, x.success, x.speedup, x.geometric_mean, x.trimmed_mean,
		   CASE summarise.missing WHEN 'zero' THEN format('%s without success count 0', x.without)
								  WHEN 'one' THEN format('%s without success count 1.00', x.without)
								  ELSE format('%s without success left out', x.without) END
	FROM (SELECT * FROM rows
		  UNION ALL
		  SELECT 'All', 2147483648, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0
		  WHERE NOT EXISTS (SELECT FROM rows)) AS x
	ORDER BY x.place;
END
$$;
COMMENT ON FUNCTION cudal1.summarise(int[], float8[], text, float8) IS
'the figures of a table from one level and one best speedup (NULL: no success) a task; one row a level and All';

CREATE FUNCTION @extschema@.cudal1_level_report(method text DEFAULT NULL, device text DEFAULT NULL, missing text DEFAULT 'zero',
	without_weak boolean DEFAULT false, cut float8 DEFAULT 0.1)
RETURNS TABLE (level text, tasks bigint, mean float8, max float8, p75 float8, p50 float8, p25 float8, success bigint, speedup bigint,
			   geometric_mean float8, trimmed_mean float8, convention text, evaluated bigint, weak bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF cudal1_level_report.without_weak IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'without_weak must not be null';
	END IF;
	PERFORM cudal1.check_report(cudal1_level_report.method, cudal1_level_report.device, cudal1_level_report.missing);
	RETURN QUERY
	WITH best AS MATERIALIZED (
		SELECT b.task_id, b.level, b.speedup, b.evaluated, t.certified IS NOT DISTINCT FROM 'weak' AS weak
		FROM cudal1.best_speedups(cudal1_level_report.method, cudal1_level_report.device) AS b
			JOIN cudal1.task AS t ON t.task_id = b.task_id
		WHERE NOT (cudal1_level_report.without_weak AND t.certified IS NOT DISTINCT FROM 'weak')
	), marks AS (
		SELECT g.label, count(*) FILTER (WHERE b.evaluated) AS evaluated, count(*) FILTER (WHERE b.weak) AS weak
		FROM best AS b CROSS JOIN LATERAL (VALUES (coalesce(b.level::text, 'none')), ('All')) AS g (label)
		GROUP BY g.label)
	SELECT s.level, s.tasks, s.mean, s.max, s.p75, s.p50, s.p25, s.success, s.speedup, s.geometric_mean, s.trimmed_mean, s.convention,
		   coalesce(m.evaluated, 0), coalesce(m.weak, 0)
	FROM cudal1.summarise((SELECT array_agg(b.level ORDER BY b.task_id) FROM best AS b),
						  (SELECT array_agg(b.speedup ORDER BY b.task_id) FROM best AS b),
						  cudal1_level_report.missing, cudal1_level_report.cut) WITH ORDINALITY AS s (level, tasks, mean, max, p75, p50, p25,
							success, speedup, geometric_mean, trimmed_mean, convention, place)
		LEFT JOIN marks AS m ON m.label = s.level
	ORDER BY s.place;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_level_report(text, text, text, boolean, float8) IS
'CUDA-L1, table 4: the columns of cudal1_speedup_report(), then geometric_mean (0 as soon as a task counts 0), trimmed_mean (without the share cut of the tasks at either end, 0.1 by default), convention (what was made of tasks without success, and how many), evaluated (tasks whose speedup is an evaluation, not a training reward), weak (tasks that certification found not to discriminate; without_weak leaves them out). Errors: 22023 bad missing or cut, 42704 unknown device';

CREATE FUNCTION @extschema@.cudal1_method_report(methods text[] DEFAULT NULL, device text DEFAULT NULL, missing text DEFAULT 'zero',
	without_weak boolean DEFAULT false, cut float8 DEFAULT 0.1)
RETURNS TABLE (level text, method text, tasks bigint, mean float8, max float8, p75 float8, p50 float8, p25 float8, success bigint,
			   speedup bigint, geometric_mean float8, trimmed_mean float8, convention text, evaluated bigint, weak bigint)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT r.level, m.name, r.tasks, r.mean, r.max, r.p75, r.p50, r.p25, r.success, r.speedup, r.geometric_mean, r.trimmed_mean,
		   r.convention, r.evaluated, r.weak
	FROM ROWS FROM (pg_catalog.unnest(COALESCE(cudal1_method_report.methods,
						ARRAY(SELECT DISTINCT p.method FROM cudal1.proposal AS p
								JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id AND c.purpose = 'normal'
							  ORDER BY p.method)))) WITH ORDINALITY AS m (name, place)
		CROSS JOIN LATERAL @extschema@.cudal1_level_report(m.name, cudal1_method_report.device, cudal1_method_report.missing,
			cudal1_method_report.without_weak, cudal1_method_report.cut) AS r
	ORDER BY r.level = 'All', r.level = 'none', pg_catalog.length(r.level), r.level, m.place;
END;
COMMENT ON FUNCTION @extschema@.cudal1_method_report(text[], text, text, boolean, float8) IS
'CUDA-L1, tables 5 (rows All) and 11 (rows of the levels): cudal1_level_report() for each method, in the order given; NULL: all methods with ordinary candidates, by name';

CREATE FUNCTION @extschema@.cudal1_device_report(devices text[] DEFAULT NULL, method text DEFAULT NULL, missing text DEFAULT 'zero',
	without_weak boolean DEFAULT false, cut float8 DEFAULT 0.1)
RETURNS TABLE (level text, device text, tasks bigint, mean float8, max float8, p75 float8, p50 float8, p25 float8, success bigint,
			   speedup bigint, geometric_mean float8, trimmed_mean float8, convention text, evaluated bigint, weak bigint)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT r.level, m.name, r.tasks, r.mean, r.max, r.p75, r.p50, r.p25, r.success, r.speedup, r.geometric_mean, r.trimmed_mean,
		   r.convention, r.evaluated, r.weak
	FROM ROWS FROM (pg_catalog.unnest(COALESCE(cudal1_device_report.devices,
						ARRAY(SELECT t.device_model FROM cudal1.task AS t WHERE t.device_model IS NOT NULL
							  UNION SELECT i.device FROM cudal1.imported_score AS i
							  UNION SELECT e.device_model FROM cudal1.measurement AS e WHERE e.kind = 'evaluate' AND e.reward IS NOT NULL
							  ORDER BY 1)))) WITH ORDINALITY AS m (name, place)
		CROSS JOIN LATERAL @extschema@.cudal1_level_report(cudal1_device_report.method, m.name, cudal1_device_report.missing,
			cudal1_device_report.without_weak, cudal1_device_report.cut) AS r
	ORDER BY r.level = 'All', r.level = 'none', pg_catalog.length(r.level), r.level, m.place;
END;
COMMENT ON FUNCTION @extschema@.cudal1_device_report(text[], text, text, boolean, float8) IS
'CUDA-L1, tables 6 (rows All) and 7 (rows of the levels): cudal1_level_report() for each device model, in the order given; NULL: all models with rewards, evaluations or imported scores, by name';

CREATE FUNCTION @extschema@.cudal1_top_tasks(n int DEFAULT 10, method text DEFAULT NULL, device text DEFAULT NULL,
	without_weak boolean DEFAULT false)
RETURNS TABLE (rank bigint, level int, problem int, task text, speedup float8, lower float8, upper float8, candidate_id bigint,
			   methods text[], evaluated boolean)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF cudal1_top_tasks.n IS NULL OR cudal1_top_tasks.n < 1 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'argument "n" must be at least 1';
	END IF;
	PERFORM cudal1.check_report(cudal1_top_tasks.method, cudal1_top_tasks.device);
	RETURN QUERY
	SELECT rank() OVER (ORDER BY b.speedup DESC), t.level, t.problem, t.name, b.speedup, m.lower, m.upper, b.candidate_id,
		   ARRAY(SELECT DISTINCT p.method FROM cudal1.proposal AS p WHERE p.candidate_id = b.candidate_id ORDER BY p.method), b.evaluated
	FROM cudal1.best_speedups(cudal1_top_tasks.method, cudal1_top_tasks.device) AS b
		JOIN cudal1.task AS t ON t.task_id = b.task_id
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = cudal1.speaking_measurement(b.candidate_id, b.speedup, b.evaluated)
	WHERE b.speedup IS NOT NULL AND NOT (cudal1_top_tasks.without_weak AND t.certified IS NOT DISTINCT FROM 'weak')
	ORDER BY b.speedup DESC, t.name
	LIMIT cudal1_top_tasks.n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_top_tasks(int, text, text, boolean) IS
'CUDA-L1, table 8: the n tasks with the highest speedups; lower and upper: interval of the measurement it rests on (NULL: imported); methods: all that proposed the code. Errors: 22023 n below 1, 42704 unknown device';

CREATE FUNCTION cudal1.speaking_measurement(candidate_id bigint, speedup float8, evaluated boolean)
RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN speaking_measurement.evaluated
				THEN (SELECT pg_catalog.max(m.measurement_id) FROM cudal1.measurement AS m
					  WHERE m.candidate_id = speaking_measurement.candidate_id AND m.kind = 'evaluate'
						AND m.reward = speaking_measurement.speedup)
				ELSE (SELECT c.measurement_id FROM cudal1.candidate AS c
					  WHERE c.candidate_id = speaking_measurement.candidate_id AND c.reward = speaking_measurement.speedup) END;
END;
COMMENT ON FUNCTION cudal1.speaking_measurement(bigint, float8, boolean) IS
'the measurement that a row of cudal1.best_speedups() rests on; NULL for an imported score';

CREATE FUNCTION @extschema@.cudal1_speedup_histogram(method text DEFAULT NULL, device text DEFAULT NULL, width float8 DEFAULT 0.5,
	without_weak boolean DEFAULT false)
RETURNS TABLE (level text, lower float8, upper float8, speedup_from float8, speedup_to float8, tasks bigint, share float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF cudal1_speedup_histogram.width IS NULL OR NOT (cudal1_speedup_histogram.width >= 0.001 AND cudal1_speedup_histogram.width <= 10) THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'argument "width" must lie between 0.001 and 10';
	END IF;
	PERFORM cudal1.check_report(cudal1_speedup_histogram.method, cudal1_speedup_histogram.device);
	RETURN QUERY
	WITH best AS MATERIALIZED (
		SELECT b.level, floor(ln(b.speedup) / cudal1_speedup_histogram.width)::int AS k
		FROM cudal1.best_speedups(cudal1_speedup_histogram.method, cudal1_speedup_histogram.device) AS b
			JOIN cudal1.task AS t ON t.task_id = b.task_id
		WHERE b.speedup > 0 AND NOT (cudal1_speedup_histogram.without_weak AND t.certified IS NOT DISTINCT FROM 'weak')
	), labelled AS (
		SELECT g.label, g.place, b.k
		FROM best AS b CROSS JOIN LATERAL (VALUES (coalesce(b.level::text, 'none'), coalesce(b.level, 2147483647)::bigint),
												  ('All', 2147483648)) AS g (label, place)
	), bins AS (
		-- empty bins between the ends are bars of height 0
		SELECT generate_series(min(b.k), max(b.k)) AS k FROM best AS b)
	SELECT l.label, i.k * cudal1_speedup_histogram.width, (i.k + 1) * cudal1_speedup_histogram.width,
		   exp(i.k * cudal1_speedup_histogram.width), exp((i.k + 1) * cudal1_speedup_histogram.width),
		   count(x.k), count(x.k)::float8 / (SELECT count(*) FROM labelled AS y WHERE y.label = l.label)
	FROM (SELECT DISTINCT y.label, y.place FROM labelled AS y) AS l
		CROSS JOIN bins AS i
		LEFT JOIN labelled AS x ON x.label = l.label AND x.k = i.k
	GROUP BY l.label, l.place, i.k
	ORDER BY l.place, i.k;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_speedup_histogram(text, text, float8, boolean) IS
'CUDA-L1, figure 3: successful tasks by ln speedup in bins [lower, upper) of a width (0.5), which are [speedup_from, speedup_to) in speedup; all levels over the same bins, share within the level. Errors: 22023 bad width, 42704 unknown device';

CREATE FUNCTION cudal1.paired_test(a float8[], b float8[], confidence float8, OUT pairs bigint, OUT a_better bigint, OUT b_better bigint,
	OUT ratio float8, OUT lower float8, OUT upper float8, OUT signed_rank_p float8, OUT sign_p float8)
RETURNS record
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_paired_test';
COMMENT ON FUNCTION cudal1.paired_test(float8[], float8[], float8) IS
'compares speedups of two sides pair by pair. ratio: geometric mean of a / b, with Student''s t interval over the logarithms (NULL where a side is 0 and the other is not); signed_rank_p: Wilcoxon''s test, two-sided, zero differences dropped, ties at middle ranks, exact up to 400 pairs; sign_p: the exact two-sided sign test. Errors: 2202E lengths, 22023 negative speedups or bad confidence';

CREATE FUNCTION @extschema@.cudal1_compare_tasks(method_a text, method_b text, device_a text DEFAULT NULL, device_b text DEFAULT NULL,
	missing text DEFAULT 'one', without_weak boolean DEFAULT false)
RETURNS TABLE (level int, task text, speedup_a float8, speedup_b float8, ratio float8, lower float8, upper float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF cudal1_compare_tasks.without_weak IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'without_weak must not be null';
	END IF;
	PERFORM cudal1.check_report(cudal1_compare_tasks.method_a, cudal1_compare_tasks.device_a, cudal1_compare_tasks.missing);
	PERFORM cudal1.check_report(cudal1_compare_tasks.method_b, cudal1_compare_tasks.device_b);
	RETURN QUERY
	WITH sides AS (
		SELECT s.side, s.task_id, s.speedup, nullif(ln(m.upper / m.lower) / 2, 0) AS half
		FROM (SELECT 'a' AS side, x.* FROM cudal1.best_speedups(cudal1_compare_tasks.method_a, cudal1_compare_tasks.device_a) AS x
			  UNION ALL
			  SELECT 'b', x.* FROM cudal1.best_speedups(cudal1_compare_tasks.method_b, cudal1_compare_tasks.device_b) AS x) AS s
			LEFT JOIN cudal1.measurement AS m
				ON m.measurement_id = cudal1.speaking_measurement(s.candidate_id, s.speedup, s.evaluated) AND m.lower > 0)
	SELECT t.level, t.name, v.a, v.b, v.ratio,
		   v.ratio * exp(-sqrt(a.half ^ 2 + b.half ^ 2)), v.ratio * exp(sqrt(a.half ^ 2 + b.half ^ 2))
	FROM sides AS a
		JOIN sides AS b ON b.task_id = a.task_id AND b.side = 'b'
		JOIN cudal1.task AS t ON t.task_id = a.task_id
		CROSS JOIN (SELECT CASE cudal1_compare_tasks.missing WHEN 'zero' THEN 0::float8 WHEN 'one' THEN 1 END AS instead) AS i
		CROSS JOIN LATERAL (SELECT coalesce(a.speedup, i.instead) AS a, coalesce(b.speedup, i.instead) AS b) AS w
		CROSS JOIN LATERAL (SELECT w.a, w.b, CASE WHEN w.a = w.b THEN 1 WHEN w.b > 0 THEN w.a / w.b END AS ratio) AS v
	WHERE a.side = 'a' AND v.a IS NOT NULL AND v.b IS NOT NULL
		AND NOT (cudal1_compare_tasks.without_weak AND t.certified IS NOT DISTINCT FROM 'weak')
	ORDER BY t.level NULLS LAST, t.task_id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_compare_tasks(text, text, text, text, text, boolean) IS
'two methods (NULL: any), or one on two devices, task by task: best speedups, their ratio a / b (NULL where only b is 0) and its interval from those of the two measurements (NULL: imported or missing). missing: one (no improvement counts 1.00), zero, or drop (tasks that only one side solved are left out)';

CREATE FUNCTION @extschema@.cudal1_compare(method_a text, method_b text, device_a text DEFAULT NULL, device_b text DEFAULT NULL,
	missing text DEFAULT 'one', without_weak boolean DEFAULT false, confidence float8 DEFAULT 0.95)
RETURNS TABLE (level text, tasks bigint, a_better bigint, b_better bigint, ratio float8, lower float8, upper float8,
			   signed_rank_p float8, sign_p float8, convention text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF cudal1_compare.confidence IS NULL OR NOT (cudal1_compare.confidence > 0 AND cudal1_compare.confidence < 1) THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'argument "confidence" must lie between 0 and 1';
	END IF;
	RETURN QUERY
	WITH pairs AS MATERIALIZED (
		SELECT c.* FROM @extschema@.cudal1_compare_tasks(cudal1_compare.method_a, cudal1_compare.method_b, cudal1_compare.device_a,
			cudal1_compare.device_b, cudal1_compare.missing, cudal1_compare.without_weak) AS c
	), groups AS (
		SELECT g.label, g.place, array_agg(p.speedup_a ORDER BY p.task) AS a, array_agg(p.speedup_b ORDER BY p.task) AS b
		FROM pairs AS p CROSS JOIN LATERAL (VALUES (coalesce(p.level::text, 'none'), coalesce(p.level, 2147483647)::bigint),
												   ('All', 2147483648)) AS g (label, place)
		GROUP BY g.label, g.place)
	SELECT g.label, t.pairs, t.a_better, t.b_better, t.ratio, t.lower, t.upper, t.signed_rank_p, t.sign_p,
		   CASE cudal1_compare.missing WHEN 'zero' THEN 'missing results count 0' WHEN 'one' THEN 'missing results count 1.00'
									   ELSE 'tasks with a missing result left out' END
	FROM groups AS g CROSS JOIN LATERAL cudal1.paired_test(g.a, g.b, cudal1_compare.confidence) AS t
	ORDER BY g.place;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_compare(text, text, text, text, text, boolean, float8) IS
'two methods, or one on two devices, over the tasks of each level and All: how often each is better, the geometric mean of the ratios a / b with its interval at the confidence (Student''s t over ln ratio, tasks as the sample), and two paired tests, two-sided: Wilcoxon''s signed ranks (exact up to 400 tasks) and signs (exact). missing as in cudal1_compare_tasks(); under zero an interval is NULL where one side failed alone, the tests still count it. Errors: 22023 bad argument, 42704 unknown device';
/*
 * Ablations (CUDA-L1, section 4): which of a code's switches bring its speedup, and which only in company.
 *
 * Speedups of techniques multiply, so effects are differences of logarithms: a factor of 1 is no effect, a factor of 2 doubles.
 * Every combination is a candidate of its own, measured like any other and never sampled or reported.
 */

CREATE TABLE cudal1.ablation (
	ablation_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	switches			text[] NOT NULL CHECK (pg_catalog.cardinality(switches) OPERATOR(pg_catalog.>=) 1
											   AND pg_catalog.cardinality(switches) OPERATOR(pg_catalog.<=) 8),
	created_at			timestamptz NOT NULL DEFAULT pg_catalog.now(),
	created_by			text NOT NULL DEFAULT SESSION_USER
);
COMMENT ON TABLE cudal1.ablation IS 'a code whose named switches are measured in all combinations';
COMMENT ON COLUMN cudal1.ablation.candidate_id IS 'the candidate whose code holds the switches';

CREATE TABLE cudal1.ablation_run (
	ablation_id			bigint NOT NULL REFERENCES cudal1.ablation (ablation_id),
	mask				int NOT NULL CHECK (mask OPERATOR(pg_catalog.>=) 0),
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	bottleneck			text,
	PRIMARY KEY (ablation_id, mask)
);
COMMENT ON TABLE cudal1.ablation_run IS 'one combination of an ablation''s switches';
COMMENT ON COLUMN cudal1.ablation_run.mask IS 'bit i - 1 is set where switch i is on';
COMMENT ON COLUMN cudal1.ablation_run.bottleneck IS 'what holds this combination back, as a person found (cudal1_ablation_explain); NULL: open';

CREATE FUNCTION cudal1.set_switch(code text, switch text, is_on boolean)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	-- USE_X = True, self.USE_X = True, static const int USE_X = 1; a value of its own kind comes back
	assigned	constant text := '^([ \t]*(?:(?:static|const|constexpr)[ \t]+)*(?:(?:int|bool|_Bool|unsigned|auto)[ \t]+)?(?:self\.)?' || switch
		|| '[ \t]*(?::[ \t]*bool[ \t]*)?=[ \t]*)(True|False|true|false|0|1)\M(?![.xX])';
	defined		constant text := '^([ \t]*#[ \t]*define[ \t]+' || switch || '[ \t]+)(0|1|true|false)\M(?![.xX])';
	bare		constant text := '^([ \t]*#[ \t]*)(define|undef)([ \t]+' || switch || '[ \t]*(?:$|//|/\*))';
	pattern		text;
	present		text;
	places		int := 0;
	found		text;
BEGIN
	IF switch !~ '^[A-Za-z_][A-Za-z0-9_]{0,99}$' THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('switch "%s" is no name', switch),
			HINT = 'A switch is a constant of the code, for instance USE_TILING.';
	END IF;
	FOREACH pattern IN ARRAY ARRAY[assigned, defined, bare] LOOP
		SELECT places + count(*), coalesce(present, min(m.groups[2])), CASE WHEN count(*) > 0 THEN pattern ELSE found END
			INTO places, present, found
			FROM regexp_matches(code, pattern, 'gn') AS m (groups);
	END LOOP;
	IF places <> 1 THEN
		RAISE EXCEPTION USING ERRCODE = '22023',
			MESSAGE = format('switch "%s" is set %s times in the code', switch, places),
			DETAIL = 'It must be set exactly once, on a line of its own, to a plain truth value.',
			HINT = 'Write USE_X = True (Python), #define USE_X 1 or static const int USE_X = 1 (C); a bare #define USE_X becomes #undef.';
	END IF;
	IF found = bare THEN
		RETURN regexp_replace(code, bare, '\1' || CASE WHEN is_on THEN 'define' ELSE 'undef' END || '\3', 'n');
	END IF;
	RETURN regexp_replace(code, found,
		'\1' || CASE WHEN present IN ('True', 'False') THEN CASE WHEN is_on THEN 'True' ELSE 'False' END
					 WHEN present IN ('true', 'false') THEN CASE WHEN is_on THEN 'true' ELSE 'false' END
					 ELSE CASE WHEN is_on THEN '1' ELSE '0' END END, 'n');
END
$$;
COMMENT ON FUNCTION cudal1.set_switch(text, text, boolean) IS
'the code with a named switch on or off; error 22023 where the name is none or is not set exactly once';

CREATE FUNCTION @extschema@.cudal1_ablate(candidate_id bigint, switches text[], priority int DEFAULT 0)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	c		cudal1.candidate;
	t		cudal1.task;
	id		bigint;
	variant	bigint;
	body	text;
	n		int := cardinality(switches);
BEGIN
	IF cudal1_ablate.candidate_id IS NULL OR switches IS NULL OR cudal1_ablate.priority IS NULL
		OR array_position(switches, NULL) IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'candidate_id, switches and priority must not be null';
	END IF;
	IF n NOT BETWEEN 1 AND 8 OR array_ndims(switches) <> 1 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'switches must be 1 to 8 names',
			DETAIL = format('They are %s; all combinations of 8 are 256 measurements.', n);
	END IF;
	IF n > (SELECT count(DISTINCT s) FROM unnest(switches) AS s) THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'switches must not repeat a name';
	END IF;
	SELECT x.* INTO c FROM cudal1.candidate AS x WHERE x.candidate_id = cudal1_ablate.candidate_id;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('candidate %s does not exist', cudal1_ablate.candidate_id);
	ELSIF EXISTS (SELECT FROM cudal1.pruned AS p WHERE p.candidate_id = c.candidate_id) THEN
		RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = format('the code of candidate %s was pruned', c.candidate_id);
	END IF;
	SELECT x.* INTO STRICT t FROM cudal1.task AS x WHERE x.task_id = c.task_id;
	INSERT INTO cudal1.ablation (task_id, candidate_id, switches) VALUES (c.task_id, c.candidate_id, cudal1_ablate.switches)
		RETURNING ablation_id INTO id;
	FOR mask IN REVERSE (1 << n) - 1 .. 0 LOOP
		body := c.code;
		FOR i IN 1 .. n LOOP
			body := cudal1.set_switch(body, switches[i], mask >> (i - 1) & 1 = 1);
		END LOOP;
		-- the code as it stands is one of the combinations, and stays what it is
		SELECT x.candidate_id INTO variant FROM cudal1.candidate AS x
			WHERE x.task_id = c.task_id AND x.code_hash = cudal1.code_hash(body) AND x.state <> 'discarded' AND NOT x.imported;
		IF NOT FOUND THEN
			variant := cudal1.accept_submission(t, body, 'ablation', NULL, format('ablation %s', id), NULL, cudal1_ablate.priority,
												NULL, NULL, NULL, 'ablation');
		END IF;
		INSERT INTO cudal1.ablation_run (ablation_id, mask, candidate_id) VALUES (id, mask, variant);
	END LOOP;
	RETURN id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_ablate(bigint, text[], int) IS
'queues all combinations of 1 to 8 named switches of a candidate''s code (CUDA-L1, section 4) and returns the ablation. A switch is set exactly once, on a line of its own: USE_X = True, #define USE_X 1, static const int USE_X = 1, or a bare #define USE_X. Combinations are candidates of purpose ablation, neither sampled nor reported; one that was measured before is not measured again. Errors: 22023 bad switches, 42704 unknown candidate';

CREATE FUNCTION cudal1.ablation_scores(ablation_id bigint)
RETURNS TABLE (mask int, candidate_id bigint, state text, failure text, score float8, lower float8, upper float8, half float8)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	-- an interval on the other side of the score (where audits set it) says nothing about it
	SELECT r.mask, c.candidate_id, c.state, c.failure, CASE c.state WHEN 'successful' THEN c.score WHEN 'failed' THEN 0 END,
		   m.lower, m.upper, CASE WHEN m.lower > 0 AND c.state = 'successful' THEN pg_catalog.ln(m.upper / m.lower) / 2 END
	FROM cudal1.ablation_run AS r
		JOIN cudal1.candidate AS c ON c.candidate_id = r.candidate_id
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = c.measurement_id
	WHERE r.ablation_id = ablation_scores.ablation_id;
END;
COMMENT ON FUNCTION cudal1.ablation_scores(bigint) IS
'the combinations of an ablation with their scores (0 failed, NULL undecided or discarded) and the half-width of ln score';

CREATE FUNCTION cudal1.find_ablation(ablation_id bigint)
RETURNS cudal1.ablation
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	a		cudal1.ablation;
BEGIN
	SELECT x.* INTO a FROM cudal1.ablation AS x WHERE x.ablation_id = find_ablation.ablation_id;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('ablation %s does not exist', coalesce(find_ablation.ablation_id::text, 'null')),
			HINT = 'cudal1_ablate() makes one; cudal1.ablation lists them.';
	END IF;
	RETURN a;
END
$$;
COMMENT ON FUNCTION cudal1.find_ablation(bigint) IS 'the ablation of an id; error 42704 if there is none';

CREATE FUNCTION @extschema@.cudal1_ablation_table(ablation_id bigint)
RETURNS TABLE (configuration text, settings boolean[], speedup float8, lower float8, upper float8, state text, failure text,
			   candidate_id bigint, bottleneck text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	a		cudal1.ablation := cudal1.find_ablation(cudal1_ablation_table.ablation_id);
	n		int := cardinality(a.switches);
BEGIN
	RETURN QUERY
	SELECT CASE WHEN s.mask = 0 THEN 'baseline' WHEN s.mask = (1 << n) - 1 THEN 'all'
				ELSE (SELECT string_agg(a.switches[i], ' + ' ORDER BY i) FROM generate_series(1, n) AS i WHERE s.mask >> (i - 1) & 1 = 1) END,
		   ARRAY(SELECT s.mask >> (i - 1) & 1 = 1 FROM generate_series(1, n) AS i ORDER BY i),
		   s.score, s.lower, s.upper, s.state, s.failure, s.candidate_id, r.bottleneck
	FROM cudal1.ablation_scores(a.ablation_id) AS s
		JOIN cudal1.ablation_run AS r ON r.ablation_id = a.ablation_id AND r.mask = s.mask
	ORDER BY s.score DESC NULLS LAST, bit_count(s.mask::bit(8)), s.mask;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_ablation_table(bigint) IS
'CUDA-L1, tables 9 and 10: every combination, fastest first; settings in the order of the switches; speedup before rounding, 0 failed, NULL not decided; lower and upper: the interval of its measurement; bottleneck is open until cudal1_ablation_explain() says it';

CREATE FUNCTION @extschema@.cudal1_ablation_effects(ablation_id bigint, max_order int DEFAULT 2)
RETURNS TABLE (effect text, switches text[], factor float8, lower float8, upper float8, settings bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	a		cudal1.ablation := cudal1.find_ablation(cudal1_ablation_effects.ablation_id);
	n		int := cardinality(a.switches);
BEGIN
	IF max_order IS NULL OR max_order < 1 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'argument "max_order" must be at least 1';
	END IF;
	RETURN QUERY
	WITH subsets AS (
		SELECT s AS subset, bit_count(s::bit(8)) AS size FROM generate_series(1, (1 << n) - 1) AS s WHERE bit_count(s::bit(8)) <= max_order
	), contrasts AS (
		-- for each setting of the other switches, the alternating sum over those of the subset
		SELECT u.subset, u.size, x.mask & ~u.subset AS others,
			   sum(CASE WHEN (u.size - bit_count((x.mask & u.subset)::bit(8))) % 2 = 0 THEN 1 ELSE -1 END * ln(x.score)) AS contrast,
			   CASE WHEN count(x.half) = 1 << u.size::int THEN sum(x.half ^ 2) END AS noise
		FROM subsets AS u CROSS JOIN cudal1.ablation_scores(a.ablation_id) AS x
		WHERE x.score > 0
		GROUP BY u.subset, u.size, x.mask & ~u.subset
		HAVING count(*) = 1 << u.size::int
	), effects AS (
		SELECT u.subset, u.size, avg(c.contrast) AS contrast, count(c.contrast) AS settings,
			   CASE WHEN count(c.noise) = count(*) THEN sqrt(sum(c.noise)) / count(*) END AS half
		FROM subsets AS u LEFT JOIN contrasts AS c ON c.subset = u.subset
		GROUP BY u.subset, u.size)
	SELECT CASE WHEN e.size = 1 THEN 'main' ELSE 'interaction' END,
		   ARRAY(SELECT a.switches[i] FROM generate_series(1, n) AS i WHERE e.subset >> (i - 1) & 1 = 1 ORDER BY i),
		   exp(e.contrast), exp(e.contrast - e.half), exp(e.contrast + e.half), e.settings
	FROM effects AS e
	ORDER BY e.size, abs(e.contrast) DESC NULLS LAST, e.subset;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_ablation_effects(bigint, int) IS
'main effects and interactions of an ablation up to an order (2), on the log scale and shown as factors. main: speedup with the switch over speedup without, geometric mean over the settings of the others; interaction of A and B: A''s factor with B over A''s factor without B (1: they multiply, above 1: each helps the other); higher orders alike. lower and upper: from the intervals of the measurements. settings: how many settings of the other switches it rests on, those whose combinations all succeeded';

CREATE FUNCTION @extschema@.cudal1_ablation_gatekeepers(ablation_id bigint, tolerance float8 DEFAULT 0.1)
RETURNS TABLE (switch text, gatekeeper boolean, best_with float8, best_without float8, baseline float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	a		cudal1.ablation := cudal1.find_ablation(cudal1_ablation_gatekeepers.ablation_id);
BEGIN
	IF tolerance IS NULL OR NOT (tolerance >= 0 AND tolerance < 10) THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'argument "tolerance" must be a share of at least 0';
	END IF;
	RETURN QUERY
	SELECT w.name,
		   x.best_without <= x.baseline * (1 + tolerance) AND x.best_with > x.baseline * (1 + tolerance) AND x.decided,
		   x.best_with, x.best_without, x.baseline
	FROM unnest(a.switches) WITH ORDINALITY AS w (name, place)
		CROSS JOIN LATERAL (
			SELECT max(s.score) FILTER (WHERE s.mask >> (w.place - 1)::int & 1 = 1) AS best_with,
				   max(s.score) FILTER (WHERE s.mask >> (w.place - 1)::int & 1 = 0) AS best_without,
				   coalesce(nullif(max(s.score) FILTER (WHERE s.mask = 0), 0), 1) AS baseline,
				   count(s.score) = count(*) AS decided
			FROM cudal1.ablation_scores(a.ablation_id) AS s) AS x
	ORDER BY x.best_with / nullif(x.best_without, 0) DESC NULLS FIRST, w.place;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_ablation_gatekeepers(bigint, float8) IS
'which switches are gatekeepers (CUDA-L1, section 4): no combination without the switch gains more than the share tolerance (0.1) over all switches off, some combination with it does; NULL or false while combinations are undecided. baseline: the speedup with all switches off, 1 where that failed';

CREATE FUNCTION @extschema@.cudal1_ablation_explain(ablation_id bigint, switches_on text[], bottleneck text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	a		cudal1.ablation := cudal1.find_ablation(cudal1_ablation_explain.ablation_id);
	wanted	int := 0;
	s		text;
BEGIN
	IF switches_on IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'switches_on must not be null', HINT = 'The empty array is the baseline.';
	END IF;
	IF octet_length(cudal1_ablation_explain.bottleneck) > 1000 THEN
		RAISE EXCEPTION USING ERRCODE = '54000', MESSAGE = 'bottleneck must not be longer than 1000 bytes';
	END IF;
	FOREACH s IN ARRAY switches_on LOOP
		IF array_position(a.switches, s) IS NULL THEN
			RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('ablation %s has no switch "%s"', a.ablation_id, s),
				HINT = format('Its switches are %s.', array_to_string(a.switches, ', '));
		END IF;
		wanted := wanted | 1 << (array_position(a.switches, s) - 1);
	END LOOP;
	UPDATE cudal1.ablation_run AS r SET bottleneck = cudal1_ablation_explain.bottleneck
		WHERE r.ablation_id = a.ablation_id AND r.mask = wanted;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_ablation_explain(bigint, text[], text) IS
'writes what holds the combination with just these switches on back (NULL: open again) into the last column of cudal1_ablation_table(). Errors: 42704 unknown ablation or switch';
/*
 * Whether devices can be trusted, and whether scores hold.
 *
 * A/A measurements have a known answer, 1. Each device has a control chart of theirs: an exponentially weighted mean (weight
 * 0.25) of ln score in units of the profile's half_width_limit, each value cut at 1.2. Its limit 0.378 = sqrt(0.25 / 1.75)
 * is where the mean of independent values leaves the spread that the profile allows a single one. One outlier, however large,
 * stays below it; two that agree do not.
 */

CREATE VIEW cudal1.aa_chart AS
	SELECT w.device_id, w.device_key AS device, w.measurement_id, w.measured_at, w.task, w.profile, w.outcome, w.score,
		   w.half_width_limit AS "limit", w.deviation, e.mean, 0.378::float8 AS mean_limit
	FROM (SELECT n.*, pg_catalog.array_agg(n.deviation) OVER
				(PARTITION BY n.device_id ORDER BY n.measurement_id ROWS BETWEEN 29 PRECEDING AND CURRENT ROW) AS deviations
	FROM (SELECT d.device_id, d.device_key, m.measurement_id, m.measured_at, t.name AS task, m.profile, m.outcome, m.score,
				 COALESCE(p.half_width_limit, 0.01) AS half_width_limit,
				 CASE WHEN m.score > 0
					  THEN GREATEST(-1.2, LEAST(1.2, pg_catalog.ln(m.score) / COALESCE(p.half_width_limit, 0.01)))
					  ELSE -1.2 END AS deviation
		  FROM cudal1.aa_candidate AS k
			JOIN cudal1.measurement AS m ON m.candidate_id = k.candidate_id
			JOIN cudal1.device AS d ON d.device_id = m.device_id
			JOIN cudal1.task AS t ON t.task_id = k.task_id
			JOIN cudal1.profile AS p ON p.name = m.profile
		  WHERE m.outcome <> ALL (ARRAY['lost', 'cancelled', 'unverified'])
			AND (d.chart_from IS NULL OR m.measured_at >= d.chart_from)) AS n) AS w
		CROSS JOIN LATERAL (
			-- older ones weigh less than 0.0002
			SELECT pg_catalog.sum(0.25 * (0.75 ^ (pg_catalog.cardinality(w.deviations) - x.place)) * x.deviation) AS mean
			FROM pg_catalog.unnest(w.deviations) WITH ORDINALITY AS x (deviation, place)) AS e;
COMMENT ON VIEW cudal1.aa_chart IS 'A/A measurements of each device as a control chart; a device is not trusted while the size of its last mean exceeds mean_limit';
COMMENT ON COLUMN cudal1.aa_chart."limit" IS 'the half-width that the profile allows a single measurement (0.01 where it has no limit)';
COMMENT ON COLUMN cudal1.aa_chart.deviation IS 'ln score over limit, cut at -1.2 and 1.2; -1.2 where the reference failed against itself';
COMMENT ON COLUMN cudal1.aa_chart.mean IS 'exponentially weighted mean of the deviations up to this one';

CREATE FUNCTION cudal1.judge_device(device_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	d		record;
	n		record;
BEGIN
	SELECT x.device_key, x.untrusted_since INTO d FROM cudal1.device AS x WHERE x.device_id = judge_device.device_id;
	SELECT x.mean, x.mean_limit INTO n FROM cudal1.aa_chart AS x
		WHERE x.device_id = judge_device.device_id ORDER BY x.measurement_id DESC LIMIT 1;
	IF abs(n.mean) > n.mean_limit AND d.untrusted_since IS NULL THEN
		UPDATE cudal1.device AS x SET untrusted_since = clock_timestamp() WHERE x.device_id = judge_device.device_id;
		RAISE WARNING USING MESSAGE = format('A/A measurements of device "%s" drift, nothing else is measured on it', d.device_key),
			DETAIL = format('Their weighted mean is %s, its limit %s (cudal1.aa_chart).', round(n.mean::numeric, 3), n.mean_limit),
			HINT = 'It is trusted again when they are back; cudal1_trust_device() begins a new chart.';
	ELSIF coalesce(abs(n.mean), 0) <= coalesce(n.mean_limit, 0) AND d.untrusted_since IS NOT NULL THEN
		UPDATE cudal1.device AS x SET untrusted_since = NULL WHERE x.device_id = judge_device.device_id;
		PERFORM cudal1.wake();
		RAISE LOG 'A/A measurements of device "%" are back, it is trusted again', d.device_key;
	END IF;
END
$$;
COMMENT ON FUNCTION cudal1.judge_device(bigint) IS 'trusts a device, or not, by the last point of its control chart; warns when it does so no longer';

CREATE FUNCTION cudal1.aa_code(t cudal1.task)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT t.reference || CASE t.language WHEN 'pytorch' THEN E'\n\n\n# the reference as its own candidate\nclass ModelNew(Model):\n    pass\n'
										  ELSE E'\n/* the reference as its own candidate */\n' END;
END;
COMMENT ON FUNCTION cudal1.aa_code(cudal1.task) IS 'the reference of a task as a candidate, its own code but for a comment';

CREATE FUNCTION @extschema@.cudal1_measure_aa(task text DEFAULT NULL, device_key text DEFAULT NULL, priority int DEFAULT 1000)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	d		cudal1.device;
	t		cudal1.task;
	id		bigint;
	n		bigint := 0;
	added	bigint;
BEGIN
	IF cudal1_measure_aa.priority IS NULL OR cudal1_measure_aa.priority NOT BETWEEN -1000000000 AND 1000000000 THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'priority must lie between -1000000000 and 1000000000';
	END IF;
	IF cudal1_measure_aa.task IS NOT NULL THEN
		PERFORM cudal1.find_task(cudal1_measure_aa.task);
	END IF;
	IF cudal1_measure_aa.device_key IS NOT NULL
		AND NOT EXISTS (SELECT FROM cudal1.device AS x WHERE x.device_key = cudal1_measure_aa.device_key) THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('device "%s" does not exist', cudal1_measure_aa.device_key),
			HINT = 'cudal1.device lists the devices.';
	END IF;
	FOR d IN
		SELECT x.* FROM cudal1.device AS x
			WHERE x.enabled AND x.device_key = coalesce(cudal1_measure_aa.device_key, x.device_key) ORDER BY x.device_id
	LOOP
		-- the same task again, so that the points of a chart can be compared
		SELECT x.* INTO t
			FROM cudal1.task AS x LEFT JOIN cudal1.aa_candidate AS k ON k.task_id = x.task_id
			WHERE x.name = coalesce(cudal1_measure_aa.task, x.name)
				AND x.language = ANY (d.languages) AND x.cores <= d.cores
				AND coalesce(x.device_model, d.model) = d.model AND (x.device IN (d.class, d.model))
			ORDER BY k.candidate_id NULLS LAST, x.task_id
			LIMIT 1;
		CONTINUE WHEN NOT FOUND;
		SELECT k.candidate_id INTO id FROM cudal1.aa_candidate AS k WHERE k.task_id = t.task_id;
		IF NOT FOUND THEN
			id := cudal1.accept_submission(t, cudal1.aa_code(t), 'a/a', NULL, NULL, NULL, cudal1_measure_aa.priority, NULL, NULL, NULL,
										   'null');
			INSERT INTO cudal1.aa_candidate (task_id, candidate_id) VALUES (t.task_id, id) ON CONFLICT DO NOTHING;
		END IF;
		INSERT INTO cudal1.job (kind, task_id, candidate_id, profile, device, cores, language, priority)
			VALUES ('evaluate', t.task_id, id, t.profile, d.device_key, t.cores, t.language, cudal1_measure_aa.priority)
			ON CONFLICT DO NOTHING;
		GET DIAGNOSTICS added = ROW_COUNT;
		n := n + added;
	END LOOP;
	IF n > 0 THEN
		PERFORM cudal1.wake();
	END IF;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_measure_aa(text, text, int) IS
'queues an A/A measurement, a task''s reference against itself, on every enabled device, or on one; task NULL: the one measured so before, else the first that the device can measure. Returns the jobs queued; what waits already is not queued again. The points go into cudal1.aa_chart; a device whose chart drifts measures nothing else. For cron. Errors: 42704 unknown task or device';

CREATE FUNCTION @extschema@.cudal1_trust_device(device_key text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	IF cudal1_trust_device.device_key IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'device_key must not be null';
	END IF;
	UPDATE cudal1.device AS d SET untrusted_since = NULL, chart_from = clock_timestamp()
		WHERE d.device_key = cudal1_trust_device.device_key;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('device "%s" does not exist', cudal1_trust_device.device_key),
			HINT = 'cudal1.device lists the devices.';
	END IF;
	PERFORM cudal1.wake();
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_trust_device(text) IS
'an operator''s word that a device is mended: it is trusted again, and its control chart begins anew. Error 42704 for an unknown device';

CREATE VIEW cudal1.drift AS
	SELECT t.name AS task, h.candidate_id, h.measurement_id, h.measured_at, h.device_model AS device, h.profile, h.outcome,
		   h.previous_reward, h.reward, h.previous_score, h.score, h.score / NULLIF(h.previous_score, 0) - 1 AS change,
		   -- intervals that do not meet
		   CASE WHEN h.outcome = 'successful' THEN h.lower > h.previous_upper OR h.upper < h.previous_lower ELSE h.reward = 0 END AS changed,
		   h.measured_at - h.previous_at AS after,
		   NULLIF(pg_catalog.concat_ws(', ',
			   CASE WHEN h.environment ->> 'runner' IS DISTINCT FROM h.previous_environment ->> 'runner' THEN 'runner' END,
			   CASE WHEN h.environment ->> 'driver' IS DISTINCT FROM h.previous_environment ->> 'driver' THEN 'driver' END,
			   CASE WHEN h.device_id <> h.previous_device THEN 'device' END,
			   CASE WHEN h.profile <> h.previous_profile THEN 'profile' END), '') AS differs
	FROM (SELECT m.*, pg_catalog.lag(m.score) OVER w AS previous_score, pg_catalog.lag(m.reward) OVER w AS previous_reward,
				 pg_catalog.lag(m.lower) OVER w AS previous_lower, pg_catalog.lag(m.upper) OVER w AS previous_upper,
				 pg_catalog.lag(m.measured_at) OVER w AS previous_at, pg_catalog.lag(m.environment) OVER w AS previous_environment,
				 pg_catalog.lag(m.device_id) OVER w AS previous_device, pg_catalog.lag(m.profile) OVER w AS previous_profile
		  FROM cudal1.measurement AS m
		  WHERE m.accepted AND m.kind <> 'evaluate'
		  WINDOW w AS (PARTITION BY m.candidate_id ORDER BY m.measurement_id)) AS h
		JOIN cudal1.task AS t ON t.task_id = h.task_id
	WHERE h.kind = 'reverify' AND h.previous_at IS NOT NULL;
COMMENT ON VIEW cudal1.drift IS 'how scores held: one row for each re-verification that decided, beside the verdict before it';
COMMENT ON COLUMN cudal1.drift.change IS 'score over the score before, minus 1';
COMMENT ON COLUMN cudal1.drift.changed IS 'true where the intervals of the two measurements do not meet, or the candidate failed this time';
COMMENT ON COLUMN cudal1.drift.after IS 'time between the two';
COMMENT ON COLUMN cudal1.drift.differs IS 'what was not the same: runner, driver, device, profile; NULL: nothing known';
/*
 * Upkeep: statistics, retention, and a recount of everything that is derived.
 */

CREATE VIEW cudal1.stat_device AS
	SELECT d.device_key AS device, d.class, d.model, d.enabled, d.untrusted_since, s.measurements, s.successful, s.failed, s.lost,
		   s.device_seconds, s.clock_seconds, s.clock_seconds / NULLIF(s.device_seconds, 0) AS clock_share, s.last_measured, d.last_seen
	FROM cudal1.device AS d
		LEFT JOIN LATERAL (
			SELECT pg_catalog.count(*) AS measurements,
				   pg_catalog.count(*) FILTER (WHERE m.reward > 0) AS successful,
				   pg_catalog.count(*) FILTER (WHERE m.reward = 0) AS failed,
				   pg_catalog.count(*) FILTER (WHERE m.reward IS NULL) AS lost,
				   pg_catalog.sum(m.device_seconds) AS device_seconds, pg_catalog.sum(m.clock_seconds) AS clock_seconds,
				   pg_catalog.max(m.measured_at) AS last_measured
			FROM cudal1.measurement AS m WHERE m.device_id = d.device_id) AS s ON true;
COMMENT ON VIEW cudal1.stat_device IS 'one row a device: how much it measured, how that ended, and for how long it was held';
COMMENT ON COLUMN cudal1.stat_device.lost IS 'measurements without a verdict: lost, unverified, unstable and to be repeated, cancelled';
COMMENT ON COLUMN cudal1.stat_device.clock_share IS 'share of the time held in which the clock ran';

CREATE VIEW cudal1.stat_task AS
	SELECT t.name AS task, t.level, t.device_model AS device, c.candidates, c.waiting, c.successful, c.failed, c.discarded, c.best, m.measurements,
		   m.device_seconds, c.last_decided
	FROM cudal1.task AS t
		LEFT JOIN LATERAL (
			SELECT pg_catalog.count(*) AS candidates,
				   pg_catalog.count(*) FILTER (WHERE x.state IN ('queued', 'measuring', 'verifying')) AS waiting,
				   pg_catalog.count(*) FILTER (WHERE x.state = 'successful') AS successful,
				   pg_catalog.count(*) FILTER (WHERE x.state = 'failed') AS failed,
				   pg_catalog.count(*) FILTER (WHERE x.state = 'discarded') AS discarded,
				   pg_catalog.max(x.reward) AS best, pg_catalog.max(x.decided_at) AS last_decided
			FROM cudal1.candidate AS x WHERE x.task_id = t.task_id AND x.purpose = 'normal') AS c ON true
		LEFT JOIN (
			SELECT x.task_id, pg_catalog.count(*) AS measurements, pg_catalog.sum(x.device_seconds) AS device_seconds
			FROM cudal1.measurement AS x GROUP BY x.task_id) AS m ON m.task_id = t.task_id;
COMMENT ON VIEW cudal1.stat_task IS 'one row a task: its candidates by what became of them, the best reward, and the device time they took; measurements of every purpose count';

CREATE VIEW cudal1.stat_method AS
	SELECT p.method, pg_catalog.count(*) AS proposals, pg_catalog.count(DISTINCT p.candidate_id) AS candidates,
		   pg_catalog.count(DISTINCT p.task_id) AS tasks,
		   pg_catalog.count(*) FILTER (WHERE c.state = 'successful') AS successful,
		   pg_catalog.count(*) FILTER (WHERE c.reward > 1) AS faster,
		   pg_catalog.count(*) FILTER (WHERE c.failure = 'malformed') AS malformed,
		   pg_catalog.count(*) FILTER (WHERE c.failure = 'compile_error') AS compile_error,
		   pg_catalog.count(*) FILTER (WHERE c.failure IN ('crash', 'launch_failure', 'timeout')) AS not_executable,
		   pg_catalog.count(*) FILTER (WHERE c.failure = 'wrong_output') AS wrong_output,
		   pg_catalog.count(*) FILTER (WHERE c.failure = 'cheat') AS cheat,
		   pg_catalog.count(*) FILTER (WHERE c.state = 'discarded') AS discarded,
		   pg_catalog.avg(c.reward) AS mean_reward, pg_catalog.max(p.created_at) AS last_proposed
	FROM cudal1.proposal AS p JOIN cudal1.candidate AS c ON c.candidate_id = p.candidate_id
	GROUP BY p.method;
COMMENT ON VIEW cudal1.stat_method IS 'one row a method: its proposals by what became of their candidates';

CREATE FUNCTION @extschema@.cudal1_prune(older_than interval, dry_run boolean DEFAULT false)
RETURNS TABLE (part text, texts bigint, bytes bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	ids		bigint[];
BEGIN
	IF cudal1_prune.older_than IS NULL OR cudal1_prune.dry_run IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'older_than and dry_run must not be null';
	END IF;
	IF cudal1_prune.older_than < '0'::interval THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'older_than must not be negative';
	END IF;
	-- failed ones only: they have their verdict, and nothing measures, samples or shows them again
	SELECT coalesce(array_agg(c.candidate_id), '{}') INTO ids FROM (
		SELECT x.candidate_id FROM cudal1.candidate AS x
			WHERE x.state = 'failed' AND x.decided_at < clock_timestamp() - cudal1_prune.older_than
				AND NOT EXISTS (SELECT FROM cudal1.pruned AS p WHERE p.candidate_id = x.candidate_id)
				AND NOT EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = x.candidate_id)
				AND NOT EXISTS (SELECT FROM cudal1.aa_candidate AS k WHERE k.candidate_id = x.candidate_id)
				AND NOT EXISTS (SELECT FROM cudal1.null_candidate AS k WHERE k.candidate_id = x.candidate_id)
			ORDER BY x.candidate_id
			FOR NO KEY UPDATE SKIP LOCKED) AS c;

	RETURN QUERY SELECT 'code', count(*), coalesce(sum(octet_length(c.code)), 0)::bigint FROM cudal1.candidate AS c WHERE c.candidate_id = ANY (ids);
	RETURN QUERY SELECT 'responses', count(*), coalesce(sum(octet_length(p.response)), 0)::bigint
		FROM cudal1.proposal AS p WHERE p.candidate_id = ANY (ids) AND p.response IS NOT NULL;
	RETURN QUERY SELECT 'samples', count(*), coalesce(sum(octet_length(m.samples::text)), 0)::bigint
		FROM cudal1.measurement AS m WHERE m.candidate_id = ANY (ids) AND m.samples IS NOT NULL;
	IF NOT cudal1_prune.dry_run THEN
		INSERT INTO cudal1.pruned (candidate_id, bytes)
			SELECT c.candidate_id, octet_length(c.code) FROM cudal1.candidate AS c WHERE c.candidate_id = ANY (ids);
		UPDATE cudal1.candidate AS c SET code = '' WHERE c.candidate_id = ANY (ids);
		UPDATE cudal1.proposal AS p SET response = NULL WHERE p.candidate_id = ANY (ids) AND p.response IS NOT NULL;
		UPDATE cudal1.measurement AS m SET samples = NULL WHERE m.candidate_id = ANY (ids) AND m.samples IS NOT NULL;
	END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_prune(interval, boolean) IS
'removes the big texts of candidates that failed longer ago than that: code, the models'' answers, samples of their measurements; returns how many and how many bytes, with dry_run without removing them. Verdict, detail and hash stay, so the same code proposed again is known, and is not measured again. Nothing calls it by itself. Errors: 22023 negative interval';

CREATE FUNCTION @extschema@.cudal1_check()
RETURNS TABLE (subject text, place text, expected text, found text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	-- buckets, slots, islands
	RETURN QUERY
	SELECT r.difference, format('task "%s", %s', t.name, r.place), r.expected, r.found
	FROM cudal1.recount() AS r LEFT JOIN cudal1.task AS t ON t.task_id = r.task
	ORDER BY r.task, 1, 2;

	-- candidates
	RETURN QUERY
	SELECT 'code hash', format('candidate %s', c.candidate_id), encode(cudal1.code_hash(c.code), 'hex'), encode(c.code_hash, 'hex')
	FROM cudal1.candidate AS c
	WHERE c.code_hash <> cudal1.code_hash(c.code)
		AND NOT EXISTS (SELECT FROM cudal1.pruned AS p WHERE p.candidate_id = c.candidate_id)
		-- whose hashes are salted
		AND NOT EXISTS (SELECT FROM cudal1.null_candidate AS k WHERE k.candidate_id = c.candidate_id);
	RETURN QUERY
	SELECT 'reward of score', format('candidate %s', c.candidate_id), @extschema@.cudal1_conservative_round(c.score)::text, c.reward::text
	FROM cudal1.candidate AS c
	WHERE c.state = 'successful' AND c.score >= 0 AND c.score < 'infinity' AND c.reward <> @extschema@.cudal1_conservative_round(c.score);
	RETURN QUERY
	SELECT 'deciding measurement', format('candidate %s', c.candidate_id),
		   CASE WHEN m.measurement_id IS NULL THEN 'a measurement' ELSE format('reward %s of this code and task, accepted, on %s', c.reward, t.device_model) END,
		   CASE WHEN m.measurement_id IS NULL THEN 'none'
				ELSE format('reward %s%s%s%s, on %s', m.reward, CASE WHEN m.code_hash <> c.code_hash THEN ' of another code' END,
							CASE WHEN m.task_id <> c.task_id OR m.candidate_id <> c.candidate_id THEN ' of another candidate' END,
							CASE WHEN NOT m.accepted THEN ', not accepted' END, m.device_model) END
	FROM cudal1.candidate AS c
		JOIN cudal1.task AS t ON t.task_id = c.task_id
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = c.measurement_id
	WHERE c.state = 'successful' AND NOT c.imported
		AND (m.measurement_id IS NULL OR m.reward IS DISTINCT FROM c.reward OR m.code_hash <> c.code_hash OR m.task_id <> c.task_id
			 OR m.candidate_id <> c.candidate_id OR NOT m.accepted OR m.device_model IS DISTINCT FROM t.device_model);
	RETURN QUERY
	SELECT 'imported score', format('candidate %s', c.candidate_id), i.reward::text, c.reward::text
	FROM cudal1.candidate AS c
		LEFT JOIN cudal1.imported_score AS i ON i.candidate_id = c.candidate_id AND i.device = c.import_device
	WHERE c.imported AND i.reward IS DISTINCT FROM c.reward;
	RETURN QUERY
	SELECT 'undecided without a job', format('candidate %s', c.candidate_id), 'a job', c.state
	FROM cudal1.candidate AS c
	WHERE c.state IN ('queued', 'measuring', 'verifying')
		AND NOT EXISTS (SELECT FROM cudal1.job AS j WHERE j.candidate_id = c.candidate_id AND j.kind IN ('measure', 'verify'));

	-- measurements
	RETURN QUERY
	SELECT 'reward of measurement', format('measurement %s', m.measurement_id), @extschema@.cudal1_conservative_round(m.score)::text, m.reward::text
	FROM cudal1.measurement AS m
	WHERE m.outcome = 'successful' AND m.score >= 0 AND m.score < 'infinity'
		AND m.reward IS DISTINCT FROM @extschema@.cudal1_conservative_round(m.score);
	RETURN QUERY
	SELECT 'variance of buckets', format('measurement %s', m.measurement_id), v.variance::text, m.variance::text
	FROM cudal1.measurement AS m CROSS JOIN LATERAL (SELECT var_pop(b) AS variance FROM unnest(m.bucket_means) AS b) AS v
	WHERE cardinality(m.bucket_means) >= 2 AND m.variance IS NOT NULL
		AND abs(m.variance - v.variance) > 1e-6 * v.variance + 1e-9;

	-- ablations
	RETURN QUERY
	SELECT 'ablation', format('ablation %s', a.ablation_id), (1 << cardinality(a.switches))::text, count(r.mask)::text
	FROM cudal1.ablation AS a LEFT JOIN cudal1.ablation_run AS r ON r.ablation_id = a.ablation_id
	GROUP BY a.ablation_id, a.switches HAVING count(r.mask) <> 1 << cardinality(a.switches);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_check() IS
'recounts every derived number, buckets, islands, rewards, hashes, variances, from what it is derived of, and says what is off: one row a difference, none where all agree. Changes nothing; reads every candidate and measurement. cudal1.rebucket() repairs buckets, cudal1_requeue() undecided candidates';
/*
 * Privileges. PUBLIC may do nothing. A role becomes able by cudal1_grant(), which follows one list of what each kind may do;
 * tables are written by SECURITY DEFINER functions alone, since an INSERT would forge a reward.
 */

CREATE FUNCTION cudal1.privileges(kind text)
RETURNS TABLE (object text, privilege text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
	WITH allowed (kind, privilege, names) AS (VALUES
		-- what reads
		('analyst', 'EXECUTE', ARRAY['cudal1_reward', 'cudal1_bucket_stats', 'cudal1_parse_response', 'cudal1_conservative_round',
			'cudal1_score_rounds', 'cudal1_group_advantages', 'cudal1_grpo_objective', 'cudal1_speedup_report', 'cudal1_status', 'cudal1_wait',
			'cudal1_level_report', 'cudal1_method_report', 'cudal1_device_report',
			'cudal1_top_tasks', 'cudal1_speedup_histogram', 'cudal1_compare', 'cudal1_compare_tasks',
			'cudal1_ablation_table', 'cudal1_ablation_effects', 'cudal1_ablation_gatekeepers', 'cudal1_check']),
		-- what proposes
		('trainer', 'EXECUTE', ARRAY['cudal1_add_task', 'cudal1_submit', 'cudal1_submit_batch', 'cudal1_submit_response', 'cudal1_wait',
			'cudal1_cancel', 'cudal1_reward', 'cudal1_sample_exemplars', 'cudal1_bucket_stats', 'cudal1_prompt', 'cudal1_parse_response',
			'cudal1_conservative_round', 'cudal1_score_rounds', 'cudal1_group_advantages', 'cudal1_grpo_objective', 'cudal1_speedup_report',
			'cudal1_status', 'cudal1_certify_task', 'cudal1_level_report', 'cudal1_method_report', 'cudal1_device_report',
			'cudal1_top_tasks', 'cudal1_speedup_histogram', 'cudal1_compare', 'cudal1_compare_tasks',
			'cudal1_ablation_table', 'cudal1_ablation_effects', 'cudal1_ablation_gatekeepers',
			'cudal1_ablate', 'cudal1_ablation_explain']),
		-- what asks models
		('trainer', 'EXECUTE', ARRAY['cudal1_generate', 'cudal1_cancel_requests', 'cudal1_add_campaign', 'cudal1_pause_campaign',
			'cudal1_resume_campaign', 'cudal1_end_campaign', 'cudal1_next_group', 'cudal1_answer_group', 'cudal1_group_result',
			'cudal1_sft_dataset', 'cudal1_rl_dataset', 'cudal1_extract_techniques']),
		('analyst', 'EXECUTE', ARRAY['cudal1_group_result', 'cudal1_sft_dataset', 'cudal1_rl_dataset']),
		-- what measures
		('agent', 'EXECUTE', ARRAY['cudal1.register_device', 'cudal1.claim', 'cudal1.heartbeat', 'cudal1.finish', 'cudal1.release',
			'cudal1.expire_leases', 'cudal1.announce_idle', 'cudal1.take_back', 'cudal1.wake', 'cudal1_status']),
		-- models in training see neither detectors nor evidence
		('trainer', 'SELECT', ARRAY['cudal1.task', 'cudal1.candidate', 'cudal1.proposal', 'cudal1.prompt', 'cudal1.profile', 'cudal1.device',
			'cudal1.activity', 'cudal1.queue', 'cudal1.bucket', 'cudal1.model', 'cudal1.model_use', 'cudal1.request', 'cudal1.campaign',
			'cudal1.campaign_lane', 'cudal1.campaign_group', 'cudal1.campaign_progress', 'cudal1.technique', 'cudal1.candidate_technique',
			'cudal1.technique_frequency']),
		('trainer', 'SELECT WITHOUT evidence', ARRAY['cudal1.measurement']),
		('analyst', 'SELECT', ARRAY['all']),
		('operator', 'SELECT', ARRAY['all']),
		('operator', 'EXECUTE', ARRAY['all']))
	SELECT n, a.privilege FROM allowed AS a, unnest(a.names) AS n WHERE a.kind = privileges.kind;
$$;
COMMENT ON FUNCTION cudal1.privileges(text) IS 'the objects that a kind of role may use, and how';

CREATE FUNCTION cudal1.change_privileges(role name, kind text, allow boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	to_role	text;
	verb	constant text := CASE WHEN allow THEN 'GRANT %s ON %s %s TO %s' ELSE 'REVOKE %s ON %s %s FROM %s' END;
	home	oid;
	s		record;
	o		record;
	p		record;
BEGIN
	IF role IS NULL OR kind IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22004', MESSAGE = 'role and kind must not be null';
	END IF;
	IF kind NOT IN ('trainer', 'analyst', 'operator', 'agent') THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = format('unknown kind of role "%s"', kind),
			HINT = 'Kinds are trainer, analyst, operator and agent.';
	END IF;
	IF NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = role) THEN
		RAISE EXCEPTION USING ERRCODE = '42704', MESSAGE = format('role "%s" does not exist', role);
	END IF;
	to_role := quote_ident(role);
	SELECT e.extnamespace INTO STRICT home FROM pg_extension AS e WHERE e.extname = 'cudal1';
	-- the schema of the functions may be anybody's, and is left as it is where it is open already or not ours to open
	FOR s IN SELECT n.oid, n.nspname FROM pg_namespace AS n WHERE n.nspname = 'cudal1' OR (n.oid = home AND allow) LOOP
		IF (s.nspname = 'cudal1' OR NOT has_schema_privilege(role, s.oid, 'USAGE'))
			AND (allow OR s.nspname = 'cudal1') THEN
			EXECUTE format(verb, 'USAGE', 'SCHEMA', quote_ident(s.nspname), to_role);
		END IF;
	END LOOP;
	FOR p IN SELECT x.* FROM cudal1.privileges(kind) AS x LOOP
		IF p.privilege = 'EXECUTE' THEN
			FOR o IN
				SELECT f.oid::regprocedure AS signature
					FROM pg_proc AS f
						JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = f.oid AND d.deptype = 'e'
						JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'cudal1'
					WHERE (p.object = 'all' AND f.prorettype <> 'trigger'::regtype
						   AND f.proname NOT IN ('cudal1_grant', 'cudal1_revoke', 'change_privileges')
						   -- what other functions are made of stays with the owner
						   AND (f.pronamespace = home OR f.proname IN ('register_device', 'claim', 'heartbeat', 'finish', 'release',
								'expire_leases', 'announce_idle', 'take_back', 'wake', 'worker_state', 'preloaded', 'rebucket', 'recount')))
						OR (f.pronamespace = home AND f.proname = p.object)
						OR (f.pronamespace = 'cudal1'::regnamespace AND 'cudal1.' || f.proname = p.object)
			LOOP
				EXECUTE format(verb, 'EXECUTE', 'FUNCTION', o.signature, to_role);
			END LOOP;
		ELSE
			FOR o IN
				SELECT c.oid::regclass AS relation,
						(SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute AS a
							WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'evidence') AS columns
					FROM pg_class AS c
					WHERE c.relnamespace = 'cudal1'::regnamespace AND c.relkind IN ('r', 'v', 'm')
						AND (p.object = 'all' OR 'cudal1.' || c.relname = p.object)
						AND has_table_privilege(c.oid, 'SELECT')
			LOOP
				EXECUTE format(verb, CASE p.privilege WHEN 'SELECT' THEN 'SELECT' ELSE format('SELECT (%s)', o.columns) END,
							   'TABLE', o.relation, to_role);
			END LOOP;
		END IF;
	END LOOP;
END
$$;
COMMENT ON FUNCTION cudal1.change_privileges(name, text, boolean) IS 'grants or revokes what a kind of role may do';

CREATE FUNCTION @extschema@.cudal1_grant(role name, kind text)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	SELECT cudal1.change_privileges(role, kind, true);
END;
COMMENT ON FUNCTION @extschema@.cudal1_grant(name, text) IS
'lets a role do what its kind does. trainer: add tasks, submit, wait, cancel, sample, prompt, report; read tasks, candidates and measurements, not the evidence of detectors. analyst: read everything.
operator: everything a user can do, imports, evaluations and switches included. agent: claim jobs and report results. For the extension''s owner; errors: 42704 unknown role, 22023 unknown kind';

CREATE FUNCTION @extschema@.cudal1_revoke(role name, kind text)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	SELECT cudal1.change_privileges(role, kind, false);
END;
COMMENT ON FUNCTION @extschema@.cudal1_revoke(name, text) IS
'takes back what cudal1_grant() gave for the kind; grant what another kind of the same role needs anew. Errors: 42704 unknown role, 22023 unknown kind';

-- nothing is open to PUBLIC, and everything but the queue is part of a dump
DO $$
DECLARE
	o		record;
BEGIN
	FOR o IN
		SELECT d.classid, d.objid, c.relkind, c.relname
			FROM pg_catalog.pg_depend AS d
				JOIN pg_catalog.pg_extension AS e ON e.oid OPERATOR(pg_catalog.=) d.refobjid AND e.extname OPERATOR(pg_catalog.=) 'cudal1'
				LEFT JOIN pg_catalog.pg_class AS c ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::regclass
					AND c.oid OPERATOR(pg_catalog.=) d.objid
			WHERE d.deptype OPERATOR(pg_catalog.=) 'e' AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::regclass
			ORDER BY d.objid
	LOOP
		IF o.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::regclass THEN
			EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', o.objid::regprocedure);
		ELSIF o.relkind IN ('r', 'S') AND o.relname NOT IN ('job', 'job_job_id_seq') THEN
			PERFORM pg_catalog.pg_extension_config_dump(o.objid::regclass,
				CASE o.relname WHEN 'profile' THEN 'WHERE NOT shipped' WHEN 'technique' THEN 'WHERE pattern IS NULL' ELSE '' END);
		END IF;
	END LOOP;
END
$$;
