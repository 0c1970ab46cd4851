"""Texts for failed parts of the console: lines of /readyz, and banners."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.ui import times
from monitoring.background.queues import QUEUES
from monitoring.readiness_checks import Part, State, Why
from monitoring.ticks.tick_stream import LIVE_MS


@dataclass(frozen=True, slots=True)
class HealthBanner:
    """The banner of a failed part: the problem, its start, and its consequences."""

    title: str
    since_ms: int | None
    text: str


def line(part: Part) -> str:
    """The text of a part in `/readyz`: "ok", or the problem."""
    if part.state is State.OK:
        return "ok"
    if part.state is State.LEFT_OUT:
        return _("disabled here")
    assert part.why is not None
    if part.since_ms and part.why in (texts := _texts_since(part)):
        return texts[part.why] % {"at": times.moment(part.since_ms)}
    return _texts(part)[part.why]


def _texts(part: Part) -> dict[Why, str]:
    return {
        Why.SILENT: _("does not answer"),
        Why.FULL: _("is full and refuses writes"),
        Why.REDIS_SILENT: _("unknown: Redis does not work"),
        Why.DATABASE_SILENT: _("unknown: the database does not answer"),
        Why.NO_HEARTBEAT_YET: _("has sent no heartbeat yet"),
        Why.STOPPED: _("stopped: no heartbeat"),
        Why.ABSENT: _("nothing listens on its port, %(address)s; it may be starting")
        % {"address": part.address},
        Why.NO_MASTER: _(
            "waits for its master %(address)s, which cannot be reached: check SPARK_MASTER, that "
            "the master runs there, and that this machine may connect to it"
        )
        % {"address": part.address},
        Why.FROZEN: _("accepts connections but does not answer"),
        Why.REFUSED: _("refuses the token"),
        Why.UNKNOWN: _("has not been checked yet"),
        Why.OVERDUE: _overdue_deliveries(part.count),
        Why.WEBHOOK_FAILS: _failing_webhooks(part.count),
        Why.BACKLOG: _waiting_hours(part.count),
        Why.DISK_ALMOST_FULL: _("the disk of the history is almost full"),
        Why.DISK_FULL: _("the disk of the history is full"),
        Why.UNWRITTEN: _("new samples cannot be written to the history"),
    }


def _texts_since(part: Part) -> dict[Why, str]:
    """The texts for problems with a known start."""
    overdue = ngettext(
        "%(n)d webhook message is overdue since %%(at)s",
        "%(n)d webhook messages are overdue since %%(at)s",
        part.count,
    )
    return {
        Why.STOPPED: _("stopped: no heartbeat since %(at)s"),
        Why.FROZEN: _("accepts connections but does not answer since %(at)s"),
        Why.REFUSED: _("refuses the token since %(at)s"),
        Why.OVERDUE: overdue % {"n": part.count},
        Why.UNWRITTEN: _("new samples cannot be written to the history since %(at)s"),
    }


def _overdue_deliveries(count: int) -> str:
    return ngettext(
        "%(n)d webhook message is overdue",
        "%(n)d webhook messages are overdue",
        count,
    ) % {"n": count}


def _waiting_hours(count: int) -> str:
    return ngettext(
        "%(n)d hour of samples waits to be rolled up",
        "%(n)d hours of samples wait to be rolled up",
        count,
    ) % {"n": count}


def _failing_webhooks(count: int) -> str:
    return ngettext(
        "ok, but the webhook of %(n)d rule fails; deliveries are retried",
        "ok, but the webhooks of %(n)d rules fail; deliveries are retried",
        count,
    ) % {"n": count}


def banner(part: Part) -> HealthBanner:
    """The banner for one of `readiness_checks.problems()`."""
    if part.name.startswith("worker "):
        queue = part.name.removeprefix("worker ")
        title = _("The worker of the queue “%(queue)s” has stopped") % {"queue": queue}
        return HealthBanner(title, part.since_ms, f"{_consequence(queue)} {_log_hint(part.name)}")
    texts = {
        ("redis", Why.FULL): (
            _("Redis is full"),
            _(
                "No samples or tasks can be stored: figures are not updated, changes and alerts "
                "wait. Old samples are deleted to free memory. Monitor fewer partitions, or set "
                "REDIS_URL to a larger Redis."
            ),
        ),
        ("beat", Why.STOPPED): (
            _("The task scheduler (Celery beat) has stopped"),
            _(
                "No cluster is sampled, no history is written, and failed deliveries are "
                "not retried."
            ),
        ),
        ("demo", Why.STOPPED): (
            _("The demo traffic has stopped"),
            _("The demo topics get no records. Nothing else is affected."),
        ),
        ("spark", Why.FROZEN): (
            _("Spark accepts connections but does not answer"),
            _("Reports wait until it answers. Other pages are not affected."),
        ),
        ("spark", Why.REFUSED): (
            _("Spark refuses the token"),
            _("No report can be computed. Restart Spark, or correct SPARK_REMOTE."),
        ),
        ("spark", Why.NO_MASTER): (
            _("Spark cannot reach its master %(address)s") % {"address": part.address},
            _(
                "No report can be computed, and no samples are rolled up. Check SPARK_MASTER, that "
                "the master runs there, and that this machine may connect to it."
            ),
        ),
        ("pipeline", Why.BACKLOG): (
            _waiting_hours(part.count),
            _(
                "Charts of long times and reports lack these hours until then. The page Pipeline "
                "says what failed."
            ),
        ),
        ("pipeline", Why.DISK_ALMOST_FULL): (
            _("The disk of the history is almost full"),
            f"{_('When it is full, samples are lost.')} {_disk_hint()}",
        ),
        ("pipeline", Why.DISK_FULL): (
            _("The disk of the history is full"),
            f"{lost_samples()} {_disk_hint()}",
        ),
        ("pipeline", Why.UNWRITTEN): (
            _("New samples cannot be written to the history"),
            f"{lost_samples()} {_('The page Pipeline says why.')} {_log_hint('worker history')}",
        ),
        ("deliveries", Why.OVERDUE): (
            _overdue_deliveries(part.count),
            _("Alerts fire and resolve on these pages, but no webhook gets a message."),
        ),
    }
    assert part.why is not None
    title, text = texts[part.name, part.why]
    if part.why not in (Why.DISK_ALMOST_FULL, Why.DISK_FULL, Why.UNWRITTEN):
        text = f"{text} {_log_hint(part.name)}"
    return HealthBanner(title, part.since_ms, text)


def lost_samples() -> str:
    """What becomes of samples that are not written to the history."""
    text = _("Samples that are not written within %(minutes)d minutes are lost.")
    return text % {"minutes": LIVE_MS // 60_000}


def _disk_hint() -> str:
    return _(
        "Free some space, or keep the levels of the history for a shorter time "
        "(AERIE_HISTORY_RAW_HOURS and the settings after it). The page Pipeline shows the free "
        "space and the bytes of each level."
    )


def _consequence(queue: str) -> str:
    return {
        "sampling": _("No cluster is sampled: figures are those of the last sample."),
        "actions": _("Confirmed changes wait. They expire after %(minutes)d minutes.")
        % {"minutes": (QUEUES["actions"].expires_s or 0) // 60},
        "deliveries": _("Alerts fire and resolve on these pages, but no webhook gets a message."),
        "history": f"{_('Charts and reports have no newer data.')} {lost_samples()}",
        "spark": _("Reports wait, and no samples are rolled up."),
    }[queue]


def _log_hint(name: str) -> str:
    if name == "pipeline":  # its jobs run in that worker
        name = "worker spark"
    # The part `spark` is the Spark Connect server, not the worker of the queue `spark`.
    queue = QUEUES.get(name.removeprefix("worker ")) if name != "spark" else None
    process = queue.process_name if queue is not None else name
    return _("See its log, %(file)s.") % {"file": f"logs/{process}.log"}
