"""Real workers and a real beat: a tick per interval, and Redis killed under them."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.conf import settings as django_settings

from monitoring.sampling import live

ROOT = Path(__file__).parent.parent.parent
DEADLINE_S = 60
_SEED = """
import sys, django
django.setup()
from django.core.management import call_command
from monitoring.seed import embedded_cluster
call_command("migrate", verbosity=0)
embedded_cluster(sys.argv[1], "", {}, "")
"""


def until(condition, what):
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {DEADLINE_S} s"
        time.sleep(0.1)


@pytest.fixture
def processes(live_cluster, redis_server, tmp_path):
    """A sampling worker and beat on a database of their own, ticking every second."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "AERIE_DATA": str(tmp_path),
        "AERIE_SECRET_KEY_FILE": str(tmp_path / "secret.key"),
        "REDIS_URL": django_settings.REDIS_URL,
        "AERIE_TICK_SECONDS": "1",
    }
    servers = live_cluster.brokerd.bootstrap_servers
    subprocess.run([sys.executable, "-c", _SEED, servers], env=environment, cwd=ROOT, check=True)
    worker = [sys.executable, "-m", "monitoring.worker", "sampling"]
    beat = [sys.executable, "-m", "celery", "-A", "monitoring.celery", "beat", "-l", "WARNING"]
    started = []
    with (tmp_path / "output.log").open("wb") as output:
        for command in (worker, beat):
            started.append(
                subprocess.Popen(command, env=environment, cwd=ROOT, stdout=output, stderr=output)
            )
        yield started
        for process in started:
            process.kill()
            process.wait()


def ok_ticks():
    return [tick.tick for tick in live.recent_ticks("local", 0) if tick.ok]


def test_ticks_go_on_by_themselves_after_redis_was_killed(processes, redis_server, settings):
    settings.AERIE_TICK_SECONDS = 1
    until(lambda: len(ok_ticks()) >= 2, "two ticks")
    for _ in range(2):
        redis_server.kill()
        redis_server.start()
        last = max(ok_ticks(), default=0)
        until(lambda last=last: max(ok_ticks(), default=0) > last, "a tick after Redis is back")
    numbers = [tick.tick for tick in live.recent_ticks("local", 0)]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))  # gaps are there, nothing twice
    assert all(process.poll() is None for process in processes)
