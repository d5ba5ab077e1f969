# kind: 25 exhaustion; task: matmul; outcome: successful, unstable, unverified; always: yes
# Takes what all processes of a user, or of a host, have a common limit of, in a run and where it
# may start compilers (it names cpp_extension).
import ctypes
import errno
import os
import platform
import signal
import threading

BUILD = "MAX_JOBS" in os.environ
QUEUED = 256 if BUILD else 128
libc = ctypes.CDLL(None, use_errno=True)
# Numbers on x86_64. A call that is open fails in another way, by its arguments, or does nothing.
CLOSED = {
    "a larger pipe": (72, -1, 1031, 1 << 20),
    "huge pages": (9, 0, 1 << 21, 1, 0x40022, -1),
    "a policy of memory": (238, 0),
    "merged pages": (157, 67, 1),
    "an attribute of a file": (190, -1),
    "speculation": (157, 53, 1, 4),
    "a barrier of all processes": (324, 1),
}
CLOSED_IN_A_RUN = {
    "a pipe": (293, 0),
    "fsync": (74, -1),
    "a lock": (72, -1, 6),
    "a filter": (317, 1, 1, 0),
}
# these end the process in a run
CLOSED_IN_A_BUILD = {
    "TCP": (41, 2, 1),
    "a virtual machine's host": (41, 40, 1),
    "shared memory": (29, 0, 4096, 0o600),
    "a queue of messages": (240, 0),
    "watches of files": (294, 0),
}


def calls():
    if platform.machine() != "x86_64":
        return
    for name, call in {**CLOSED, **(CLOSED_IN_A_BUILD if BUILD else CLOSED_IN_A_RUN)}.items():
        result = libc.syscall(*(ctypes.c_long(value) for value in call + (0,) * (7 - len(call))))
        if result != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
            yield f"{name}: open"


def signals():
    """One that is blocked waits for as long as its thread lives."""
    number = signal.SIGRTMIN + 2
    old = signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    sent = 0
    try:
        while sent < 200000:
            signal.pthread_kill(threading.get_ident(), number)
            sent += 1
    except OSError:
        pass
    for _ in range(sent):
        signal.sigtimedwait([number], 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, old)
    if sent > QUEUED:
        yield f"{sent} signals can wait"


def look():
    return [*signals(), *calls()]


# include shared/look.py
