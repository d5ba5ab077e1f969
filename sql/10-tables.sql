/*
 * Tables of schema cudal1.
 *
 * History is append-only: candidate, proposal, prompt and measurement rows are never deleted. What
 * is hot is kept narrow and apart: a job row lives from its enqueueing to its verdict. The rows of
 * pool_code are derived from candidate in the transaction that accepts a score, by
 * cudal1.place_candidate(); cudal1_check() compares them.
 */

-- Every number of the measurement protocol is a column here, with its default and its limits.
-- tools/profile-numbers tells cudal1-measure of them.
CREATE TABLE cudal1.profile (
	name				text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_]{0,62}$'),
	shipped				boolean NOT NULL DEFAULT false,
	purpose				text NOT NULL,
	-- pairs and their windows
	pairs				int NOT NULL DEFAULT 5 CHECK (pairs BETWEEN 1 AND 1000),
	looks				int[] NOT NULL DEFAULT '{5,9,15}'
		CHECK (cardinality(looks) BETWEEN 1 AND 8),
	bucket_seconds		float8 NOT NULL DEFAULT 0.15
		CHECK (bucket_seconds BETWEEN 1e-3 AND 100000),
	window_seconds		float8 NOT NULL DEFAULT 0.005 CHECK (window_seconds BETWEEN 1e-5 AND 100),
	-- the score and its interval
	estimator			text NOT NULL DEFAULT 'median' CHECK (estimator IN ('median', 'mean')),
	precision_goal		float8 NOT NULL DEFAULT 0.005 CHECK (precision_goal BETWEEN 0 AND 1),
	confidence			float8 NOT NULL DEFAULT 0.95 CHECK (confidence BETWEEN 0.5 AND 0.999999),
	half_width_limit	float8 DEFAULT 0.02 CHECK (half_width_limit BETWEEN 1e-6 AND 10),
	variance_limit		float8 DEFAULT NULL CHECK (variance_limit BETWEEN 1e-12 AND 1000000),
	-- correctness
	checks				int NOT NULL DEFAULT 5 CHECK (checks BETWEEN 1 AND 1000),
	check_seconds		float8 NOT NULL DEFAULT 3 CHECK (check_seconds BETWEEN 0 AND 100000),
	-- limits
	run_limit_factor	float8 NOT NULL DEFAULT 1000
		CHECK (run_limit_factor BETWEEN 1 AND 1000000000),
	run_limit_max		float8 NOT NULL DEFAULT 30 CHECK (run_limit_max BETWEEN 1e-3 AND 100000),
	build_seconds		float8 NOT NULL DEFAULT 120 CHECK (build_seconds BETWEEN 0.1 AND 100000),
	memory_mb			int NOT NULL DEFAULT 4096 CHECK (memory_mb BETWEEN 64 AND 1073741824),
	budget_seconds		float8 NOT NULL DEFAULT 20 CHECK (budget_seconds BETWEEN 1e-3 AND 1000000),
	-- the server's own, which cudal1-measure takes no notice of
	group_most			int NOT NULL DEFAULT 1 CHECK (group_most BETWEEN 1 AND 32),
	attempts			int NOT NULL DEFAULT 3 CHECK (attempts BETWEEN 1 AND 100),
	verify_above		float8 DEFAULT 3 CHECK (verify_above > 1 AND verify_above <= 1000000000)
);
COMMENT ON TABLE cudal1.profile IS
'measurement profiles; rows are immutable, copy one under a new name to change it';
COMMENT ON COLUMN cudal1.profile.pairs IS
'the fewest pairs of a measurement; each has fresh processes of reference and candidate, and gives
one bucket, the ratio of their times';
COMMENT ON COLUMN cudal1.profile.looks IS
'numbers of pairs, ascending, after which the interval is looked at; the last one is the most pairs
of a measurement, and the error is divided over the looks';
COMMENT ON COLUMN cudal1.profile.bucket_seconds IS
'seconds of windows that a pair of one candidate has; each further candidate adds as many';
COMMENT ON COLUMN cudal1.profile.window_seconds IS
'seconds of the reference''s runs in a window, which has 12 runs or more, and 4 or more where runs
take longer than 25 ms';
COMMENT ON COLUMN cudal1.profile.estimator IS 'the score is the median or the mean of the pairs';
COMMENT ON COLUMN cudal1.profile.precision_goal IS
'relative half-width of the interval at which a measurement ends, or 5 % of |ln score| where that is
more; 0: it ends at its last look';
COMMENT ON COLUMN cudal1.profile.half_width_limit IS
'a wider interval, and wider than 5 % of |ln score|, marks a candidate (candidate.wide): it is paid
the lower end where that is 1 or more, else the score, at most 1; NULL: none is wide';
COMMENT ON COLUMN cudal1.profile.variance_limit IS
'variance across the pairs above which a measurement is discarded (0.005 in CUDA-L1, 2.4.4); NULL:
not judged';
COMMENT ON COLUMN cudal1.profile.checks IS 'inputs that must agree before anything is timed';
COMMENT ON COLUMN cudal1.profile.check_seconds IS
'seconds for comparing whole outputs of a candidate''s timed runs, at most a fifth of the runs''
seconds; at least one of each window is compared';
COMMENT ON COLUMN cudal1.profile.run_limit_factor IS
'a run may take this many times the reference''s time, at least 1 s and at most run_limit_max; code
whose interval ends below the inverse of it ends as a timeout';
COMMENT ON COLUMN cudal1.profile.build_seconds IS
'limit for compiling, for loading code, and for the first run of a process in PyTorch, in which
algorithms are tried and graphs captured; outside every clock. All first runs of a candidate
together may take twice that';
COMMENT ON COLUMN cudal1.profile.memory_mb IS
'memory that code may add to its process, in MiB; an eighth as much holds inputs and outputs';
COMMENT ON COLUMN cudal1.profile.budget_seconds IS
'seconds of the device from the first check on, after which a measurement ends that has two pairs';
COMMENT ON COLUMN cudal1.profile.group_most IS
'candidates of a task that are measured together, at most: builds, checks and each pair''s reference
are made once for all';
COMMENT ON COLUMN cudal1.profile.verify_above IS
'scores above this are measured once more, and the lower of the two counts; NULL: none is';

