"""`python -m monitoring.worker QUEUE`: runs the worker of one queue (background/queues.py)."""

import sys

from monitoring import process_memory
from monitoring.background.queues import QUEUES
from monitoring.celery import app


def main(arguments: list[str]) -> None:
    if len(arguments) != 1 or arguments[0] not in QUEUES:
        sys.exit(f"usage: python -m monitoring.worker {'|'.join(QUEUES)}")
    process_memory.prepare()
    arguments_of_queue = QUEUES[arguments[0]].worker_arguments()
    app.start(
        ["-q", "worker", *arguments_of_queue, "--without-gossip", "--without-mingle", "-l", "INFO"]
    )


if __name__ == "__main__":
    main(sys.argv[1:])
