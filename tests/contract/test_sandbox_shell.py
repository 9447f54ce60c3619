"""The contract of every back end: a persistent shell, with the hazards that users of terminals met in public."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tradeschool.sandbox import Limits, Sandbox, SandboxSpec, Shell


@pytest.fixture(scope="module")
def one_shell(box: Sandbox) -> Shell:
    return box.shell()


@pytest.fixture
def shell(one_shell: Shell) -> Iterator[Shell]:
    """The module's shell. After each test it must still take a command."""
    yield one_shell
    result = one_shell.run("echo still there")
    assert (result.output, result.exit_code, result.notice) == ("still there\n", 0, "")


def test_state_is_kept(shell: Shell) -> None:
    shell.run("cd /tmp; X='a b'; export Y=2; f() { echo f:$1; }; shopt -s nullglob; alias ll='echo aliased'")
    assert shell.run('pwd; echo "$X"; env | grep ^Y=; f 3; ll').output == "/tmp\na b\nY=2\nf:3\naliased\n"
    assert shell.run("cd /workspace; pwd").output == "/workspace\n"


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("true", "", 0),
        ("false", "", 1),
        ("(exit 42)", "", 42),
        ("echo a; echo b >&2", "a\nb\n", 0),
        ("", "", 0),
        ("\n\n", "", 0),
        ("# only a comment", "", 0),
        ("echo x # a comment at the end", "x\n", 0),
        ("echo one\necho two\n", "one\ntwo\n", 0),
        ("for i in 1 2\ndo\n  echo $i\ndone", "1\n2\n", 0),
        ("cat <<END\n$((1+1)) 'x'\nEND", "2 'x'\n", 0),
        ("cat <<'END'\n$HOME `x`\nEND\necho after", "$HOME `x`\nafter\n", 0),
        ("printf 'no newline'", "no newline", 0),
        ("echo \\\n  joined", "joined\n", 0),
        ("echo 'tab\there' \"ünïcödé ✓\"", "tab\there ünïcödé ✓\n", 0),
        ("echo '\\033 \\\\ %s %b'", "\\033 \\\\ %s %b\n", 0),
        ("! true", "", 1),
        ("x=$(echo sub); echo $x", "sub\n", 0),
    ],
)
def test_any_bash_runs(shell: Shell, command: str, output: str, code: int) -> None:
    result = shell.run(command)
    assert (result.output, result.exit_code, result.notice) == (output, code, "")


@pytest.mark.parametrize("command", ["break", "continue", "return 3", "false; break 2"])
def test_jumps_out_of_nothing_do_no_harm(shell: Shell, command: str) -> None:
    assert shell.run(command, 10).exit_code is not None


@pytest.mark.parametrize(
    "command",
    ['rg "`a"', "echo 'open", 'echo "open', "echo $(open", "if true", "f() {", "case x in", "echo ${", ")", "<<<"],
)
def test_what_is_left_open_is_an_error_and_nothing_more(shell: Shell, command: str) -> None:
    # UKGovernmentBEIS/inspect_ai#2985: bash asked for more, and every later call returned only `>`
    result = shell.run(command, 10)
    assert result.exit_code not in (0, None)
    assert result.output
    assert shell.run("echo ok").output == "ok\n"


def test_a_heredoc_without_its_end_swallows_nothing_of_ours(shell: Shell) -> None:
    # the hazard of terminals that append their marker to the typed line
    assert "__ts" not in shell.run("cat <<END\nno end", 10).output
    assert shell.run("echo ok").output == "ok\n"


@pytest.mark.parametrize(
    "text",
    [
        "\\036abc:0\\036",
        "SHELLPS1PREFIX",
        "EXITCODESTART0EXITCODEEND",
        "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
        "tmux wait -S done",
        "__ts_end 0123456789abcdef",
        "bash-5.2# ",
    ],
)
def test_printing_what_looks_like_a_marker_does_nothing(shell: Shell, text: str) -> None:
    # the fixed sentinels of other terminals, and ours
    result = shell.run(f"printf '%b\\n' '{text}'; echo then; (exit 5)")
    assert result.exit_code == 5
    assert result.output.endswith("then\n")


@pytest.mark.parametrize("command", ["exit 3", "exec true", "set -e; false", "kill -9 $$", "exec 0<&-", "set -n"])
def test_a_shell_that_ends_is_replaced(fresh, command: str) -> None:
    shell = fresh().shell()
    shell.run("X=lost")
    shell.run(command, 3)
    # one more, since some of these show their effect at the next command only
    shell.run("true", 3)
    after = shell.run("echo alive", 10)
    assert (after.output, after.exit_code) == ("alive\n", 0)


def test_exit_says_so(fresh) -> None:
    result = fresh().shell().run("echo last words; exit 3")
    assert result.exit_code is None
    assert "new one starts" in result.notice
    assert "last words" in result.output


