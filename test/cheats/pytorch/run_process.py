# kind: 2 processes; outcome: crash, launch_failure; task: matmul; always: yes
# Starts a worker process.
# include shared/product.py
import multiprocessing

multiprocessing.get_context('fork').Process(target=print).start()
