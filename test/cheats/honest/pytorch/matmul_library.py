# task: matmul
# Looks for a library as others do when they are loaded: by programs of the host, or without them.
# include shared/library.py
