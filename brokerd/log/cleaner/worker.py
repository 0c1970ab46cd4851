"""The process that cleans (in Kafka a CleanerThread): `python -m brokerd.log.cleaner.worker`.

It reads jobs from standard input and writes their results to standard output (`worker_messages`).
After each group of segments it reads `true` if it shall go on. It ends with its standard input, and
gives up a job if the broker is no longer its parent.
"""

import os
import sys
from contextlib import suppress
from typing import BinaryIO

from brokerd.cpu_scheduling import yield_to_event_loop

_NICENESS = 10  # behind the broker where both want the same core


def serve(jobs: BinaryIO, answers: BinaryIO) -> None:
    # Imported here because it takes 0.3 s of a core: main has lowered the priority before.
    from brokerd.log.cleaner.cleaning_round import clean
    from brokerd.log.cleaner.offset_map import SEED_BYTES
    from brokerd.log.cleaner.worker_messages import SegmentGroupDone, decode_job

    parent = os.getppid()

    def send(line: bytes) -> None:
        answers.write(line)
        answers.flush()

    def report(group: SegmentGroupDone) -> bool:
        send(group.encode())
        return jobs.readline().strip() == b"true"

    while line := jobs.readline():
        done = clean(
            decode_job(line), report, seed=os.urandom(SEED_BYTES),
            still_wanted=lambda: os.getppid() == parent,
        )  # fmt: skip
        send(done.encode())


def main() -> None:
    os.nice(_NICENESS)
    yield_to_event_loop()
    with suppress(BrokenPipeError, KeyboardInterrupt):  # the broker has gone, or was interrupted
        serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
