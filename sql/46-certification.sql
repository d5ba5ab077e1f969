/*
 * Certification: does a task tell work from the lack of it?
 *
 * A null candidate does not do the task's work and should fail its checks: it writes zeros, copies
 * an input, answers with the output for the first inputs, works on a sample of an input or on its
 * means, or answers with means of the outputs. Where one passes, any candidate can, and the task's
 * rewards mean nothing. Null candidates are written here from the task's signature
 * or around its reference, run at the lowest priority with a profile that checks and hardly times,
 * and are candidates like others, but that nobody proposed them: their purpose keeps them out of
 * buckets and reports, and their hash is salted, so that a proposal of the same text is a candidate
 * of its own, measured in full.
 *
 * Before them comes the task's reference as its own candidate, measured likewise. It must not fail:
 * a reference that does not load, does not agree with itself or returns the same for all inputs
 * fails every candidate. Each measurement tells this of its reference, too, so a task whose first
 * candidate comes before a device had time for the check needs none.
 */

CREATE TABLE cudal1.null_candidate (
	task_id				bigint NOT NULL REFERENCES cudal1.task (task_id),
	name				text NOT NULL
		CHECK (name IN ('reference', 'zeros', 'input_copy', 'other_inputs', 'sample', 'moment',
			'means')),
	candidate_id		bigint NOT NULL UNIQUE REFERENCES cudal1.candidate (candidate_id),
	PRIMARY KEY (task_id, name)
);
COMMENT ON TABLE cudal1.null_candidate IS
'candidates that are made from a task itself: codes that do none of its work, which make the task
weak if they succeed, and its reference, which is bad if it fails';

CREATE FUNCTION cudal1.null_codes_of_signature(t cudal1.task)
RETURNS TABLE (name text, code text) LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
	cuda		constant boolean := t.language = 'cuda';
	entry		constant text := t.signature ->> 'entry';
	types		constant jsonb := '{"float64": "double", "float32": "float", "int64": "long long", '
		'"int32": "int", "uint8": "unsigned char"}';
	opening		constant text := CASE WHEN cuda THEN '#include <cuda_runtime.h>
#define CUDAL1_COPY(to, from, n) cudaMemcpyAsync(to, from, n, cudaMemcpyDeviceToDevice, 0)
#define CUDAL1_ZERO(to, n) cudaMemsetAsync(to, 0, n, 0)
static void *CUDAL1_MEMORY(size_t n) { void *p = 0; cudaMalloc(&p, n); return p; }
struct cudal1_any { void *p; template <typename T> operator T *() const { return (T *) p; } };
template <typename T> __global__ void cudal1_rows(T *to, const T *from, size_t rows, size_t length)
{
	for (size_t row = blockIdx.x * blockDim.x + threadIdx.x; row < rows;
		 row += gridDim.x * blockDim.x)
		CUDAL1_ROW((to + row * length), (from + row * length), length)
}
#define CUDAL1_ROWS(type, to, from, rows, length) \
	cudal1_rows<<<256, 256>>>((type *) to, (const type *) from, rows, length)
' ELSE '#define CUDAL1_COPY(to, from, n) __builtin_memcpy(to, from, n)
#define CUDAL1_ZERO(to, n) __builtin_memset(to, 0, n)
#define CUDAL1_MEMORY(n) __builtin_malloc(n)
#define CUDAL1_ROWS(type, to, from, rows, length) \
	for (unsigned long row = 0; row < rows; row++) \
		CUDAL1_ROW(((type *) to + row * length), ((const type *) from + row * length), length)
' END;
	each		constant text := 'for (unsigned long i = 0; i < length; i++)';
	rows		jsonb;
	parts		record;
