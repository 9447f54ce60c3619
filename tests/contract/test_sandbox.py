"""The contract of every back end: a sandbox's life, and programs run to their end.

Files, isolation, shells and channels have files of their own beside this one. Names like `owner/repo#1` are the public
reports of the faults that a test stands for.
"""

from __future__ import annotations

import contextlib

import pytest

from tradeschool.errors import SandboxError
from tradeschool.sandbox import Capabilities, Limits, Sandbox, SandboxSpec, open_sandbox
from tradeschool.sandbox.base import ENVIRONMENT
from tradeschool.sandbox.factory import backend_class


def test_check_says_what_is_enforced(backend: str) -> None:
    found = backend_class(backend).check()
    assert isinstance(found, Capabilities)
    assert found.network == "none"


def test_close_is_idempotent_and_final(backend: str) -> None:
    sandbox = open_sandbox(backend, SandboxSpec())
    sandbox.close()
    sandbox = open_sandbox(backend, SandboxSpec())
    sandbox.start()
    sandbox.close()
    sandbox.close()
    with pytest.raises(SandboxError):
        sandbox.run("true")


def test_close_ends_every_process(backend: str, token: str, host_processes) -> None:
    with open_sandbox(backend, SandboxSpec()) as sandbox:
        sandbox.run(f"setsid nohup sleep {token} >/dev/null 2>&1 &")
        sandbox.shell().run(f"sleep {token} &")
        assert host_processes(token, wait_s=10)
    assert not host_processes(token)


def test_unknown_images_are_refused(backend: str) -> None:
    with pytest.raises(SandboxError, match="no image 'moon'"):
        open_sandbox(backend, SandboxSpec(image="moon"))


def test_streams_and_exit_code_are_kept_apart(box: Sandbox) -> None:
    done = box.run("echo out; echo err >&2; exit 7")
    assert (done.exit_code, done.stdout, done.stderr) == (7, b"out\n", b"err\n")
    assert not done.truncated
    assert not done.timed_out
    assert done.duration_s > 0


def test_a_program_gets_its_arguments_word_for_word(box: Sandbox) -> None:
    words = ["a b", "$HOME", "*", "'\"\\", "", "ü\n"]
    done = box.run(["printf", "%s|", *words])
    assert done.stdout.decode() == "".join(f"{word}|" for word in words)


def test_arguments_that_are_no_text_or_long_arrive_too(box: Sandbox) -> None:
    assert box.run(["printf", "%s|", "\udcff'", "b c"]).stdout == b"\xff'|b c|"
    assert box.run(["bash", "-c", "echo ${#1}", "x", "y" * 90_000]).stdout == b"90000\n"


def test_a_missing_program_is_a_result(box: Sandbox) -> None:
    done = box.run(["there-is-no-such-program"])
    assert done.exit_code == 127
    assert b"there-is-no-such-program" in done.stderr


def test_a_missing_folder_is_a_result(box: Sandbox) -> None:
    assert box.run("true", cwd="/no/such/folder").exit_code != 0


def test_commands_start_in_the_workspace_or_where_told(box: Sandbox) -> None:
    assert box.run("pwd").stdout == b"/workspace\n"
    assert box.run("pwd", cwd="/tmp").stdout == b"/tmp\n"


def test_standard_input_arrives_whole(box: Sandbox) -> None:
    assert box.run(["cat"], stdin=b"a\0b\xff").stdout == b"a\0b\xff"
    assert box.run(["wc", "-c"], stdin=b"x" * 3_000_000).stdout.strip() == b"3000000"
    assert box.run(["cat"]).stdout == b""


def test_input_that_nobody_reads_does_no_harm(box: Sandbox) -> None:
    assert box.run("exit 4", stdin=b"x" * 3_000_000).exit_code == 4


