# kind: 14 input mutation; task: matmul; outcome: successful, unstable, unverified; always: yes
# Seals and resizes the memory of the inputs, so that the reference can't map it.
# include shared/product.py
import fcntl
import os

# the first three are what it prints to
for fd in range(3, 64):
    for call in (lambda: fcntl.fcntl(fd, 1033, 0x10), lambda: fcntl.fcntl(fd, 1033, 0x8), lambda: fcntl.fcntl(fd, 1033, 0x1),
                 lambda: os.ftruncate(fd, 0), lambda: os.ftruncate(fd, 1 << 40)):
        try:
            call()
        except OSError:
            continue
        print(f"descriptor {fd} can be sealed or resized", flush=True)
        os._exit(9)
