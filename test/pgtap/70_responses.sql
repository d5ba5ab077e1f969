-- Answers of models: what is meant is found, what is missing is named, nothing raises.
SELECT plan(76);

CREATE TEMP TABLE answer (name text, response text, code text, reason text);
CREATE FUNCTION pg_temp.whole(body text) RETURNS text LANGUAGE sql AS
$$SELECT E'## Performance Analysis\nslow loads\n\n## Algorithm Design\n1. tile\n\n## Code Implementation\n' || body$$;
INSERT INTO answer VALUES
('the demanded form', pg_temp.whole(E'```cuda\nint x;\n```\n'), 'int x;', NULL),
('a tag in capitals', E'<Think>\n< </thin\n</THINK>\n' || pg_temp.whole(E'```c\nint x;\n```\n'), 'int x;', NULL),
('text around', 'Sure, here it is.' || E'\n\n' || pg_temp.whole(E'Here:\n```\nint x;\n```\nI hope it helps.'), 'int x;', NULL),
('CRLF', replace(pg_temp.whole(E'```c\nint x;\nint y;\n```\n'), E'\n', E'\r\n'), E'int x;\nint y;', NULL),
('old Mac line ends', replace(pg_temp.whole(E'```c\nint x;\nint y;\n```\n'), E'\n', E'\r'), E'int x;\nint y;', NULL),
('another label', pg_temp.whole(E'```cpp\nint x;\n```'), 'int x;', NULL),
('a label with attributes', pg_temp.whole(E'``` {.python .numberLines}\nint x;\n```'), 'int x;', NULL),
('tildes', pg_temp.whole(E'~~~python\nint x;\n~~~\n'), 'int x;', NULL),
('four backticks hold three', pg_temp.whole(E'````python\ns = """\n```\n"""\n````\n'), E's = """\n```\n"""', NULL),
('a longer fence closes', pg_temp.whole(E'```\nint x;\n`````\n'), 'int x;', NULL),
('an indented fence', pg_temp.whole(E'  ```c\n  int x;\n    int y;\n  ```\n'), E'int x;\n  int y;', NULL),
('an end-of-text token on the fence', pg_temp.whole(E'```c\nint x;\n```<|im_end|>'), 'int x;', NULL),
('blank lines in code stay', pg_temp.whole(E'```c\n\nint x;\n\n\nint y;\n\n```'), E'\nint x;\n\n\nint y;\n', NULL),
('the last of equal fences', pg_temp.whole(E'```c\nint first;\n```\nor better\n```c\nint other;\n```'), 'int other;', NULL),
('a sketch before the code', pg_temp.whole(E'```c\nx\n```\n```c\nint main(void) { return 0; }\n```'), 'int main(void) { return 0; }', NULL),
('a short use after the code', pg_temp.whole(E'```c\nint main(void) { return 0; }\n```\nUse:\n```c\nmain();\n```'), 'int main(void) { return 0; }', NULL),
('a long shell fence after the code', pg_temp.whole(E'```c\nint x;\n```\n```bash\ngcc -O3 -march=native -shared -o libx.so x.c\n```'), 'int x;', NULL),
('only a text fence', pg_temp.whole(E'```text\nint x;\n```'), 'int x;', NULL),
('code without fence', pg_temp.whole(E'\n#include <math.h>\n# define X 1\nint x;\n'), E'#include <math.h>\n# define X 1\nint x;', NULL),
('a comment that looks like a heading', pg_temp.whole(E'```python\n## Performance Analysis\nx = 1\n## Code Implementation\ny = 2\n```'),
	E'## Performance Analysis\nx = 1\n## Code Implementation\ny = 2', NULL),
