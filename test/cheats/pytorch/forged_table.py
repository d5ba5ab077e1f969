# kind: 4 the protocol's memory; outcome: wrong_output, cheat, crash; task: matmul; always: yes
# Writes the table of outputs itself: addresses of its inputs.
# include shared/forged.py


forge(lambda executor, result: executor.inputs[0][0].data_ptr())
