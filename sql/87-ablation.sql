/*
 * Ablations (CUDA-L1, section 4): which of a code's switches bring its speedup, and which only in
 * company.
 *
 * Speedups of techniques multiply, so effects are differences of logarithms: a factor of 1 is no
 * effect, a factor of 2 doubles. Every combination is a candidate of its own, measured like any
 * other and never sampled or reported.
 */

CREATE FUNCTION cudal1.set_switch(code text, switch text, is_on boolean)
RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET standard_conforming_strings = on
AS $$
DECLARE
	-- USE_X = True, self.USE_X = True, static const int USE_X = 1; True becomes False, 1 becomes 0
	-- of its line nothing follows but a comment
	ends		constant text := '(?=[ \t\r]*;?[ \t\r]*(?:(?:#|//|/\*).*)?$)';
	assigned	constant text :=
		'^([ \t]*(?:(?:static|const|constexpr)[ \t]+)*(?:(?:int|bool|_Bool|unsigned|auto)[ '
		'\t]+)?(?:self\.)?' || switch
		|| '[ \t]*(?::[ \t]*bool[ \t]*)?=[ \t]*)(True|False|true|false|0|1)' || ends;
	defined		constant text := '^([ \t]*#[ \t]*define[ \t]+' || switch
		|| '[ \t]+)(0|1|true|false)' || ends;
	bare		constant text := '^([ \t]*#[ \t]*)(define|undef)([ \t]+' || switch
		|| '[ \t]*(?:$|//|/\*))';
	-- docstrings may repeat the lines of switches
	quoted		constant text := '"""(?:[^"]|"(?!""))*"""|''''''(?:[^'']|''(?!''''))*''''''';
	mark		constant text := chr(1);
	strings		text[];
	bare_code	text := code;
	pattern		text;
	present		text;
	places		int := 0;
	found		text;
BEGIN
	PERFORM cudal1.raise_if(NOT cudal1.matches(switch, '^[A-Za-z_][A-Za-z0-9_]{0,99}$', 100),
		'22023', format('switch "%s" is no name', switch),
		'A switch is a constant of the code, for instance USE_TILING.');
	IF strpos(code, mark) = 0 THEN
		strings := ARRAY(SELECT m.groups[1]
			FROM regexp_matches(code, '(' || quoted || ')', 'g') WITH ORDINALITY AS m (groups, n)
			ORDER BY m.n);
		bare_code := regexp_replace(code, quoted, mark, 'g');
	END IF;
	FOREACH pattern IN ARRAY ARRAY[assigned, defined, bare] LOOP
		SELECT places + count(*), coalesce(present, min(m.groups[2])),
			CASE WHEN count(*) > 0 THEN pattern ELSE found END
			INTO places, present, found
			FROM regexp_matches(bare_code, pattern, 'gn') AS m (groups);
	END LOOP;
	PERFORM cudal1.raise_if(places <> 1, '22023',
		format('switch "%s" is set %s times in the code', switch, places),
		'Write USE_X = True (Python), #define USE_X 1 or static const int USE_X = 1 (C); a bare '
			'#define USE_X becomes #undef.',
		'It must be set exactly once, on a line of its own, to a plain truth value; what stands '
			'in a docstring does not count.');
	bare_code := regexp_replace(bare_code, found, '\1' || CASE
			WHEN found = bare THEN CASE WHEN is_on THEN 'define' ELSE 'undef' END || '\3'
			WHEN present IN ('True', 'False') THEN initcap(is_on::text)
			WHEN present IN ('true', 'false') THEN is_on::text
			ELSE is_on::int::text END, 'n');
	RETURN (SELECT string_agg(p.part || coalesce(strings[p.n], ''), '' ORDER BY p.n)
		FROM unnest(string_to_array(bare_code, mark)) WITH ORDINALITY AS p (part, n));
