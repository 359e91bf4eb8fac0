"""Keeper of one cluster's daemons: starts them, and ends every descendant when its user is gone.

Reads one JSON request a line from standard input and answers with one line. It is a child
subreaper (prctl(2)), so a daemon's own children (slurmstepd, the jobs) become its children when
their parent dies; end of input, SIGTERM or SIGINT kills whatever is left below it. Nothing of a
cluster outlives a test that crashed, with or without namespaces; the folder that is named as the
argument is then removed too.

The block of ports is claimed by an abstract Unix socket: like the ports themselves it belongs to
the network namespace, and the kernel gives it back when this process ends.
"""
import ctypes
import json
import os
import random
import selectors
import shutil
import signal
import socket
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
FIRST_PORT, LAST_PORT, BLOCK = 10000, 32000, 64  # below the range that the kernel hands out


def descendants(root):
    """Process ids below root, parents first."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    parent = int(stat.read().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue  # it ended meanwhile
            children.setdefault(parent, []).append(int(entry))
    found, left = [], [root]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def end_all():
    """SIGKILL until nothing is left below this process, and reap it. What was born while /proc was
    read is in the next reading only: no waiting for children in between, they might never end."""
    while True:
        below = descendants(os.getpid())
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            if not below:
                return
        time.sleep(0.01)


def port_is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


class FakeTime:
    """What libfaketime's processes share. Left to itself, each makes a semaphore and a shared memory
    that are named by its pid, leaves both behind when it is killed, and ends at once where it finds
    them: one day the pid comes again. Named in FAKETIME_SHARED, one pair serves a whole cluster."""

    def __init__(self):
        self.name = None

    def make(self):
        if not self.name:
            name = f"/ccr-faketime-{os.getpid()}"
            self.name = name
            self.unlink()
            self.name = name
            libc = ctypes.CDLL(None, use_errno=True)
            libc.sem_open.restype = ctypes.c_void_p
            before = os.umask(0)  # jobs are other users'
            try:
                if not libc.sem_open(f"{name}-sem".encode(), os.O_CREAT | os.O_EXCL, 0o666, 1):
                    raise OSError(ctypes.get_errno(), "no semaphore")
                with open(f"/dev/shm{name}-shm", "wb") as memory:
                    memory.truncate(4096)
            finally:
                os.umask(before)
        return f"{self.name}-sem {self.name}-shm"

    def unlink(self):
        for path in (f"/dev/shm/sem.{self.name[1:]}-sem", f"/dev/shm{self.name}-shm") \
                if self.name else ():
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass
        self.name = None


class Supervisor:
    def __init__(self):
        self.faketime = FakeTime()
        self.ended = {}  # pid: return code
        self.claims = []  # sockets that hold the claim on port blocks
        self.detached = False
        self.quit = False
        self.orphaned = False  # the user of the cluster went without a word

    def claim(self, count):
        """The first of `count` consecutive free ports that no other cluster has claimed."""
        blocks = -(-count // BLOCK)
        last = (LAST_PORT - FIRST_PORT) // BLOCK - blocks
        for first in random.sample(range(last + 1), last + 1):
            held = []
            for block in range(first, first + blocks):
                sock = socket.socket(socket.AF_UNIX)
                try:
                    sock.bind(f"\0ccr-cluster-ports-{block}")
                except OSError:
                    sock.close()
                    break
                held.append(sock)
            base = FIRST_PORT + first * BLOCK
            if len(held) == blocks and all(port_is_free(base + i) for i in range(count)):
                self.claims += held
                return base
            for sock in held:
                sock.close()
        raise OSError("no block of free ports")

    @staticmethod
    def spawn(argv, env, log):
        """Starts one daemon in a session of its own; its output goes to the end of log."""
        files = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                 (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
                 (os.POSIX_SPAWN_DUP2, 1, 2)]
        return os.posix_spawnp(argv[0], argv, env, file_actions=files, setsid=True,
                               setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])

    def reap(self):
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                self.ended[pid] = os.waitstatus_to_exitcode(status)
        except ChildProcessError:
            pass

    def answer(self, request):
        what = request["op"]
        if what == "spawn":
            return {"pids": [self.spawn(**spec) for spec in request["list"]]}
        if what == "status":
            self.reap()
            return {"alive": request["pid"] not in self.ended,
                    "rc": self.ended.get(request["pid"])}
        if what == "claim":
            return {"base": self.claim(request["count"])}
        if what == "faketime":
            return {"shared": self.faketime.make()}
        if what == "detach":
            self.detached = True
            return {"pid": os.getpid()}
        if what == "env":
            return {"env": dict(os.environ)}
        if what == "quit":
            end_all()
            self.quit = True
            return {}
        return {"error": f"unknown request {what}"}


def main():
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    keeper = Supervisor()
    # Signals arrive as bytes in a pipe: nothing runs inside a handler.
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(sig, lambda *_: None)
    watch = selectors.DefaultSelector()
    watch.register(read_end, selectors.EVENT_READ)
    watch.register(sys.stdin.buffer.fileno(), selectors.EVENT_READ)
    buffered = b""
    while not keeper.quit:
        for key, _ in watch.select():
            if key.fd == read_end:
                if set(os.read(read_end, 4096)) - {int(signal.SIGCHLD)}:
                    keeper.quit = True
                keeper.reap()
                continue
            chunk = os.read(key.fd, 1 << 20)
            if not chunk:
                if not keeper.detached:
                    keeper.quit = keeper.orphaned = True
                watch.unregister(key.fd)
                continue
            buffered += chunk
            while b"\n" in buffered:
                line, buffered = buffered.split(b"\n", 1)
                try:
                    reply = keeper.answer(json.loads(line))
                except (OSError, ValueError, KeyError, TypeError) as error:
                    reply = {"error": str(error)}
                sys.stdout.write(json.dumps(reply) + "\n")
                sys.stdout.flush()
    end_all()
    keeper.faketime.unlink()
    if keeper.orphaned and len(sys.argv) > 1:
        shutil.rmtree(sys.argv[1], ignore_errors=True)


if __name__ == "__main__":
    main()
