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
	room	record;
	n		bigint;
BEGIN
	IF cudal1_extract_techniques.candidate_ids IS NOT NULL THEN
		PERFORM cudal1.check_ids('candidate_ids', cudal1_extract_techniques.candidate_ids);
		PERFORM cudal1.check_candidates(cudal1_extract_techniques.candidate_ids);
	END IF;
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
			room := cudal1.request_room(cudal1.caller());
			IF room.requests < 0 THEN
				PERFORM cudal1.refuse(cudal1.caller(), room.quota, room.used - n, n);
			END IF;
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
'notes the techniques of candidates (NULL: all successful ones) in cudal1.candidate_technique: found by keywords, or asked of a model, which answers by and by. Returns the number of candidates looked at, or of requests made (none for those asked before). Errors: 42704 unknown candidate or model, 53400 a quota is used up';

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
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
#variable_conflict use_column
DECLARE
	list	text;
	names	text[];
BEGIN
	-- models think aloud, index arrays and count before they answer: the last array of strings is the answer
	FOR list IN SELECT x.m[1] FROM regexp_matches(regexp_replace(answer, '<think>.*</think>', ''), '\[[^][]*\]', 'g') AS x(m) LOOP
		BEGIN
			IF NOT EXISTS (SELECT FROM jsonb_array_elements(list::jsonb) AS e WHERE jsonb_typeof(e) <> 'string')
				AND (names IS NULL OR list::jsonb <> '[]') THEN
				names := ARRAY(SELECT DISTINCT lower(btrim(e)) FROM jsonb_array_elements_text(list::jsonb) AS e);
			END IF;
		EXCEPTION WHEN data_exception THEN
			CONTINUE;
		END;
	END LOOP;
	IF names IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = 'the answer holds no JSON array of strings';
	END IF;
	names := ARRAY(SELECT n FROM unnest(names) AS n WHERE cudal1.matches(n, '^[[:alnum:]][^[:cntrl:]]{1,79}$', 320) ORDER BY n LIMIT 50);
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
