# kind: 25 wait; profile: impatient; outcome: timeout; task: matmul
# Sleeps as long as it may whenever it is loaded.
# include shared/product.py
import time

time.sleep(3)