CREATE FUNCTION cudal1.classes()
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{cpu,cuda}'::text[];
COMMENT ON FUNCTION cudal1.classes IS 'the classes of devices, as tasks and reports name them';

CREATE TABLE cudal1.device (
	device_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	device_key			text NOT NULL UNIQUE,
	host				text NOT NULL,
	owner				text NOT NULL DEFAULT cudal1.caller(),
	class				text NOT NULL CHECK (class = ANY (cudal1.classes())),
	model				text NOT NULL CHECK (model <> ''),
	cores				int NOT NULL DEFAULT 1 CHECK (cores >= 1),
	languages			text[] NOT NULL,
	details				jsonb NOT NULL DEFAULT '{}',
	bandwidth			float8 GENERATED ALWAYS AS (CASE jsonb_typeof(details -> 'bandwidth')
		WHEN 'number' THEN (details ->> 'bandwidth')::float8 END) STORED,
	peak				float8 GENERATED ALWAYS AS (CASE jsonb_typeof(details -> 'peak')
		WHEN 'number' THEN (details ->> 'peak')::float8 END) STORED,
	enabled				boolean NOT NULL DEFAULT true,
	last_seen			timestamptz NOT NULL DEFAULT now(),
	chart_from			timestamptz,
	lost				int NOT NULL DEFAULT 0,
	lost_candidate		bigint,
	hardware			text NOT NULL GENERATED ALWAYS AS (CASE
		WHEN class = 'cuda' AND starts_with(substr(device_key, length(host) + 2), 'GPU-')
			THEN substr(device_key, length(host) + 2) ELSE device_key END) STORED
);
COMMENT ON TABLE cudal1.device IS
'devices that ever measured here; a row is registered by the worker or agent that supervises it';
COMMENT ON COLUMN cudal1.device.bandwidth IS
'bytes a second that it reads from memory, or writes: the larger number; measured on a core, of a
GPU by its highest clock; NULL: not known';
COMMENT ON COLUMN cudal1.device.peak IS
'operations a second, likewise: of a core in float32, of a GPU sixteen times those in float32, as
many as tensor cores do in half precision at most';
COMMENT ON COLUMN cudal1.device.device_key IS
'host and device, for instance ''node7 cpu:1'' or ''node7 GPU-5f0e''';
COMMENT ON COLUMN cudal1.device.owner IS
'the role that registered it: it, its members and operators may register it again and claim for it;
what an operator registers becomes the operator''s';
COMMENT ON COLUMN cudal1.device.cores IS
'cores reserved for executors; a task that asks for more is not claimed';
COMMENT ON COLUMN cudal1.device.languages IS
'languages the device''s host can measure (a compiler or PyTorch may be missing)';
COMMENT ON COLUMN cudal1.device.enabled IS
'false keeps new jobs away: an operator''s switch, and off after five lost candidates in a row';
COMMENT ON COLUMN cudal1.device.chart_from IS
'A/A measurements before this do not count (cudal1_trust_device); NULL: all do';
COMMENT ON COLUMN cudal1.device.lost IS 'candidates in a row that were lost; five disable it';
COMMENT ON COLUMN cudal1.device.hardware IS
'the same in all rows of one device: a GPU''s UUID, whatever its host was called, as containers have
new names; else device_key';

