"""The worker processes of librdkafka: crashes, time limits, and when they end."""

import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.clusters.models import parse_addresses
from monitoring.gateway.errors import ClusterUnavailable, NotFound, Unreadable
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.librdkafka import workers as module
from monitoring.gateway.librdkafka.workers import Workers
from monitoring.gateway.producing import CopyRequest
from monitoring.models import Cluster
from tests.monitoring.gateway.wire.answers import a_cluster_of_one
from tests.support.hostile_broker import hostile_broker
from tests.support.waiting import wait_until

DESCRIBE, LIMIT_S = "describe_topic", 120


@pytest.fixture
def workers():
    workers = Workers(os.getpid())
    yield workers
    ids = workers.process_ids()
    workers.end()
    assert not [id for id in ids if is_there(id)]


@pytest.fixture
def silent():
    """The address of one that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def liar():
    """The address of a broker that announces versions which it does not speak."""
    with hostile_broker(a_cluster_of_one("a")) as port:
        yield f"127.0.0.1:{port}"


def settings_of(address: str) -> ClientSettings:
    return ClientSettings(tuple(parse_addresses(address)))


def is_there(process_id: int) -> bool:
    try:
        status = Path(f"/proc/{process_id}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_an_answer_that_crashes_librdkafka_fails_only_its_call(live_cluster, liar):
    with for_cluster(Cluster(slug="liar", bootstrap_servers=liar)) as gateway:
        for ask in (
            lambda: gateway.topics.describe_topic("a"),
            lambda: gateway.topics.create_topic("b", 1, 1),
        ):
            with pytest.raises(Unreadable, match=r"could not be read.*SIGABRT") as caught:
                ask()
            assert caught.value.retriable
    with live_cluster.gateway() as gateway, pytest.raises(NotFound):
        gateway.topics.describe_topic("workers.nothing")


def test_a_concurrent_call_continues(workers, silent, liar):
    told = []

    def ask():
        try:
            workers.call(DESCRIBE, (settings_of(silent), 3, "a"), LIMIT_S)
        except Exception as error:
            told.append(type(error))

    with pytest.raises(Unreadable):  # so that the next one is not held up by imports alone
        workers.call(DESCRIBE, (settings_of(liar), 15, "a"), LIMIT_S)
    thread = threading.Thread(target=ask)
    thread.start()
    wait_until(lambda: workers.process_ids(), "the other call has its process")
    with pytest.raises(Unreadable):
        workers.call(DESCRIBE, (settings_of(liar), 15, "a"), LIMIT_S)
    thread.join(LIMIT_S)
    assert told == [ClusterUnavailable]


def test_a_worker_is_reused_for_the_next_call(workers, silent):
    ids = []
    for _ in range(2):
        with pytest.raises(ClusterUnavailable):
            workers.call(DESCRIBE, (settings_of(silent), 1, "a"), LIMIT_S)
        ids.append(workers.process_ids())
    assert ids[0] == ids[1]
    assert len(ids[0]) == 1


def test_a_worker_that_died_while_idle_is_replaced(workers, silent):
    with pytest.raises(ClusterUnavailable):
        workers.call(DESCRIBE, (settings_of(silent), 1, "a"), LIMIT_S)
    (id,) = workers.process_ids()
    os.kill(id, signal.SIGKILL)
    os.waitid(os.P_PID, id, os.WEXITED | os.WNOWAIT)  # all its threads have ended
    with pytest.raises(ClusterUnavailable):
        workers.call(DESCRIBE, (settings_of(silent), 1, "a"), LIMIT_S)
    assert workers.process_ids() not in ([], [id])


def test_a_worker_that_exceeds_the_time_limit_is_killed_and_replaced(workers, silent):
    with pytest.raises(ClusterUnavailable):
        workers.call(DESCRIBE, (settings_of(silent), 1, "a"), LIMIT_S)
    (id,) = workers.process_ids()
    os.kill(id, signal.SIGSTOP)
    with pytest.raises(Unreadable, match="within 1 seconds"):
        workers.call(DESCRIBE, (settings_of(silent), 1, "a"), 1)
    assert not is_there(id)
    with pytest.raises(ClusterUnavailable):
        workers.call(DESCRIBE, (settings_of(silent), 1, "a"), LIMIT_S)


def test_a_batch_that_unpacks_to_more_than_the_limit_ends_only_its_call(live_cluster, monkeypatch):
    monkeypatch.setattr(module, "_MEMORY_BYTES", 160 << 20)
    for topic, size_bytes in (("large", 800_000), ("bomb", 160 << 20)):
        live_cluster.create_topic(topic, 1)
        live_cluster.produce_zeros(topic, size_bytes)
    live_cluster.create_topic("copied", 1)
    workers = Workers(os.getpid())
    settings = live_cluster.row().kafka_client_settings()
    request = CopyRequest("bomb", 0, 0, 1, "large", keeps_partition=True, records_max=1)
    try:
        with pytest.raises(Unreadable, match="short of memory"):
            workers.call("copy", (settings, settings, request, LIMIT_S), LIMIT_S)
        request = replace(request, source="large", target="copied")
        outcome = workers.call("copy", (settings, settings, request, LIMIT_S), LIMIT_S)
        assert [each.offset for each in outcome.written] == [0]
    finally:
        workers.end()


def test_few_idle_workers_stay_and_calls_beyond_the_limit_are_refused(monkeypatch, silent):
    monkeypatch.setattr(module, "_WORKERS_MAX", 4)
    workers = Workers(os.getpid())
    refused = []

    def ask():
        try:
            workers.call(DESCRIBE, (settings_of(silent), 10, "a"), LIMIT_S)
        except ClusterUnavailable as error:
            refused.append(error.message)

    try:
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(workers.process_ids()) == 4, "all are at work")
        with pytest.raises(ClusterUnavailable, match="4 requests to clusters are waiting"):
            workers.call(DESCRIBE, (settings_of(silent), 1, "a"), 0.01)
        for thread in threads:
            thread.join(LIMIT_S)
        assert len(refused) == 4
        assert len(workers.process_ids()) == module._IDLE_MAX
    finally:
        workers.end()


def test_another_error_is_reported_with_its_text(workers):
    with pytest.raises(RuntimeError, match="TypeError"):
        workers.call(DESCRIBE, (), LIMIT_S)


PARENT = """
import os, sys, threading, time
from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway.librdkafka import workers
settings = ClientSettings((("127.0.0.1", int(sys.argv[1].split(":")[1])),))
call = lambda *told: workers.call("describe_topic", *told, limit_s=120)
try:
    call(settings, 1, "a")