END
$$;
COMMENT ON FUNCTION cudal1.set_switch IS
'the code with a named switch, which must be set exactly once, on or off';

CREATE FUNCTION @extschema@.cudal1_ablate(candidate_id bigint, switches text[],
	priority int DEFAULT 0)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	c		cudal1.candidate;
	t		cudal1.task;
	id		bigint;
	variant	bigint;
	body	text;
	n		int := cardinality(switches);
BEGIN
	PERFORM cudal1.raise_if(switches IS NULL OR num_nulls(VARIADIC switches) > 0, '22004',
		'switches must not be null');
	PERFORM cudal1.demand_submission('-', '-', priority);
	PERFORM cudal1.raise_if(n NOT BETWEEN 1 AND 8 OR array_ndims(switches) <> 1, '22023',
		'switches must be 1 to 8 names',
		format('They are %s; all combinations of 8 are 256 measurements.', n));
	-- arrays of callers may begin at other numbers than 1
	switches := switches[:];
	PERFORM cudal1.raise_if(n > (SELECT count(DISTINCT s) FROM unnest(switches) AS s), '22023',
		'switches must not repeat a name');
	PERFORM cudal1.check_candidates(ARRAY[candidate_id], 'candidate_id');
	SELECT x.* INTO c FROM cudal1.candidate AS x WHERE x.candidate_id = cudal1_ablate.candidate_id;
	PERFORM cudal1.raise_if(c.code = '' AND c.purpose <> 'withheld', '55000',
		format('the code of candidate %s was pruned', c.candidate_id));
	t := cudal1.find_task((SELECT x.name FROM cudal1.task AS x WHERE x.task_id = c.task_id));
	PERFORM cudal1.check_reference(t);
	INSERT INTO cudal1.ablation (task_id, candidate_id, switches)
		VALUES (c.task_id, c.candidate_id, cudal1_ablate.switches)
		RETURNING ablation_id INTO id;
	FOR mask IN REVERSE (1 << n) - 1 .. 0 LOOP
		body := c.code;
		FOR i IN 1 .. n LOOP
			body := cudal1.set_switch(body, switches[i], mask >> (i - 1) & 1 = 1);
		END LOOP;
		-- the code as it stands is one of the combinations, and keeps its candidate
		variant := coalesce((SELECT x.candidate_id FROM cudal1.candidate AS x
				WHERE x.task_id = c.task_id AND x.code_hash = cudal1.code_hash(body)
					AND x.state <> 'discarded' AND NOT x.imported),
			cudal1.accept_submission(cudal1.row_of(t.task_id, body,
				format('ablation %s', id), NULL, (cudal1.caller(), 1, 'ablation', priority, NULL,
					'ablation', NULL, NULL, NULL, NULL, NULL))));
		INSERT INTO cudal1.ablation_run (ablation_id, mask, candidate_id)
			VALUES (id, mask, variant);
	END LOOP;
	-- also where all combinations were measured before
	PERFORM cudal1.store(cudal1.caller(), 256 * (1 + (1 << n)));
	RETURN id;
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_ablate(bigint, text[], int) IS
'queues all combinations of 1 to 8 named switches of a candidate''s code (CUDA-L1, section 4) and
returns the ablation. A switch is set exactly once, docstrings apart, on a line of its own: USE_X =
True, #define USE_X 1, static const int USE_X = 1, or a bare #define USE_X. Combinations are
candidates of purpose ablation, neither sampled nor reported; one that was measured before is not
measured again. Errors: 22023 bad switches, 42704 unknown candidate, 53400 a quota is used up, 55000
the code was pruned or the task''s reference is bad';

