# kind: 9 slowing the reference; outcome: crash; task: matmul; always: yes
# Sets limits for its parent.
# include shared/product.py
import resource

for limit in (resource.RLIMIT_DATA, resource.RLIMIT_NPROC, resource.RLIMIT_CPU):
    try:
        resource.prlimit(1, limit, (1, 1))
    except (OSError, ValueError):
        pass
