"""`python -m monitoring.gateway.librdkafka.worker_process FD BYTES`: a worker of workers.py.

It receives function name, arguments and time limit on the socket FD, and sends the result back. The
process ends when the socket closes. If a call takes too long, SIGALRM ends it, even if librdkafka
blocks all Python threads. If it needs more than BYTES of memory, for example for a compressed
batch that unpacks to gigabytes, librdkafka ends it. Django is not loaded here.
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

from monitoring.gateway.child_process import prepare_this_process
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.librdkafka import (
    copying,
    group_calls,
    log_offset_calls,
    produce_calls,
    topic_calls,
)

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "write": produce_calls.write,
    "copy": copying.copy,
    "create_topic": topic_calls.create_topic,
    "create_partitions": topic_calls.create_partitions,
    "delete_topic": topic_calls.delete_topic,
    "delete_records": topic_calls.delete_records,
    "describe_topic": topic_calls.describe_topic,
    "alter_configs": topic_calls.alter_configs,
    "cluster_operations": topic_calls.cluster_operations,
    "describe_group": group_calls.describe_group,
    "committed": group_calls.committed,
    "log_ranges": log_offset_calls.ranges,
    "log_bounds": log_offset_calls.bounds,
    "log_offsets_at_time": log_offset_calls.at_time,
    "alter_offsets": group_calls.alter_offsets,
    "delete_group": group_calls.delete_group,
}

# Each thread's stack counts as used memory, and librdkafka has a thread for each broker.
STACK_BYTES = 1 << 20


def main(descriptor: int) -> None:
    connection: Connection[Any, Any] = Connection(descriptor)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, requests), daemon=True).start()
    connection.send("ready")
    while True:
        function, arguments, limit_s = requests.get()
        signal.alarm(ceil(limit_s))
        answer = _answer(FUNCTIONS[function], arguments)
        signal.alarm(0)
        connection.send(answer)


def _listen(connection: "Connection[Any, Any]", requests: "queue.SimpleQueue[Any]") -> None:
    """Runs in a thread, so that the process also ends when the socket closes during a call."""
    while True:
        try:
            requests.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    try:
        return True, function(*arguments)
    except GatewayError as error:
        return False, error
    except Exception:
        return False, traceback.format_exc()


def _limit_memory(size_bytes: int) -> None:
    """Limit this process's memory and stacks. It restarts once: a stack gets its size at start."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or hard > size_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (size_bytes, size_bytes))
    if resource.getrlimit(resource.RLIMIT_STACK)[0] != STACK_BYTES:
        resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, STACK_BYTES))
        os.execv(sys.executable, [sys.executable, "-m", __spec__.name, *sys.argv[1:]])


if __name__ == "__main__":
    _limit_memory(int(sys.argv[2]))
    prepare_this_process()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    try:
        main(int(sys.argv[1]))
    except OSError:
        os._exit(0)
