import os
import socket

from console.stack_ports import Port, conflicts, unavailable


def test_a_port_with_two_purposes_is_reported() -> None:
    console = Port(8000, "the console", "AERIE_PORT")
    [problem] = conflicts([console, Port(8000, "Redis", "REDIS_PORT")])
    assert "AERIE_PORT" in problem
    assert "REDIS_PORT" in problem


def test_different_ports_do_not_conflict() -> None:
    assert conflicts([Port(8000, "the console", "A"), Port(8001, "Redis", "B")]) == []


def test_a_port_in_use_is_named_with_its_setting_and_its_user() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        number = listener.getsockname()[1]
        [problem] = unavailable([Port(number, "Redis", "REDIS_PORT")])
    assert f"Port {number}, needed for Redis, is in use by" in problem
    assert f"process {os.getpid()}" in problem
    assert "set REDIS_PORT" in problem


def test_a_free_port_is_no_problem() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        number = listener.getsockname()[1]
    assert unavailable([Port(number, "Redis", "REDIS_PORT")]) == []
