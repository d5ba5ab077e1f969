# kind: 25 leftovers; task: matmul; outcome: successful, unstable, unverified; always: yes
# Leaves files, and a changed library, for the processes after it. What it writes to a folder of its own goes with its process.
# include shared/product.py
import os
import sys

for path in ("/tmp/left", "/dev/shm/left", "/left", "/usr/left", "/dev/left", torch.__file__, sys.modules["__main__"].__file__):
    try:
        with open(path, "a") as file:
            file.seek(0, 2)
            if file.tell() > 0 and path.endswith("left"):
                print(f"{path} was left by a candidate", flush=True)
                os._exit(9)
            file.write("left")
    except OSError:
        pass
    try:
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        if not path.startswith("/tmp/"):
            print(f"{path} can be written by a candidate", flush=True)
            os._exit(9)
    except OSError:
        pass
