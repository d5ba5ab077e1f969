# kind: 13 finding the answer; task: matmul; outcome: successful, unstable, unverified; always: yes
# Looks through its descriptors: one for each of the standard ones, the socket by which it is told to run, and the memory it shares.
# include shared/product.py
import os
import re

found = {}
for fd in os.listdir("/proc/self/fd"):
    try:
        found[int(fd)] = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        continue
sockets = [fd for fd, name in found.items() if name.startswith("socket:")]
rest = {fd: name for fd, name in found.items()
        if fd not in sockets and not re.match("/dev/null|/memfd:log" if fd < 3 else "/memfd:(control|inputs)", name)}
if len(sockets) > 1 or rest:
    print(f"sockets {sockets}, and {rest}", flush=True)
    os._exit(9)
