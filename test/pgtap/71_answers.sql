-- Answers as models write them: the code is found wherever it stands, and never in a reasoning, a sketch, a test or a string.
-- $P is a code in Python, $C one in C, $D a draft that is not the answer, $H the first two sections.

CREATE TEMP TABLE part (name text, body text);
INSERT INTO part VALUES
('$P', E'import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)'),
('$C', E'void solve(const float *x, float *y)\n{\n    for (int i = 0; i < 8; i++)\n        y[i] = 2 * x[i];\n}'),
('$D', E'class ModelNew:\n    # an idea that is not the answer\n    pass'),
('$H', E'## Performance Analysis\nThe loop is slow.\n\n## Algorithm Design\nUse vectors.\n');
CREATE FUNCTION pg_temp.filled(answer text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	p record;
BEGIN
	FOR p IN SELECT * FROM part LOOP
		answer := replace(answer, p.name, p.body);
	END LOOP;
	RETURN answer;
END
$$;

-- code: what is to be read; NULL: malformed. alone: the prompt asks for no sections
CREATE TEMP TABLE shape (n int GENERATED ALWAYS AS IDENTITY, family text, name text, response text, code text, alone boolean DEFAULT false);
INSERT INTO shape (family, name, response, code) VALUES
('Qwen', 'reasoning in tags', E'<think>\nOkay, let me see.\n```python\n$D\n```\n</think>\n\n$H\n## Code Implementation\n```python\n$P\n```', '$P'),
('Qwen', 'reasoning whose opening tag is in the prompt', E'Okay, let me see.\n```python\n$D\n```\n</think>\n\n$H\n## Code Implementation\n```python\n$P\n```', '$P'),
('Qwen', 'a closing tag that ends a sentence', E'Okay, I write it.</think>\n\n$H\n## Code Implementation\n```python\n$P\n```', '$P'),
('Qwen', 'an empty reasoning', E'<think>\n\n</think>\n\n$H\n## Code Implementation\n```python\n$P\n```', '$P'),
('Qwen', 'a draft without its end, and a reasoning without its opening tag', E'I try\n```python\n$D\n\n</think>\n\n$H\n## Code Implementation\n```python\n$P\n```', '$P'),
('Qwen', 'headings of three hashes, and an explanation', E'### Performance Analysis\na\n\n### Algorithm Design\nb\n\n### Code Implementation\n\n```python\n$P\n```\n\n### Explanation\n- `relu` is fast.\n', '$P'),
('Qwen', 'a reasoning that is cut off', E'<think>\nOkay.\n$H\n## Code Implementation\n```python\n$D\n```\nBut wait,', NULL),
('Qwen', 'an end of message', E'$H\n## Code Implementation\n```python\n$P\n```<|im_end|>\n<|endoftext|>', '$P'),
('DeepSeek', 'a draft in the reasoning, the opening tag twice', E'<think>\n<think>\n$H\n## Code Implementation\n```cpp\nvoid solve(float *y) {}\n```\n</think>\n\n$H\n## Code Implementation\n```cpp\n$C\n```', '$C'),
('DeepSeek', 'bold numbered headings', E'**1. Performance Analysis**\na\n\n**2. Algorithm Design**\nb\n\n**3. Code Implementation**\n```c\n$C\n```\n\nThis takes 3 ns.', '$C'),
('DeepSeek', 'steps and rules', E'---\n### Step 1: Performance Analysis\na\n\n---\n### Step 2: Algorithm Design\nb\n\n---\n### Step 3: Code Implementation\n```c\n$C\n```\n---\n', '$C'),
('DeepSeek', 'an end of sentence in full width', E'$H\n## Code Implementation\n```c\n$C\n```<｜end▁of▁sentence｜>', '$C'),
('DeepSeek', 'headings with words of another language', E'## 性能分析 Performance Analysis\na\n\n## 算法设计 (Algorithm Design)\nb\n\n## 代码实现 (Code Implementation)：\n```c\n$C\n```', '$C'),
('DeepSeek', 'compiled and run', E'$H\n## Code Implementation\n```cpp\n$C\n```\n\nCompile:\n```bash\ng++ -O3 -shared -fPIC -o k.so src/*.cpp build/*\n```\nThen\n```cpp\n/* a driver */\nint main()\n{\n    float x[8] = {0}, y[8];\n    if (x[0] == 0) { solve(x, y); }\n    printf("%f (ms) {%f}\\n", y[0], y[1]);\n}\n```', '$C'),
('Llama', 'friendly words around', E'Sure! Here is an optimized version.\n\n**Performance Analysis**\n\na\n\n**Algorithm Design**\n\nb\n\n**Code Implementation**\n\n```python\n$P\n```\n\nI hope this helps!<|eot_id|>', '$P'),
('Llama', 'text behind the closing marks', E'$H\n## Code Implementation\n```python\n$P\n``` This is faster.\n', '$P'),
('Llama', 'a label behind the closing marks', E'$H\n## Code Implementation\n```python\n$P\n```python\n\nDone.', '$P'),
('Llama', 'the closing marks forgotten before a test', E'$H\n## Code Implementation\n```python\n$P\n```python\nm = ModelNew()\nprint(m)\n```\n', '$P'),
('Llama', 'the closing marks behind the code', E'$H\n## Code Implementation\n```c\n$C```', '$C'),
('Llama', 'code behind the label', E'$H\n## Code Implementation\n```python $P\n```', '$P'),
('Llama', 'words before the marks', E'$H\n## Code Implementation\nHere it is: ```c\n$C\n```', '$C'),
('Llama', 'a title, a colon and the marks on a line', E'$H\n**Code Implementation:** ```c\n$C\n```', '$C'),
('Llama', 'cut off within the code', E'$H\n## Code Implementation\n```c\nvoid solve(const float *x, float *y)\n{\n    for (int i', NULL),
('Llama', 'cut off within the code behind a sketch of it', E'$H\n## Code Implementation\nFirst\n```c\n$C\n```\nand with vectors\n```c\nvoid solve(const float *x, float *y)\n{\n', NULL),
('Mistral', 'reasoning in brackets', E'[THINK]Let me draft.\n```python\n$D\n```\n[/THINK]$H\n## Code Implementation\n```python\n$P\n```</s>', '$P'),
('Mistral', 'reasoning in brackets that is cut off', E'[THINK]Let me draft.\n$H\n## Code Implementation\n```python\n$D\n```\n', NULL),
('Mistral', 'a list that holds the code', E'$H\n## Code Implementation\n1. The kernel:\n\n   ```c\n   void solve(const float *x, float *y)\n   {\n       for (int i = 0; i < 8; i++)\n           y[i] = 2 * x[i];\n   }\n   ```\n2. Done.\n', '$C'),
('Mistral', 'a quote that holds the code', E'$H\n## Code Implementation\n> ```c\n> void solve(const float *x, float *y)\n> {\n>     for (int i = 0; i < 8; i++)\n>         y[i] = 2 * x[i];\n> }\n> ```\n', '$C'),
('Mistral', 'the original behind the code', E'$H\n## Code Implementation\n```c\n$C\n```\nFor comparison, the original code:\n```c\nvoid solve(const float *x, float *y)\n{\n    for (int i = 7; i >= 0; i--)\n        y[i] = x[i] + x[i];\n}\n```\n', '$C'),
('Mistral', 'the naive code behind it', E'$H\n## Code Implementation\n```c\n$C\n```\nThe naive version:\n```c\nvoid solve(const float *x, float *y)\n{\n    for (int i = 7; i >= 0; i--)\n        y[i] = x[i] + x[i];\n}\n```\n', '$C'),
('Mistral', 'headings of LaTeX', E'\\section{Performance Analysis}\na\n\\section{Algorithm Design}\nb\n\\section{Code Implementation}\n```python\n$P\n```', '$P'),
('Mistral', 'HTML headings', E'<h2>Performance Analysis</h2>\na\n<h2>Algorithm Design</h2>\nb\n<h2>Code Implementation</h2>\n\n```c\n$C\n```\n', '$C'),
('Gemma', 'emoji in headings', E'## 🔍 Performance Analysis\na\n## 🧠 **Algorithm Design**\nb\n## 💻 Code Implementation 🚀\n```python\n$P\n```\n', '$P'),
('Gemma', 'a channel of thought', E'<|channel>thought\nLet me draft.\n```python\n$D\n```\n<channel|>$H\n## Code Implementation\n```python\n$P\n```\n', '$P'),
('Gemma', 'thought in unused tokens', E'<unused94>thought\n```python\n$D\n```\n<unused95>$H\n## Code Implementation\n```python\n$P\n```<end_of_turn>', '$P'),
('Gemma', 'a list of changes with fences in it', E'$H\n## Code Implementation\n```python\n$P\n```\n\n**Key changes:**\n* ```torch.relu``` is one kernel.\n* No loop:\n    ```python\n    for i in x: ...\n    ```\n', '$P'),
('Gemma', 'everything in a block of Markdown', E'```markdown\n$H\n## Code Implementation\n```python\n$P\n```\n```', '$P'),
('gpt-oss', 'channels', E'<|channel|>analysis<|message|>I draft\n```python\n$D\n```\n<|end|><|start|>assistant<|channel|>final<|message|>$H\n## Code Implementation\n```python\n$P\n```<|return|>', '$P'),
('gpt-oss', 'the channel of analysis alone', E'<|channel|>analysis<|message|>I draft\n$H\n## Code Implementation\n```python\n$D\n```\n', NULL),
('gpt-oss', 'the first channel is in the prompt', E'I draft\n```python\n$D\n```\n<|end|><|start|>assistant<|channel|>final<|message|>$H\n## Code Implementation\n```python\n$P\n```', '$P'),
('gpt-oss', 'channels without their tokens', E'analysisWe need a kernel.\n```python\n$D\n```\nassistantfinal$H\n## Code Implementation\n```python\n$P\n```', '$P'),
('gpt-oss', 'hyphens of another kind, and no-break blanks', E'## 1\u202f—\u202fPerformance\u00a0Analysis\na\n\n## 2\u202f—\u202fAlgorithm\u00a0Design\nb\n\n## 3\u202f—\u202fCode\u00a0Implementation\n```python\n$P\n```', '$P'),
('gpt-oss', 'a sketch with comments that look like headings', E'## Performance Analysis\n```python\n# Algorithm Design\nx = 1\n# Code Implementation\ny = 2\n```\n## Algorithm Design\nb\n## Code Implementation\n```python\n$P\n```', '$P'),
('others', 'a reasoning with a prefix, and one within it', E'<seed:think>\na\n<seed:cot_budget_reflect>b</seed:cot_budget_reflect>\n```python\n$D\n```\n</seed:think>\n$H\n## Code Implementation\n```python\n$P\n```', '$P'),
('others', 'a reasoning of Kimi', E'◁think▷a\n```python\n$D\n```\n◁/think▷$H\n## Code Implementation\n```python\n$P\n```', '$P'),
('others', 'a reasoning of Command A', E'<|START_THINKING|>a\n```python\n$D\n```\n<|END_THINKING|><|START_RESPONSE|>$H\n## Code Implementation\n```python\n$P\n```<|END_RESPONSE|>', '$P'),
('others', 'a reasoning and an answer in tags', E'<reasoning>\n```python\n$D\n```\n</reasoning>\n<answer>\n$H\n## Code Implementation\n```python\n$P\n```</answer>', '$P'),
('others', 'a reasoning of a web page', E'<details type="reasoning" done="true" duration="7">\n<summary>Thought</summary>\n```python\n$D\n```\n</details>\n$H\n## Code Implementation\n```python\n$P\n```\n<details><summary>A test</summary>\n\n```python\nprint(ModelNew())\n```\n</details>', '$P');

INSERT INTO shape (family, name, response, code, alone) VALUES
('alone', 'one block', E'Here is the code:\n\n```python\n$P\n```\n', '$P', true),
('alone', 'a test behind it', E'```python\n$P\n```\nTest:\n```python\nfrom kernel import ModelNew\nmodel = ModelNew(**{"a": 1})\nprint(f"(ms) {model}")\n```\n', '$P', true),
('alone', 'a reasoning', E'<think>\n```c\nvoid solve(float *y) {}\n```\n</think>\n```c\n$C\n```', '$C', true),
('alone', 'a reasoning that is cut off', E'<think>\n```c\n$C\n```\n', NULL, true),
('alone', 'no block', '$C', NULL, true),
('alone', 'a header and a file', E'`k.h`:\n```c\nvoid solve(const float *x, float *y);\n```\n`k.c`:\n```c\n$C\n```\n', '$C', true),
('alone', 'a file and its header', E'`k.c`:\n```c\n$C\n```\n`k.h`:\n```c\n#pragma once\n#include <stddef.h>\n/* doubles eight numbers; x and y do not overlap, and both are aligned to 64 bytes */\nvoid solve(const float *x, float *y);\n```\n', '$C', true);

-- marks, headings and tags within the code; each stands in a block of its language
CREATE TEMP TABLE inner_code (language text, name text, code text);
INSERT INTO inner_code VALUES
('python', 'a docstring with a block', E'def f(x):\n    """Fast.\n\n```python\nf(x)\n```\n    """\n    return x\n\n\n$P'),
('python', 'a docstring with an indented block', E'class ModelNew(object):\n    \'\'\'Use:\n\n    ```\n    ModelNew()(x)\n    ```\n    \'\'\'\n    pass'),
('python', 'a comment with a block', E'# ```\n# f(x)\n# ```\n$P'),
('python', 'a string with a tag', E'$P\nMARK = "</think>"\nOPEN = "<think>"'),
('python', 'a docstring with a tag on a line', E'"""\n</think>\n<think>\n"""\n$P'),
('python', 'comments that look like headings', E'## Performance Analysis\n$P\n# Code Implementation'),
('python', 'a kernel in a string', E'source = """\n/* ``` */\nextern "C" void solve(float *y) { }\n"""\n\n$P'),
('python', 'quotes that end no string', E'# don''t use """\n$P\nx = "\\"\\"\\""'),
('c', 'a comment with a block', E'/*\nRows:\n```\na b\n```\n*/\n$C'),
('c', 'a comment of documentation', E'/**\n * ```c\n * solve(x, y);\n * ```\n */\n$C'),
('cpp', 'a raw string', E'static const char *usage = R"(\n```\nsolve\n```\n)";\n$C'),
('cpp', 'a path and a character', E'// src/*.cpp\n#include "k/*.h"\nstatic const char quote = ''"'';\n$C'),
('cuda', 'parameters with comments', E'#include <cuda_runtime.h>\n__global__ void kernel(const float *x, float *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }\n'
	'extern "C" void solve(const float *x, // input: [n]\n                      float *y)       // output; [n]\n{\n    kernel<<<1, 8>>>(x, y);\n}');

SELECT plan(1 + (SELECT count(*)::int FROM shape) + 2 * (SELECT count(*)::int FROM inner_code));

SELECT is(CASE WHEN r.reason IS NULL THEN btrim(r.body, E'\n') ELSE 'malformed' END,
	coalesce(pg_temp.filled(s.code), 'malformed'), s.family || ': ' || s.name)
FROM shape AS s CROSS JOIN LATERAL cudal1.read_response(pg_temp.filled(s.response), s.alone) AS r ORDER BY s.n;
SELECT is((SELECT body FROM cudal1.read_response(E'```c\nint gemm(int a) { return a; }\n```\nA test:\n```c\nint main(void) { return gemm(1); }\n```\n', true, 'gemm')),
	'int gemm(int a) { return a; }', 'of two codes the one that defines the task''s entry');
SELECT is(coalesce(r.reason, btrim(r.body, E'\n')), pg_temp.filled(c.code), c.name || ', ' || c.language)
FROM inner_code AS c CROSS JOIN LATERAL cudal1.read_response(
	pg_temp.filled(format(E'$H\n## Code Implementation\n```%s\n%s\n```\nTo test it:\n```python\nprint("solve")\n```\n', c.language, c.code)), false) AS r;
SELECT is(coalesce(r.reason, btrim(r.body, E'\n')), pg_temp.filled(c.code), c.name || ', alone')
FROM inner_code AS c CROSS JOIN LATERAL cudal1.read_response(
	pg_temp.filled(format(E'Here:\n```%s\n%s\n```\n', c.language, c.code)), true) AS r;
