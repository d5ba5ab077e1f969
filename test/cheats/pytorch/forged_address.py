# kind: 4 the protocol's memory; outcome: cheat, wrong_output; task: matmul; always: yes
# Says that its outputs lie where nothing is.
# include shared/forged.py


forge(lambda executor, result: 64)