CREATE FUNCTION cudal1.ablation_scores(ablation_id bigint)
RETURNS TABLE (mask int, candidate_id bigint, state text, failure text, score float8, lower float8,
	upper float8, half float8, wide boolean, bottleneck text) LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT r.mask, c.candidate_id, c.state, c.failure,
		   CASE c.state WHEN 'failed' THEN 0 WHEN 'successful' THEN coalesce((
			SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY b)
			FROM unnest(m.bucket_means) AS b), c.score) END,
		   m.lower, m.upper, CASE WHEN m.lower > 0
			AND c.state = 'successful' THEN ln(m.upper / m.lower) / 2 END, c.wide, r.bottleneck
	FROM cudal1.ablation_run AS r JOIN cudal1.candidate AS c ON c.candidate_id = r.candidate_id
		LEFT JOIN cudal1.measurement AS m ON m.measurement_id = c.measurement_id
	WHERE r.ablation_id = ablation_scores.ablation_id;
END;
COMMENT ON FUNCTION cudal1.ablation_scores IS
'the combinations of an ablation; score: the median of the pairs, whatever was paid (0 failed, NULL
undecided); half: the half-width of its logarithm';

CREATE FUNCTION cudal1.find_ablation(ablation_id bigint)
RETURNS cudal1.ablation LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT cudal1.raise_if(NOT EXISTS (SELECT FROM cudal1.ablation AS x
			WHERE x.ablation_id = find_ablation.ablation_id), '42704',
		format('ablation %s does not exist', coalesce(find_ablation.ablation_id::text, 'null')),
		'cudal1_ablate() makes one; cudal1.ablation lists them.');
	SELECT x.* FROM cudal1.ablation AS x WHERE x.ablation_id = find_ablation.ablation_id;
END;
COMMENT ON FUNCTION cudal1.find_ablation IS 'the ablation of an id; error 42704 if there is none';

CREATE FUNCTION @extschema@.cudal1_ablation_table(ablation_id bigint)
RETURNS TABLE (configuration text, settings boolean[], speedup float8, lower float8, upper float8,
	state text, failure text, candidate_id bigint, bottleneck text, wide boolean)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT CASE WHEN s.mask = 0 THEN 'baseline'
				WHEN s.mask = (1 << cardinality(a.switches)) - 1 THEN 'all'
				ELSE (SELECT string_agg(a.switches[i], ' + ' ORDER BY i)
					FROM generate_subscripts(a.switches, 1) AS i
					WHERE s.mask >> (i - 1) & 1 = 1) END,
		   ARRAY(SELECT s.mask >> (i - 1) & 1 = 1
			FROM generate_subscripts(a.switches, 1) AS i ORDER BY i),
		   s.score, s.lower, s.upper, s.state, s.failure, s.candidate_id, s.bottleneck, s.wide
	FROM cudal1.find_ablation(cudal1_ablation_table.ablation_id) AS a
		CROSS JOIN LATERAL cudal1.ablation_scores(a.ablation_id) AS s
	ORDER BY s.score DESC NULLS LAST, bit_count(s.mask::bit(8)), s.mask;
END;
COMMENT ON FUNCTION @extschema@.cudal1_ablation_table(bigint) IS
'CUDA-L1, tables 9 and 10: every combination, fastest first; settings in the order of the switches;
speedup: the median of its pairs, before rounding, whatever was paid, 0 failed, NULL not decided;
lower and upper: the interval of its measurement; bottleneck is open until cudal1_ablation_explain()
says it; wide: the interval is wider than the profile''s half_width_limit';

