"""The contract of every back end: what a sandbox cannot see, reach or use up."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import pytest

from tradeschool.errors import SandboxError
from tradeschool.sandbox import Limits, Mount, Sandbox, SandboxSpec

CHECKOUT = Path(__file__).parents[2]

REACH = """
import socket
def attempt(kind, family, address):
    try:
        with socket.socket(family, kind) as sock:
            sock.settimeout(5)
            sock.connect(address)
            sock.send(b"x")
        return "reached"
    except OSError as error:
        return "timed out" if isinstance(error, TimeoutError) else "refused"
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    for host in ("1.1.1.1", "8.8.8.8", "169.254.169.254", "172.17.0.1", "10.0.0.1"):
        print(host, attempt(kind, socket.AF_INET, (host, 53)))
    print("v6", attempt(kind, socket.AF_INET6, ("2606:4700:4700::1111", 53)))
for name in ("example.com", "host.docker.internal"):
    try:
        print(name, socket.getaddrinfo(name, 80))
    except OSError:
        print(name, "refused")
"""


def test_there_is_no_network(box: Sandbox) -> None:
    # meridianlabs-ai/inspect_harbor#118: TCP, UDP, IPv6, DNS, the metadata address, the host by name
    said = box.run(["python3", "-c", REACH]).stdout.decode().splitlines()
    assert len(said) == 14
    assert [line for line in said if not line.endswith(" refused")] == []


def test_there_is_no_interface_but_the_loopback(box: Sandbox) -> None:
    table = box.run("cat /proc/net/dev").stdout.decode().splitlines()[2:]
    # tunnels that the kernel makes in every namespace are down and lead nowhere
    assert {line.split(":")[0].strip() for line in table} <= {"lo", "tunl0", "sit0", "ip6tnl0", "gre0", "erspan0"}
    assert box.run("cat /proc/net/route").stdout.decode().count("\n") <= 1


def test_the_loopback_works(box: Sandbox) -> None:
    code = (
        "import socket as s; l = s.create_server(('127.0.0.1', 0)); s.create_connection(l.getsockname(), 5); print(1)"
    )
    assert box.run(["python3", "-c", code]).stdout == b"1\n"


def test_nothing_of_the_hosts_files_is_seen(box: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("host-secret", "ascii")
    secret.chmod(0o644)
    for path in (secret, CHECKOUT / "pyproject.toml", Path("/var/run/docker.sock"), Path.home() / ".ssh"):
        assert box.run(["ls", str(path)]).exit_code != 0, path
    for path in (f"/proc/1/root{secret}", f"/proc/1/cwd{secret}"):
        assert b"host-secret" not in box.run(["cat", path]).stdout


def test_nothing_of_the_hosts_processes_is_seen(box: Sandbox, token: str, host_processes) -> None:
    with subprocess.Popen(["sleep", token]) as process:
        try:
            assert host_processes(token, wait_s=10)
            assert token.encode() not in box.run("cat /proc/[0-9]*/cmdline").stdout
            box.run(["kill", "-9", str(process.pid)])
            assert process.poll() is None
        finally:
            process.kill()


def test_one_sandbox_sees_nothing_of_another(fresh, token: str) -> None:
    one, other = fresh(), fresh()
    one.run(f"sleep {token} >/dev/null 2>&1 & echo x > /tmp/mine; echo y > /dev/shm/mine")
    assert token.encode() not in other.run("cat /proc/[0-9]*/cmdline").stdout
    assert other.run("ls /tmp/mine /dev/shm/mine").exit_code != 0


def test_writes_to_system_folders_do_not_reach_the_host(fresh, token: str) -> None:
    sandbox = fresh()
    places = ["/usr/bin", "/usr/local/bin", "/etc", "/opt", "/var/lib", "/tmp", "/root", "/home", "/"]
    for place in places:
        sandbox.run(f"echo evil > {place}/evil-{token}; mkdir {place}/dir-{token}")
    assert [place for place in places if list(Path(place).glob(f"*-{token}"))] == []


def test_system_folders_cannot_be_made_writable(box: Sandbox) -> None:
    assert box.run("mount -o remount,rw /usr").exit_code != 0
    assert box.run("mount --bind /tmp /usr").exit_code != 0


def test_root_inside_has_no_capability_and_can_gain_none(box: Sandbox) -> None:
    status = dict(line.split(":\t", 1) for line in box.run("cat /proc/self/status").stdout.decode().splitlines())
    assert [int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd")] == [0, 0, 0]
    assert status["NoNewPrivs"] == "1"
    for forbidden in ("mount -t tmpfs none /tmp", "unshare -Ur true", "mknod /tmp/d b 8 0", "chroot / true"):
        assert box.run(forbidden).exit_code != 0, forbidden


def test_the_hosts_name_is_hidden(box: Sandbox) -> None:
    assert box.run("hostname; cat /etc/hostname").stdout == b"sandbox\nsandbox\n"


def test_a_memory_hog_dies_and_the_sandbox_lives(fresh) -> None:
    sandbox = fresh(SandboxSpec(limits=Limits(memory_mb=128)))
    done = sandbox.run(["python3", "-c", "x = bytearray(b'x') * 10**9; print('had it')"])
    assert done.exit_code not in (0, -1)
    assert b"had it" not in done.stdout
    shell = sandbox.shell()
    assert "had it" not in shell.run("python3 -c \"x = bytearray(b'x') * 10**9; print('had' + ' it')\"").output
    assert shell.run("echo lives").output == "lives\n"
    assert sandbox.run("echo lives").stdout == b"lives\n"


def test_shared_memory_is_counted(fresh) -> None:
    sandbox = fresh(SandboxSpec(limits=Limits(memory_mb=128)))
    done = sandbox.run("head -c 400000000 /dev/zero > /dev/shm/x; stat -c %s /dev/shm/x")
    assert int(done.stdout or b"0") < 400_000_000
    assert sandbox.run("rm -f /dev/shm/x; echo lives").stdout == b"lives\n"


COUNT = """
import os, time
made = []
try:
    while len(made) < 500:
        pid = os.fork()
        if pid == 0:
            time.sleep(100)
        made.append(pid)
    print("no limit")
