"""`python -m monitoring.gateway.librdkafka.child FD`: a worker process of workers.py.

Over the socket FD come a function's name, its arguments and the seconds that it may take; back goes
what `Workers.call` says. The process ends when the socket closes, and by its alarm when a call
takes too long, also where librdkafka holds up every thread of Python. Django is not loaded here.
"""

import os
import queue
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from math import ceil
from multiprocessing.connection import Connection
from typing import Any

from monitoring.gateway.errors import GatewayError
from monitoring.gateway.librdkafka import administration, reading

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "read": reading.read,
    "create_topic": administration.create_topic,
    "create_partitions": administration.create_partitions,
    "delete_topic": administration.delete_topic,
    "describe_topic": administration.describe_topic,
    "describe_configs": administration.describe_configs,
}


def main(descriptor: int) -> None:
    connection: Connection[Any, Any] = Connection(descriptor)
    asked: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, asked), daemon=True).start()
    connection.send("ready")
    while True:
        function, arguments, limit_s = asked.get()
        signal.alarm(ceil(limit_s))
        answer = _answer(FUNCTIONS[function], arguments)
        signal.alarm(0)
        connection.send(answer)


def _listen(connection: "Connection[Any, Any]", asked: "queue.SimpleQueue[Any]") -> None:
    """In a thread, so that the end of the other side is heard during a call too."""
    while True:
        try:
            asked.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    try:
        return True, function(*arguments)
    except GatewayError as error:
        return False, error
    except Exception:
        return False, traceback.format_exc()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the other side, which closes
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold people's records
    try:
        main(int(sys.argv[1]))
    except OSError:
        os._exit(0)