CREATE FUNCTION @extschema@.cudal1_ablation_effects(ablation_id bigint, max_order int DEFAULT 2)
RETURNS TABLE (effect text, switches text[], factor float8, lower float8, upper float8,
	settings bigint) LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.raise_if(max_order IS NULL OR max_order < 1, '22023',
		'argument "max_order" must be at least 1');
	WITH of AS MATERIALIZED (
		SELECT a.switches FROM cudal1.find_ablation(cudal1_ablation_effects.ablation_id) AS a
	), subsets AS (
		SELECT s AS subset, bit_count(s::bit(8)) AS size
			FROM of AS a
				CROSS JOIN LATERAL generate_series(1, (1 << cardinality(a.switches)) - 1) AS s
			WHERE bit_count(s::bit(8)) <= max_order
	), contrasts AS (
		-- for each setting of the other switches, the alternating sum over the subset's
		SELECT u.subset, u.size, x.mask & ~u.subset AS others,
			   sum(CASE WHEN (u.size - bit_count((x.mask & u.subset)::bit(8))) % 2 = 0 THEN 1
				ELSE -1 END * ln(x.score)) AS contrast,
			   CASE WHEN count(x.half) = 1 << u.size::int THEN sum(x.half ^ 2) END AS noise
		FROM subsets AS u
			CROSS JOIN cudal1.ablation_scores(cudal1_ablation_effects.ablation_id) AS x
		WHERE x.score > 0
		GROUP BY u.subset, u.size, x.mask & ~u.subset
		HAVING count(*) = 1 << u.size::int
	), effects AS (
		SELECT u.subset, u.size, avg(c.contrast) AS contrast, count(c.contrast) AS settings,
			   CASE WHEN count(c.noise) = count(*) THEN sqrt(sum(c.noise)) / count(*) END AS half
		FROM subsets AS u LEFT JOIN contrasts AS c ON c.subset = u.subset
		GROUP BY u.subset, u.size)
	SELECT CASE WHEN e.size = 1 THEN 'main' ELSE 'interaction' END,
		   ARRAY(SELECT a.switches[i] FROM generate_subscripts(a.switches, 1) AS i
			WHERE e.subset >> (i - 1) & 1 = 1 ORDER BY i),
		   exp(e.contrast), exp(e.contrast - e.half), exp(e.contrast + e.half), e.settings
	FROM of AS a CROSS JOIN effects AS e
	ORDER BY e.size, abs(e.contrast) DESC NULLS LAST, e.subset;
END;
COMMENT ON FUNCTION @extschema@.cudal1_ablation_effects(bigint, int) IS
'main effects and interactions of an ablation up to an order (2), from the speedups of its table, on
the log scale and shown as factors. main: speedup with the switch over speedup without, geometric
mean over the settings of the others; interaction of A and B: A''s factor with B over A''s factor
without B (1: they multiply, above 1: each helps the other); higher orders alike. lower and upper:
from the intervals of the measurements. settings: those of the others whose combinations succeeded';

CREATE FUNCTION @extschema@.cudal1_ablation_gatekeepers(ablation_id bigint,
	tolerance float8 DEFAULT 0.1)
RETURNS TABLE (switch text, gatekeeper boolean, best_with float8, best_without float8,
	baseline float8) LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
BEGIN ATOMIC
	SELECT cudal1.raise_if(tolerance IS NULL OR NOT (tolerance >= 0 AND tolerance < 10), '22023',
		'argument "tolerance" must be a share of at least 0');
	SELECT w.name,
		   x.best_without <= x.baseline * (1 + tolerance)
			AND x.best_with > x.baseline * (1 + tolerance) AND x.decided,
		   x.best_with, x.best_without, x.baseline
	FROM cudal1.find_ablation(cudal1_ablation_gatekeepers.ablation_id) AS a
		CROSS JOIN LATERAL unnest(a.switches) WITH ORDINALITY AS w (name, place)
		CROSS JOIN LATERAL (
			SELECT max(s.score) FILTER (WHERE s.mask >> (w.place - 1)::int & 1 = 1) AS best_with,
				   max(s.score) FILTER (WHERE s.mask >> (w.place - 1)::int & 1 = 0) AS best_without,
				   max(CASE s.score WHEN 0 THEN 1 ELSE s.score END) FILTER (WHERE s.mask = 0)
						AS baseline,
				   count(s.score) = count(*) AS decided
			FROM cudal1.ablation_scores(a.ablation_id) AS s) AS x
	ORDER BY x.best_with / nullif(x.best_without, 0) DESC NULLS FIRST, w.place;
