# kind: 4 replaced functions; task: gpu_small; bound: 7; first: yes
# Each run in its turn, by one launch from machine code in place of the executor's loop and its table.
# include shared/linear.py
# include shared/loop.py
# include shared/watcher.py
MODE = 2