CREATE FUNCTION cudal1.conservative_round(speedup float8)
RETURNS float8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'cudal1_conservative_round';
COMMENT ON FUNCTION cudal1.conservative_round IS 'what cudal1_conservative_round() does';

CREATE FUNCTION cudal1.baselines()
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '{reference,compile,reduce-overhead,cuda-graph}'::text[];
COMMENT ON FUNCTION cudal1.baselines IS
'the names of what rewards and reports can be over; cudal1.baseline_code() makes their code';

-- A row for each language. A module of Python has no declaration, and no signature.
CREATE FUNCTION cudal1.language_facts(OUT language text, OUT class text, OUT tool text,
	OUT fence text, OUT written text, OUT compiled text, OUT declaration text,
	OUT parameters text[], OUT types jsonb)
RETURNS SETOF record LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
	VALUES
		('c', 'cpu', 'gcc', 'c', 'C', 'the system''s C compiler with `-O3 -march=native`',
			'void %s(%s)', '{const %s *%s,%s *%s,%s %s}'::text[], '{}'::jsonb),
		('cuda', 'cuda', 'nvcc', 'cuda', 'CUDA C++', 'nvcc with `-O3 -arch=native`',
			'extern "C" void %s(%s)', '{const %s *%s,%s *%s,%s %s}',
			'{"float16": "__half", "bfloat16": "__nv_bfloat16"}'),
		('pytorch', NULL, 'torch', 'python', 'PyTorch, C++', '', NULL, NULL, NULL);
$$;
COMMENT ON FUNCTION cudal1.language_facts IS
'languages of tasks: the class of their devices (NULL: any), what these need, words of prompts;
declaration takes a name and parameters; an input, another array and a scalar each take a type (that
of C unless types has another) and a name';

CREATE FUNCTION cudal1.languages()
RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(SELECT f.language FROM cudal1.language_facts() AS f);
COMMENT ON FUNCTION cudal1.languages IS 'the languages of tasks, as devices name them';

CREATE FUNCTION cudal1.is_written(language text, signature jsonb)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN EXISTS (SELECT FROM cudal1.language_facts() AS f WHERE f.language = is_written.language
	AND (f.declaration IS NULL) = (signature IS NULL));
COMMENT ON FUNCTION cudal1.is_written IS
'whether there are tasks in a language with such a signature, or without one (NULL)';

