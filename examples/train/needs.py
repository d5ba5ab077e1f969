"""Libraries that a program needs: one line and exit status 3 where its Python lacks them."""
import importlib.util
import os
import sys

# the package of this clone, whether it is installed or not
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

ALL = ("psycopg", "torch", "transformers", "tokenizers", "trl", "peft", "accelerate", "datasets")


def need(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        print(
            f"{os.path.basename(sys.argv[0])}: {sys.executable} lacks {', '.join(missing)}:"
            " python3 -m venv build/env && build/env/bin/pip install -r"
            " examples/train/requirements.txt",
            file=sys.stderr)
        sys.exit(3)