except OSError as error:
    print(error.errno, len(made))
for pid in made:
    os.kill(pid, 9)
"""


def test_processes_are_limited_and_a_fork_bomb_is_contained(fresh) -> None:
    # NVIDIA/NemoClaw#809, openclaw/openclaw#38604: the others go on, and so does this one after the time-out
    other = fresh()
    sandbox = fresh(SandboxSpec(limits=Limits(processes=64)))
    errno, made = sandbox.run(["python3", "-c", COUNT]).stdout.split()
    assert errno == b"11"
    assert 16 <= int(made) <= 64
    with contextlib.suppress(SandboxError):
        sandbox.run(":(){ :|:& };:; while :; do :; done", 2)
    assert other.run("echo steps").stdout == b"steps\n"
    assert sandbox.run("echo lives").stdout == b"lives\n"


def test_a_fork_bomb_in_a_shell_ends_with_its_limit(fresh) -> None:
    sandbox = fresh(SandboxSpec(limits=Limits(processes=64)))
    shell = sandbox.shell()
    assert shell.run(":(){ :|:& };:; while :; do :; done", 2).exit_code is None
    assert shell.run("echo lives").output == "lives\n"


def test_open_files_are_limited(fresh) -> None:
    sandbox = fresh(SandboxSpec(limits=Limits(open_files=200)))
    code = "import os\ntry:\n  [os.open('/dev/null', 0) for _ in range(400)]\nexcept OSError as e: print(e.errno)"
    assert sandbox.run(["python3", "-c", code]).stdout == b"24\n"
    assert sandbox.shell().run("ulimit -Hn").output == "200\n"


def test_the_size_of_a_file_is_limited(fresh) -> None:
    sandbox = fresh(SandboxSpec(limits=Limits(file_mb=2)))
    assert sandbox.run("head -c 5000000 /dev/zero > big").exit_code != 0
    assert sandbox.run("stat -c %s big").stdout == b"2097152\n"


@pytest.mark.parametrize("private", [False, True])
def test_mounts_are_shown_read_only(fresh, tmp_path: Path, private: bool) -> None:
    folder = tmp_path / "shown"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.txt").write_text("content", "ascii")
    (folder / "link").symlink_to("/etc/hostname")
    if private:
        (folder / "sub" / "a.txt").chmod(0o600)
        folder.chmod(0o700)
    mounts = (Mount(folder, "/data/shown", private), Mount(folder / "sub" / "a.txt", "/data/one.txt", private))
    sandbox = fresh(SandboxSpec(mounts=mounts))
    assert sandbox.run("cat /data/shown/sub/a.txt /data/one.txt /data/shown/link").stdout == b"contentcontentsandbox\n"
    assert sandbox.run("echo x > /data/shown/sub/a.txt").exit_code != 0
    assert sandbox.run("touch /data/shown/new || chmod 777 /data/one.txt").exit_code != 0
    assert (folder / "sub" / "a.txt").read_text("ascii") == "content"
    assert sorted(path.name for path in folder.iterdir()) == ["link", "sub"]


def test_a_mount_that_is_not_there_is_an_error(fresh, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="not there"):
        fresh(SandboxSpec(mounts=(Mount(tmp_path / "none", "/data"),)))
