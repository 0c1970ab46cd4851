"""The pages that tests in a browser walk through, and the ticks that keep them alive."""

import threading
from datetime import datetime

from asgiref.sync import async_to_sync
from channels.layers import channel_layers, get_channel_layer

from tests.console.conftest import sample, tick_now
from tests.monitoring.tick_factory import INTERVAL_MS

PAGES = [
    "/c/local/", "/c/local/changes", "/c/local/brokers", "/c/local/brokers/1",
    "/c/local/brokers/1/requests", "/c/local/topics",
    "/c/local/topics/orders",
    "/c/local/topics/orders/consumers", "/c/local/topics/orders/partitions/0/segments/0",
    "/c/local/groups", "/c/local/groups/billing", "/c/local/alerts", "/c/local/alerts/rules",
    "/c/local/alerts/deliveries", "/c/local/reports", "/clusters", "/ui", "/search?q=o",
]  # fmt: skip
FOR_OPERATORS = [
    "/c/local/create-topic", "/c/local/topics/orders/write", "/c/local/topics/orders/write/lines",
    "/c/local/topics/orders/write/mock", "/c/local/topics/orders/copy",
    "/c/local/topics/orders/add-partitions",
    "/c/local/group-reset/billing", "/c/local/group-offsets-delete/billing",
    "/c/local/alerts/rules/add", "/c/local/alerts/rules/1", "/c/local/reports/new",
    "/c/local/pipeline",
]  # fmt: skip
FOR_ADMINS = [
    "/audit",
    "/egress",
    "/c/local/masking",
    "/clusters/add",
    "/clusters/local/edit",
    "/c/local/topics/orders/delete",
    "/c/local/topics/orders/purge",
    "/c/local/group-delete/billing",
]


_last: dict[str, int] = {}


def begin() -> None:
    """A new site knows no tick: numbers need not go on, and run no further ahead of the clock."""
    _last.clear()


def put(slug: str = "local", **changes: object) -> int:
    """One more tick, of now or later: the site knows those of the tests before it, and one that
    lags behind the clock would be stale whatever else is in it."""
    _last[slug] = max(_last.get(slug, 0) + 1, tick_now())
    return sample(slug, _last[slug], **changes)


def put_at_least(at: datetime, slug: str = "local") -> None:
    """A tick of that moment, unless there is one already that is as new."""
    number = int(at.timestamp() * 1000) // INTERVAL_MS
    if _last.get(slug, 0) < number:
        _last[slug] = sample(slug, number)


def announce(slug: str, number: int) -> None:
    """As the sampler does after a tick; in a thread, for Playwright keeps this one's event loop."""

    def send() -> None:
        channel_layers.backends.clear()
        message = {"type": "tick", "cluster": slug, "tick": number}
        async_to_sync(get_channel_layer().group_send)(f"tick.{slug}", message)

    thread = threading.Thread(target=send)
    thread.start()
    thread.join()
