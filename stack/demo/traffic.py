"""The demo traffic as a whole: sources → one sender at an even pace, and three groups that read.

The rate is the total of real records a second. What happened by itself (requests, actions, broker
events) goes first; samples of the processes fill the rest.
"""

import logging
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

from monitoring.clock import now_ms
from monitoring.gateway.admin_urls import AdminUrls
from stack.demo import topics
from stack.demo.client import Sender, create_topics
from stack.demo.events import BrokerEvents
from stack.demo.groups import all_members
from stack.demo.host import Cpus, Processes
from stack.demo.journal import Journal
from stack.demo.pace import Pacer, cpu_every_s
from stack.demo.shapes import Outgoing, load_record

log = logging.getLogger(__name__)

TURN_S = 0.1
LOAD_TURN_S = 0.02
CLOSE_S = 1.0
LEAVE_S = 2.0  # for all members together to leave their groups
REPORT_EVERY_S = 60.0


@dataclass(frozen=True, slots=True)
class DemoConfig:
    """Where to send, what to follow, how fast."""

    bootstrap_servers: str
    admin: AdminUrls
    logs: Path
    places: Path  # folder that keeps how far each log was sent
    rate: int  # real records a second; 0 where another sender sends them
    load_rate: int  # records of load.sequence a second


class Followed(Protocol):
    """A source that must not lose its place."""

    @property
    def is_waiting(self) -> bool: ...
    def take(self, limit: int) -> list[Outgoing]: ...
    def settle(self, is_delivered: bool) -> None: ...


def run_real(config: DemoConfig, stop: threading.Event) -> None:
    """Send and read real records until told to stop."""
    create_topics(config.bootstrap_servers, topics.REAL, stop)
    events = BrokerEvents(config.admin, config.places / "events.json", topics.BROKERD_EVENTS)
    threads = [threading.Thread(target=events.follow, args=(stop,), daemon=True)]
    for member in all_members(config.bootstrap_servers, config.rate, stop):
        threads.append(threading.Thread(target=member.run, name=member.name, daemon=True))
    for thread in threads:
        thread.start()
    followed: list[Followed] = [*_journals(config), events]
    _send_real(config, followed, stop)
    deadline = time.monotonic() + LEAVE_S
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0))


def _journals(config: DemoConfig) -> list[Journal]:
    wanted = (
        (topics.CONSOLE_ACCESS, "access", "path"),
        (topics.CONSOLE_AUDIT, "audit", "resource"),
    )
    return [
        Journal(config.logs / f"{name}.jsonl", config.places / f"{name}.json", topic, key_field)
        for topic, name, key_field in wanted
    ]


def _send_real(config: DemoConfig, followed: list[Followed], stop: threading.Event) -> None:
    sender = Sender(config.bootstrap_servers, "demo-sender")
    processes = Processes(topics.HOST_PROCESSES)
    cpus = Cpus(topics.HOST_CPU, cpu_every_s(config.rate, psutil.cpu_count() or 1))
    pacer = Pacer(config.rate, now_ms())
    reported_at, reported = time.monotonic(), 0
    ahead = 0  # sent before they were due: all CPUs at once can be more than one turn's share
    log.info("sending %d real records a second", config.rate)
    while not stop.wait(TURN_S):
        due = pacer.due(now_ms()) - ahead
        for source in followed:
            if records := source.take(due):
                due -= sender.send(records, source.settle)
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
    """Send `load.sequence` at its rate until told to stop."""
    create_topics(config.bootstrap_servers, [topics.LOAD], stop)
    sender = Sender(config.bootstrap_servers, "demo-load")
    pacer = Pacer(config.load_rate, now_ms())
    sequence = 0
    log.info("sending %d records of load a second to %s", config.load_rate, topics.LOAD_SEQUENCE)
    while not stop.wait(LOAD_TURN_S):
        at_ms = now_ms()
        numbers = range(sequence, sequence + pacer.due(at_ms))
        sequence = numbers.stop
        sender.send(load_record(topics.LOAD_SEQUENCE, number, at_ms) for number in numbers)
        sender.poll()
    sender.close(CLOSE_S)
    log.info("load: %d acknowledged, %d lost", sender.delivered, sender.lost)
