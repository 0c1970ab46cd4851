"""`python -m monitoring.records.search_process FD BYTES`: the process of one search.

It receives a SearchRequest on the socket FD, then messages that say whether there is a core for its
second helper (scan_pool.py). It sends events (search_events.py), then an error or None, and ends;
it also ends when the socket closes. It and its helpers may use BYTES of memory each. They have a
low priority, so that pages are not slower while somebody searches. Django is not set up here: no
settings, no database.
"""

import asyncio
import contextlib
import os
import resource
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from typing import Any

from monitoring.gateway.child_process import prepare_this_process
from monitoring.gateway.errors import GatewayError
from monitoring.records.compaction_search import CompactionRequest, CompactionSearch
from monitoring.records.filters import FilterInvalid
from monitoring.records.search import Search
from monitoring.records.search_events import Send
from monitoring.records.search_request import SearchRequest

_NICE = 10


def main(descriptor: int) -> None:
    connection: Connection[Any, Any] = Connection(descriptor)
    request: SearchRequest = connection.recv()
    try:
        search = _search(request, connection.send)  # forks helpers: no thread may run yet
        threading.Thread(target=_listen, args=(connection, search), daemon=True).start()
        asyncio.run(search.run())
        connection.send(None)  # the end: no error
    except (GatewayError, FilterInvalid) as error:
        connection.send(error)
    except (BrokenPipeError, ConnectionResetError):
        pass
    except Exception:
        connection.send(RuntimeError(traceback.format_exc()))


def _search(request: SearchRequest, send: Send) -> Search:
    """Raises FilterInvalid."""
    if isinstance(request, CompactionRequest):
        return CompactionSearch(request, send)
    return Search(request, send)


def _listen(connection: "Connection[Any, Any]", search: Search) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            search.pool.may_use_two = connection.recv()
    os._exit(0)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[2]), int(sys.argv[2])))
    prepare_this_process()
    os.nice(_NICE)
    with contextlib.suppress(OSError):
        main(int(sys.argv[1]))
