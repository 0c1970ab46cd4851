"""Real workers and a real beat: a tick per interval, and Redis killed or full under them."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis
from django.conf import settings as django_settings

from monitoring.background import beat_scheduler, stored_heartbeats
from monitoring.clock import now_ms
from monitoring.redis_client import RedisDown
from monitoring.ticks import tick_stream
from tests.support.forks import CONSOLE
from tests.support.processes import hung

ROOT = Path(__file__).parent.parent.parent
DEADLINE_S = 60
_SEED = """
import sys, django
django.setup()
from django.core.management import call_command
from monitoring.clusters.embedded_cluster import save_embedded_cluster
call_command("migrate", verbosity=0)
save_embedded_cluster(sys.argv[1], "", {}, "")
"""


def until(condition, what):
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {DEADLINE_S} s"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def seeded(_live_brokers, tmp_path_factory):
    """The data folder that all begin with, and the environment of its processes."""
    data = tmp_path_factory.mktemp("celery") / "data"
    data.mkdir()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "AERIE_DATA": str(data),
        "AERIE_SECRET_KEY_FILE": str(data / "secret.key"),
        "REDIS_URL": django_settings.REDIS_URL,
        "AERIE_TICK_SECONDS": "1",
    }
    servers = _live_brokers.brokerd.bootstrap_servers
    subprocess.run([sys.executable, "-c", _SEED, servers], env=environment, cwd=ROOT, check=True)
    shutil.copytree(data, data.parent / "seeded")
    return data, environment


@pytest.fixture
def processes(live_cluster, redis_server, seeded):
    """A sampling worker and beat on a new database, ticking every second."""
    data, environment = seeded
    shutil.rmtree(data)
    shutil.copytree(data.parent / "seeded", data)
    worker = ["monitoring.worker", "sampling"]
    clock = ["celery", "-A", "monitoring.celery", "beat", "-l", "WARNING"]
    with (data.parent / "output.log").open("ab") as output:
        started = [
            CONSOLE.start(*command, output=output, environ=environment)
            for command in (worker, clock)
        ]
        yield started
        for process in started:
            process.kill()
            process.wait()


def ok_ticks():
    return [tick.tick for tick in tick_stream.recent_ticks("local", 0) if tick.ok]


def test_sampling_continues_after_redis_was_killed(processes, redis_server, settings):
    settings.AERIE_TICK_SECONDS = 1
    until(lambda: len(ok_ticks()) >= 2, "two ticks")
    for _ in range(2):
        redis_server.kill()
        redis_server.start()
        last = max(ok_ticks(), default=0)
        until(lambda last=last: max(ok_ticks(), default=0) > last, "a tick after Redis is back")
    numbers = [tick.tick for tick in tick_stream.recent_ticks("local", 0)]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))  # gaps are there, nothing twice
    assert all(process.poll() is None for process in processes)


MINUTE_MS = 60_000
MIB = 1024 * 1024


@pytest.fixture
def full_redis(redis_server):
    """Fills Redis by samples of this age, in ms, until it refuses every write."""
    client = redis_server.client()

    def fill(age_ms):
        first_ms = now_ms() - age_ms
        for number in range(8):
            client.xadd("aerie:other:ticks", {"meta": os.urandom(MIB)}, id=f"{first_ms + number}-0")
        client.xadd("aerie:other:ticks", {"meta": b""}, id=f"{now_ms()}-0")
        client.config_set("maxmemory", int(client.info("memory")["used_memory"]) - 2 * MIB)
        with pytest.raises(redis.OutOfMemoryError):
            client.set("x", 1)

    yield fill
    client.config_set("maxmemory", 0)


@pytest.mark.parametrize("age_ms", [20 * MINUTE_MS, 10 * MINUTE_MS])
def test_a_full_redis_does_not_stop_sampling_for_good(processes, full_redis, settings, age_ms):
    settings.AERIE_TICK_SECONDS = 1
    until(ok_ticks, "a tick")
    full_redis(age_ms)
    last = max(ok_ticks())
    until(lambda: max(ok_ticks(), default=0) > last + 1, "a tick after Redis was full")
    assert all(process.poll() is None for process in processes)


def test_a_running_worker_has_a_heartbeat_and_a_stopped_one_has_not(processes):
    beat_ms = int(stored_heartbeats.INTERVAL_S * 1000)

    def ages():
        try:
            return stored_heartbeats.ages_ms()
        except RedisDown:
            return {}

    def is_heard(name):
        return ages().get(name, 10 * beat_ms) < 2 * beat_ms

    for name, process in zip(("sampling", beat_scheduler.NAME), processes, strict=True):
        until(lambda name=name: is_heard(name), f"{name} is heard")
        with hung(process):
            until(lambda name=name: ages().get(name, 0) > 3 * beat_ms, f"{name} is silent")
        until(lambda name=name: is_heard(name), f"{name} is heard again")
