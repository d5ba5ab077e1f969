# include tasks/padded.py
# a result of twice the size
PAD = 4992