BEGIN
	WITH arg AS (
		SELECT a.ordinality AS n, 'cudal1_a' || a.ordinality AS id, a.value ->> 'role' AS role,
				a.value ->> 'dtype' AS dtype, cudal1.shape_elements(a.value -> 'shape')
					* (SELECT f.width FROM cudal1.dtype_facts(a.value ->> 'dtype') AS f) AS bytes,
				cudal1.shape_elements(a.value -> 'shape')::bigint AS elements,
				(a.value #>> '{shape,-1}')::bigint AS length
			FROM jsonb_array_elements(t.signature -> 'args') WITH ORDINALITY AS a),
	-- the largest input that has rows of more than one number, of which work can be left out
	changed AS (
		SELECT i.* FROM arg AS i
			WHERE i.role = 'in' AND i.dtype IN ('float32', 'float64') AND i.length > 1
				AND i.bytes > 0
			ORDER BY i.bytes DESC, i.n LIMIT 1),
	copied AS (
		-- to each output the input of its type that is as large, or else the largest, repeated; an
		-- inout argument that is left as it is answers with its input
		SELECT DISTINCT ON (o.n) o.n, format(E'\tfor (unsigned long i = 0; i < %1$s; i += %2$s)\n'
				'\t\tCUDAL1_COPY((char *) %3$s + i, %4$s, %1$s - i < %2$s ? %1$s - i : %2$s);\n',
				o.bytes, i.bytes, o.id, i.id) AS code
			FROM arg AS o JOIN arg AS i ON i.dtype = o.dtype AND i.role IN ('in', 'inout')
			WHERE o.role = 'out' AND i.bytes > 0
			ORDER BY o.n, i.bytes = o.bytes DESC, i.bytes DESC, i.n)
	SELECT string_agg(CASE a.role WHEN 'scalar' THEN coalesce(types ->> a.dtype,
				CASE WHEN cuda THEN 'bool' ELSE '_Bool' END) || ' '
				WHEN 'in' THEN 'const void *' ELSE 'void *' END || a.id, ', ' ORDER BY a.n)
				AS parameters,
			string_agg(CASE WHEN cuda AND a.role <> 'scalar'
				THEN format('cudal1_any{(void *) %s}', a.id) ELSE a.id END, ', ' ORDER BY a.n)
				AS given,
			string_agg(CASE WHEN a.role = 'scalar' THEN a.id
				WHEN cuda THEN format('cudal1_any{(void *) %s}', coalesce(x.changed, a.id))
				ELSE coalesce(x.changed, a.id) END, ', ' ORDER BY a.n) AS given_changed,
			max(format(E'\tstatic void *cudal1_changed;\n\tif (!cudal1_changed)\n'
				'\t\tcudal1_changed = CUDAL1_MEMORY(%s);\n'
				'\tCUDAL1_ROWS(%s, cudal1_changed, %s, %sul, %sul);\n', a.bytes, types ->> a.dtype,
				a.id, a.elements / a.length, a.length)) FILTER (WHERE x.changed IS NOT NULL)
				AS changes,
			string_agg(format(E'\tCUDAL1_ZERO(%s, %s);\n', a.id, a.bytes), '' ORDER BY a.n)
				FILTER (WHERE a.role IN ('out', 'inout')) AS zeros,
			string_agg(coalesce(c.code, format(E'\tCUDAL1_ZERO(%s, %s);\n', a.id, a.bytes)), ''
				ORDER BY a.n) FILTER (WHERE a.role = 'out') AS copies,
			bool_or(c.code IS NOT NULL OR a.role = 'inout') AS can_copy,
			string_agg(format(E'\tstatic void *%1$s_first;\n\tif (cudal1_known)\n'
				'\t\tCUDAL1_COPY(%1$s, %1$s_first, %2$s);\n\telse\n'
				'\t\tCUDAL1_COPY(%1$s_first = CUDAL1_MEMORY(%2$s), %1$s, %2$s);\n', a.id, a.bytes),
				'' ORDER BY a.n) FILTER (WHERE a.role IN ('out', 'inout')) AS recalls
		INTO parts FROM arg AS a LEFT JOIN copied AS c ON c.n = a.n
			LEFT JOIN (SELECT n, 'cudal1_changed' AS changed FROM changed) AS x ON x.n = a.n;
	rows := jsonb_build_object(
		'sample', format('%s to[i] = i %% 2 ? 0 : 2 * from[i];', each),
		'moment', format('{ double sum = 0; %1$s sum += from[i]; '
			'%1$s to[i] = sum / (double) length; }', each));
	RETURN QUERY
		SELECT v.name, format(E'/* null candidate: %s */\n%s%svoid\n%s(%s)\n{\n%s}\n', v.about,
				-- the reference under another name
				CASE WHEN v.name IN ('other_inputs', 'sample', 'moment') THEN format(
					E'#define %1$s cudal1_reference\n%2$s\n#undef %1$s\n', entry, t.reference)
					ELSE '' END
				|| format(E'#define CUDAL1_ROW(to, from, length) %s\n', rows ->> v.name) || opening,
				CASE WHEN cuda THEN 'extern "C" ' ELSE '' END, entry, parts.parameters, v.body)
			FROM (VALUES
				('zeros', 'zeros', parts.zeros),
				('input_copy', 'a copy of an input',
					CASE WHEN parts.can_copy THEN coalesce(parts.copies, '') END),
				('other_inputs', 'the output for the first inputs, whatever the inputs are',
					format(E'\tstatic int cudal1_known;\n\tif (!cudal1_known)\n'
						'\t\tcudal1_reference(%s);\n%s\tcudal1_known = 1;\n',
						parts.given, parts.recalls)),
				('sample', 'work on half of an input, which counts twice',
					parts.changes || format(E'\tcudal1_reference(%s);\n', parts.given_changed)),
				('moment', 'work on the means of an input''s rows',
					parts.changes || format(E'\tcudal1_reference(%s);\n', parts.given_changed)))
				AS v (name, about, body)
			WHERE v.body IS NOT NULL;
END
$$;
COMMENT ON FUNCTION cudal1.null_codes_of_signature IS
'the null candidates of a c or cuda task; without an input of an output''s type there is no copy,
and without rows of floating point numbers neither sample nor moment';

CREATE FUNCTION cudal1.null_codes_of_model(t cudal1.task)
RETURNS TABLE (name text, code text) LANGUAGE sql IMMUTABLE PARALLEL SAFE
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

def _input_like(x, inputs):
    flat = next((i.reshape(-1) for i in inputs if isinstance(i, _torch.Tensor) and i.numel() > 0),
		None)
    if flat is None:
        return _torch.zeros_like(x)
    return flat.repeat(-(-x.numel() // flat.numel()))[:x.numel()].reshape(x.shape).to(x.dtype)

def _half(x):
    return x * (2 - 2 * (_torch.arange(x.shape[-1], device=x.device) %% 2)).to(x.dtype)

def _mean(x):
    return x.mean(-1, keepdim=True).expand(x.shape).contiguous()

def _means(x):
    # an output of integers or of one element has none
    if not x.is_floating_point() or x.numel() < 2:
        return _torch.zeros_like(x)
    axis = max(range(x.dim()), key=lambda d: x.shape[d])
    return x.mean(axis, keepdim=True).expand(x.shape).contiguous()

def _same(one, other):
    kept = []
    _each(one, kept.append)
    _each(other, lambda x: kept.append(_torch.equal(x, kept.pop(0))))
    return all(kept)

def _of_less(reference, inputs, change):
    # of the largest input on whose numbers the outputs depend
    rows = [i for i, x in enumerate(inputs) if isinstance(x, _torch.Tensor)
            and x.is_floating_point() and x.shape[-1:] > (1,)]
    expected = _each(reference(*_each(inputs, _torch.clone)), _torch.clone)
    for i in sorted(rows, key=lambda i: -inputs[i].numel()):
        given = list(_each(inputs, _torch.clone))
        given[i] = change(given[i])
        less = not _torch.equal(given[i], inputs[i])
        found = reference(*given)
        if less and not _same(expected, found):
            return found
    raise ValueError("there is no less work")

class ModelNew(Model):
    def forward(self, *inputs):
        reference = super().forward
        %s
$python$, v.about, v.body)
		FROM (VALUES
			('zeros', 'zeros', 'return _each(reference(*inputs), _torch.zeros_like)'),
			('input_copy', 'a copy of an input', 'kept = _each(list(inputs), _torch.clone); '
				'return _each(reference(*inputs), lambda x: _input_like(x, kept))'),
			('other_inputs', 'the output for the first inputs, whatever the inputs are',
				'_first or _first.append(_each(reference(*inputs), _torch.clone)); '
				'return _each(_first[0], _torch.clone)'),
			('sample', 'work on half of an input, which counts twice',
				'return _of_less(reference, inputs, _half)'),
			('moment', 'work on the means of an input''s rows',
				'return _of_less(reference, inputs, _mean)'),
			('means', 'the means of the outputs along their longest axis',
				'return _each(reference(*inputs), _means)')) AS v (name, about, body);
$$;
COMMENT ON FUNCTION cudal1.null_codes_of_model IS
'the null candidates of a pytorch task: its Model with inputs or outputs replaced. Where no input
has rows of floating point numbers that count, sample and moment raise an error, and so fail';

CREATE FUNCTION cudal1.queue_null(t cudal1.task, name text, code text, again text[])
RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	id		bigint;
BEGIN
	INSERT INTO cudal1.candidate AS c (task_id, code, code_hash, purpose)
		VALUES (t.task_id, code, cudal1.salted_hash('null candidate', code), 'certification')
		ON CONFLICT (task_id, code_hash) DO UPDATE
			SET state = 'queued', failure = NULL, detail = NULL, reward = NULL, score = NULL,
				wide = false, half_width = NULL, decided_at = NULL, measurement_id = NULL
			WHERE c.state = ANY (again)
		RETURNING c.candidate_id INTO id;
	IF id IS NULL THEN
		RETURN false;
	END IF;
	INSERT INTO cudal1.null_candidate (task_id, name, candidate_id)
		VALUES (t.task_id, queue_null.name, id)
		ON CONFLICT DO NOTHING;
	-- the task is not locked, because its verdicts would wait for this transaction
	t.profile := 'certify';
	PERFORM cudal1.enqueue('measure', t, id, -1000000000, '');
	PERFORM cudal1.wake();
	RETURN true;
END
$$;
COMMENT ON FUNCTION cudal1.queue_null IS
'queues a null candidate of a task behind all other work; false: it is queued, or in a state that is
none of `again`';

CREATE FUNCTION cudal1.certify(task_id bigint)
RETURNS bigint LANGUAGE sql VOLATILE PARALLEL UNSAFE
AS $$
	SELECT count(*) FILTER (WHERE cudal1.queue_null(t, n.name, n.code, '{discarded}'))
		FROM cudal1.task AS t CROSS JOIN LATERAL (
			SELECT s.* FROM cudal1.null_codes_of_signature(t) AS s WHERE t.language <> 'pytorch'
			UNION ALL
			SELECT s.* FROM cudal1.null_codes_of_model(t) AS s WHERE t.language = 'pytorch') AS n
		WHERE t.task_id = certify.task_id;
$$;
COMMENT ON FUNCTION cudal1.certify IS
'queues the null candidates of a task that were not measured yet; returns their number';

CREATE FUNCTION cudal1.end_waiting(task_id bigint, problem text, reason text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	j		cudal1.job;
BEGIN
	FOR j IN
		SELECT x.* FROM cudal1.job AS x JOIN cudal1.candidate AS c USING (candidate_id)
			WHERE x.task_id = end_waiting.task_id AND x.state = 'queued'
				AND (reason IS NOT NULL OR c.purpose <> 'certification')
			ORDER BY x.candidate_id, x.job_id
			FOR UPDATE OF x SKIP LOCKED FOR NO KEY UPDATE OF c SKIP LOCKED
	LOOP
		-- the detail of the reference as its own candidate becomes that of the task again
		PERFORM cudal1.end_job(j, 'unverified', NULL, CASE WHEN EXISTS (
			SELECT FROM cudal1.null_candidate AS k
				WHERE k.candidate_id = j.candidate_id AND k.name = 'reference')
			THEN reason ELSE problem END);
	END LOOP;
	PERFORM cudal1.wake_waiters();
END
$$;
COMMENT ON FUNCTION cudal1.end_waiting IS
'discards the candidates that wait for a task, and names the problem. reason: what is wrong with its
reference, whose null candidates are discarded, too; NULL: the task is weak';

CREATE FUNCTION cudal1.certificate(task_id bigint)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT CASE WHEN bool_or(c.state = 'successful') THEN 'weak'
		WHEN bool_and(c.state = 'failed') THEN 'passed' END
	FROM cudal1.null_candidate AS k JOIN cudal1.candidate AS c USING (candidate_id)
	WHERE k.task_id = certificate.task_id AND k.name <> 'reference');
COMMENT ON FUNCTION cudal1.certificate IS
'weak where a null candidate of the task passed, passed where all failed, else NULL';

CREATE FUNCTION cudal1.judge_certification(candidate_id bigint)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
#variable_conflict use_column
DECLARE
	k		record;
	id		bigint;
	problem	text;
BEGIN
	SELECT k.task_id, k.name, c.state, c.failure, c.detail, t.baseline,
			(SELECT m.evidence ->> 'restored' FROM cudal1.measurement AS m
				WHERE m.candidate_id = judge_certification.candidate_id
				ORDER BY m.measurement_id DESC LIMIT 1) AS changed INTO k
		FROM cudal1.null_candidate AS k JOIN cudal1.candidate AS c USING (candidate_id)
			JOIN cudal1.task AS t ON t.task_id = k.task_id
		WHERE k.candidate_id = judge_certification.candidate_id;
	IF NOT FOUND THEN
		RETURN;
	ELSIF k.name = 'reference' THEN
		PERFORM cudal1.note_reference(k.task_id,
			CASE WHEN k.state = 'successful' THEN 'good'
				 WHEN k.failure IN ('lost', 'cancelled') THEN 'unchecked' ELSE 'bad' END,
			CASE WHEN k.state = 'failed' THEN format('%s it fails (%s)%s: %s',
				CASE k.baseline WHEN 'reference' THEN 'as its own candidate'
					ELSE format('as baseline "%s"', k.baseline) END, k.failure,
				', and its runs change ' || k.changed, k.detail)
				ELSE k.detail END, true);
		RETURN;
	END IF;
	id := k.task_id;
	-- of two verdicts at the same moment the second sees the first
	PERFORM FROM cudal1.task AS t WHERE t.task_id = id FOR NO KEY UPDATE;
	UPDATE cudal1.task AS t
		SET certified = cudal1.certificate(id)
		WHERE t.task_id = id
		RETURNING cudal1.reference_problem(t) INTO problem;
	PERFORM cudal1.end_waiting(id, problem) WHERE problem IS NOT NULL;
END
$$;
COMMENT ON FUNCTION cudal1.judge_certification IS
'after the verdict on a null candidate its task is weak if one passed, passed if all failed, else
undecided. After that on a reference as its own candidate, the reference is good, bad or unchecked.
The caller holds the candidate''s lock';

CREATE FUNCTION cudal1.note_reference(task_id bigint, verdict text, detail text, checked boolean)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
	reason	text;
	problem	text;
BEGIN
	-- what was good once stays so but for another check: a host in disorder is likelier
	UPDATE cudal1.task AS t
		SET reference_state = note_reference.verdict,
			reference_detail = CASE WHEN note_reference.verdict <> 'good'
									THEN coalesce(note_reference.detail, 'no reason given') END
		WHERE t.task_id = note_reference.task_id
			AND (t.reference_state = 'unchecked'
				 OR note_reference.checked AND note_reference.verdict <> 'unchecked')
		RETURNING t.reference_detail, cudal1.reference_problem(t) INTO reason, problem;
	IF problem IS NULL THEN
		RETURN;
	END IF;
	PERFORM cudal1.end_waiting(note_reference.task_id, problem, reason);
END
$$;
COMMENT ON FUNCTION cudal1.note_reference IS
'writes a verdict on a task''s reference, if there is none or this one comes from a check: good, bad
(the task''s waiting candidates are discarded), or unchecked, each with its reason';

CREATE FUNCTION cudal1.enqueue_reference(t cudal1.task)
RETURNS boolean LANGUAGE sql VOLATILE PARALLEL UNSAFE
-- The candidate is the reference's code with a comment.
RETURN cudal1.queue_null(t, 'reference',
	CASE WHEN t.baseline <> 'reference' THEN cudal1.baseline_code(t, t.baseline)
		WHEN t.language = 'pytorch' THEN t.reference
			|| E'\n\n\n# the reference as its own candidate\nclass ModelNew(Model):\n    pass\n'
		ELSE t.reference || E'\n/* the reference as its own candidate */\n' END,
	'{successful,failed,discarded}');
COMMENT ON FUNCTION cudal1.enqueue_reference IS
'queues the check of a task''s reference, or of its baseline, as its own candidate behind all other
work, also where there was one; false: it is queued already';

CREATE FUNCTION cudal1.may_certify(t cudal1.task, d cudal1.device)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN t.retired_at IS NULL AND (t.options ->> 'certify') IS DISTINCT FROM 'false'
	AND coalesce(t.device_model, t.device) IN (d.class, d.model, d.device_key)
	AND t.cores <= d.cores AND t.language = ANY (d.languages);
COMMENT ON FUNCTION cudal1.may_certify IS
'whether a device without work may check a task, which it can measure, without being asked';

CREATE FUNCTION cudal1.use_idle(d cudal1.device)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET lock_timeout = '20ms'
AS $$
DECLARE
	idle	CONSTANT interval := '30 seconds';
	t		cudal1.task;
BEGIN
	SELECT x.* INTO t FROM cudal1.task AS x
		WHERE x.reference_state = 'unchecked' AND x.reference_detail IS NULL
			AND cudal1.may_certify(x, d)
			-- a measurement under way will tell
			AND NOT EXISTS (SELECT FROM cudal1.job AS j
				WHERE j.state = 'running' AND j.task_id = x.task_id)
			AND NOT EXISTS (SELECT FROM cudal1.null_candidate AS k
					JOIN cudal1.candidate AS c USING (candidate_id)
				WHERE k.task_id = x.task_id AND k.name = 'reference' AND c.state = 'queued')
		ORDER BY x.task_id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
	IF FOUND THEN
		PERFORM cudal1.enqueue_reference(t);
		RETURN;
	ELSIF EXISTS (SELECT FROM cudal1.turn AS x
			WHERE x.device_id = d.device_id AND x.claimed_at > clock_timestamp() - idle) THEN
		RETURN;
	END IF;
	-- one by chance, because an open transaction may be certifying the first
	SELECT x.* INTO t FROM cudal1.task AS x
		WHERE x.nulls_at IS NULL AND x.reference_state <> 'bad' AND cudal1.may_certify(x, d)
			AND x.created_at < clock_timestamp() - idle
		ORDER BY random() LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	-- a task without null candidates must not stop devices
	BEGIN
		PERFORM cudal1.certify(t.task_id);
	EXCEPTION WHEN lock_not_available THEN
		RETURN;
	WHEN OTHERS THEN
		RAISE WARNING USING ERRCODE = SQLSTATE,
			MESSAGE = format('task %s has no null candidates: %s', t.task_id, SQLERRM);
	END;
	UPDATE cudal1.task AS x SET nulls_at = clock_timestamp() WHERE x.task_id = t.task_id;
EXCEPTION WHEN lock_not_available THEN
	RETURN;
END
$$;
COMMENT ON FUNCTION cudal1.use_idle IS
'gives a device that has no job work that no role asked for: the check of a reference of which
nothing is known or, after half a minute, the null candidates of a task that has had none';

CREATE FUNCTION @extschema@.cudal1_check_reference(task text)
RETURNS boolean LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	t		cudal1.task := cudal1.find_task(task);
	queued	boolean;
BEGIN
	PERFORM cudal1.check_owner(format('task "%s"', t.name), t.created_by);
	queued := cudal1.enqueue_reference(t);
	PERFORM cudal1.warn_no_device(t) WHERE queued;
	RETURN queued;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_check_reference(text) IS
'has the reference of a task checked (again), behind all other work: it loads, runs, fits the
memory, agrees with itself in two processes and two orders of inputs, answers to its inputs, and is
measured as its own candidate. Without being asked, a device that has nothing to do checks a task
that is unchecked, unless the setting cudal1.certify is off or the task''s option certify is false;
so does the first measurement of a candidate. False: its check is queued already. For the role that
added the task and operators. Errors: 42704 unknown task, 42501 another role''s';

CREATE FUNCTION @extschema@.cudal1_certify_task(task text)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	t		cudal1.task := cudal1.find_task(task);
	n		bigint := cudal1.certify(t.task_id);
BEGIN
	PERFORM cudal1.warn_no_device(t) WHERE n > 0;
	RETURN n;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_certify_task(text) IS
'queues, behind all other work, the null candidates of a task (zeros, a copy of an input, the output
for other inputs, work on half of an input or on its means, means of the outputs) that have no
verdict; returns their number. Probes do not count for them.
cudal1.task.certified then says weak where one passes, passed where all fail; cudal1.null_candidate
names them. They are neither sampled nor reported. Without being asked, a device that has had
nothing to do for half a minute does it for a task, unless the setting cudal1.certify (on) or the
task''s option certify says no. Error 42704: unknown task';