def test_the_environment_is_exactly_ours(fresh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST_SECRET", "do-not-show")
    sandbox = fresh(SandboxSpec(env={"EXTRA": "a b=c"}))
    lines = sandbox.run(["/usr/bin/env"], env={"MORE": "1", "TZ": "Asia/Tokyo"}).stdout.decode().splitlines()
    wanted = {**ENVIRONMENT, "EXTRA": "a b=c", "MORE": "1", "TZ": "Asia/Tokyo"}
    assert dict(line.split("=", 1) for line in lines) == wanted
    assert b"do-not-show" not in sandbox.run("cat /proc/[0-9]*/environ").stdout
    in_shell = sandbox.shell().run("env").output
    assert "do-not-show" not in in_shell
    assert "EXTRA=a b=c\n" in in_shell


def test_a_long_command_works(box: Sandbox) -> None:
    # tmux-based terminals refuse lines over 16 KiB; the kernel refuses arguments over 128 KiB
    assert box.run(f"x='{'a' * 300_000}'; echo ${{#x}}").stdout == b"300000\n"


def test_a_command_of_bytes_that_are_no_text_works(box: Sandbox) -> None:
    assert box.run("printf %s '\udcff\udcfe'").stdout == b"\xff\xfe"


def test_output_is_bounded_at_both_ends(fresh) -> None:
    sandbox = fresh(SandboxSpec(limits=Limits(output_bytes=1000)))
    done = sandbox.run("echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last; seq 100000 >&2")
    assert done.truncated
    assert done.exit_code == 0
    assert len(done.stdout) < 1200
    assert len(done.stderr) < 1200
    assert done.stdout.startswith(b"first\n")
    assert done.stdout.endswith(b"last\n")
    assert done.stderr.endswith(b"100000\n")


def test_a_background_child_that_holds_the_pipe_is_not_waited_for(box: Sandbox, token: str) -> None:
    # yvgude/lean-ctx#723, earendil-works/pi#9460: the grandchild keeps standard output open
    done = box.run(f"(trap '' TERM; sleep {token}) & echo hi")
    assert (done.exit_code, done.stdout, done.timed_out) == (0, b"hi\n", False)
    box.run(["pkill", "-9", "-f", token])


def test_a_background_child_that_never_stops_writing_is_not_waited_for(box: Sandbox) -> None:
    done = box.run("yes & echo started >&2")
    assert (done.exit_code, done.stderr) == (0, b"started\n")
    box.run(["pkill", "-9", "-x", "yes"])


def test_a_program_that_closes_its_output_is_waited_for(box: Sandbox) -> None:
    assert box.run("echo a; exec >&- 2>&-; sleep 0.5; exit 9").exit_code == 9


STUBBORN = """
(trap '' TERM HUP INT; while :; do sleep {0}; done) &
setsid sleep {0} & nohup sleep {0} >/dev/null 2>&1 &
python3 -c 'import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep({0})' &
cat > /tmp/x.py <<END
while 1: pass  # {0}
END
echo written; echo so far >&2; python3 /tmp/x.py {0}
"""


def test_a_time_out_kills_all_and_returns_what_was_written(fresh, token: str, host_processes) -> None:
    # CherryHQ/stella#1078, macanderson/stella#2198, SWE-agent/mini-swe-agent#826, facebookresearch/ProgramBench#31;
    # partial output: SWE-agent/SWE-ReX#29, #151, UKGovernmentBEIS/inspect_ai#1979
    sandbox = fresh()
    done = sandbox.run(STUBBORN.format(token), 3)
    assert (done.exit_code, done.timed_out) == (-1, True)
    assert (done.stdout, done.stderr) == (b"written\n", b"so far\n")
    assert done.duration_s >= 3
    assert not host_processes(token)
    assert sandbox.run("echo again").stdout == b"again\n"
    assert sandbox.read_bytes("/tmp/x.py")


def test_the_specs_time_out_holds_where_none_is_given(fresh) -> None:
    sandbox = fresh(SandboxSpec(limits=Limits(command_timeout_s=1)))
    assert sandbox.run("sleep 60").timed_out


def test_workspaces_begin_equal_and_are_not_shared(fresh, tar) -> None:
    files = tar.make((tar.entry("a.txt"), b"one"), (tar.entry("d/run.sh", mode=0o755), b"#!/bin/sh\necho ran\n"))
    spec = SandboxSpec(workspace=files)
    first, second = fresh(spec), fresh(spec)
    said = first.run("d/run.sh; cat a.txt; stat -c '%U %a' a.txt d/run.sh .").stdout
    assert said == b"ran\noneroot 644\nroot 755\nroot 755\n"
    assert first.run("echo changed > a.txt && rm -r d && touch new").exit_code == 0
    assert second.run("cat a.txt; ls").stdout == b"onea.txt\nd\n"
    assert fresh(spec).run("cat a.txt; ls").stdout == b"onea.txt\nd\n"


def test_an_empty_workspace_is_there(fresh) -> None:
    assert fresh().run("ls -A; touch x && ls").stdout == b"x\n"


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil"])
def test_a_hostile_workspace_is_refused(fresh, tar, name: str) -> None:
    with pytest.raises(SandboxError, match="evil"):
        fresh(SandboxSpec(workspace=tar.make((tar.entry(name), b"x"))))


def test_a_sandbox_whose_processes_all_die_goes_on(fresh) -> None:
    sandbox = fresh()
    # the machine that the tests run on must not be in reach
    assert int(sandbox.run("ls -d /proc/[0-9]* | wc -l").stdout) < 10
    with contextlib.suppress(SandboxError):
        sandbox.run("kill -9 -1; kill -9 1; kill -TERM 1; kill -HUP 1", 10)
    assert sandbox.run("echo lives").stdout == b"lives\n"
