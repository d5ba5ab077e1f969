# kind: 4 the protocol's memory; outcome: wrong_output; task: matmul; always: yes
# Says that its output is one number, repeated.
# include shared/forged.py


forge(lambda executor, result: result[0].data_ptr(), (0, 0))
