"""Ends the stack when the supervisor is gone without having done so itself (kill -9).

Runs as a process of its own: `python -m stack.guard STACK_ID`. Standard input is a pipe
whose other end only the supervisor holds, so the end of that input is the supervisor's death. On
it come lines `+SESSION STAGE` and `-SESSION`: a process started, a process ended with all its
children.
"""

import signal
import sys
from collections.abc import Iterable

from stack.plan import STORES_STAGE
from stack.sessions import end_stack

GRACE_S = 5.0


def watch(stack_id: str, lines: Iterable[str]) -> int:
    """Follow the lines to their end, then end what still runs; returns how many that were."""
    stages: dict[int, int] = {}
    for line in lines:
        leader, *stage = (int(word) for word in line[1:].split())
        if line.startswith("+"):
            [stages[leader]] = stage
        else:
            stages.pop(leader, None)
    stores = [leader for leader, stage in stages.items() if stage == STORES_STAGE]
    return end_stack(stack_id, stages, GRACE_S, stores)


def main() -> None:
    """The guard's process: deaf to Ctrl-C, which is the supervisor's to act on."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    ended = watch(sys.argv[1], sys.stdin)
    if ended:
        try:
            print(f"aerie: the supervisor is gone; ended its {ended} processes", flush=True)
        except OSError:
            pass  # nobody is left to read it


if __name__ == "__main__":
    main()