CREATE TABLE cudal1.task (
	task_id				bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	name				text NOT NULL UNIQUE CHECK (name <> ''),
	language			text NOT NULL CHECK (cudal1.is_written(language, signature)),
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
	islands				int NOT NULL,
	island_reset		bigint NOT NULL,
	island_temperature	float8 NOT NULL,
	island_period		bigint NOT NULL,
	island_rule			text NOT NULL,
	baseline			text NOT NULL DEFAULT 'reference'
		CHECK (baseline = ANY (cudal1.baselines())),
	rtol				float8 CHECK (rtol >= 0 AND rtol < 'Infinity'),
	atol				float8 CHECK (atol >= 0 AND atol < 'Infinity'),
	content_hash		bytea NOT NULL,
	certified			text CHECK (certified IN ('passed', 'weak')),
	certified_detail	text,
	reference_state		text NOT NULL DEFAULT 'unchecked'
		CHECK (reference_state IN ('unchecked', 'good', 'bad')),
	reference_detail	text,
	bytes				float8,
	operations			float8,
	retired_at			timestamptz,
	retired_by			text,
	retired_reason		text,
	created_at			timestamptz NOT NULL DEFAULT now(),
	created_by			text NOT NULL DEFAULT cudal1.caller()
);
COMMENT ON TABLE cudal1.task IS
'a reference and how its candidates are measured; a reference never changes';
COMMENT ON COLUMN cudal1.task.problem IS 'problem number within its level, as in KernelBench';
COMMENT ON COLUMN cudal1.task.device IS
'device class (cpu, cuda) or model on which the task''s rewards are measured';
COMMENT ON COLUMN cudal1.task.device_model IS
'the model, pinned by the first score of a candidate; rewards of one task come from one model';
COMMENT ON COLUMN cudal1.task.bucket_width IS
'width of a score interval, in speedup (linear) or ln speedup (log)';
COMMENT ON COLUMN cudal1.task.island_reset IS
'registrations from islands'' prompts after which the weaker half of a pool''s islands is reset';
COMMENT ON COLUMN cudal1.task.island_period IS
'registrations in which the temperature of an island''s clusters falls to 0';
COMMENT ON COLUMN cudal1.task.island_rule IS
'funsearch, or cuda-l1: codes that answer no island''s prompt are spread over them';
COMMENT ON COLUMN cudal1.task.baseline IS
'what its rewards are over: the reference as it is, or as torch.compile or a CUDA graph runs it';
COMMENT ON COLUMN cudal1.task.rtol IS 'relative tolerance; NULL: the default of each dtype';
COMMENT ON COLUMN cudal1.task.atol IS
'tolerance as a multiple of what the output varies by; NULL: the default of each dtype';
COMMENT ON COLUMN cudal1.task.certified IS
'weak: code that does none of its work passes, so the task does not discriminate; NULL: not
certified yet';
COMMENT ON COLUMN cudal1.task.certified_detail IS 'what a weak task''s checks let pass';
COMMENT ON COLUMN cudal1.task.reference_state IS
'whether the reference loads, runs, fits the memory, agrees with itself and answers to its inputs:
unchecked, good, or bad: nothing can be submitted';
COMMENT ON COLUMN cudal1.task.bytes IS
'that a call of the reference reads and writes: inputs and outputs; NULL: never measured';
COMMENT ON COLUMN cudal1.task.operations IS
'of a call of the reference, as PyTorch''s FlopCounterMode counts them; NULL: not counted';
COMMENT ON COLUMN cudal1.task.retired_at IS
'since when it takes part in nothing: draws, submissions, the queue, reports (cudal1_retire_task());
NULL: it does';
CREATE INDEX task_unchecked ON cudal1.task (task_id) WHERE reference_state = 'unchecked';

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
	wide				boolean NOT NULL DEFAULT false,
	half_width			float8,
	import_device		text,
	imported			boolean NOT NULL GENERATED ALWAYS AS (import_device IS NOT NULL) STORED,
	measurement_id		bigint,
	created_at			timestamptz NOT NULL DEFAULT now(),
	decided_at			timestamptz,
	UNIQUE (task_id, code_hash),
	CHECK (purpose IN ('normal', 'null', 'certification', 'ablation', 'withheld', 'reference')),
	CHECK (length(detail) <= 2000),
	CHECK (NOT wide OR state = 'successful' AND NOT imported),
	CHECK (CASE WHEN decided_at IS NULL THEN state IN ('queued', 'measuring', 'verifying')
			AND num_nonnulls(reward, failure, import_device) = 0
		WHEN reward > 0 AND reward < 'Infinity' THEN state = 'successful' AND failure IS NULL
			AND reward = cudal1.conservative_round(score)
		WHEN reward = 0 THEN state = 'failed' AND imported = (failure = 'reported')
			AND COALESCE(failure, '') IN ('malformed', 'compile_error', 'launch_failure', 'timeout',
				'crash', 'wrong_output', 'cheat', 'withdrawn', 'reported')
		WHEN reward IS NULL THEN state = 'discarded' AND NOT imported
			AND COALESCE(failure, '') IN ('unverified', 'lost', 'cancelled')
		ELSE false END)