END;
COMMENT ON FUNCTION @extschema@.cudal1_ablation_gatekeepers(bigint, float8) IS
'which switches are gatekeepers (CUDA-L1, section 4): no combination without the switch gains more
than the share tolerance (0.1) over all switches off, some combination with it does; not true while
combinations are undecided. baseline: with all switches off, 1 where that failed, NULL undecided';

CREATE FUNCTION @extschema@.cudal1_ablation_explain(ablation_id bigint, switches_on text[],
	bottleneck text)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	a		cudal1.ablation := cudal1.find_ablation(ablation_id);
BEGIN
	PERFORM cudal1.check_owner(format('ablation %s', a.ablation_id), a.created_by);
	PERFORM cudal1.raise_if(switches_on IS NULL, '22004', 'switches_on must not be null',
		'The empty array is the baseline.');
	PERFORM cudal1.raise_if(octet_length(bottleneck) > 1000, '54000',
		'bottleneck must not be longer than 1000 bytes');
	PERFORM cudal1.raise_if(array_position(a.switches, s) IS NULL, '42704',
			format('ablation %s has no switch "%s"', a.ablation_id, s),
			format('Its switches are %s.', array_to_string(a.switches, ', ')))
		FROM unnest(switches_on) AS s;
	UPDATE cudal1.ablation_run AS r SET bottleneck = cudal1_ablation_explain.bottleneck
		WHERE r.ablation_id = a.ablation_id
			AND r.mask = (SELECT coalesce(bit_or(1 << (array_position(a.switches, s) - 1)), 0)
				FROM unnest(switches_on) AS s);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_ablation_explain(bigint, text[], text) IS
'writes what holds the combination with just these switches on back (NULL: open again) into the last
column of cudal1_ablation_table(). Errors: 42704 unknown ablation or switch';

/*
 * Techniques (CUDA-L1, 3.6 and appendix B): what successful codes do. Keywords find what leaves a
 * trace in the text, and nothing that any kernel has; a model can be asked for the rest, with the
 * same list of terms and room for its own.
 */

