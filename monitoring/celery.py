"""The Celery application: `python -m monitoring.worker QUEUE`, `celery -A monitoring.celery beat`.

background/queues.py has the queues. Django settings with the prefix CELERY_ are used; the settings
here do not depend on the installation.
"""

import os

from celery import Celery

from monitoring.background.periodic_tasks import beat_schedule
from monitoring.background.queues import routes
from monitoring.background.worker_heartbeat import Heartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")

app = Celery("aerie")
app.set_default()  # also for the threads of web processes
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    # The scheduler keeps its state in memory: all intervals are short, so it needs no file.
    beat_scheduler="monitoring.background.beat_scheduler:BeatScheduler",
    beat_schedule=beat_schedule(),
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_channel_error_retry=True,  # a full Redis answers with an error
    # One retry, for connections that a restart of Redis has closed.
    task_publish_retry_policy={"max_retries": 1, "interval_start": 0},
    worker_send_task_events=False,
    task_store_errors_even_if_ignored=False,
    task_routes=routes(),
)
app.steps["worker"].add(Heartbeat)
app.autodiscover_tasks()
app.autodiscover_tasks(
    [
        "monitoring.sampling",
        "monitoring.history",
        "monitoring.alerts",
        "monitoring.cluster_events",
        "monitoring.reports",
        "monitoring.pipeline",
    ]
)
