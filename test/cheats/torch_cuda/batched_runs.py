# kind: 6 many calls in one; task: gpu_small; first: yes
# Replaces the loop over the runs: all inputs of a block go through the model at once.
# include shared/batched.py
# include shared/linear.py
