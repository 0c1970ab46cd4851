"""Reads the brokers' event logs through their admin ports, in a thread of its own.

The position file keeps the position of each broker: the id of the last event that was delivered to
Kafka, and when the broker started, since a broker that restarts begins its ids again. The queue of
fetched events is bounded.
"""

import json
import logging
import os
import threading
from collections import deque
from pathlib import Path

from monitoring.clock import now_ms
from monitoring.gateway.brokerd_admin import BrokerdAdmin
from monitoring.gateway.brokerd_admin_urls import AdminUrls
from monitoring.gateway.errors import GatewayError
from stack.demo.outages import OutageLog
from stack.demo.records import OutgoingRecord, broker_event

log = logging.getLogger(__name__)

POLL_S = 2.0
PAGE = 200  # events per request
WAITING_MAX = 2_000  # events in the queue


class BrokerEvents:
    """A source of records: the events of all brokers."""

    def __init__(self, urls: AdminUrls, position_file: Path, topic: str) -> None:
        self._brokers = sorted(urls.by_broker)
        self._admin = BrokerdAdmin(urls)
        self._topic = topic
        self._position_file = position_file
        self._delivered: dict[str, dict[str, int]] = self._load()  # broker → position
        self._fetched: dict[str, dict[str, int]] = {k: dict(v) for k, v in self._delivered.items()}
        # (broker, its start in ms, id of the event, record)
        self._queue: deque[tuple[str, int, int, OutgoingRecord]] = deque()
        self._in_delivery: list[tuple[str, int, int, OutgoingRecord]] = []
        self._outage_log = {
            broker: OutageLog(f"events of broker {broker}") for broker in self._brokers
        }

    @property
    def is_delivering(self) -> bool:
        """True while the delivery of the events taken last is not finished."""
        return bool(self._in_delivery)

    def take(self, limit: int) -> list[OutgoingRecord]:
        """Up to `limit` new events; none while the previous delivery is not finished."""
        if not self._in_delivery:
            while self._queue and len(self._in_delivery) < limit:
                self._in_delivery.append(self._queue.popleft())
            return [outgoing for *_, outgoing in self._in_delivery]
        return []

    def finish_delivery(self, is_delivered: bool) -> None:
        """Advance the position if the events taken last were delivered; else they are sent
        again."""
        batch, self._in_delivery = self._in_delivery, []
        if not is_delivered:
            self._queue.extendleft(reversed(batch))
            return
        for broker, started_at_ms, event_id, _ in batch:
            self._delivered[broker] = {"started_at_ms": started_at_ms, "id": event_id}
        self._save()

    def follow(self, stop: threading.Event) -> None:
        """Fetch new events until `stop` is set. An unreachable broker is logged once."""
        while not stop.wait(POLL_S):
            for broker in self._brokers:
                if len(self._queue) >= WAITING_MAX:
                    break
                try:
                    self._fetch(broker)
                    line = self._outage_log[broker].report_up(now_ms())
                except (GatewayError, ValueError, KeyError, TypeError) as error:
                    line = self._outage_log[broker].report_down(str(error), now_ms())
                if line:
                    log.info(line)

    def _fetch(self, broker: str) -> None:
        broker_id = int(broker)
        started_at_ms = int(self._admin.broker(broker_id)["started_at_ms"])
        position = self._fetched.get(broker)
        if position is None or position["started_at_ms"] != started_at_ms:
            position = self._fetched[broker] = {"started_at_ms": started_at_ms, "id": 0}
        for event in self._admin.events(broker_id, position["id"], PAGE)["events"]:
            position["id"] = int(event["id"])
            record = broker_event(self._topic, broker, event)
            self._queue.append((broker, started_at_ms, position["id"], record))

    def _load(self) -> dict[str, dict[str, int]]:
        try:
            positions: dict[str, dict[str, int]] = json.loads(self._position_file.read_text())
            return {broker: positions[broker] for broker in self._brokers if broker in positions}
        except (OSError, ValueError):
            return {}

    def _save(self) -> None:
        self._position_file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._position_file.with_suffix(".new")
        temporary.write_text(json.dumps(self._delivered))
        os.replace(temporary, self._position_file)
