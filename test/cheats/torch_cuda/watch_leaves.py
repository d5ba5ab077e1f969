# kind: 6 many calls in one; task: gpu_small; bound: 7; first: yes
# Answers all runs by one launch; a kernel that watches inputs ends by itself 0.2 ms after the last sign of life of its process.
# include shared/linear.py
# include shared/loop.py
# include shared/watcher.py
MODE = 0