INSERT INTO cudal1.technique (name, pattern) VALUES
	('memory layout optimization',
		'\.contiguous\s*\(|transpose[sd]?\s+(layout|copy)|struct of '
		'arrays|\mSoA\M|packed?\s+(panel|tile|layout|buffer)'),
	('memory format optimization',
		'channels_last|memory_format\s*=|\mNHWC\M|to_mkldnn|suggest_memory_format'),
	('memory hierarchy optimization',
		'__constant__|__ldg\s*\(|__ldc[agsv]\s*\(|__stc[gs]\s*\(|cudaMemAdvise|'
		'PreferredSharedMemoryCarveout|cudaFuncCachePrefer|accessPolicyWindow|'
		'_mm(256|512)?_stream_|eviction_policy|cache_modifier|memory hierarchy'),
	('memory access optimization',
		'__ldg\s*\(|__restrict__|\mrestrict\M|prefetch|coalesc|aligned_alloc|'
		'__builtin_assume_aligned'),
	('memory coalescing', 'coalesc|\m(float|int|uint|double|half|longlong)[24]\s*(\*|&|>)'),
	('operation fusion',
		'\mfus(e|ed|es|ing|ion)\M|torch\.compile|addmm|baddbmm|scaled_dot_product_attention'),
	('shared memory usage', '__shared__|extern\s+__shared__|tl\.static_shared'),
	('warp-level optimization',
		'__shfl_|__ballot_sync|__syncwarp|warp(size|_reduce|reduce|shuffle)|cooperative_groups'),
	('optimized thread block configuration',
		'__launch_bounds__|cudaOccupancy|multiProcessorCount|num_warps\s*=|triton\.autotune'),
	('thread coarsening',
		'coarsen|_PER_THREAD\M|(elements|items|outputs|values|rows|columns)\s+per\s+thread|'
		'\+=\s*(blockDim\.x\s*\*\s*gridDim\.x|gridDim\.x\s*\*\s*blockDim\.x)'),
	('branchless implementation',
		'branch-?less|branch-?free|avoid(s|ing)?\s+(branch|divergen)|fminf?\s*\(\s*fmaxf?|'
		'fmaxf?\s*\(\s*fminf?|__saturatef|tl\.where'),
	('minimal synchronization',
		'cudaStreamNonBlocking|cudaEventDisableTiming|cudaStreamWaitEvent|wait_stream|wait_event|'
		'__syncwarp|(avoid(s|ing)?|minimi[sz](e|es|ing|al)|few(er)?)\s+synchroni[sz]'),
	('asynchronous execution',
		'torch\.cuda\.stream\s*\(|cudaMemcpyAsync|memcpy_async|cp\.async|'
		'non_blocking\s*=\s*True|\masynchronous(ly)?\M'),
	('register optimization',
		'\mregister\M|__launch_bounds__|register\s+(tile|tiling|block)|#pragma\s+unroll'),
	('loop unrolling', '#pragma\s+(GCC\s+)?unroll|\munroll(ed|ing)?\M'),
	('tiling', '\mtil(e|es|ed|ing)\M|\mblock(ed|ing)\M|TILE_|BLOCK_[MNK]\M'),
	('vectorization',
		'\mfloat4\M|_mm(256|512)?_|immintrin\.h|vector_size|#pragma\s+omp\s+simd|vectori[sz]'),
	('mixed precision', '\mhalf2?\M|__half|bfloat16|\mfloat16\M|\.half\(\)|autocast|allow_tf32'),
	('tensor cores', 'wmma|mma\.sync|nvcuda|tl\.dot|wgmma'),
	('stream management', 'cudaStream|torch\.cuda\.(Stream|stream)|getCurrentCUDAStream'),
	('cuda graphs', 'cudaGraph|CUDAGraph|make_graphed_callables'),
	('asynchronous copies', 'cp\.async|cuda::memcpy_async|__pipeline_|cudaMemcpyAsync|\mtma\M'),
	('parallel reduction',
		'parallel\s+reduction|tree\s+reduction|reduce_sum|warp_?reduce|block_?reduce|'
		'#pragma\s+omp[^\n]*reduction'),
	('multithreading', '#pragma\s+omp\s+parallel|pthread_create|std::thread|at::parallel_for'),
	('algebraic simplification',
		'algebraic(ally)?|broadcast(ed|ing)?\M[^\n]{0,60}(instead|product)|\meinsum\M|avoid(s|'
		'ing)?\s+(the\s+)?(full|explicit)'),
	('just-in-time compilation',
		'load_inline|@triton\.jit|torch\.compile|torch\.jit\.script|nvrtc'),
	('fast math', 'fast_?math|__expf\s*\(|__fdividef|rsqrtf?\s*\(|-Ofast|__frcp_'),
	('in-place operations',
		'\.(relu|add|mul|sub|div|clamp|exp|sigmoid|tanh)_\s*\(|inplace\s*=\s*True|'
		'out\s*=\s*[a-z_]+\s*\)'),
	('preallocated buffers',
		'torch\.empty(_like)?\s*\(|register_buffer|preallocat|workspace|scratch');

