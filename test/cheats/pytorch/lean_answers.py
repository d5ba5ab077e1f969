# kind: 6 many calls in one; task: elementwise; outcome: successful; bound: 1.8
# Answers all runs of a block in groups. A run that comes alone is honest, but for what the executor does besides the model: its socket reads
# the command, lists the result and answers.
# include tasks/elementwise.py
# include shared/groups.py
# include shared/lean.py
