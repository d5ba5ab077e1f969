-- # Tutorial
--
-- This page goes from an empty database to a prompt that shows a model what was fast. It needs a C compiler and a server
-- that preloads cudal1, with a worker for this database; `tools/server start /tmp/try` makes one for trying, and says how
-- to connect to it.
--
-- `tools/tutorial` writes this page from [tutorial.sql](tutorial.sql). The output below is that of a server on a small
-- virtual machine; times and rewards will differ on yours.
--
-- ## Is anything being measured here?

CREATE EXTENSION cudal1;

-- The worker registers the devices of its host within seconds. This waits for one:

DO 'BEGIN FOR i IN 1..100 LOOP EXIT WHEN EXISTS (SELECT FROM cudal1.device); PERFORM pg_sleep(0.3); END LOOP; END';
SELECT item, value FROM cudal1_status() WHERE item <> 'version';

-- ## A task
--
--+ A task is a reference with a signature. This one sums the columns of a matrix, one column after the other. The profile
-- `quick` is for trials; training uses `default`:

SELECT cudal1_add_task('column sums', $c$
void solve(const float *x, float *sums)
{
    for (int j = 0; j < 320; j++)
    {
        float sum = 0;
        for (int i = 0; i < 400; i++)
            sum += x[i * 320 + j];
        sums[j] = sum;
    }
}
$c$, 'c', '{"entry": "solve", "args": [
    {"name": "x", "dtype": "float32", "shape": [400, 320], "role": "in", "init": "uniform"},
    {"name": "sums", "dtype": "float32", "shape": [320], "role": "out"}]}',
    options => '{"profile": "quick"}');

-- ## Candidates
--
--+ Two candidates: one reads memory as it lies, the other does too and forgets the last row.

SELECT cudal1_submit('column sums', $c$
void solve(const float *restrict x, float *restrict sums)
{
    for (int j = 0; j < 320; j++)
        sums[j] = 0;
    for (int i = 0; i < 400; i++)
        for (int j = 0; j < 320; j++)
            sums[j] += x[i * 320 + j];
}
$c$) AS by_rows \gset
SELECT cudal1_submit('column sums', $c$
void solve(const float *restrict x, float *restrict sums)
{
    for (int j = 0; j < 320; j++)
        sums[j] = 0;
    for (int i = 0; i < 399; i++)
        for (int j = 0; j < 320; j++)
            sums[j] += x[i * 320 + j];
}
$c$) AS one_row_short \gset

--+ The worker was woken by the commits, and measures. Waiting costs nothing and holds no lock:

SELECT * FROM cudal1_wait(ARRAY[:by_rows, :one_row_short], '10 minutes');
SELECT candidate_id, failure, detail FROM cudal1.candidate WHERE candidate_id = :one_row_short;

-- ## How a reward came about
--
-- A score above 3 is measured a second time, and the lower of the two counts, if they agree.

SELECT kind, outcome, round(score::numeric, 3) AS score, round(lower::numeric, 3) AS lower, round(upper::numeric, 3) AS upper,
    pairs, rounds, checks, round(wall_seconds::numeric, 1) AS seconds
FROM cudal1.measurement WHERE candidate_id = :by_rows ORDER BY measurement_id;

-- ## A prompt, and an answer
--
-- A prompt shows a model what there is, with scores. Its answer is submitted as it comes:

SELECT prompt_id, length(prompt), exemplars FROM cudal1_prompt('column sums');
SELECT max(prompt_id) AS prompt_id FROM cudal1.prompt \gset
SELECT cudal1_submit_response(:prompt_id, $r$
## Performance Analysis
Adding whole rows reads memory as it lies, but stores and loads every sum 400 times.

## Algorithm Design
1. Keep 64 sums in registers for all rows.

## Code Implementation
```c
void solve(const float *restrict x, float *restrict sums)
{
    for (int j0 = 0; j0 < 320; j0 += 64)
    {
        float part[64] = {0};
        for (int i = 0; i < 400; i++)
            for (int j = 0; j < 64; j++)
                part[j] += x[i * 320 + j0 + j];
        for (int j = 0; j < 64; j++)
            sums[j0 + j] = part[j];
    }
}
```
$r$, 'by hand') AS in_registers \gset
SELECT * FROM cudal1_wait(ARRAY[:in_registers], '10 minutes');

-- ## What comes of it
--
-- The buckets from which the next exemplars are drawn, the advantages of the three as a group, and the report:

SELECT bucket, lower, upper, codes, mean, round(probability::numeric, 4) AS probability FROM cudal1_bucket_stats('column sums');
SELECT cudal1_group_advantages(array_agg(cudal1_reward(id) ORDER BY id))
FROM unnest(ARRAY[:by_rows, :one_row_short, :in_registers]) AS id;
SELECT * FROM cudal1_speedup_report();

-- ## Next
--
-- [tasks.md](tasks.md) says how to write tasks and how KernelBench is imported, [trainers.md](trainers.md) how a trainer
-- gets its rewards, and [reference.md](reference.md) has every function.
