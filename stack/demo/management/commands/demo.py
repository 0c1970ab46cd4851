"""`manage.py demo`: sends the demo traffic to the brokers of the embedded stack.

`--rate` is the total number of records a second. Only one process per data folder sends the real
records. A second process sends load only (`load.sequence`), and so does the first one above
RATE_MAX.
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

from monitoring import redis_client
from monitoring.background import stored_heartbeats
from monitoring.gateway.brokerd_admin_urls import LOOPBACK, AdminUrls
from stack.config import StackConfig
from stack.demo.rates import RATE_MIN, split_rate
from stack.demo.traffic import DemoConfig, run_load, run_real

LOAD_RATE_MAX = 200_000


class Command(BaseCommand):
    help = "Sends metrics and logs of this machine as records, or load beside a running stack."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--rate", default="", help="records a second (AERIE_DEMO_RATE)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            requested = parse_rate(options["rate"])
        except ValueError as error:
            sys.exit(f"aerie: {error}")
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        is_only_sender = _try_lock(settings.AERIE_DATA / "demo")
        if not is_only_sender and requested is None:
            sys.exit(
                "aerie: the demo traffic is running already, at AERIE_DEMO_RATE. "
                "make demo RATE=5000 adds 5000 records a second of load to it"
            )
        config = demo_config(requested or settings.AERIE_DEMO_RATE, is_only_sender)
        jobs = ([run_real] if config.rate else []) + ([run_load] if config.load_rate else [])
        threads = [threading.Thread(target=job, args=(config, stop)) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                _write_heartbeat()
                thread.join(stored_heartbeats.INTERVAL_S)


def _write_heartbeat() -> None:
    """Only as a process of the stack; a second sender writes no heartbeat."""
    if "demo" in settings.AERIE_PROCESSES:
        with suppress(redis_client.RedisDown):
            stored_heartbeats.record("demo")


def parse_rate(text: str) -> int | None:
    """The rate in `text`; None if it is empty. Raises ValueError with a message for the user."""
    if not text.strip():
        return None
    hint = f"write a whole number of records a second from {RATE_MIN} to {LOAD_RATE_MAX}"
    try:
        rate = int(text)
    except ValueError:
        raise ValueError(f"RATE={text} is not a whole number: {hint}") from None
    if not RATE_MIN <= rate <= LOAD_RATE_MAX:
        raise ValueError(f"RATE={rate} is out of range: {hint}")
    return rate


def demo_config(rate: int, is_only_sender: bool) -> DemoConfig:
    """The configuration for `rate` records a second; only the only sender sends real records."""
    stack = StackConfig.from_settings(settings)
    if not stack.admin_token_file.exists():
        sys.exit("aerie: No stack has run here yet: start it first (make up)")
    real_rate, load_rate = split_rate(rate, is_only_sender)
    return DemoConfig(
        bootstrap_servers=stack.bootstrap_servers,
        admin=AdminUrls(stack.admin_urls, stack.admin_token_file.read_text().strip(), (LOOPBACK,)),
        logs=settings.AERIE_LOGS,
        positions=settings.AERIE_DATA / "demo",
        rate=real_rate,
        load_rate=load_rate,
    )


def _try_lock(folder: Path) -> bool:
    """Whether this process is the one that sends real records: it holds a lock until it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    return True
