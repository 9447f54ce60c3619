"""Waiting for a descriptor, of any number: `select` takes none over 1023."""

from __future__ import annotations

import select

READ = select.POLLIN
WRITE = select.POLLOUT


def wait_for(fd: int, timeout_s: float, events: int = READ) -> int:
    """The events that `fd` is ready for, 0 after `timeout_s`. A closed or broken other end counts as ready for all."""
    poll = select.poll()
    poll.register(fd, events)
    for _, found in poll.poll(max(0.0, timeout_s) * 1000):
        broken = found & (select.POLLHUP | select.POLLERR | select.POLLNVAL)
        return events if broken else found & events
    return 0
