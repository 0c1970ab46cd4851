"""One thread for slow disk work, in the order of submission: fsync, checkpoints, removal of files.

A job's `finish` runs on the event loop. Fsyncs of one disk wait for each other anyway, and
checkpoints rely on the order.
"""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

from brokerd.log.io.disk_jobs import DiskJob
from brokerd.log.io.flush import FlushJob
from brokerd.metric_counters import Histogram

logger = logging.getLogger(__name__)


class DiskWorker:
    """Jobs may be submitted by the event loop's thread, and by the one that loads the logs."""

    def __init__(self, flushes_s: Histogram) -> None:
        self._flushes_s = flushes_s
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="disk")

    def submit(self, job: DiskJob) -> None:
        """Runs a job after all that were submitted before."""
        self._thread.submit(self._run, job)

    def _run(self, job: DiskJob) -> None:
        start_s = monotonic()
        try:
            job.run()
        except Exception:
            logger.exception("%s failed", type(job).__name__)
        finally:
            self._loop.call_soon_threadsafe(self._finish, job, monotonic() - start_s)

    def _finish(self, job: DiskJob, took_s: float) -> None:
        if isinstance(job, FlushJob):
            self._flushes_s.add(took_s)
        job.finish()

    async def drain(self) -> None:
        """Returns when every job submitted so far is finished."""
        await asyncio.wrap_future(self._thread.submit(lambda: None))
        await asyncio.sleep(0)

    def close(self) -> None:
        self._thread.shutdown()
