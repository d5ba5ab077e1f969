"""What programs here share: programs as modules, and SQL by psql."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys

sys.dont_write_bytecode = True


def load_script(path):
    """A program whose name does not end in .py, as a module."""
    name = "script_" + os.path.basename(path).replace("-", "_")
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def literal(text):
    return "E'" + text.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n").replace("\t", "\\t") + "'"


def sql(statement, **environment):
    """What psql prints for a statement, on the server that PG* variables name."""
    done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-"], input="SET client_min_messages = error;\n" + statement, text=True,
                          capture_output=True, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.strip()
