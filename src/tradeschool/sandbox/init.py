"""Process 1 of a namespace sandbox. Runs inside it, alone.

It starts programs and opens files for the owner outside, reaps what its children leave behind, and ends, taking every
process of the sandbox with it, when the owner closes the socket or dies. It imports C modules only, because the
standard library's own wrappers (`socket`, `signal`, `json`) would double the time a sandbox takes to start.

One message a packet on a SEQPACKET socket. Requests are marshalled tuples from the owner, who is trusted:

    (id, "spawn", argv, cwd, env, tty)  + fds 0, 1, 2 ... unless tty -> "id 0 pid" (+ fd of the tty's master)
    (id, "open", path, flags, mode)                                  -> "id 0" + fd
    (id, "mkdir", path)   (id, "kill", target)   (id, "killall")     -> "id 0"

Answers are ASCII, since the owner does not trust what comes from in here: `id errno ...`; `-1 0` when ready;
`-2 id code` when a program ends (a signal's number is negative).
"""

import _signal
import _socket
import fcntl
import marshal
import posix
import resource
import select
import sys

PR_SET_DUMPABLE = 4
TIOCSCTTY = 0x540E
ABOVE = 40  # over every descriptor in use, under the least limit of open files
ESRCH, ENOENT, ENOTDIR, EEXIST, EINVAL, EAGAIN = 3, 2, 20, 17, 22, 11
KEYCTL = {"x86_64": 250, "aarch64": 219}.get(posix.uname().machine)  # the number of the system call
JOIN_SESSION_KEYRING = 1
EXEC_TIMEOUT_S = 5.0


