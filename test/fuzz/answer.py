#!/usr/bin/env python3
"""answer.py [RUNS]: what a model's server answers, broken at random, reads the same however it is cut into pieces, within its bounds,
and the text is UTF-8 without NUL."""
import importlib.machinery
import importlib.util
import json
import os
import random
import sys

MAX_TEXT, MAX_BODY = 512, 8192
SEEDS = [
    b'data: {"choices":[{"delta":{"content":"ab\\ud83d\\ude00c"},"finish_reason":null}]}\n\n: alive\r\n'
    b'data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\ndata: [DONE]\n\n',
    b'data: {"choices":[{"delta":\ndata: {"content":"caf\xc3\xa9"}}]}\r\n\r\ndata: {"error":{"message":"\\u0000"}}\n\n',
    b'{"choices":[{"message":{"content":"abc\\ud800"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}']
WORDS = [b"\n", b"\r\n\r\n", b"data: ", b"[DONE]", b'"', b"\\", b"\\ud800", b"\\u0000", b"\0", b"\xe9", b"\xf0\x9f\x98\x80", b"null", b"[", b"{}",
         b"1e999", b"9" * 5000, b"-1", b"NaN", b"x" * 600, b"[" * 3000, b"\xed\xa0\x80", b'{"error":', b'"finish_reason":"stop",', b": c\n" * 2000]

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../runner/tools/cudal1-generate")
loader = importlib.machinery.SourceFileLoader("generate", path)
generate = importlib.util.module_from_spec(importlib.util.spec_from_loader("generate", loader))
loader.exec_module(generate)


def broken(data, chance):
    data = bytearray(data)
    for _ in range(chance.randrange(8)):
        at = chance.randrange(len(data) + 1)
        how = chance.randrange(4)
        if how == 0:
            data[at:at] = chance.choice(WORDS)
        elif how == 1:
            del data[at:at + chance.randrange(1, 30)]
        elif how == 2:
            data[at:at + 1] = bytes([chance.randrange(256)])
        else:
            data[at:at] = data[at:at + 300] * chance.randrange(1, 4)
    return bytes(data)


def read(data, events, piece):
    answer, outcome = generate.Answer(MAX_TEXT, MAX_BODY), "answered"
    answer.events = events
    try:
        for at in range(0, len(data), piece):
            answer.feed(data[at:at + piece])
        answer.end()
    except generate.Ended as e:
        outcome, detail = e.args
        assert outcome in ("answered", "broken", "oversized") and "\0" not in generate.fit(detail)
    text = "".join(answer.text)
    assert len(text.encode()) == answer.text_bytes <= MAX_TEXT or answer.finish_reason == "max_answer_bytes"
    assert len(text.encode()) <= MAX_TEXT and "\0" not in text
    said = json.loads(json.dumps([text, answer.finish_reason, answer.tokens]))
    return [outcome, *said] if outcome == "answered" else [outcome]


seen = {}
for run in range(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
    chance = random.Random(run)
    events = run % 3 < 2
    data = broken(SEEDS[run % 3], chance)
    whole = read(data, events, max(1, len(data)))
    pieces = read(data, events, chance.choice([1, 2, 7, 64, 500]))
    assert whole == pieces, (run, whole, pieces)
    seen[whole[0]] = seen.get(whole[0], 0) + 1
print(", ".join(f"{n} {outcome}" for outcome, n in sorted(seen.items())))
