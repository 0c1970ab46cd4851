"""Follows the event rings of the brokers by their admin ports, from a thread of its own.

The place in each ring is that of the last event a broker has acknowledged; a broker that was
restarted begins its ring again. What is fetched but not sent yet is bounded.
"""

import json
import logging
import os
import threading
from collections import deque
from pathlib import Path

from monitoring.clock import now_ms
from monitoring.gateway.admin_urls import AdminUrls
from monitoring.gateway.broker_admin import BrokerAdmin
from monitoring.gateway.errors import GatewayError
from stack.demo.health import Health
from stack.demo.shapes import Outgoing, broker_event

log = logging.getLogger(__name__)

POLL_S = 2.0
PAGE = 200
WAITING_MAX = 2_000


class BrokerEvents:
    """The events of all brokers as a source of records."""

    def __init__(self, urls: AdminUrls, place_file: Path, topic: str) -> None:
        self._brokers = sorted(urls.by_broker)
        self._admin = BrokerAdmin(urls)
        self._topic = topic
        self._place_file = place_file
        self._places: dict[str, dict[str, int]] = self._load()  # acknowledged
        self._fetched: dict[str, dict[str, int]] = {k: dict(v) for k, v in self._places.items()}
        self._queue: deque[tuple[str, int, int, Outgoing]] = deque()
        self._taken: list[tuple[str, int, int, Outgoing]] = []
        self._health = {broker: Health(f"events of broker {broker}") for broker in self._brokers}

    @property
    def is_waiting(self) -> bool:
        """True while events that were taken have not been settled."""
        return bool(self._taken)

    def take(self, limit: int) -> list[Outgoing]:
        """Up to `limit` further events; none while those before are unsettled."""
        if not self._taken:
            while self._queue and len(self._taken) < limit:
                self._taken.append(self._queue.popleft())
            return [outgoing for *_, outgoing in self._taken]
        return []

    def settle(self, is_delivered: bool) -> None:
        """The events taken last are with the brokers; or they are not, and will be taken again."""
        taken, self._taken = self._taken, []
        if not is_delivered:
            self._queue.extendleft(reversed(taken))
            return
        for broker, started_at_ms, event_id, _ in taken:
            self._places[broker] = {"started_at_ms": started_at_ms, "id": event_id}
        self._save()

    def follow(self, stop: threading.Event) -> None:
        """Fetch what is new until told to stop; a broker that is away is said once."""
        while not stop.wait(POLL_S):
            for broker in self._brokers:
                if len(self._queue) >= WAITING_MAX:
                    break
                try:
                    self._fetch(broker)
                    line = self._health[broker].back(now_ms())
                except (GatewayError, ValueError, KeyError, TypeError) as error:
                    line = self._health[broker].away(str(error), now_ms())
                if line:
                    log.info(line)

    def _fetch(self, broker: str) -> None:
        broker_id = int(broker)
        started_at_ms = int(self._admin.broker(broker_id)["started_at_ms"])
        place = self._fetched.get(broker)
        if place is None or place["started_at_ms"] != started_at_ms:
            place = self._fetched[broker] = {"started_at_ms": started_at_ms, "id": 0}
        for event in self._admin.events(broker_id, place["id"], PAGE)["events"]:
            place["id"] = int(event["id"])
            record = broker_event(self._topic, broker, event)
            self._queue.append((broker, started_at_ms, place["id"], record))

    def _load(self) -> dict[str, dict[str, int]]:
        try:
            places: dict[str, dict[str, int]] = json.loads(self._place_file.read_text())
            return {broker: places[broker] for broker in self._brokers if broker in places}
        except (OSError, ValueError):
            return {}

    def _save(self) -> None:
        self._place_file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._place_file.with_suffix(".new")
        temporary.write_text(json.dumps(self._places))
        os.replace(temporary, self._place_file)
