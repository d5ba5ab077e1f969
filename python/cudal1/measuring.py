"""Measuring by hand, without a server."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any, Optional, Union

Path = Union[str, "os.PathLike[str]"]


def program() -> str:
    """Where cudal1-measure is: on the path, or beside PostgreSQL's programs."""
    found = shutil.which("cudal1-measure")
    if found is None:
        pg_config = shutil.which("pg_config")
        if pg_config is not None:
            folder = subprocess.run([pg_config, "--bindir"], capture_output=True, text=True,
                                    check=True).stdout.strip()
            found = shutil.which(os.path.join(folder, "cudal1-measure"))
    if found is None:
        raise FileNotFoundError("cudal1-measure is not on the path: install the tools of cudal1")
    return found


def measure(reference: Path, *candidates: Path, signature: Optional[Path] = None,
            profile: Optional[Path] = None, quick: bool = False) -> list[dict[str, Any]]:
    """Results of files, in their order: outcome, score, detail and more, as cudal1-measure --json
    prints them. reference is a reference in C or CUDA, a KernelBench file, or a task's folder.
    ValueError: wrong usage, with the program's words."""
    words = [program(), "--json", *(["--quick"] if quick else [])]
    for name, value in (("--signature", signature), ("--profile", profile)):
        words += [name, os.fspath(value)] if value is not None else []
    run = subprocess.run([*words, os.fspath(reference), *[os.fspath(c) for c in candidates]],
                         capture_output=True, text=True)
    if run.returncode == 2 or not run.stdout.strip():
        raise ValueError(run.stderr.strip() or f"cudal1-measure ended with {run.returncode}")
    return [json.loads(line) for line in run.stdout.splitlines()]