-- a change of state writes the row anew, but not a code that lies beside it
) WITH (toast_tuple_target = 512);
COMMENT ON TABLE cudal1.candidate IS 'one row for each distinct code of a task, measured once';
COMMENT ON COLUMN cudal1.candidate.code IS
'empty where cudal1_prune() removed it, and where a score was published without its code';
COMMENT ON COLUMN cudal1.candidate.code_hash IS
'SHA-256 of the code after CRLF -> LF. Salted, of the raw response where malformed (of one longer
than 4 MiB, of its beginning and a line with its own SHA-256), and of a reference that is checked as
its own candidate: the same text proposed as a code is another candidate';
COMMENT ON COLUMN cudal1.candidate.purpose IS
'normal, null, certification, ablation, reference (the task''s), or withheld (a score was
published without its code); only normal candidates are sampled, they and withheld ones reported';
COMMENT ON COLUMN cudal1.candidate.state IS
'queued, measuring, verifying; final: successful, failed, discarded';
COMMENT ON COLUMN cudal1.candidate.failure IS
'why it failed (reward 0): malformed, compile_error, launch_failure, timeout, crash, wrong_output,
cheat, withdrawn (by an operator), reported (an imported failure); or was discarded (reward NULL):
unverified, lost, cancelled';
COMMENT ON COLUMN cudal1.candidate.detail IS
'what a model or a person learns from: compiler output, first mismatch, signal; at most 2000
characters';
COMMENT ON COLUMN cudal1.candidate.reward IS
'conservatively rounded score (CUDA-L1, 2.4.4); 0 unsuccessful; NULL undecided or discarded';
COMMENT ON COLUMN cudal1.candidate.score IS 'the accepted score before rounding';
COMMENT ON COLUMN cudal1.candidate.wide IS
'the interval is wider than the profile''s half_width_limit: the score
is its lower end where that is 1 or more, else the median of the pairs, at most 1';
COMMENT ON COLUMN cudal1.candidate.half_width IS
'relative half-width of the interval at the profile''s confidence; NULL without a score that was
measured here';
COMMENT ON COLUMN cudal1.candidate.imported IS
'the score was measured elsewhere; a measurement here replaces it';
COMMENT ON COLUMN cudal1.candidate.import_device IS
'the device an imported score was measured on, as its source names it';
COMMENT ON COLUMN cudal1.candidate.measurement_id IS 'the measurement that decided';
-- the best of a task, for verification, re-verification and reports
CREATE INDEX candidate_best ON cudal1.candidate (task_id, reward DESC, candidate_id)
	WHERE state = 'successful';
CREATE INDEX candidate_reference ON cudal1.candidate (task_id) WHERE purpose = 'reference';
CREATE INDEX candidate_imported ON cudal1.candidate (task_id, candidate_id) WHERE imported;
-- the few undecided among many; without this index, too, a change of state is no HOT update
CREATE INDEX candidate_undecided ON cudal1.candidate (candidate_id)
	WHERE state IN ('queued', 'measuring', 'verifying');

CREATE TABLE cudal1.pool (
	pool_id				int GENERATED BY DEFAULT AS IDENTITY (START WITH 2) PRIMARY KEY,
	name				text NOT NULL UNIQUE CHECK (name <> ''),
	seeded_from			text,
	seeded_in			xid8,
	created_at			timestamptz NOT NULL DEFAULT now(),
	created_by			text DEFAULT cudal1.caller()
);
COMMENT ON TABLE cudal1.pool IS
'pools of codes, so that runs do not feed each other (cudal1_open_pool()). A candidate is in those
that it was proposed in, and in those seeded with it';
COMMENT ON COLUMN cudal1.pool.seeded_from IS
'the pool whose codes of that time were placed here when the pool was opened';
COMMENT ON COLUMN cudal1.pool.seeded_in IS
'the transaction that seeded it, until verdicts that were being written then have been looked at';
COMMENT ON COLUMN cudal1.pool.created_by IS
'the role that proposes into it, with its members; NULL: every role (pool main alone)';
INSERT INTO cudal1.pool (pool_id, name, created_by) VALUES (1, 'main', NULL);

CREATE TABLE cudal1.prompt (
	prompt_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	pool_id				int NOT NULL DEFAULT 1 REFERENCES cudal1.pool (pool_id),
	kind				text NOT NULL CHECK (kind IN ('augment', 'contrastive', 'recorded')),
	template			text,
	strategy			text CHECK (strategy IN ('bucket', 'island', 'random')),
	temperature			float8,
	seed				bigint,
	island				int,
	exemplars			bigint[] NOT NULL,
	scores				float8[] NOT NULL,
	probabilities		jsonb NOT NULL,
	failures			bigint[] NOT NULL DEFAULT '{}',
	system				text,
	prompt				text NOT NULL,
	created_at			timestamptz NOT NULL DEFAULT now(),
	created_by			text NOT NULL DEFAULT cudal1.caller(),
	CHECK (cardinality(exemplars) = cardinality(scores)),
	CHECK (num_nulls(strategy, seed) = CASE kind WHEN 'recorded' THEN 2 ELSE 0 END)
);
COMMENT ON TABLE cudal1.prompt IS
'every prompt handed out, with all that is needed to replay its draw, and those made elsewhere';
COMMENT ON COLUMN cudal1.prompt.kind IS
'augment, contrastive, or recorded: made elsewhere (cudal1_record_prompt()), so without a draw';
COMMENT ON COLUMN cudal1.prompt.template IS
'the name of its words in cudal1.prompt_template; NULL: recorded';
COMMENT ON COLUMN cudal1.prompt.pool_id IS
'the pool that its exemplars were drawn from and its answers go to';
COMMENT ON COLUMN cudal1.prompt.exemplars IS
'candidates shown, in the order of the prompt (ascending score)';
COMMENT ON COLUMN cudal1.prompt.probabilities IS
'the buckets or clusters, means and probabilities the draw was made from; by strategy random the
number of codes';
COMMENT ON COLUMN cudal1.prompt.failures IS 'failed candidates shown with their reasons';
COMMENT ON COLUMN cudal1.prompt.system IS
'the message of role system that a model gets before the prompt; NULL: none';

