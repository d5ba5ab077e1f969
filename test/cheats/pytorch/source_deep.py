# kind: 25 compiler; task: matmul; outcome: compile_error, launch_failure, crash
# Brackets, a hundred thousand deep.
x = eval('(' * 100000 + ')' * 100000)
