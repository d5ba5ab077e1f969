# kind: 25 escape; outcome: crash; task: matmul
# Starts a shell, past os.system(), by which none is started.
# include shared/product.py
import ctypes
import os

os.system("id > /tmp/left")
ctypes.CDLL(None).system(b"id > /tmp/left")