-- pool_id has no foreign key: each submission would lock the row of its pool
CREATE TABLE cudal1.proposal (
	proposal_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	pool_id				int NOT NULL DEFAULT 1,
	method				text NOT NULL CHECK (method <> ''),
	prompt_id			bigint REFERENCES cudal1.prompt (prompt_id),
	group_key			text,
	proposal_key		text,
	island				int,
	response			text,
	wanted				boolean NOT NULL DEFAULT true,
	created_at			timestamptz NOT NULL DEFAULT now(),
	created_by			text NOT NULL DEFAULT cudal1.caller()
);
COMMENT ON TABLE cudal1.proposal IS
'one row for each submission; several proposals may name one candidate';
COMMENT ON COLUMN cudal1.proposal.group_key IS
'the trainer''s group (GRPO): submissions whose rewards are compared; the same key of another role
is another group';
COMMENT ON COLUMN cudal1.proposal.proposal_key IS
'idempotency key: a repeated key within (role, task, pool, group) adds nothing';
COMMENT ON COLUMN cudal1.proposal.wanted IS
'the candidate is measured for it; false: cancelled, or imported with its score';
COMMENT ON COLUMN cudal1.proposal.created_by IS
'the role that the proposal, its group and its key belong to';
COMMENT ON COLUMN cudal1.proposal.response IS
'the model''s whole answer, where it was submitted as one; of one longer than 4 MiB the first
1048576 characters';
CREATE UNIQUE INDEX proposal_key_unique ON cudal1.proposal
	(created_by, task_id, pool_id, (COALESCE(group_key, '')), proposal_key)
	WHERE proposal_key IS NOT NULL;
CREATE INDEX proposal_candidate ON cudal1.proposal (candidate_id);
CREATE INDEX proposal_method ON cudal1.proposal (method, task_id);
CREATE INDEX proposal_pool ON cudal1.proposal (pool_id, task_id, proposal_id);
CREATE INDEX proposal_group ON cudal1.proposal (group_key, created_by) WHERE group_key IS NOT NULL;

CREATE TABLE cudal1.measurement (
	measurement_id		bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	kind				text NOT NULL CHECK (kind IN ('measure', 'verify', 'evaluate', 'reverify')),
	attempt				int NOT NULL,
	device_id			bigint NOT NULL REFERENCES cudal1.device (device_id),
	login				text,
	device_model		text NOT NULL,
	profile				text NOT NULL REFERENCES cudal1.profile (name),
	outcome				text NOT NULL CHECK (outcome IN ('successful', 'unstable', 'compile_error',
		'launch_failure', 'timeout', 'crash', 'wrong_output', 'cheat', 'unverified', 'lost',
		'cancelled')),
	accepted			boolean NOT NULL DEFAULT false,
	same_device			boolean,
	score				float8,
	reward				float8,
	lower				float8,
	upper				float8,
	half_width			float8,
	wide				boolean NOT NULL DEFAULT false,
	variance			float8,
	pairs				int,
	rounds				int,
	bucket_means		float8[],
	reference_seconds	float8,
	candidate_seconds	float8,
	checks				int,
	max_error			float8,
	protocol			int,
	detail				text,
	build_seconds		float8,
	device_seconds		float8,
	startup_seconds		float8,
	clock_seconds		float8,
	wall_seconds		float8,
	code_hash			bytea NOT NULL,
	code_key			bytea,
	environment			jsonb NOT NULL DEFAULT '{}',
	samples				jsonb,
	evidence			jsonb,
	measured_at			timestamptz NOT NULL DEFAULT now(),
	CHECK (outcome <> 'successful' OR reward = cudal1.conservative_round(score))
);
COMMENT ON TABLE cudal1.measurement IS
'one row for each finished run of cudal1-measure, with all that a stranger needs to judge it;
append-only';
COMMENT ON COLUMN cudal1.measurement.accepted IS
'true on the measurements that decided their candidate';
COMMENT ON COLUMN cudal1.measurement.same_device IS
'a verification: made on the device of the first measurement';
COMMENT ON COLUMN cudal1.measurement.lower IS
'lower end of the interval of the score at the profile''s confidence';
COMMENT ON COLUMN cudal1.measurement.half_width IS 'relative half-width of that interval';
COMMENT ON COLUMN cudal1.measurement.bucket_means IS
'the ratio that each pair gave, the median over its rounds';
COMMENT ON COLUMN cudal1.measurement.reference_seconds IS 'median time of one run of the reference';
COMMENT ON COLUMN cudal1.measurement.max_error IS
'largest deviation found in accepted outputs, in tolerances; up to 4 of a share of 1e-5 of the
elements';
COMMENT ON COLUMN cudal1.measurement.protocol IS
'the clock that the score is of: 2 is the gated run (docs/protocol.md)';
COMMENT ON COLUMN cudal1.measurement.device_seconds IS 'seconds the device was held';
COMMENT ON COLUMN cudal1.measurement.startup_seconds IS
'seconds of these that executors took to start, to load their code, for their first runs and to
end';
COMMENT ON COLUMN cudal1.measurement.clock_seconds IS 'seconds the clock ran';
COMMENT ON COLUMN cudal1.measurement.samples IS 'the ratio of each round, pair by pair';
COMMENT ON COLUMN cudal1.measurement.evidence IS
'which detectors spoke and static findings; for operators, not for models in training';
COMMENT ON COLUMN cudal1.measurement.code_key IS
'SHA-256 of what the code compiles to: the library (C, CUDA), or the syntax tree (PyTorch). Accepted
ones of a task with the same are paid the same; NULL: not known';
-- what a code of the same key was paid
CREATE INDEX measurement_code_key ON cudal1.measurement (task_id, code_key)
	WHERE accepted AND code_key IS NOT NULL;
