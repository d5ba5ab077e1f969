"""A program whose name does not end in .py, as a module."""
import importlib.machinery
import importlib.util
import os
import sys

sys.dont_write_bytecode = True


def load_script(path):
    name = "script_" + os.path.basename(path).replace("-", "_")
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
