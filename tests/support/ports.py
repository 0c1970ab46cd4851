"""TCP ports of 127.0.0.1 for the servers of tests.

They lie below those from which a system takes one for each connection, so that no client gets the
port of a server that is about to start, or that a test has stopped for a moment. None is given
twice in a process.
"""

import random
import socket
from contextlib import ExitStack

_FIRST, _END = 10_000, 20_000
_random = random.Random()  # Hypothesis seeds the one that all share
_given: set[int] = set()


def free_port() -> int:
    """A port that nothing listens on now."""
    while True:
        port = _random.randrange(_FIRST, _END)
        if port in _given:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        return port


def free_broker_ports() -> int:
    """The BROKERD_PORT_BASE of a stack: P to P+2 and the admin ports P+100 to P+102 are free."""
    while True:
        base = _random.randrange(_END, 32_000)
        with ExitStack() as stack:
            try:
                for port in (*range(base, base + 3), *range(base + 100, base + 103)):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
        return base
