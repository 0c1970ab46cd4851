"""Texts for parts that have failed: lines for /readyz, banners for pages."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.ui import numbers
from monitoring.health import Part, State
from monitoring.queues import QUEUES


@dataclass(frozen=True, slots=True)
class HealthBanner:
    """A banner: the problem, its start, and its consequences."""

    title: str
    since_ms: int | None
    text: str


def line(part: Part) -> str:
    """The text of a part in `/readyz`: "ok", or the problem."""
    if part.state is State.OK:
        return "ok"
    if part.state is State.LEFT_OUT:
        return _("is not run here")
    if part.since_ms and part.why in (texts := _texts_since(part)):
        return texts[part.why] % {"at": numbers.moment(part.since_ms)}
    return _texts(part)[part.why]


def _texts(part: Part) -> dict[str, str]:
    return {
        "silent": _("does not answer"),
        "full": _("is full and refuses to store anything"),
        "redis": _("not known: Redis does not work"),
        "database": _("not known: the database does not answer"),
        "unheard": _("has not been heard of yet"),
        "stopped": _("stopped: not heard of"),
        "absent": _("nothing listens there; it may be starting"),
        "frozen": _("accepts connections and does not answer"),
        "refused": _("refuses our token"),
        "unknown": _("has not been asked yet"),
        "stuck": _stuck(part.count),
        "unanswered": _unanswered(part.count),
    }


def _texts_since(part: Part) -> dict[str, str]:
    """The texts for problems with a known start."""
    stuck = ngettext(
        "%(n)d message to webhooks is due and nobody sends it since %%(at)s",
        "%(n)d messages to webhooks are due and nobody sends them since %%(at)s",
        part.count,
    )
    return {
        "stopped": _("stopped: not heard of since %(at)s"),
        "frozen": _("accepts connections and does not answer since %(at)s"),
        "refused": _("refuses our token since %(at)s"),
        "stuck": stuck % {"n": part.count},
    }


def _stuck(count: int) -> str:
    return ngettext(
        "%(n)d message to webhooks is due and nobody sends it",
        "%(n)d messages to webhooks are due and nobody sends them",
        count,
    ) % {"n": count}


def _unanswered(count: int) -> str:
    return ngettext(
        "ok, but %(n)d rule's webhook does not take its messages: they are tried again",
        "ok, but %(n)d rules' webhooks do not take their messages: they are tried again",
        count,
    ) % {"n": count}


def banner(part: Part) -> HealthBanner:
    """The text on pages for one of `health.problems()`."""
    if part.name.startswith("worker "):
        queue = part.name.removeprefix("worker ")
        title = _("The worker of the queue “%(queue)s” has stopped") % {"queue": queue}
        return HealthBanner(title, part.since_ms, f"{_consequence(queue)} {_log_hint(part.name)}")
    texts = {
        ("redis", "full"): (
            _("Redis is full"),
            _(
                "No sample, task or notice can be stored, so figures stand still and changes and "
                "alerts wait. Old samples are deleted to make room: watch fewer partitions, or "
                "name a larger Redis in REDIS_URL."
            ),
        ),
        ("beat", "stopped"): (
            _("The clock of the tasks (beat) has stopped"),
            _("Nothing is sampled, no history is written, and nothing that failed is tried again."),
        ),
        ("demo", "stopped"): (
            _("The demo traffic has stopped"),
            _("Its topics get no records. Nothing else depends on it."),
        ),
        ("spark", "frozen"): (
            _("Spark takes connections but does not answer"),
            _("Reports wait for it and stay at their stage. Figures on other pages are right."),
        ),
        ("spark", "refused"): (
            _("Spark refuses our token"),
            _("No report can be computed. Restart Spark, or correct SPARK_REMOTE."),
        ),
        ("deliveries", "stuck"): (
            _stuck(part.count),
            _("Alerts fire and resolve on these pages, but no webhook gets a message."),
        ),
    }
    title, text = texts[part.name, part.why]
    return HealthBanner(title, part.since_ms, f"{text} {_log_hint(part.name)}")


def _consequence(queue: str) -> str:
    return {
        "sampling": _("No cluster is sampled: figures are those of the last sample."),
        "actions": _("Changes that were confirmed wait, and are void after 15 minutes."),
        "deliveries": _("Alerts fire and resolve on these pages, but no webhook gets a message."),
        "history": _(
            "Charts and reports end where it stopped; samples older than 15 minutes that it has "
            "not written by then are lost."
        ),
        "spark": _("Reports wait."),
    }[queue]


def _log_hint(name: str) -> str:
    queue = QUEUES.get(name.removeprefix("worker ")) if name != "spark" else None
    process = queue.process_name if queue is not None else name
    return _("Its log is %(file)s.") % {"file": f"logs/{process}.log"}
