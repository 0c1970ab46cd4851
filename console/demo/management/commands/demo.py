"""`manage.py demo`: the traffic alone, against the brokers of the embedded stack."""

import fcntl
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from console.demo.pace import RATE_MAX, RATE_MIN, split_rate
from console.demo.traffic import DemoConfig, run_load, run_real
from console.stack.config import StackConfig

LOAD_RATE_MAX = 200_000


class Command(BaseCommand):
    help = "Sends this machine's own life as records; above 2000 a second adds load.sequence."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--rate", type=int, default=settings.AERIE_DEMO_RATE)

    def handle(self, *args: Any, **options: Any) -> None:
        rate = options["rate"]
        if not RATE_MIN <= rate <= LOAD_RATE_MAX:
            sys.exit(f"aerie: RATE={rate} is not between {RATE_MIN} and {LOAD_RATE_MAX}")
        config = demo_config(rate)
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        only = _hold(config.places)
        if not only and not config.load_rate:
            sys.exit(
                "aerie: The demo traffic is running already. Its rate is AERIE_DEMO_RATE; "
                f"RATE above {RATE_MAX} adds load to it."
            )
        jobs = ([run_real] if only else []) + ([run_load] if config.load_rate else [])
        threads = [threading.Thread(target=job, args=(config, stop)) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def demo_config(rate: int) -> DemoConfig:
    """The demo's configuration for a wanted total of records a second."""
    stack = StackConfig.from_settings(settings)
    if not stack.admin_token_file.exists():
        sys.exit("aerie: No stack has run here yet: start it first (make up)")
    real_rate, load_rate = split_rate(rate)
    return DemoConfig(
        bootstrap_servers=stack.bootstrap_servers,
        admin_urls=stack.admin_urls,
        admin_token=stack.admin_token_file.read_text().strip(),
        logs=settings.AERIE_LOGS,
        places=settings.AERIE_DATA / "demo",
        rate=real_rate,
        load_rate=load_rate,
    )


def _hold(folder: Path) -> bool:
    """Whether this process alone sends the real records; held until it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    return True
