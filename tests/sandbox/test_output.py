"""Bounded output: head and tail to the byte, the middle counted, whatever the pieces."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tradeschool.sandbox.output import HeadTail


@given(st.lists(st.binary(max_size=300), max_size=20), st.integers(2, 400))
def test_head_and_tail_are_exact(pieces: list[bytes], limit: int) -> None:
    kept = HeadTail(limit)
    for piece in pieces:
        kept.add(piece)
    data, half = b"".join(pieces), limit // 2
    if len(data) <= 2 * half:
        assert kept.value() == data
        assert not kept.truncated
    else:
        assert kept.truncated
        missing = len(data) - 2 * half
        assert kept.value() == data[:half] + b"\n[... %d bytes cut ...]\n" % missing + data[-half:]


def test_memory_is_bounded() -> None:
    kept = HeadTail(1000)
    for _ in range(1000):
        kept.add(b"x" * 65_536)
    assert len(kept._tail) < 300_000
    assert kept.total == 65_536_000


def test_a_character_cut_at_the_edge_is_replaced() -> None:
    kept = HeadTail(4)
    kept.add("éééééé".encode() + b"x")
    assert re.fullmatch("é\n\\[... 9 bytes cut ...\\]\n\ufffdx", kept.text())
