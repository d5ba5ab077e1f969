"""Files for code that compiles itself, where its process can write to none (build_itself.c).

A build has a folder of its own for all that it writes: the current folder, HOME and TMPDIR lie in
it, and so does its /tmp. A process finds the same files there later, read-only. What it writes
itself is kept in its memory, so it vanishes with it, and so does what code that has no build writes
anywhere. All of this is the code's convenience: a process that goes around it meets a file system
that refuses to be written to.
"""
import builtins
import ctypes
import errno
import importlib.util
import io
import itertools
import os
import shutil
import stat
import subprocess
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT)
# names of temporary folders come in the same order in each process
counters = {}


def temporary_folder(folder):
    return os.path.join(folder, "tmp")


def use_folder(folder):
    """Makes a folder of a side the one where code looks for its files, and writes in a build."""
    os.environ["HOME"] = os.path.join(folder, "home")
    os.environ["TMPDIR"] = tempfile.tempdir = temporary_folder(folder)
    tempfile.mkdtemp = make_temporary
    os.chdir(folder)


def library_copy(folder, number):
    return os.path.join(temporary_folder(folder), f"loaded{number:04}.so")


def keep_libraries(folder):
    """In a build. Code may delete what it has compiled once it is loaded, or name it by what each
    process has otherwise (its number, the time): a process finds it by the order of loading.
    """
    load_library, numbers = ctypes.CDLL.__init__, itertools.count()

    def init(self, name, *arguments, **keywords):
        load_library(self, name, *arguments, **keywords)
        path = os.path.abspath(name) if isinstance(name, str) and "/" in name else ""
        if path.startswith(("/tmp/", os.path.join(folder, ""))):
            shutil.copyfile(path, library_copy(folder, next(numbers)))

    ctypes.CDLL.__init__ = init


def temporary_name(suffix, prefix, folder):
    start = os.path.join(folder or tempfile.gettempdir(), prefix or tempfile.template)
    number = next(counters.setdefault((start, suffix), itertools.count()))
    return f"{start}{number:08}{suffix or ''}"


def make_temporary(suffix=None, prefix=None, dir=None):
    """A folder of the same name in a build and in each process after it."""
    path = temporary_name(suffix, prefix, dir)
    try:
        os.mkdir(path)
    except FileExistsError:
        # an earlier build of the same code made it
        pass
    return path


class Kept(io.BytesIO):
    """A file in memory, which others may open again when it was closed or flushed."""

    def __init__(self, files, path, content):
        super().__init__(content)
        self.files, self.name = files, path

    def flush(self):
        if not self.closed:
            self.files[self.name] = self.getvalue()

    def close(self):
        self.flush()
        super().close()


