"""The cast and the two clusters that page tests play with.

`viewer`, `operator` and `admin` have their role on every cluster, `outsider` is signed in without
any; `client_of(user)` is a browser that is signed in as them, and of None a stranger's.
"""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import get_user_model
from django.test import Client

from console.accounts.principal import Principal
from console.accounts.services import grant
from console.live import snapshot_cache
from monitoring.cluster_events.store_events import store
from monitoring.console_topics import NAMES
from monitoring.error_reason import Reason
from monitoring.gateway.errors import ClusterUnavailable
from monitoring.gateway.gateway import Gateway
from monitoring.models import Cluster
from monitoring.scope import Scope
from monitoring.ticks import tick_stream
from monitoring.ticks.tick_stream import put_tick
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick

PARTITIONS = [
    {
        "topic": topic, "partition": partition, "leader": 1, "replicas": [1], "isr": [1],
        "log_start_offset": 0, "log_end_offset": 100, "size_bytes": 5000,
        "bytes_in": 5000, "bytes_out": 9000, "messages_in": 100,
    }
    for topic, partitions in (("orders", 2), ("console.audit", 1), ("__consumer_offsets", 1))
    for partition in range(partitions)
]  # fmt: skip
GROUPS = [
    {
        "group": "billing", "state": "Stable", "protocol_type": "consumer", "coordinator": 1,
        "members": 1, "topic": "orders", "partition": partition, "committed_offset": 60,
        "log_end_offset": 100, "member_id": "m-1", "client_id": "billing-app",
        "member_host": "/10.0.0.7",
    }
    for partition in range(2)
] + [
    {
        "group": "auditors", "state": "Empty", "protocol_type": "consumer", "coordinator": 1,
        "members": 0, "topic": "console.audit", "partition": 0, "committed_offset": 10,
        "log_end_offset": 100,
    }
]  # fmt: skip
BROKERS = [
    {"id": 1, "host": "127.0.0.1", "port": 9092, "rack": None, "up": True, "source": "brokerd"}
]


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    """Each test's web process has read no tick yet."""
    # It collects all garbage, which takes a third of a second in a process as large as the tests'.
    monkeypatch.setattr(snapshot_cache.process_memory, "release", lambda: None)
    for slug in ("local", "staging", "other"):
        snapshot_cache.forget(slug)


@pytest.fixture
def clusters(db) -> tuple[Cluster, Cluster]:
    """Two clusters: what belongs to one must never show in the other."""
    return (
        Cluster.objects.create(
            slug="local", name="Local", bootstrap_servers="127.0.0.1:1", holds_own_topics=True
        ),
        Cluster.objects.create(slug="staging", name="Staging", bootstrap_servers="127.0.0.1:1"),
    )


# What everybody but an admin sees of the cluster that holds the console's own topics.
PUBLIC = Scope(hidden_topics=NAMES)


def a_user(name: str, role: str = "", cluster: str = "", **patterns: list[str]) -> Any:
    user = get_user_model().objects.create_user(name, password=f"{name}-password")
    if role:
        grant(user, role, cluster, **patterns)
    return user


def by(user: Any, address: str = "10.0.0.9") -> Principal:
    return Principal(user, address)


@pytest.fixture
def viewer(db) -> Any:
    return a_user("viewer", "viewer")


@pytest.fixture
def operator(db) -> Any:
    return a_user("operator", "operator")


@pytest.fixture
def admin(db) -> Any:
    return a_user("admin", "admin")


@pytest.fixture
def outsider(db) -> Any:
    return a_user("outsider")


@pytest.fixture
def client_of() -> Callable[[Any], Client]:
    def sign_in(user: Any) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user)
        return client

    return sign_in


def content_of(answer: Any) -> bytes:
    """All of an answer, also if it is streamed."""
    if not answer.streaming:
        return answer.content
    if answer.is_async:
        return async_to_sync(_joined)(answer)
    return b"".join(answer.streaming_content)


async def _joined(answer: Any) -> bytes:
    return b"".join([piece async for piece in answer.streaming_content])


def tick_now() -> int:
    return time.time_ns() // 1_000_000 // INTERVAL_MS


def sample(slug: str = "local", number: int | None = None, **changes: Any) -> int:
    """Puts one tick of PARTITIONS and GROUPS into Redis; returns its number."""
    number = tick_now() if number is None else number
    told = {
        "partitions": PARTITIONS, "groups": GROUPS, "brokers": BROKERS, "controller_id": 1,
        "cluster_id": "cluster-of-tests",
    }  # fmt: skip
    put_tick(make_tick(number, cluster=slug, **(told | changes)))
    return number


def sample_next(slug: str = "local", **changes: Any) -> int:
    """One tick after those of `sampled`: a tick that was put is never replaced."""
    return sample(slug, tick_now() + 1, **changes)


def store_events(slug: str = "local") -> None:
    """Stores what happened between the ticks in Redis, as the sampler does at each of them."""
    for previous, tick in pairwise(tick_stream.recent_ticks(slug, 0)):
        store(tick, previous)


@pytest.fixture
def sampled(redis_server, clusters) -> tuple[Cluster, Cluster]:
    """The two clusters with one tick each; `staging` has a topic of its own."""
    sample("local")
    sample("staging", partitions=[PARTITIONS[0] | {"topic": "only-in-staging"}], groups=[])
    return clusters


@pytest.fixture
def _no_broker_answers(monkeypatch):
    """At once, not after librdkafka's patience: this is about rights."""

    def down(gateway):
        raise ClusterUnavailable(Reason("no_answer_in_time", seconds=5))

    for part in (
        "topics",
        "record_pages",
        "groups",
        "wire",
        "brokerd_admin",
        "quotas",
        "reassignments",
    ):
        monkeypatch.setattr(Gateway, part, property(down))
