"""The contract of every back end: a program kept as a channel of bytes."""

from __future__ import annotations

import os

import pytest

from tradeschool.errors import SandboxError
from tradeschool.sandbox import Channel, Sandbox, SandboxSpec

ANSWER = """
import struct, sys
while head := sys.stdin.buffer.read(4):
    body = sys.stdin.buffer.read(struct.unpack(">I", head)[0])
    sys.stdout.buffer.write(head + body[::-1])
    sys.stdout.buffer.flush()
sys.stderr.write("input ended")
"""


def read_kind(channel: Channel, size: int, timeout_s: float) -> str:
    with pytest.raises(SandboxError) as caught:
        channel.read(size, timeout_s)
    return caught.value.kind


def test_bytes_go_there_and_back_exactly(box: Sandbox) -> None:
    channel = box.connect(["python3", "-c", ANSWER])
    for size in (0, 1, 5000, 300_000):
        body = os.urandom(size)
        channel.write(len(body).to_bytes(4, "big") + body, 30)
        assert channel.read(4, 30) == len(body).to_bytes(4, "big")
        assert channel.read(size, 30) == body[::-1]
    assert channel.stderr() == ""
    channel.close()


def test_a_read_takes_no_more_than_asked(box: Sandbox) -> None:
    channel = box.connect(["printf", "abcdef"])
    assert (channel.read(1, 10), channel.read(2, 10), channel.read(3, 10)) == (b"a", b"bc", b"def")
    assert read_kind(channel, 1, 10) == "closed"
    channel.close()


def test_silence_is_a_time_out_and_not_the_end(box: Sandbox) -> None:
    channel = box.connect(["cat"])
    assert read_kind(channel, 1, 0.2) == "timeout"
    channel.write(b"on", 10)
    assert channel.read(2, 10) == b"on"
    channel.close()


def test_half_an_answer_is_no_answer(box: Sandbox) -> None:
    channel = box.connect(["bash", "-c", "printf abc; read; printf def; sleep 60"])
    assert read_kind(channel, 6, 0.5) == "timeout"
    channel.close()


def test_a_program_that_ended_is_closed_and_its_last_words_are_kept(box: Sandbox) -> None:
    channel = box.connect(["bash", "-c", "echo trouble >&2; exit 1"])
    with pytest.raises(SandboxError, match="trouble") as caught:
        channel.read(1, 10)
    assert caught.value.kind == "closed"
    assert "trouble" in channel.stderr()
    channel.close()


def test_a_program_that_does_not_read_times_the_writer_out(box: Sandbox) -> None:
    channel = box.connect(["sleep", "60"])
    with pytest.raises(SandboxError) as caught:
        channel.write(b"x" * (64 << 20), 2)
    assert caught.value.kind == "timeout"
    channel.close()


def test_a_program_that_floods_its_error_output_does_not_stop(box: Sandbox) -> None:
    channel = box.connect(["bash", "-c", "head -c 5000000 /dev/zero | tr '\\0' e >&2; echo tail >&2; echo ready"])
    assert channel.read(6, 30) == b"ready\n"
    assert read_kind(channel, 1, 30) == "closed"
    assert len(channel.stderr()) <= 16_384 + 100
    assert channel.stderr().endswith("tail\n")
    channel.close()


def test_a_missing_program_is_an_error(box: Sandbox) -> None:
    # when it is started, or when it is first used
    with pytest.raises(SandboxError, match="no-such-program"):
        box.connect(["no-such-program"]).read(1, 10)


def test_closing_kills_the_program(fresh, token: str, host_processes) -> None:
    channel = fresh().connect(["bash", "-c", f"trap '' TERM HUP INT; echo up; sleep {token}; sleep {token}"])
    channel.read(3, 10)
    assert host_processes(token, wait_s=10)
    channel.close()
    channel.close()
    assert not host_processes(token, gone_s=10)
    with pytest.raises(SandboxError) as caught:
        channel.write(b"x", 1)
    assert caught.value.kind == "closed"


def test_a_channel_ends_with_its_sandbox(fresh) -> None:
    sandbox = fresh()
    channel = sandbox.connect(["cat"])
    sandbox.close()
    assert read_kind(channel, 1, 10) == "closed"
    channel.close()


def test_it_runs_where_and_with_what_it_is_told(fresh) -> None:
    sandbox = fresh(SandboxSpec(env={"A": "1"}))
    channel = sandbox.connect(["bash", "-c", "echo $A$B:$PWD"], cwd="/tmp", env={"B": "2"})
    assert channel.read(8, 10) == b"12:/tmp\n"
    channel.close()