CREATE INDEX measurement_candidate ON cudal1.measurement (candidate_id);
-- the few that speak for their task in reports
CREATE INDEX measurement_evaluated ON cudal1.measurement (task_id, candidate_id)
	WHERE kind = 'evaluate' AND reward IS NOT NULL;
-- profile and task_id have no foreign keys: all submissions would lock the same two rows
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
	trainer				text COLLATE pg_catalog."C" NOT NULL DEFAULT cudal1.caller(),
	state				text NOT NULL DEFAULT 'queued',
	deadline			timestamptz,
	attempt				int NOT NULL DEFAULT 0,
	failures			int NOT NULL DEFAULT 0,
	first_measurement	bigint REFERENCES cudal1.measurement (measurement_id),
	cancel_requested	boolean NOT NULL DEFAULT false,
	worker				text,
	login				text,
	device_id			bigint REFERENCES cudal1.device (device_id),
	claimed_at			timestamptz,
	heat				bigint,
	lease_until			timestamptz,
	progress			jsonb,
	enqueued_at			timestamptz NOT NULL DEFAULT clock_timestamp(),
	UNIQUE (candidate_id, kind, profile, device, trainer),
	CHECK (kind IN ('measure', 'verify', 'evaluate', 'reverify', 'profile')),
	CHECK ((kind = 'verify') = (first_measurement IS NOT NULL)),
	CHECK (CASE state WHEN 'queued' THEN num_nonnulls(worker, device_id, lease_until) = 0
		WHEN 'running' THEN num_nulls(worker, device_id, lease_until) = 0 ELSE false END)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 200,
	autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE cudal1.job IS
'work to do: a row lives from its enqueueing to its verdict; not dumped, cudal1_requeue() re-creates
what decides candidates';
COMMENT ON COLUMN cudal1.job.device IS
'device class or model, or the key of the one device, that may claim the job';
COMMENT ON COLUMN cudal1.job.trainer IS
'the role that queued the job, whose turn it takes and in whose quota it counts; empty where no
trainer asked for it. Each role that proposes a candidate has a job of its own; the first one that
is claimed serves all';
COMMENT ON COLUMN cudal1.job.heat IS
'of a running job that is measured together with others: the job_id of the first of them';
COMMENT ON COLUMN cudal1.job.progress IS
'what its worker told last; cudal1.activity has its members as columns';
COMMENT ON COLUMN cudal1.job.deadline IS
'a job not claimed by then is cancelled; one begun is completed';
COMMENT ON COLUMN cudal1.job.attempt IS
'fencing number: counts claims; a heartbeat or result of an older claim is refused';
COMMENT ON COLUMN cudal1.job.login IS
'the role that claimed it last: it, its members and operators may report on the claim';
COMMENT ON COLUMN cudal1.job.failures IS
'attempts that ended lost or unverified; compared with the profile''s attempts';
-- The columns that say what a device can take come first, so that a claim reads no other job.
CREATE INDEX job_claim ON cudal1.job
	(device, language, cores, trainer, priority DESC, job_id) WHERE state = 'queued';