class Scratch:
    """What stands for the functions by which a process writes files, and looks for them."""

    def __init__(self, folder):
        self.folder = folder
        self.temporary = temporary_folder(folder)
        self.files = {}
        self.folders = set()
        # that the process has made, as far as it knows
        self.made = set()
        self.real = {"open": io.open}
        for name in ("mkdir", "remove", "rmdir", "rename", "stat", "listdir"):
            self.real[name] = getattr(os, name)

    def place(self, path):
        """Where a path leads. What a build had in /tmp lies in its folder, but for the runner's own
        files, which may lie there as well.
        """
        if isinstance(path, os.PathLike):
            path = os.fspath(path)
        if not isinstance(path, str):
            return path
        path = os.path.abspath(path)
        in_tmp = path == "/tmp" or path.startswith("/tmp/")
        return self.temporary + path[4:] if in_tmp and not path.startswith(HERE) else path

    def is_own(self, path):
        """Whether a build could write there."""
        return path.startswith(os.path.join(self.folder, ""))

    def open(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
             closefd=True, opener=None):
        path = self.place(file)
        writes = any(letter in mode for letter in "wxa+")
        if not isinstance(path, str) or opener or (not writes and path not in self.files):
            return self.real["open"](path, mode, buffering, encoding, errors, newline, closefd,
                                     opener)
        if path not in self.files:
            try:
                return self.real["open"](path, mode, buffering, encoding, errors, newline)
            except OSError as error:
                if error.errno not in REFUSED or not self.is_own(path):
                    raise
        content = b""
        if "w" not in mode and "x" not in mode:
            content = self.content(path, "a" in mode)
        kept = Kept(self.files, path, content)
        if "a" in mode:
            kept.seek(0, io.SEEK_END)
        kept.flush()
        return kept if "b" in mode else io.TextIOWrapper(kept, encoding, errors, newline)

    def content(self, path, may_lack=False):
        if path not in self.files:
            if may_lack and not os.path.exists(path):
                return b""
            with self.real["open"](path, "rb") as file:
                return file.read()
        return self.files[path]

    def mkdir(self, path, mode=0o777, **keywords):
        path = self.place(path)
        if path in self.made:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        try:
            self.real["mkdir"](path, mode, **keywords)
        except OSError as error:
            # what a build has made there is new to the process
            if error.errno not in (errno.EEXIST, *REFUSED) or not self.is_own(path):
                raise
            if error.errno != errno.EEXIST:
                self.folders.add(path)
        self.made.add(path)

    def remove(self, path, **keywords):
        path = self.place(path)
        if self.files.pop(path, None) is None and path not in self.folders:
            self.try_to("remove", path, **keywords)

    def rmdir(self, path, **keywords):
        path = self.place(path)
        self.made.discard(path)
        if path in self.folders:
            self.folders.discard(path)
        else:
            self.try_to("rmdir", path, **keywords)

    def try_to(self, name, *arguments, **keywords):
        try:
            self.real[name](*arguments, **keywords)
        except OSError as error:
            if error.errno == errno.ENOENT or error.errno not in REFUSED:
                raise

    def rename(self, source, target, **keywords):
        source, target = self.place(source), self.place(target)
        try:
            self.files[target] = self.content(source)
        except OSError:
            self.real["rename"](source, target, **keywords)
        self.files.pop(source, None)

    def stat(self, path, *arguments, **keywords):
        place = self.place(path)
        if isinstance(place, str) and (place in self.files or place in self.folders):
            kind = stat.S_IFREG | 0o600 if place in self.files else stat.S_IFDIR | 0o700
            size = len(self.files.get(place, b""))
            return os.stat_result((kind, 0, 0, 1, os.getuid(), os.getgid(), size, 0, 0, 0))
        return self.real["stat"](place, *arguments, **keywords)

    def listdir(self, path="."):
        place = self.place(path)
        found = set(self.real["listdir"](place)) if place not in self.folders else set()
        if isinstance(place, str):
            others = [*self.files, *self.folders]
            found |= {os.path.basename(o) for o in others if os.path.dirname(o) == place}
        return sorted(found)

    def temporary_file(self, mode="w+b", buffering=-1, encoding=None, newline=None, suffix=None,
                       prefix=None, dir=None, delete=True, **keywords):
        path = temporary_name(suffix, prefix, dir)
        return self.open(path, mode, buffering, encoding, keywords.get("errors"), newline)

    def mkstemp(self, suffix=None, prefix=None, dir=None, text=False):
        path = temporary_name(suffix, prefix, dir)
        self.files[self.place(path)] = b""
        return os.open(os.devnull, os.O_RDWR), path

    def rmtree(self, path, *arguments, **keywords):
        path = self.place(path)
        for name in [name for name in self.files if name.startswith(f"{path}/")]:
            del self.files[name]
        self.folders = {name for name in self.folders if not f"{name}/".startswith(f"{path}/")}
        self.made = {name for name in self.made if not f"{name}/".startswith(f"{path}/")}


class Done:
    """In the place of subprocess.Popen: what a build has run is done, and nothing can run more."""

    returncode = pid = 0

    def __init__(self, args, stdout=None, stderr=None, text=None, universal_newlines=None,
                 encoding=None, errors=None, **keywords):
        new, empty = (
            (io.StringIO, "") if text or universal_newlines or encoding or errors
            else (io.BytesIO, b"")
        )
        self.args = args
        self.stdin = new()
        self.stdout, self.stderr = (new() if to == subprocess.PIPE else None
                                    for to in (stdout, stderr))
        self.said = tuple(empty if to == subprocess.PIPE else None for to in (stdout, stderr))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def communicate(self, input=None, timeout=None):
        return self.said

    def wait(self, timeout=None):
        return 0

    def poll(self):
        return 0


def skip_commands():
    """In a process whose code has run its compilers in a build."""
    subprocess.Popen = Done
    os.system = lambda command: 0


def use_scratch(folder):
    """In a process; folder is that of its code's build, or / without one."""
    scratch = Scratch(folder)
    use_folder(folder)
    builtins.open = io.open = scratch.open
    os.mkdir, os.rmdir, os.stat, os.listdir = (
        scratch.mkdir, scratch.rmdir, scratch.stat, scratch.listdir
    )
    os.remove = os.unlink = scratch.remove
    os.rename = os.replace = scratch.rename
    tempfile.NamedTemporaryFile, tempfile.mkstemp = scratch.temporary_file, scratch.mkstemp
    shutil.rmtree = scratch.rmtree
    load_library, numbers = ctypes.CDLL.__init__, itertools.count()

    def init(self, name, *arguments, **keywords):
        # a name without a folder is looked for elsewhere
        where = scratch.place(name) if isinstance(name, str) and "/" in name else name
        if where is not name and scratch.is_own(where):
            kept = library_copy(folder, next(numbers))
            if os.path.exists(kept) and (where in scratch.files or not os.path.exists(where)):
                where = kept
        load_library(self, where, *arguments, **keywords)

    find_module = importlib.util.spec_from_file_location

    def spec_from_file_location(name, location=None, **keywords):
        return find_module(name, scratch.place(location), **keywords)

    ctypes.CDLL.__init__ = init
    importlib.util.spec_from_file_location = spec_from_file_location
