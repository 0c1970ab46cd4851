"""When a process that keeps memory is restarted."""

import os
import socket

from stack import idle_memory
from stack.idle_memory import IdleTime, has_clients, resident_bytes

IDLE_MS = int(idle_memory.IDLE_S * 1000)


def test_it_must_have_been_without_clients_all_the_time():
    idle = IdleTime()
    assert not idle.is_over(0, True)
    assert not idle.is_over(IDLE_MS - 1, False)
    assert idle.is_over(IDLE_MS, False)
    assert not idle.is_over(IDLE_MS + 1, True)
    assert not idle.is_over(IDLE_MS + 2, False)
    assert idle.is_over(2 * IDLE_MS + 1, False)


def test_what_had_no_client_since_its_start_is_not_restarted():
    idle = IdleTime()
    assert not idle.is_over(0, False)
    assert not idle.is_over(10 * IDLE_MS, False)


def test_a_client_is_an_accepted_connection_at_the_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not has_clients(os.getpid(), port)
        with socket.create_connection(("127.0.0.1", port)) as client, server.accept()[0]:
            assert has_clients(os.getpid(), port)
            assert not has_clients(os.getpid(), port + 1 if port < 65_535 else port - 1)
            assert client.getsockname()[1] != port
        assert not has_clients(os.getpid(), port)


def test_the_resident_memory_is_that_of_the_process():
    before = resident_bytes(os.getpid())
    held = b"x" * (64 << 20)
    assert resident_bytes(os.getpid()) - before > len(held) // 2
