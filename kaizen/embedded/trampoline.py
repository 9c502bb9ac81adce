"""Last step before a child becomes its program: give up root, tie its life to its parent, exec.

Run as a file by a bare interpreter, so it imports nothing of Kaizen:

    python -I -S trampoline.py PARENT SIGNAL UID GID -- PROGRAM ...

The order matters: the kernel forgets the parent-death signal when a process changes its user, so
the user is changed first. UID and GID are -1 to keep the present ones.
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38


def main(arguments: list[str]) -> None:
    parent, death_signal, uid, gid = (int(word) for word in arguments[:4])
    program = arguments[5:]
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    libc = ctypes.CDLL(None, use_errno=True)
    if uid >= 0 and libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs refused")
    if libc.prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "parent-death signal refused")
    if os.getppid() != parent:
        sys.exit(1)  # the parent died before the signal was armed
    os.execve(program[0], program, os.environ)


if __name__ == "__main__":
    main(sys.argv[1:])
