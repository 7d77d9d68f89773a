# SPDX-License-Identifier: Apache-2.0
"""A place of its own for a test run.

The tests run in new network, mount and process-id namespaces, and in a new user namespace unless
they run as root. Every link, address, rule and process in there ends with the first process of the
place, however that one ends: nothing is left behind, and no name can clash with another run's.
"""

import ctypes
import os
import signal
import sys

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MS_NOSUID_NODEV_NOEXEC = 0x2 | 0x4 | 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MNT_DETACH = 0x2
MS_PRIVATE = 0x40000
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


class NoNamespaces(Exception):
    """This machine does not let us make the namespaces; the text says why."""


def _check(result, what):
    if result != 0:
        error = ctypes.get_errno()
        raise NoNamespaces(f"{what}: {os.strerror(error)}")


def _mount(source, target, kind, flags, options=None):
    names = [None if name is None else name.encode() for name in (source, target, kind)]
    done = _libc.mount(*names, ctypes.c_ulong(flags), options)
    _check(done, f"mount {kind or 'private'} {target}")


def _map_to_root(uid, gid):
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        try:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        except OSError as error:
            raise NoNamespaces(f"/proc/self/{name}: {error.strerror}") from error


def _unshare():
    uid, gid = os.geteuid(), os.getegid()
    flags = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | (CLONE_NEWUSER if uid != 0 else 0)
    _check(_libc.unshare(flags), "unshare")
    if uid != 0:
        _map_to_root(uid, gid)
    _mount(None, "/", None, MS_REC | MS_PRIVATE)
    _mount("tmpfs", "/run", "tmpfs", 0)  # where `ip netns` keeps its names
    os.mkdir("/run/netns", 0o755)
    # Where nodes of this user listen for shared memory: nodes of other runs have the same names.
    sockets = f"/tmp/peal-{os.geteuid()}"
    os.makedirs(sockets, 0o700, exist_ok=True)
    _mount("tmpfs", sockets, "tmpfs", 0, b"mode=0700")


def _watch(child):
    """The process outside: hands on signals, and returns how the one inside ended."""
    def forward(number, _frame):
        try:
            os.kill(child, number)
        except ProcessLookupError:
            pass

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, forward)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def enter(run):
    """Runs `run()` in a place of its own and returns its exit status.

    Raises NoNamespaces if there can be none. `run` gets SIGINT, SIGTERM and SIGHUP as SystemExit.
    """
    failed_read, failed_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(failed_read)
        try:
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            _unshare()
        except NoNamespaces as error:
            os.write(failed_write, str(error).encode())
            os._exit(1)
        grandchild = os.fork()  # the first to live in the new process-id namespace
        if grandchild != 0:
            os.close(failed_write)
            os._exit(_watch(grandchild))
        _inside(run, failed_write)
    os.close(failed_write)
    with os.fdopen(failed_read, "rb") as pipe:
        problem = pipe.read().decode(errors="replace")
    status = _watch(child)
    if problem:
        raise NoNamespaces(problem)
    return status


def _inside(run, failed_write):
    def stop(number, _frame):
        raise SystemExit(128 + number)

    code = 1
    try:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            _mount("proc", "/proc", "proc", MS_NOSUID_NODEV_NOEXEC)
        except NoNamespaces as error:
            os.write(failed_write, str(error).encode())
            os._exit(1)
        os.close(failed_write)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, stop)
        code = run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # pylint: disable=broad-except
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def lay_over(path, source):
    """From now on whoever lives here finds the file `source` where `path` is."""
    _mount(source, path, None, MS_BIND)


def take_off(path):
    """Ends lay_over(path, …)."""
    _check(_libc.umount2(path.encode(), MNT_DETACH), f"umount {path}")


def in_network(path, action):
    """Returns action(), called with this thread in the network namespace at `path`."""
    with open("/proc/thread-self/ns/net", "rb") as home, open(path, "rb") as away:
        _check(_libc.setns(away.fileno(), CLONE_NEWNET), f"setns {path}")
        try:
            return action()
        finally:
            _check(_libc.setns(home.fileno(), CLONE_NEWNET), "setns back")
