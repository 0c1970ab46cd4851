"""`python -m monitoring.worker QUEUE`: the worker of one queue, as the table in queues.py says."""

import sys

from monitoring import memory
from monitoring.celery import app
from monitoring.queues import QUEUES


def main(arguments: list[str]) -> None:
    if len(arguments) != 1 or arguments[0] not in QUEUES:
        sys.exit(f"usage: python -m monitoring.worker {'|'.join(QUEUES)}")
    memory.prepare()
    told = QUEUES[arguments[0]].worker_arguments()
    app.start(["-q", "worker", *told, "--without-gossip", "--without-mingle", "-l", "INFO"])


if __name__ == "__main__":
    main(sys.argv[1:])