CREATE FUNCTION @extschema@.cudal1_extract_techniques(candidate_ids bigint[] DEFAULT NULL,
	model text DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
AS $$
DECLARE
	ids		bigint[];
BEGIN
	PERFORM cudal1.check_candidates(candidate_ids) WHERE candidate_ids IS NOT NULL;
	ids := ARRAY(SELECT c.candidate_id FROM cudal1.candidate AS c
		WHERE c.candidate_id = ANY (candidate_ids)
			OR candidate_ids IS NULL AND c.state = 'successful' AND c.purpose = 'normal'
		ORDER BY c.candidate_id);
	IF model IS NOT NULL THEN
		RETURN cudal1.ask_about('techniques', model, ids);
	END IF;
	INSERT INTO cudal1.technique_look (candidate_id, source)
		SELECT u.id, 'keywords' FROM unnest(ids) AS u (id) ON CONFLICT DO NOTHING;
	INSERT INTO cudal1.candidate_technique (candidate_id, technique, source)
		SELECT c.candidate_id, t.name, 'keywords'
			FROM cudal1.candidate AS c JOIN cudal1.technique AS t ON c.code ~* t.pattern
			WHERE c.candidate_id = ANY (ids) ORDER BY 1, 2
		ON CONFLICT DO NOTHING;
	RETURN cardinality(ids);
END
$$;
COMMENT ON FUNCTION @extschema@.cudal1_extract_techniques(bigint[], text) IS
'notes the techniques of candidates (NULL: all successful ones) in cudal1.candidate_technique, by
keywords or as a model says by and by. Returns how many were looked at, or requests made (none for
those asked before). Errors: 42704 unknown candidate or model, 53400 a quota is used up';

CREATE FUNCTION cudal1.take_techniques(candidate_id bigint, answer text, source text)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET standard_conforming_strings = on
AS $$
DECLARE
	list	jsonb;
	names	text[];
BEGIN
	-- models think aloud and index arrays before they answer, so the last array of strings counts
	SELECT p.part INTO list
		FROM cudal1.json_parts(answer, '\[[^][]*\]') WITH ORDINALITY AS p(part, place)
		WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(p.part) AS e
			WHERE jsonb_typeof(e) <> 'string')
		ORDER BY p.part = '[]', p.place DESC LIMIT 1;
	PERFORM cudal1.raise_if(list IS NULL, '22023', 'the answer holds no JSON array of strings');
	names := ARRAY(SELECT DISTINCT n FROM jsonb_array_elements_text(list) AS e, lower(btrim(e)) AS n
		WHERE cudal1.is_name(n, 80) AND cudal1.matches(n, '^[[:alnum:]].', 320)
		ORDER BY n LIMIT 50);
	INSERT INTO cudal1.technique_look (candidate_id, source)
		VALUES (take_techniques.candidate_id, take_techniques.source)
		ON CONFLICT DO NOTHING;
	INSERT INTO cudal1.technique (name) SELECT n FROM unnest(names) AS n ON CONFLICT DO NOTHING;
	INSERT INTO cudal1.candidate_technique (candidate_id, technique, source)
		SELECT take_techniques.candidate_id, n, take_techniques.source FROM unnest(names) AS n
			ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION cudal1.take_techniques IS
'stores the techniques that a model named; error 22023 where the answer is no list';

CREATE VIEW cudal1.technique_frequency AS
	WITH looked AS (
		SELECT x.source, count(*) AS candidates
			FROM cudal1.technique_look AS x JOIN cudal1.candidate AS y USING (candidate_id)
			WHERE y.state = 'successful' AND y.purpose = 'normal' GROUP BY x.source)
	SELECT k.technique, k.source, count(*) AS candidates, count(DISTINCT c.task_id) AS tasks,
			count(*)::float8 / l.candidates AS share,
			avg(c.reward) AS mean_reward,
			percentile_cont(0.5) WITHIN GROUP (ORDER BY c.reward) AS median_reward
		FROM cudal1.candidate_technique AS k JOIN cudal1.candidate AS c USING (candidate_id)
			LEFT JOIN looked AS l USING (source)
		WHERE c.state = 'successful' AND c.purpose = 'normal'
		GROUP BY k.technique, k.source, l.candidates;
COMMENT ON VIEW cudal1.technique_frequency IS
'how often each technique occurs in successful codes: candidates, tasks, share of all successful
codes looked at by the source, and the rewards of codes that use it';
