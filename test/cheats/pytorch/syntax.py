# kind: 25 compiler; task: matmul; outcome: compile_error
# No Python.
exec("class ModelNew(:")
