# kind: 25 files; task: matmul; outcome: successful, unstable, unverified; always: yes
# Looks for the server's data, keys, other code.
# include shared/product.py
import os

for path in ("/var/lib/postgresql", "/etc/passwd", "/etc/postgresql", "/home", "/var", "/run", "/sys", "/dev/mem", "/dev/kmsg",
             "/proc/1/environ", "/proc/1/mem", "/proc/1/fd", "/proc/1/maps", "/proc/kcore"):
    try:
        content = os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)
    except OSError:
        continue
    if content:
        print(f"{path} is open to a candidate", flush=True)
        os._exit(9)
