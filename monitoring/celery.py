"""The Celery application: `python -m monitoring.worker QUEUE`, `celery -A monitoring.celery beat`.

queues.py has the queues. Settings with the prefix CELERY_ come from Django's; what is here is not a
matter of installation.
"""

import os

from celery import Celery

from monitoring.bootsteps import Heartbeat
from monitoring.queues import routes
from monitoring.schedule import beat_schedule

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")

app = Celery("aerie")
app.set_default()  # for every thread of a web process that sends a task
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    # In memory: every entry is due again after its interval, nothing is worth a file.
    beat_scheduler="monitoring.beat:QuietScheduler",
    beat_schedule=beat_schedule(),
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_channel_error_retry=True,  # a Redis that is full answers with an error
    # Once more, for a connection that a restart of Redis has cut; then the next occasion.
    task_publish_retry_policy={"max_retries": 1, "interval_start": 0},
    worker_send_task_events=False,
    task_store_errors_even_if_ignored=False,
    task_routes=routes(),
)
app.steps["worker"].add(Heartbeat)
app.autodiscover_tasks()
app.autodiscover_tasks(
    ["monitoring.sampling", "monitoring.history", "monitoring.alerts", "monitoring.reports"]
)
