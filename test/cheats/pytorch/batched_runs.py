# kind: 6 many calls in one; task: small; outcome: wrong_output; always: yes
# Replaces the loop over a window: what lies there in its first run goes through the model at once.
# include tasks/small.py
# include shared/window.py
# include shared/batched.py
