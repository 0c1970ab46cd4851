"""Disk jobs run in order in one thread and finish on the event loop."""

import threading

from brokerd.metric_counters import TIME_BOUNDS_S, Histogram
from brokerd.server.background.disk_worker import DiskWorker


class Job:
    """Writes down where its parts ran."""

    def __init__(self, name: str, seen: list[tuple[str, str, bool]], error: OSError | None = None):
        self._name = name
        self._seen = seen
        self._error = error

    def _note(self, part: str) -> None:
        in_loop = threading.current_thread() is threading.main_thread()
        self._seen.append((self._name, part, in_loop))

    def run(self) -> None:
        self._note("run")
        if self._error:
            raise self._error

    def finish(self) -> None:
        self._note("finish")


async def test_jobs_run_in_order_off_the_loop_and_finish_on_it() -> None:
    worker = DiskWorker(Histogram(TIME_BOUNDS_S))
    seen: list[tuple[str, str, bool]] = []
    worker.submit(Job("a", seen))
    worker.submit(Job("b", seen, OSError("full")))
    worker.submit(Job("c", seen))
    await worker.drain()
    worker.close()
    assert [each for each in seen if each[1] == "run"] == [(n, "run", False) for n in "abc"]
    assert [each for each in seen if each[1] == "finish"] == [(n, "finish", True) for n in "abc"]
