"""Hand a delivery to the queue; if that fails, the sweep (`tasks.send_due`) finds it."""

import logging

from celery import current_app
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)


def enqueue(delivery_id: int) -> None:
    """Ask a worker to send delivery `delivery_id` now."""
    try:
        current_app.send_task("monitoring.alerts.tasks.deliver", (delivery_id,), retry=False)
    except OperationalError as error:
        log.warning("delivery %d waits for the next sweep: %s", delivery_id, error)
