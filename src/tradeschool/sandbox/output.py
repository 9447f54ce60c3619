"""A bounded buffer for a program's output: the head and the tail are kept, the middle is counted."""

from __future__ import annotations


class HeadTail:
    """Keeps the first and the last `limit // 2` bytes of all that is added, in bounded memory."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take more output."""
        self.total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        # trimmed only now and then: cutting at each call would copy the tail every time
        if len(self._tail) > 4 * self._half + 65_536:
            del self._tail[: -self._half]

    @property
    def truncated(self) -> bool:
        """Whether bytes were dropped."""
        return self.total > 2 * self._half

    def value(self) -> bytes:
        """All of it, or head and tail around a line that says how many bytes are missing."""
        tail = bytes(self._tail[-self._half :])
        if not self.truncated:
            return bytes(self._head) + tail
        missing = self.total - len(self._head) - len(tail)
        return bytes(self._head) + f"\n[... {missing} bytes cut ...]\n".encode() + tail

    def text(self) -> str:
        """`value` as text: invalid UTF-8 (also a character cut at the edge) becomes U+FFFD."""
        return self.value().decode("utf-8", "replace")
