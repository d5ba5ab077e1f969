#!/usr/bin/env python3
"""circles.py FOLDER: objects below it that need each other, as the linker sees it. No two files of a program may."""
import os
import subprocess
import sys

top = sys.argv[1]
objects = [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names
           if name.endswith(".o") and not name.endswith(".pic.o")]
defined, wanted = {}, {}
for path in sorted(objects):
    file = os.path.relpath(path, top)[:-2]
    wanted[file] = set()
    for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
        *_, kind, symbol = line.split()
        if kind in "TDBRC":
            # programs that share no object may each define main
            defined.setdefault(symbol, file)
        elif kind == "U":
            wanted[file].add(symbol)
needs = {file: {defined[s]: s for s in sorted(symbols) if defined.get(s, file) != file}
         for file, symbols in wanted.items()}
# what needs nothing that is left leaves; a circle stays
left = set(needs)
while True:
    free = {file for file in left if not left & needs[file].keys()}
    if not free:
        break
    left -= free
# so does a file above a circle, unless what needs nothing that is left goes from above as well
while True:
    free = {file for file in left if not any(file in needs[other] for other in left)}
    if not free:
        break
    left -= free
for file in sorted(left):
    for other in sorted(left & needs[file].keys()):
        print(f"runner/{file}.c needs {needs[file][other]} of runner/{other}.c, which needs it in turn")
if len(objects) < 20:
    print(f"{top}: only {len(objects)} objects")
if left or len(objects) < 20:
    print("    repair: move what both need into a file below them, or hand the lower one a function to call")
    sys.exit(1)