except Exception as error:
    assert "Unavailable" in type(error).__name__, error
if sys.argv[2] == "busy":
    threading.Thread(target=call, args=(settings, 100, "a"), daemon=True).start()
while not (ids := workers._workers_of(os.getpid()).process_ids()):
    time.sleep(0.02)
print(*ids, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("state", ["idle", "busy"])
@pytest.mark.parametrize("is_killed", [True, False])
def test_workers_end_when_their_parent_ends(silent, state, is_killed):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, silent, state],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[4],
    )
    with parent:
        try:
            ids = [int(id) for id in parent.stdout.readline().split()]
            assert ids
            if is_killed:
                parent.kill()
            else:
                parent.stdin.close()
            parent.wait(60)
        finally:
            parent.kill()
    wait_until(lambda: not any(map(is_there, ids)), "the processes are gone")


@pytest.mark.parametrize(
    ("started", "absent"),
    [
        ("console.asgi", "confluent_kafka"),
        ("console.asgi, monitoring.celery; monitoring.celery.app.loader.import_default_modules()",
         "confluent_kafka"),
        ("monitoring.gateway.librdkafka.worker_process", "django"),
        ("monitoring.gateway.librdkafka.worker_process", "numpy"),
    ],
)  # fmt: skip
def test_librdkafka_is_loaded_only_in_workers(started, absent):
    code = f"import sys, {started}\nassert {absent!r} not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"},
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