CREATE INDEX job_deadline ON cudal1.job (deadline) WHERE deadline IS NOT NULL AND state = 'queued';
CREATE INDEX job_trainer ON cudal1.job (trainer) WHERE state = 'queued' AND kind = 'measure';
CREATE INDEX job_lease ON cudal1.job (lease_until) WHERE state = 'running';
CREATE INDEX job_device ON cudal1.job (device_id) WHERE state = 'running';

-- each device has its own rows, so that claims don't wait for each other; what a crash empties
-- begins anew
CREATE UNLOGGED TABLE cudal1.turn (
	device_id			bigint NOT NULL,
	trainer				text COLLATE pg_catalog."C" NOT NULL,
	started				float8 NOT NULL,
	due					float8 NOT NULL,
	claimed_at			timestamptz,
	PRIMARY KEY (device_id, trainer)
) WITH (fillfactor = 50);
COMMENT ON TABLE cudal1.turn IS
'turns of trainers on each device, in its count of claimed jobs; not dumped';
COMMENT ON COLUMN cudal1.turn.started IS
'the device''s count at the trainer''s last claim; the largest is where the count is now';
COMMENT ON COLUMN cudal1.turn.due IS 'the count at which it is the trainer''s turn again';

CREATE TABLE cudal1.weight (
	trainer				text PRIMARY KEY CHECK (trainer <> ''),
	weight				float8 NOT NULL CHECK (weight >= 0.001 AND weight <= 1000)
);
COMMENT ON TABLE cudal1.weight IS
'shares of trainers in devices: claims are divided in proportion to weights, which are 1 where
there is no row; set by cudal1_set_weight()';

CREATE TABLE cudal1.quota (
	role				text PRIMARY KEY,
	queued_candidates	bigint CHECK (queued_candidates >= 0),
	stored_bytes		bigint CHECK (stored_bytes >= 0),
	requests			bigint CHECK (requests >= 0)
);
COMMENT ON TABLE cudal1.quota IS
'quotas of roles, as operators set them with cudal1_set_quota(); NULL: what holds for all';
COMMENT ON COLUMN cudal1.quota.role IS 'the role; empty: all that have no row of their own';

CREATE TABLE cudal1.stored (
	stored_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	role				text NOT NULL,
	bytes				bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
	autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE cudal1.stored IS
'what roles have stored: their bytes are the sum of their rows, which are added up now and then';

-- Scores from elsewhere, one for each candidate and device: the same code is often published with
-- its scores on several devices, and the reward of a candidate holds only one of them.
CREATE TABLE cudal1.imported_score (
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	device				text NOT NULL CHECK (device <> ''),
	reward				float8 NOT NULL CHECK (reward >= 0),
	score				float8,
	imported_at			timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (candidate_id, device),
	CHECK ((reward = 0) = (score IS NULL)),
	CHECK (reward = cudal1.conservative_round(score))
);
COMMENT ON TABLE cudal1.imported_score IS
'scores measured elsewhere, one row for each candidate and device; what reports of a device read
beside measurements';
COMMENT ON COLUMN cudal1.imported_score.reward IS
'conservatively rounded score; 0: the candidate failed there';

CREATE TABLE cudal1.ablation (
	ablation_id			bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	switches			text[] NOT NULL CHECK (cardinality(switches) BETWEEN 1 AND 8),
	created_at			timestamptz NOT NULL DEFAULT now(),
	created_by			text NOT NULL DEFAULT cudal1.caller()
);
COMMENT ON TABLE cudal1.ablation IS 'a code whose named switches are measured in all combinations';

CREATE TABLE cudal1.ablation_run (
	ablation_id			bigint NOT NULL REFERENCES cudal1.ablation (ablation_id),
	mask				int NOT NULL CHECK (mask >= 0),
	candidate_id		bigint NOT NULL REFERENCES cudal1.candidate (candidate_id),
	bottleneck			text,
	PRIMARY KEY (ablation_id, mask)
);
COMMENT ON TABLE cudal1.ablation_run IS 'one combination of an ablation''s switches';
COMMENT ON COLUMN cudal1.ablation_run.mask IS 'bit i - 1 is set where switch i is on';
COMMENT ON COLUMN cudal1.ablation_run.bottleneck IS
'what holds this combination back, as a person found (cudal1_ablation_explain); NULL: open';
