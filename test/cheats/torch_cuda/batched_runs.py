# kind: 6 many calls in one; task: gpu_small; outcome: wrong_output, cheat
# Replaces the loop over a window: what lies there in its first run goes through the model at once.
# include shared/window.py
# include shared/batched.py
# include shared/linear.py
