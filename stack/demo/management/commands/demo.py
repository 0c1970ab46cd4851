"""`manage.py demo`: the traffic alone, against the brokers of the embedded stack.

`--rate` is what this command sends a second, in all. Only one process sends the real records of a
data folder: beside a running stack, or above what real records there are, it sends load.
"""

import fcntl
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from monitoring import heartbeats, redis_client
from monitoring.gateway.admin_urls import AdminUrls
from stack.config import StackConfig
from stack.demo.pace import RATE_MIN, split_rate
from stack.demo.traffic import DemoConfig, run_load, run_real

LOAD_RATE_MAX = 200_000


class Command(BaseCommand):
    help = "Sends this machine's own life as records; beside a running stack, load.sequence."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--rate", default="", help="records a second (AERIE_DEMO_RATE)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            wanted = wanted_rate(options["rate"])
        except ValueError as error:
            sys.exit(f"aerie: {error}")
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        is_alone = _hold(settings.AERIE_DATA / "demo")
        if not is_alone and wanted is None:
            sys.exit(
                "aerie: the demo traffic is running already, at AERIE_DEMO_RATE. "
                "make demo RATE=5000 adds 5000 records a second of load to it"
            )
        config = demo_config(wanted or settings.AERIE_DEMO_RATE, is_alone)
        jobs = ([run_real] if config.rate else []) + ([run_load] if config.load_rate else [])
        threads = [threading.Thread(target=job, args=(config, stop)) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                _say_alive()
                thread.join(heartbeats.BEAT_S)


def _say_alive() -> None:
    """As a process of the stack; a sender beside it is nobody's concern."""
    if "demo" in settings.AERIE_PROCESSES:
        with suppress(redis_client.StoreDown):
            heartbeats.note("demo")


def wanted_rate(text: str) -> int | None:
    """The rate asked for; None if none was. Raises ValueError with a sentence."""
    if not text.strip():
        return None
    form = f"write a whole number of records a second from {RATE_MIN} to {LOAD_RATE_MAX}"
    try:
        rate = int(text)
    except ValueError:
        raise ValueError(f"RATE={text} is not a whole number: {form}") from None
    if not RATE_MIN <= rate <= LOAD_RATE_MAX:
        raise ValueError(f"RATE={rate} is out of range: {form}")
    return rate


def demo_config(rate: int, is_alone: bool) -> DemoConfig:
    """The configuration of a sender of `rate` records a second; alone, it sends the real ones."""
    stack = StackConfig.from_settings(settings)
    if not stack.admin_token_file.exists():
        sys.exit("aerie: No stack has run here yet: start it first (make up)")
    real_rate, load_rate = split_rate(rate, is_alone)
    return DemoConfig(
        bootstrap_servers=stack.bootstrap_servers,
        admin=AdminUrls(
            stack.admin_urls, stack.admin_token_file.read_text().strip(), ("127.0.0.1",)
        ),
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