('a conclusion after the code', pg_temp.whole(E'```c\nint x;\n```\n\n## Conclusion\nFast.\n'), 'int x;', NULL),
('one hash', E'# Performance Analysis\na\n# Algorithm Design\nb\n# Code Implementation\n```\nx\n```', 'x', NULL),
('three hashes and numbers', E'### 1. Performance Analysis\na\n### 2) Algorithm Design\nb\n### (3.3) Code Implementation\n```\nx\n```', 'x', NULL),
('bold headings', E'**Performance Analysis**\na\n**Algorithm Design:**\nb\n**Code Implementation**:\n```\nx\n```', 'x', NULL),
('bold within hashes', E'## **Performance Analysis:** a\n## **Algorithm Design**\nb\n**## Code Implementation:**\n```\nx\n```', 'x', NULL),
('no blank after the hashes', E'##Performance Analysis\na\n##Algorithm Design\nb\n##Code Implementation\n```\nx\n```', 'x', NULL),
('closing hashes', E'## Performance Analysis ##\na\n## Algorithm Design ##\nb\n## Code Implementation ##\n```\nx\n```', 'x', NULL),
('other case', E'## PERFORMANCE ANALYSIS\na\n## algorithm design\nb\n## Code implementation\n```\nx\n```', 'x', NULL),
('hyphens and underscores', E'## Performance-Analysis\na\n## Algorithm_Design\nb\n## Code  Implementation\n```\nx\n```', 'x', NULL),
('plain titles alone on a line', E'Performance Analysis:\na\nAlgorithm Design\nb\nCode Implementation:\n```\nx\n```', 'x', NULL),
('more words in a heading', E'## Performance Analysis of the exemplars\na\n## Algorithm Design (tiling)\nb\n## Code Implementation - final\n```\nx\n```', 'x', NULL),
('a snippet in the analysis', E'## Performance Analysis\n```c\nint slow_and_long_but_not_meant;\n```\n## Algorithm Design\nb\n## Code Implementation\n```\nx\n```', 'x', NULL),
('an unclosed snippet in the analysis', E'## Performance Analysis\n```c\nint slow;\n## Algorithm Design\nb\n## Code Implementation\n```\nx\n```', 'x', NULL),
('everything in one fence', E'```markdown\n## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n```c\nx\n```\n```\n', 'x', NULL),
('the protocol repeated first', E'I will write\n## Performance Analysis\n## Algorithm Design\n## Code Implementation\nas asked.\n\n' || pg_temp.whole(E'```\nx\n```'), 'x', NULL),
('reasoning before', E'<think>\n## Code Implementation\n```c\nwrong\n</think>\n' || pg_temp.whole(E'```\nx\n```'), 'x', NULL),
('reasoning without its opening tag', E'hm\n## Code Implementation\n```c\nwrong\n</think>\n' || pg_temp.whole(E'```\nx\n```'), 'x', NULL),
('reasoning of Apriel', E'Here are my reasoning steps:\n' || pg_temp.whole(E'```\nwrong\n```\n[BEGIN FINAL RESPONSE]\n') || pg_temp.whole(E'```\nx\n```\n[END FINAL RESPONSE]'), 'x', NULL),
('reasoning of Solar', '<|think|>' || pg_temp.whole(E'```\nwrong\n```\n<|end|><|begin|>assistant<|content|>') || pg_temp.whole(E'```\nx\n```<|end|>'), 'x', NULL),
('reasoning twice', E'<think>a</think>\n<think>b</think>\n' || pg_temp.whole(E'```\nx\n```'), 'x', NULL),
('another tag on the line of a block''s end', E'<think>\na</think> </reasoning> \n' || pg_temp.whole(E'```\nx\n```'), 'x', NULL),
('the last of several closing tags', E'<think>a</think>\n</think>\n## Code Implementation\n```\nwrong\n</reasoning>\n<thinking>b</thinking>' || pg_temp.whole(E'```\nx\n```'), 'x', NULL),
('a closing tag before a block that follows', E'<think>\na</reasoning>\n</thinking>\n<think></think>\nb\n</thinking>\n' || pg_temp.whole(E'```\nx\n```'), 'x', NULL),
('a closing tag inside the code', pg_temp.whole(E'```\nputs("</think>");\n```'), 'puts("</think>");', NULL),
('headings that are tags', E'<performance_analysis>slow</performance_analysis>\n<Algorithm Design>\nb\n</Algorithm Design>\n<code_implementation>\nint x;\n</code_implementation>\nIt is fast.', 'int x;', NULL),
('bold headings and a dash', E'**Performance Analysis** - a\n**Algorithm Design** \u2013 b\n**Code Implementation** \u2014 c\n```\nx\n```', 'x', NULL),
('prose in tildes holds the code in backticks', E'~~~markdown\n' || pg_temp.whole(E'```c\nx\n```\n~~~\n'), 'x', NULL),
('a test after the code breaks off', pg_temp.whole(E'```c\nvoid solve(void) {}\n```\nTest:\n```c\nint main(void) { solve('), 'void solve(void) {}', NULL),
('a draft in the reasoning of the code''s own section', E'## Performance Analysis\na\n## Algorithm Design\nb\n## Code Implementation\n<think>\n```\ndraft\n```\n</think>\n```\nx\n```', 'x', NULL),
('a tool call after the code', pg_temp.whole(E'```\nx\n```\n<tool_call>\n{"name": "submit", "arguments": {"code": "```\\nother\\n```"}}\n</tool_call>'), 'x', NULL),
('characters of several bytes', pg_temp.whole(E'```\n// größer → schneller\n```'), '// größer → schneller', NULL),
('inline code is no fence', pg_temp.whole(E'```int y;``` is short\n```\nx\n```'), 'x', NULL),
('an empty fence after the code', pg_temp.whole(E'```\nint x;\n```\n```'), 'int x;', NULL),
('no analysis', E'## Algorithm Design\nb\n## Code Implementation\n```\nx\n```', 'x', 'section "## Performance Analysis" is missing'),
('no design', E'## Performance Analysis\na\n## Code Implementation\n```\nx\n```', 'x', 'section "## Algorithm Design" is missing'),
('no code section', E'## Performance Analysis\na\n## Algorithm Design\nb\n```\nx\n```', NULL, 'section "## Code Implementation" is missing'),
('no headings', E'Here is your code:\n```c\nint x;\n```', NULL,
	'section "## Performance Analysis" is missing; section "## Algorithm Design" is missing; section "## Code Implementation" is missing'),
