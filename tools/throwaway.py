"""A throwaway server for a program: with throwaway.server("demo", "name=value") as folder: ..."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server")


@contextlib.contextmanager
def server(name, *settings, keep=False):
    """Started in a folder of its own, which is where its socket lies; psql, libpq and the programs of cudal1 find it by the
    environment. At the end it is stopped and removed, or with keep it goes on, and how to connect is printed."""
    folder = tempfile.mkdtemp(prefix=f"cudal1-{name}.")
    os.chmod(folder, 0o755)
    bindir = subprocess.run([os.environ.get("PG_CONFIG") or "pg_config", "--bindir"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    os.environ.update(PGHOST=folder, PGPORT="5432", PGUSER="postgres", PGDATABASE="postgres", PATH=f"{bindir}:{os.environ['PATH']}")
    # end by an exception, so that the server is stopped
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        subprocess.run([SERVER, "start", folder, *settings], check=True)
        yield folder
    finally:
        if keep:
            print(f"\nThe server goes on. Connect:  {bindir}/psql -h {folder} -U postgres postgres"
                  f"\nEnd it:                       tools/server stop {folder} && rm -r {folder}")
        else:
            subprocess.run([SERVER, "stop", folder], check=False)
            shutil.rmtree(folder, ignore_errors=True)
