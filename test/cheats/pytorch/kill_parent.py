# kind: 25 escape; outcome: crash; task: matmul; always: yes
# Signals its parent with the call that signals threads.
# include shared/product.py
import ctypes
import signal

ctypes.CDLL(None).syscall(234, 1, 1, signal.SIGINT)
