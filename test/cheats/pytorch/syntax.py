# kind: 25 compiler; task: matmul; outcome: compile_error; cause: syntax
# No Python.
exec("class ModelNew(:")
