# kind: 9 slowing the reference; task: matmul; outcome: successful, unstable, unverified; always: yes
# Writes into the memory of the process that forks the reference's executors.
# include shared/product.py
import os

for process in ("1", str(os.getppid())):
    for name in ("mem", "oom_score_adj", "autogroup", "clear_refs", "coredump_filter"):
        try:
            os.open(f"/proc/{process}/{name}", os.O_RDWR)
            print(f"/proc/{process}/{name} is open to a candidate", flush=True)
            os._exit(9)
        except OSError:
            pass
