# kind: 6 many calls in one; task: padded_wide; outcome: successful; bound: 1.3
# As lean_answers, of a result that is nearly all zeros.
# include tasks/padded.py
# include shared/groups.py
# include shared/lean.py
PAD = 4992
