"""The table of queues, and the routes and workers made from it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from monitoring.background.periodic_tasks import beat_schedule
from monitoring.background.queues import QUEUES, routes
from monitoring.celery import app
from stack.process_table import ROLES
from stack.procfile_parser import parse

PROCFILE = Path(__file__).parents[3] / "Procfile"


def our_tasks():
    app.loader.import_default_modules()
    return {name for name in app.tasks if name.startswith(("monitoring.", "console."))}


def test_every_task_has_a_queue_and_every_task_of_a_queue_exists():
    assert set(routes()) == our_tasks()


def test_celery_sends_each_task_to_its_queue():
    router = app.amqp.Router()
    for task, route in routes().items():
        assert router.route({}, task)["queue"].name == route["queue"]


def test_every_queue_has_a_worker_process():
    commands = parse(PROCFILE.read_text())
    for queue in QUEUES.values():
        assert commands[queue.process_name] == f"python -m monitoring.worker {queue.name}"
        assert queue.process_name in ROLES


@pytest.mark.parametrize("name", ["actions", "history", "sampling", "spark"])
def test_deliveries_have_a_queue_of_their_own(name):
    assert not any(
        "deliver" in task or "enqueue_due_deliveries" in task for task in QUEUES[name].tasks
    )


def test_cleanup_of_lost_plans_and_reports_is_in_another_queue():
    plans, reports = "console.actions.tasks", "monitoring.reports.tasks"
    assert routes()[f"{plans}.end_lost_plans"] != routes()[f"{plans}.apply_plan"]
    assert routes()[f"{reports}.requeue_lost_reports"] != routes()[f"{reports}.run"]


def test_every_scheduled_task_is_in_a_queue():
    assert {entry["task"] for entry in beat_schedule().values()} <= set(routes())


def test_only_queues_with_a_process_have_time_limits():
    for queue in QUEUES.values():
        assert queue.time_limit_s is None or queue.pool == "prefork"


def test_importing_all_tasks_does_not_import_pandas():
    script = (
        "import sys; from monitoring.celery import app; app.loader.import_default_modules(); "
        "print('pandas' in sys.modules)"
    )
    environ = os.environ | {"DJANGO_SETTINGS_MODULE": "console.settings"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environ, cwd=PROCFILE.parent, capture_output=True
    )
    assert done.stdout.split() == [b"False"], done.stderr.decode()
