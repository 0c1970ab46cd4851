"""The demo traffic: several sources, one producer at a constant rate, and three consumer groups.

The rate is the total of real records a second. Log lines and broker events are sent first; process
samples fill the rest.
"""

import logging
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

from monitoring.clock import now_ms
from monitoring.gateway.brokerd_admin_urls import AdminUrls
from monitoring.topic_names import CONSOLE_ACCESS, CONSOLE_AUDIT
from stack.demo import topics
from stack.demo.client import Sender, create_topics
from stack.demo.events import BrokerEvents
from stack.demo.groups import all_members
from stack.demo.host_metrics import Cpus, Processes
from stack.demo.log_tail import LogTail
from stack.demo.rates import RateLimiter, cpu_every_s
from stack.demo.records import OutgoingRecord, load_record

log = logging.getLogger(__name__)

INTERVAL_S = 0.1
LOAD_INTERVAL_S = 0.02
CLOSE_S = 1.0
LEAVE_S = 2.0  # time for all members to leave their groups
REPORT_EVERY_S = 60.0


@dataclass(frozen=True, slots=True)
class DemoConfig:
    """Brokers, logs to read and rates."""

    bootstrap_servers: str
    admin: AdminUrls
    logs: Path
    positions: Path  # folder of the position files
    rate: int  # real records a second; 0 if another process sends them
    load_rate: int  # records of load.sequence a second


class Source(Protocol):
    """A source that keeps its position, so that nothing is lost."""

    @property
    def is_delivering(self) -> bool: ...
    def take(self, limit: int) -> list[OutgoingRecord]: ...
    def finish_delivery(self, is_delivered: bool) -> None: ...


def run_real(config: DemoConfig, stop: threading.Event) -> None:
    """Send and read real records until `stop` is set."""
    create_topics(config.bootstrap_servers, topics.REAL, stop)
    events = BrokerEvents(config.admin, config.positions / "events.json", topics.BROKERD_EVENTS)
    threads = [threading.Thread(target=events.follow, args=(stop,), daemon=True)]
    for member in all_members(config.bootstrap_servers, config.rate, stop):
        threads.append(threading.Thread(target=member.run, name=member.name, daemon=True))
    for thread in threads:
        thread.start()
    sources: list[Source] = [*_log_tails(config), events]
    _send_real(config, sources, stop)
    deadline = time.monotonic() + LEAVE_S
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0))


def _log_tails(config: DemoConfig) -> list[LogTail]:
    logs = (
        (CONSOLE_ACCESS, "access", "path"),
        (CONSOLE_AUDIT, "audit", "resource"),
    )
    return [
        LogTail(config.logs / f"{name}.jsonl", config.positions / f"{name}.json", topic, key_field)
        for topic, name, key_field in logs
    ]


def _send_real(config: DemoConfig, sources: list[Source], stop: threading.Event) -> None:
    sender = Sender(config.bootstrap_servers, "demo-sender")
    processes = Processes(topics.HOST_PROCESSES)
    cpus = Cpus(topics.HOST_CPU, cpu_every_s(config.rate, psutil.cpu_count() or 1))
    limiter = RateLimiter(config.rate, now_ms())
    reported_at, reported = time.monotonic(), 0
    ahead = 0  # records sent before they were due: samples of all CPUs can be more than are due
    log.info("sending %d real records a second", config.rate)
    while not stop.wait(INTERVAL_S):
        due = limiter.due(now_ms()) - ahead
        for source in sources:
            if records := source.take(due):
                due -= sender.send(records, source.finish_delivery)
        due -= sender.send(cpus.take(now_ms()))
        due -= sender.send(processes.take(due, now_ms()))
        ahead = max(-due, 0)
        sender.poll()
        if time.monotonic() - reported_at >= REPORT_EVERY_S:
            rate = (sender.delivered - reported) / (time.monotonic() - reported_at)
            reported_at, reported = time.monotonic(), sender.delivered
            log.info("%.1f records a second acknowledged, %d lost so far", rate, sender.lost)
    sender.close(CLOSE_S)


def run_load(config: DemoConfig, stop: threading.Event) -> None:
    """Send `load.sequence` at its rate until `stop` is set."""
    create_topics(config.bootstrap_servers, [topics.LOAD], stop)
    sender = Sender(config.bootstrap_servers, "demo-load")
    limiter = RateLimiter(config.load_rate, now_ms())
    sequence = 0
    log.info("sending %d records of load a second to %s", config.load_rate, topics.LOAD_SEQUENCE)
    while not stop.wait(LOAD_INTERVAL_S):
        at_ms = now_ms()
        numbers = range(sequence, sequence + limiter.due(at_ms))
        sequence = numbers.stop
        sender.send(load_record(topics.LOAD_SEQUENCE, number, at_ms) for number in numbers)
        sender.poll()
    sender.close(CLOSE_S)
    log.info("load: %d acknowledged, %d lost", sender.delivered, sender.lost)
