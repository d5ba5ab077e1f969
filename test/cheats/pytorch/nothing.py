# kind: 25 loading; task: matmul; outcome: launch_failure
# Defines no model.
