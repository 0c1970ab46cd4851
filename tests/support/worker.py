"""A real Celery worker of the product, on the test's Redis, database and data folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection

from tests.support.forks import CONSOLE


class Worker:
    """`kill` is kill -9 of the worker and of its pool."""

    def __init__(self, queue: str, **environ: str) -> None:
        share_the_database()
        self.log = Path(settings.AERIE_DATA) / f"worker-{queue}.log"
        with self.log.open("ab") as log:
            self.process = CONSOLE.start(
                "monitoring.worker",
                queue,
                output=log,
                environ=os.environ | {"DJANGO_SETTINGS_MODULE": "console.settings"} | environ,
            )

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, 9)
            self.process.wait()


@contextmanager
def worker(queue: str, **environ: str) -> Iterator[Worker]:
    running = Worker(queue, **environ)
    try:
        yield running
    finally:
        running.kill()


def share_the_database() -> None:
    """The product looks for db.sqlite3 in the data folder; there it finds the test's."""
    link = Path(settings.AERIE_DATA) / "db.sqlite3"
    target = Path(str(connection.settings_dict["NAME"]))
    if link.is_symlink() and link.resolve() == target.resolve():
        return
    link.unlink(missing_ok=True)
    link.symlink_to(target)
