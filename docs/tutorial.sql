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
--+ A task is a reference with a signature. This one multiplies two matrices, one sum after the other. The profile `quick`
-- is for trials; training uses `default`:

SELECT cudal1_add_task('matrix product', $c$
void solve(const float *a, const float *b, float *c)
{
    for (int i = 0; i < 96; i++)
        for (int j = 0; j < 96; j++)
        {
            float sum = 0;
            for (int k = 0; k < 96; k++)
                sum += a[i * 96 + k] * b[k * 96 + j];
            c[i * 96 + j] = sum;
        }
}
$c$, 'c', '{"entry": "solve", "args": [
    {"name": "a", "dtype": "float32", "shape": [96, 96], "role": "in", "init": "uniform"},
    {"name": "b", "dtype": "float32", "shape": [96, 96], "role": "in", "init": "uniform"},
    {"name": "c", "dtype": "float32", "shape": [96, 96], "role": "out"}]}',
    options => '{"profile": "quick"}');

-- ## Candidates
--
--+ Two candidates: one adds whole rows of `b`, as memory lies, so its compiler uses vectors. The other does too, and
-- forgets the last row.

SELECT cudal1_submit('matrix product', $c$
void solve(const float *restrict a, const float *restrict b, float *restrict c)
{
    for (int i = 0; i < 96; i++)
    {
        for (int j = 0; j < 96; j++)
            c[i * 96 + j] = 0;
        for (int k = 0; k < 96; k++)
            for (int j = 0; j < 96; j++)
                c[i * 96 + j] += a[i * 96 + k] * b[k * 96 + j];
    }
}
$c$) AS by_rows \gset
SELECT cudal1_submit('matrix product', $c$
void solve(const float *restrict a, const float *restrict b, float *restrict c)
{
    for (int i = 0; i < 96; i++)
    {
        for (int j = 0; j < 96; j++)
            c[i * 96 + j] = 0;
        for (int k = 0; k < 95; k++)
            for (int j = 0; j < 96; j++)
                c[i * 96 + j] += a[i * 96 + k] * b[k * 96 + j];
    }
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

SELECT prompt_id, length(prompt), exemplars FROM cudal1_prompt('matrix product');
SELECT max(prompt_id) AS prompt_id FROM cudal1.prompt \gset
SELECT cudal1_submit_response(:prompt_id, $r$
## Performance Analysis
Adding whole rows uses vectors, but loads and stores a row of `c` for each row of `b`.

## Algorithm Design
1. Add four rows of `b` before a row of `c` is stored.
2. Do so for two rows of `c`, so that what is loaded of `b` serves both.

## Code Implementation
```c
void solve(const float *restrict a, const float *restrict b, float *restrict c)
{
    for (int i = 0; i < 96 * 96; i++)
        c[i] = 0;
    for (int i = 0; i < 96; i += 2)
        for (int k = 0; k < 96; k += 4)
            for (int j = 0; j < 96; j++)
            {
                const float *q = b + k * 96 + j;
                for (int r = i; r < i + 2; r++)
                {
                    const float *p = a + r * 96 + k;
                    c[r * 96 + j] += p[0] * q[0] + p[1] * q[96] + p[2] * q[192] + p[3] * q[288];
                }
            }
}
```
$r$, 'by hand') AS four_at_once \gset
SELECT * FROM cudal1_wait(ARRAY[:four_at_once], '10 minutes');

-- ## What comes of it
--
-- The buckets from which the next exemplars are drawn, the advantages of the three as a group, and the report:

SELECT bucket, lower, upper, codes, mean, round(probability::numeric, 4) AS probability FROM cudal1_bucket_stats('matrix product');
SELECT cudal1_group_advantages(array_agg(cudal1_reward(id) ORDER BY id))
FROM unnest(ARRAY[:by_rows, :one_row_short, :four_at_once]) AS id;
SELECT * FROM cudal1_speedup_report();

-- ## Next
--
-- [tasks.md](tasks.md) says how to write tasks and how KernelBench is imported, [trainers.md](trainers.md) how a trainer
-- gets its rewards, and [reference.md](reference.md) has every function.
