"""Ends the stack's processes if the supervisor was killed (kill -9).

Runs as a separate process: `python -m stack.guard STACK_ID`. Its standard input is a pipe from the
supervisor, so end of file means that the supervisor has ended. The supervisor writes the lines
`+SESSION STAGE` when a process started and `-SESSION` when a process and all its children ended.
"""

import signal
import sys
from collections.abc import Iterable

from stack.os_processes import end_stack
from stack.process_table import STORES_STAGE

GRACE_S = 5.0


def watch(stack_id: str, lines: Iterable[str]) -> int:
    """Read the lines to end of file, then end what still runs; returns the number of processes."""
    stages: dict[int, int] = {}
    for line in lines:
        leader, *stage = (int(word) for word in line[1:].split())
        if line.startswith("+"):
            stages[leader] = stage[0]
        else:
            stages.pop(leader, None)
    stores = [leader for leader, stage in stages.items() if stage == STORES_STAGE]
    return end_stack(stack_id, stages, GRACE_S, stores)


def main() -> None:
    """Ignore Ctrl-C, which the supervisor handles, and watch."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    ended = watch(sys.argv[1], sys.stdin)
    if ended:
        try:
            print(f"aerie: the supervisor was killed; ended its {ended} processes", flush=True)
        except OSError:
            pass  # the terminal is closed


if __name__ == "__main__":
    main()