('a title within a sentence is no heading', E'The code implementation follows.\nCode Implementation is below\n```\nx\n```', NULL,
	'section "## Performance Analysis" is missing; section "## Algorithm Design" is missing; section "## Code Implementation" is missing'),
('an empty code section', pg_temp.whole(E'\n\n'), NULL, 'section "## Code Implementation" holds no code'),
('an empty fence', pg_temp.whole(E'```c\n\n```\n'), NULL, 'section "## Code Implementation" holds no code'),
('cut off', pg_temp.whole(E'```c\nint x;\nint y'), NULL, 'the code fence is not closed: the answer was cut off'),
('cut off after a sketch', pg_temp.whole(E'```c\nx\n```\n```c\nint main(void) { return'), NULL, 'the code fence is not closed: the answer was cut off'),
('reasoning without end', E'<think>\nlet me see', NULL, 'the reasoning block is not closed: the answer was cut off'),
('reasoning of Apriel without end', E'Here are my reasoning steps:\n' || pg_temp.whole(E'```\nwrong\n```\n'), NULL, 'the reasoning block is not closed: the answer was cut off'),
('only reasoning', E'<think>a</think>\n', NULL, 'the response is empty'),
('nothing', '', NULL, 'the response is empty'),
('blanks', E' \n\t\r\n', NULL, 'the response is empty'),
('NULL', NULL, NULL, 'the response is empty');

SELECT is(p.code || ' / ' || coalesce(p.reason, '-'), a.code || ' / ' || coalesce(a.reason, '-'), a.name)
FROM answer AS a CROSS JOIN LATERAL cudal1_parse_response(a.response) AS p WHERE a.code IS NOT NULL;
SELECT is(coalesce(p.code, '-') || ' / ' || p.reason, '- / ' || a.reason, a.name)
FROM answer AS a CROSS JOIN LATERAL cudal1_parse_response(a.response) AS p WHERE a.code IS NULL;

SELECT results_eq($$SELECT analysis, design FROM cudal1_parse_response(pg_temp.whole(E'```\nx\n```'))$$,
	$$VALUES ('slow loads', '1. tile')$$, 'analysis and design come without blank lines around');
SELECT results_eq($$SELECT analysis, design FROM cudal1_parse_response(E'## Performance Analysis: a\nmore\n**Algorithm Design:** b\n## Code Implementation\n```\nx\n```')$$,
	$$VALUES (E'a\nmore', 'b')$$, 'text behind the title belongs to the section');
SELECT results_eq($$SELECT analysis FROM cudal1_parse_response(E'## Performance Analysis\n## Algorithm Design\nb\n## Code Implementation\n```\nx\n```')$$,
	$$VALUES ('')$$, 'an empty analysis is one');
SELECT is((SELECT count(*) FROM answer AS a, cudal1_parse_response(a.response)), (SELECT count(*) FROM answer), 'every answer gives one row');

-- pieces in any order: one row each, and never a code with a reason unless the heading of the code was there
CREATE TEMP TABLE piece AS SELECT row_number() OVER () - 1 AS n, p FROM unnest(ARRAY[E'\n', '```', '````', '~~~', '## Performance Analysis',
	'## Algorithm Design', '## Code Implementation', 'int x;', '<think>', '</think>', '**', '#', ' ', E'\r', '``', 'c', E'\n```c\n', E'\n```\n', 'ü']) AS p;
CREATE TEMP TABLE fuzz AS SELECT s, string_agg(p.p, '' ORDER BY i) AS response
FROM generate_series(1, 20000) AS s, generate_series(1, 24) AS i
JOIN piece AS p ON true WHERE p.n = abs(hashint8extended(i, s)) % 19 GROUP BY s;
SELECT is(count(*), 20000::bigint, 'random pieces give one row each') FROM fuzz CROSS JOIN LATERAL cudal1_parse_response(response);
SELECT is(count(*), 0::bigint, 'without a reason all three sections are there')
FROM fuzz CROSS JOIN LATERAL cudal1_parse_response(response) AS p WHERE p.reason IS NULL AND (p.analysis IS NULL OR p.design IS NULL OR p.code IS NULL);

-- read in a fraction of a second; the limit is for a reading that begins anew at each piece, which takes minutes
SET LOCAL statement_timeout = '1 min';
SELECT is(code, 'x', 'as many blocks of reasoning as 12 MB hold are read')
FROM cudal1_parse_response(repeat('<think></think>', 800000) || pg_temp.whole(E'```\nx\n```'));
SELECT is(code, 'x', 'as many sections of code with two fences as 12 MB hold are read')
FROM cudal1_parse_response(pg_temp.whole('') || repeat(E'# Code Implementation\n```\ny\n```\n```\nx\n```\n', 300000));
RESET statement_timeout;
