"""The ports of the stack: which exist, whether settings conflict, whether a port is in use."""

import errno
from collections.abc import Iterable
from dataclasses import dataclass

import psutil

from monitoring.tcp_ports import ADMIN_PORT_ABOVE, bind_error


@dataclass(frozen=True, slots=True)
class Port:
    """A TCP port of 127.0.0.1, its purpose, and its setting."""

    number: int
    purpose: str
    setting: str


def of_stack(
    web: int, first_broker: int, brokers: int, zookeeper: int, redis: int, spark: int
) -> dict[str, list[Port]]:
    """Name in the Procfile → the ports that this process listens on. Pure."""
    ports = {"web": [Port(web, "the console", "AERIE_PORT")]}
    for number, port in enumerate(range(first_broker, first_broker + brokers), start=1):
        ports[f"broker-{number}"] = [
            Port(port, f"broker {number}", "BROKERD_PORT_BASE"),
            Port(port + ADMIN_PORT_ABOVE, f"broker {number}'s admin", "BROKERD_PORT_BASE"),
        ]
    ports["zookeeper"] = [Port(zookeeper, "ZooKeeper", "ZOOKEEPER_PORT")]
    ports["redis"] = [Port(redis, "Redis", "REDIS_PORT")]
    ports["spark"] = [Port(spark, "Spark Connect", "SPARK_CONNECT_PORT")]
    return ports


def conflicts(ports: Iterable[Port]) -> list[str]:
    """A message for each port with two purposes. Pure."""
    first_use: dict[int, Port] = {}
    problems = []
    for port in ports:
        other = first_use.setdefault(port.number, port)
        if other is not port:
            problems.append(
                f"Port {port.number} is set both for {other.purpose} ({other.setting}) "
                f"and for {port.purpose} ({port.setting}): change one of the two."
            )
    return problems


def unavailable(ports: Iterable[Port]) -> list[str]:
    """A message for each port that cannot be used now."""
    problems = []
    for port in ports:
        reason = _bind_problem(port.number)
        if reason:
            problems.append(
                f"Port {port.number}, needed for {port.purpose}, {reason}. "
                f"Stop what uses it, or set {port.setting} to another port."
            )
    return problems


def _bind_problem(number: int) -> str:
    error = bind_error(number)
    if error is None:
        return ""
    if error.errno != errno.EADDRINUSE:
        return f"cannot be used: {error.strerror}"
    return f"is in use{_user_of_port(number)}"


def _user_of_port(number: int) -> str:
    """` by NAME (process N)`, if the system reveals it."""
    try:
        for socket_ in psutil.net_connections("tcp"):
            is_listener = socket_.status == psutil.CONN_LISTEN and socket_.laddr.port == number
            if is_listener and socket_.pid:
                name = psutil.Process(socket_.pid).name()
                return f" by {name} (process {socket_.pid})"
    except psutil.Error:
        pass
    return ""
