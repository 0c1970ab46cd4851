"""The processes that compact logs: started when there is a job, ended after some time without one.

To start one takes 0.3 s of a processor, too much for each round of a log with constant appends.
They are not forked from the broker. Messages are JSON objects, one a line, over pipes
(`brokerd.log.cleaner.worker_messages`).
"""

import asyncio
import logging
import os
import sys
from asyncio.subprocess import Process
from pathlib import Path

import brokerd
from brokerd.event_loop_turns import begin_task
from brokerd.log.cleaner.log_cleaner_manager import Listener
from brokerd.log.cleaner.worker_messages import Job, SegmentGroupDone, decode_message, encode_answer

logger = logging.getLogger(__name__)

MODULE = "brokerd.log.cleaner.worker"
RESTS_MAX = 4
"""So many looks in a row find nothing to do before processes are ended."""
DYING_S = 1.0
"""So long a dying process gets no signal: with one, its exit code would not reach `wait`."""
_ROOT = str(Path(str(brokerd.__file__)).parents[1])


class CleanerWorkers:
    """At most `limit` processes (log.cleaner.threads); those above a lowered limit finish first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._rests = 0
        self._idle: list[Process] = []
        self._processes: set[Process] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy = 0

    @property
    def free(self) -> int:
        return max(0, self.limit - self._busy)

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self._processes]

    def run(self, job: Job, listener: Listener) -> None:
        self._busy += 1
        self._rests = 0
        begin_task(self._tasks, self._serve(job, listener))

    def rest(self) -> None:
        self._rests += 1
        if self._rests < RESTS_MAX:
            return
        for process in self._idle:
            assert process.stdin is not None
            process.stdin.close()
            begin_task(self._tasks, self._end(process))
        self._idle = []

    async def stop(self) -> None:
        """Kills all processes; unfinished jobs are done again later."""
        for process in self._processes:
            if process.returncode is None:
                process.kill()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(process.wait() for process in self._processes))
        self._processes.clear()
        self._idle.clear()

    async def _serve(self, job: Job, listener: Listener) -> None:
        """Has a process do one job. A process that sends anything unexpected is killed."""
        process = None
        is_over = False
        try:
            process = self._take_idle() or await self._start()
            is_over = await _converse(process, job, listener)
        except Exception as error:  # else the log would count as being cleaned for ever
            logger.warning("a compaction worker failed: %s: %s", type(error).__name__, error)
        finally:
            self._busy -= 1
        if is_over and process is not None:
            self._idle.append(process)
            return
        if process is not None:
            await self._end_dead(process)
        listener.worker_died()

    def _take_idle(self) -> Process | None:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
            self._processes.discard(process)  # it was killed meanwhile
        return None

    async def _start(self) -> Process:
        path = os.pathsep.join(filter(None, (_ROOT, os.environ.get("PYTHONPATH"))))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", MODULE, stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        self._processes.add(process)
        return process

    async def _end_dead(self, process: Process) -> None:
        """Ends a process that has died, is about to, or does not follow the protocol."""
        try:
            await asyncio.wait_for(process.wait(), DYING_S)
        except TimeoutError:
            process.kill()
        await self._end(process)
        logger.warning(
            "a compaction worker, process %d, ended with %s in the middle of a job",
            process.pid, process.returncode,
        )  # fmt: skip

    async def _end(self, process: Process) -> None:
        await process.wait()
        self._processes.discard(process)


async def _converse(process: Process, job: Job, listener: Listener) -> bool:
    """Sends a job to the process; returns whether the process finished it."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(job.encode())
    await process.stdin.drain()
    while line := await process.stdout.readline():
        message = decode_message(line)
        if not isinstance(message, SegmentGroupDone):
            listener.round_done(message)
            return True
        process.stdin.write(encode_answer(listener.group_done(message)))
        await process.stdin.drain()
    return False