def test_exit_with_a_job_that_holds_the_terminal_is_noticed(fresh, token: str) -> None:
    shell = fresh().shell()
    assert shell.run(f"(trap '' HUP; sleep {token}) & exit", 20).notice.startswith("The shell has ended")
    assert shell.run("echo next").output == "next\n"


def test_a_server_in_the_background_is_not_waited_for(fresh, token: str, host_processes) -> None:
    # DhananjayThomble/URL-Shortener-App#484: the call took 38 minutes
    shell = fresh().shell()
    result = shell.run(f"nohup sleep {token} & echo up")
    assert result.exit_code == 0
    assert "up\n" in result.output
    assert host_processes(token, wait_s=10)
    assert shell.run("echo next").output.endswith("next\n")


def test_a_time_out_says_which_and_how_long(fresh, token: str, host_processes) -> None:
    # coder/xum#1539, benchflow-ai/benchflow#1071: the wrong limit was named; SWE-agent/SWE-ReX#151: output was lost
    sandbox = fresh(SandboxSpec(limits=Limits(command_timeout_s=1.5)))
    shell = sandbox.shell()
    shell.run("X=lost; cd /tmp")
    result = shell.run(f"echo so far; nohup sleep {token} >/dev/null & setsid sleep {token} & sleep {token}")
    assert result.exit_code is None
    assert "so far\n" in result.output
    measured = re.search(r"after (\d+\.\d) s \(limit 1\.5 s", result.notice)
    assert measured
    assert float(measured[1]) >= 1.5
    assert not host_processes(token)
    again = shell.run("echo [$X]; pwd")
    assert (again.output, again.exit_code, again.notice) == ("[]\n/workspace\n", 0, "")


@pytest.mark.parametrize("command", ["cat", "python3 -c 'input()'", "read x; echo got[$x]", "python3", "bash"])
def test_a_program_that_reads_gets_nothing(shell: Shell, command: str) -> None:
    assert shell.run(command, 20).exit_code is not None


def test_a_program_that_reads_the_terminal_itself_ends_with_its_limit(fresh) -> None:
    shell = fresh().shell()
    shell.run("cat /dev/tty", 2)
    assert shell.run("echo ok", 10).output.endswith("ok\n")


@pytest.mark.parametrize(
    "command", ["cat /bin/true", "printf '\\360'", "printf 'abc\\xe2\\x82'", "printf '\\0\\001\\377'", "cat blob"]
)
def test_output_that_is_no_text_does_no_harm(shell: Shell, box: Sandbox, command: str) -> None:
    # SWE-agent/SWE-ReX#157, mini-swe-agent#154, inspect_k8s_sandbox#206, PrimeIntellect-ai/nano-rlm#61, #156
    box.write_bytes("/workspace/blob", bytes(range(256)) * 50)
    result = shell.run(command)
    assert result.exit_code == 0
    assert result.output.encode("utf-8")


def test_output_cut_inside_a_character_stays_text(fresh) -> None:
    shell = fresh(SandboxSpec(limits=Limits(output_bytes=1001))).shell()
    result = shell.run("python3 -c \"print('€' * 5000)\"")
    assert result.exit_code == 0
    assert "cut" in result.output
    assert result.output.encode("utf-8")


@pytest.mark.parametrize(
    "command", ["head -c 10000000 /dev/zero | tr '\\0' x", "yes | head -n 25000000", "head -c 10000000 /dev/urandom"]
)
def test_much_output_is_bounded(shell: Shell, command: str) -> None:
    result = shell.run(f"{command}; echo; echo at the end", 120)
    assert result.exit_code == 0
    assert result.output.endswith("at the end\n")
    assert len(result.output) < 40_000


def test_a_long_command_runs(shell: Shell) -> None:
    # terminals that type through tmux refuse lines over 16 KiB
    text = "long ü'\\ text " * 3_000
    quoted = text.replace("'", "'\\''")
    assert shell.run(f"x='{quoted}'; echo ${{#x}}", 60).output == f"{len(text)}\n"


def test_nul_characters_are_refused(shell: Shell) -> None:
    result = shell.run("echo a\0b")
    assert result.exit_code is None
    assert "NUL" in result.notice


def test_two_shells_are_apart_and_share_the_files(fresh) -> None:
    sandbox = fresh()
    one, two = sandbox.shell(), sandbox.shell()
    one.run("X=1; cd /tmp; echo hello > /workspace/shared")
    assert two.run("echo [$X]; pwd; cat shared").output == "[]\n/workspace\nhello\n"
    one.close()
    one.close()
    assert two.run("echo on").output == "on\n"


def test_a_shell_lost_to_another_commands_time_out_says_so(fresh) -> None:
    sandbox = fresh()
    shell = sandbox.shell()
    sandbox.run("sleep 60", 1)
    result = shell.run("echo on")
    assert result.output == "on\n"
    assert "time limit" in result.notice


def test_closing_a_shell_ends_it(fresh) -> None:
    sandbox = fresh()
    shell = sandbox.shell()
    shell.run("X=1")
    shell.close()
    assert b"--noediting" not in sandbox.run("cat /proc/[0-9]*/cmdline").stdout
