# kind: 25 exhaustion; task: matmul; outcome: successful, unstable, unverified
# Fills what it can write: 64 MiB of its own at most, in many files, since each has a limit, too.
# include shared/product.py
import os

for folder in ("/tmp", "/dev/shm", "/var/tmp", ".", "/run"):
    written = 0
    try:
        for file in range(100):
            written += os.write(os.open(f"{folder}/fill{file}", os.O_WRONLY | os.O_CREAT), b"x" * (1 << 20))
    except OSError:
        pass
    if written > (64 << 20 if folder in ("/tmp", ".") else 0):
        print(f"{folder} can be filled", flush=True)
        os._exit(9)