class Init:
    """Serves the owner's requests one after the other."""

    def __init__(self, sock, limits):
        self.sock = sock
        self.limits = limits
        self.names = {}  # pid -> the owner's id for it

    def serve(self):
        wake_read, wake_write = posix.pipe()
        posix.set_blocking(wake_write, False)
        posix.set_blocking(wake_read, False)
        _signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        _signal.signal(_signal.SIGCHLD, lambda *_: None)
        self.send("-1 0")
        while True:
            ready, _, _ = select.select([self.sock, wake_read], [], [])
            if wake_read in ready:
                posix.read(wake_read, 4096)
            self.reap(posix.WNOHANG)
            if self.sock in ready:
                data, ancillary, _, _ = self.sock.recvmsg(1 << 20, _socket.CMSG_SPACE(64))
                if not data:
                    return
                fds = []
                for _level, _kind, raw in ancillary:
                    fds += memoryview(raw[: len(raw) // 4 * 4]).cast("i").tolist()
                self.handle(marshal.loads(data), fds)

    def handle(self, request, fds):
        name, op, *arguments = request
        try:
            words, out = getattr(self, "op_" + op)(name, fds, *arguments)
        except OSError as error:
            words, out = f"{name} {error.errno}", []
        except ValueError:  # a NUL, or a surrogate that stands for no byte
            words, out = f"{name} {EINVAL}", []
        for fd in fds:
            posix.close(fd)
        self.send(words, out)
        for fd in out:
            posix.close(fd)

    def send(self, words, fds=()):
        raw = b"".join(fd.to_bytes(4, sys.byteorder) for fd in fds)
        try:
            self.sock.sendmsg([words.encode()], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, raw)] if fds else [])
        except OSError:
            posix._exit(0)

    def reap(self, flags):
        while True:
            try:
                pid, status = posix.waitpid(-1, flags)
            except OSError:
                return
            if pid == 0:
                return
            name = self.names.pop(pid, None)
            if name is not None:
                self.send(f"-2 {name} {posix.waitstatus_to_exitcode(status)}")

    def op_spawn(self, name, fds, argv, cwd, env, tty):
        master = slave = None
        if tty:
            master, slave = posix.openpty()
            fds = [slave, slave, slave]
        failed_read, failed_write = posix.pipe()
        pid = posix.fork()
        if pid == 0:
            self.run(fds, argv, cwd, env, tty, failed_write)
        posix.close(failed_write)
        if slave is not None:
            posix.close(slave)
        # the agent can stop the child before it has become the program: it is not waited for without end
        if select.select([failed_read], [], [], EXEC_TIMEOUT_S)[0]:
            trouble = posix.read(failed_read, 16)
        else:
            posix.kill(pid, _signal.SIGKILL)
            trouble = str(EAGAIN)
        posix.close(failed_read)
        if trouble:
            posix.waitpid(pid, 0)
            if master is not None:
                posix.close(master)
            raise OSError(int(trouble), "spawn")
        self.names[pid] = name
        return f"{name} 0 {pid}", [] if master is None else [master]

    def run(self, fds, argv, cwd, env, tty, failed):
        try:
            posix.setsid()
            if tty:
                fcntl.ioctl(fds[0], TIOCSCTTY, 0)
            # above the numbers that are dup'ed to, so that no source is overwritten before its turn
            failed = posix.dup2(failed, ABOVE, False)
            kept = [posix.dup2(fd, ABOVE + 1 + n, False) for n, fd in enumerate(fds)]
            for number, fd in enumerate(kept):
                posix.dup2(fd, number)
            posix.closerange(len(kept), ABOVE)
            adjust = posix.open("/proc/self/oom_score_adj", posix.O_WRONLY)
            posix.write(adjust, b"500")  # out of memory, the kernel ends a program, not this supervisor
            posix.close(adjust)
            _signal.set_wakeup_fd(-1)
            for number in (_signal.SIGPIPE, _signal.SIGCHLD):
                _signal.signal(number, _signal.SIG_DFL)
            for limit, number in self.limits:
                resource.setrlimit(limit, (number, number))
            posix.chdir(cwd)
            errno = ENOENT
            folders = [""] if "/" in argv[0] else [f"{folder}/" for folder in env.get("PATH", "").split(":")]
            for folder in folders:
                try:
                    posix.execve(folder + argv[0], argv, env)
                except OSError as error:
                    if error.errno not in (ENOENT, ENOTDIR):
                        errno = error.errno
            posix.write(failed, str(errno).encode())
        except OSError as error:
            posix.write(failed, str(error.errno).encode())
        finally:
            posix._exit(127)

    def op_open(self, name, fds, path, flags, mode):
        # not blocking: a FIFO put there by the agent must not hang process 1
        flags |= posix.O_NONBLOCK | posix.O_CLOEXEC | posix.O_NOCTTY
        return f"{name} 0", [posix.open(path, flags, mode)]

    def op_mkdir(self, name, fds, path):
        parts = path.split("/")
        for end in range(2, len(parts) + 1):
            try:
                posix.mkdir("/".join(parts[:end]))
            except OSError as error:
                if error.errno != EEXIST:
                    raise
        return f"{name} 0", []

    def op_kill(self, name, fds, target):
        for pid, known in list(self.names.items()):
            if known == target:
                try:
                    posix.killpg(pid, _signal.SIGKILL)
                except OSError as error:
                    if error.errno != ESRCH:
                        raise
        return f"{name} 0", []

    def op_killall(self, name, fds):
        while True:
            try:
                posix.kill(-1, _signal.SIGKILL)
            except OSError:
                break  # nothing is left but this process
            self.reap(0)
        return f"{name} 0", []


def call_c(function, *arguments):
    import _ctypes

    return _ctypes.call_cdeclfunction(_ctypes.dlsym(_ctypes.dlopen(None, 0), function), arguments)


def shut_off():
    # no process of the sandbox may trace this one or look through its descriptors
    call_c("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)
    # no namespace parts the session's keyring: the owner's keys, and those left by other sandboxes, would be seen
    if KEYCTL is not None:
        call_c("syscall", KEYCTL, JOIN_SESSION_KEYRING, 0)
    # Python's handler for it would let a process of the sandbox end this one; without one, the kernel drops it
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    # the owner's socket is for this process alone
    posix.set_inheritable(int(sys.argv[1]), False)


if __name__ == "__main__":
    shut_off()
    kinds = (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_AS)
    limits = [pair for pair in zip(kinds, map(int, sys.argv[2:]), strict=True) if pair[1] >= 0]
    limits.append((resource.RLIMIT_CORE, 0))
    Init(_socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, int(sys.argv[1])), limits).serve()
