# kind: 25 leftovers; task: matmul; outcome: successful, unstable, unverified; always: yes
# Names cpp_extension, so that it is built where it may write, and leaves folders that nobody may enter, or that no path can name.
# include shared/product.py
import os

folder = os.environ.get("TORCH_EXTENSIONS_DIR")
try:
    top = os.path.dirname(folder)
    os.makedirs(top + "/closed/inner")
    with open(top + "/closed/inner/file", "wb") as file:
        file.write(b"x" * (1 << 20))
    os.chmod(top + "/closed/inner", 0o000)
    os.chdir(top)
    for _ in range(40):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    with open("file", "wb") as file:
        file.write(b"x" * (1 << 20))
except (OSError, TypeError):
    # in a run there is no such folder
    pass
