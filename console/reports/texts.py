"""The texts of reports: stages, errors, and the finding at the top of each report.

Workers store codes and figures; the texts are made here, in the user's language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.ui import numbers, times
from console.ui.texts import written_history
from monitoring.background.queues import QUEUES
from monitoring.reports.kinds import THROUGHPUT_AND_LAG
from monitoring.reports.models import Report, State

KIND_TITLES: dict[str, Promise] = {THROUGHPUT_AND_LAG: gettext_lazy("Throughput and lag")}

STATE_TITLES: dict[str, Promise] = {
    State.QUEUED: gettext_lazy("queued"),
    State.RUNNING: gettext_lazy("running"),
    State.DONE: gettext_lazy("done"),
    State.FAILED: gettext_lazy("failed"),
    State.CANCELLED: gettext_lazy("cancelled"),
}

_STAGES: dict[str, Promise] = {
    "starting": gettext_lazy("Starting: waiting for Spark"),
    "samples": gettext_lazy("Looking through the samples"),
    "topics": gettext_lazy("Adding up each topic"),
    "topic_series": gettext_lazy("Throughput over time"),
    "groups": gettext_lazy("Lag of each group"),
    "group_series": gettext_lazy("Lag over time"),
    "storing": gettext_lazy("Storing the result"),
}

_ERRORS: dict[str, Promise] = {
    "spark_absent": gettext_lazy(
        "Spark could not be reached for five minutes. Look at its log, then run the report again."
    ),
    "spark_refused": gettext_lazy(
        "Spark refused the session. Its token or SPARK_REMOTE is wrong; the worker's log says more."
    ),
    "too_long": gettext_lazy(
        "It took longer than %(minutes)d minutes and was stopped. Choose a shorter time and run it "
        "again."
    ),
    "worker_lost": gettext_lazy(
        "The worker died twice while computing it. Choose a shorter time, or look at its log."
    ),
    "samples_gone": gettext_lazy(
        "A stored file of samples is missing or damaged: the log of the Spark worker names it. "
        "Choose a time without it."
    ),
    "failed": gettext_lazy("It could not be computed. The log of the Spark worker says why."),
}


def kind_title(report: Report) -> str:
    return str(KIND_TITLES.get(report.kind, report.kind))


def stage(report: Report) -> str:
    """The current stage of an unfinished report."""
    if report.state == State.QUEUED:
        return _("Queued: it begins when the Spark worker is free")
    return str(_STAGES.get(report.stage, report.stage))


def error(report: Report) -> str:
    minutes = (QUEUES["spark"].soft_time_limit_s or 0) // 60
    return str(_ERRORS.get(report.error, _ERRORS["failed"])) % {"minutes": minutes}


def period(report: Report) -> str:
    """The time range of a report, in UTC; the end without its date if it is on the same day."""
    first, last = (times.moment(report.params[name]) for name in ("from_ms", "to_ms"))
    if first[:10] == last[:10]:
        last = last[11:]
    return _("%(first)s to %(last)s") % {"first": first.removesuffix(" UTC"), "last": last}


def minute(at_ms: int | None) -> str:
    """A time within a report: day and minute, UTC."""
    return numbers.UNKNOWN if at_ms is None else times.moment(at_ms)[5:16]


def finding(figures: Mapping[str, Any]) -> list[str]:
    """The finding of a "Throughput and lag" report, most important first."""
    if not figures["ticks"]:
        return [_only_level_sentence(figures)]
    return [
        sentence for sentence in (_messages_sentence(figures), _lag_sentence(figures)) if sentence
    ]


def _only_level_sentence(figures: Mapping[str, Any]) -> str:
    sentences = {
        "hour": _(
            "Of this time only hours are stored: raw ticks and minutes are kept for a shorter time."
        ),
        "day": _(
            "Of this time only days are stored: the other levels are kept for a shorter time."
        ),
    }
    none = _("No samples of this cluster are stored for this time.")
    return sentences.get(figures.get("only_level", ""), none)


def advice(figures: Mapping[str, Any]) -> str:
    """What to choose instead of a time of which the report has no samples."""
    if "only_level" not in figures:
        return _(
            "Choose a time in which the sampler ran: its first figures appear a minute after the "
            "start."
        )
    texts = {
        "hour": _("Choose a time of more than %(time)s that contains it: then hours are read."),
        "day": _("Choose a time of more than %(time)s that contains it: then days are read."),
    }
    time = times.duration(figures["longest_too_short_ms"] / 1000)
    return texts[figures["only_level"]] % {"time": time}


def left_out(figures: Mapping[str, Any]) -> str:
    """Which parts of its time a report lacks, since only coarser levels store them; "" = none."""
    texts = {
        "hour": _(
            "From %(first)s to %(end)s only hours are stored, which are not in this report: a "
            "report of more than %(time)s reads them."
        ),
        "day": _(
            "From %(first)s to %(end)s only days are stored, which are not in this report: a "
            "report of more than %(time)s reads them."
        ),
    }
    return " ".join(
        texts[part["level"]]
        % {
            "first": times.moment(part["from_ms"]),
            "end": times.moment(part["to_ms"]),
            "time": times.duration(part["longest_too_short_ms"] / 1000),
        }
        for part in figures.get("left_out", ())  # missing in reports of earlier versions
    )


def written(figures: Mapping[str, Any]) -> str:
    """The note at a report whose time has a part of the written history; else ""."""
    if "written_from_ms" not in figures:
        return ""
    return written_history(figures["written_from_ms"], figures["written_to_ms"])


def groups_left_out(figures: Mapping[str, Any]) -> str:
    """Which groups of its scope a report leaves out; "" = none."""
    count = figures.get("groups_left_out", 0)  # missing in reports of earlier versions
    if not count:
        return ""
    names = figures["groups_left_out_names"]
    listed = ", ".join(names)
    if count > len(names):
        listed = _("%(names)s and %(n)s more") % {
            "names": listed,
            "n": numbers.count(count - len(names)),
        }
    return ngettext(
        "The group %(names)s is left out: it reads a topic that is not in this report.",
        "The groups %(names)s are left out: they read topics that are not in this report.",
        count,
    ) % {"names": listed}


def _messages_sentence(figures: Mapping[str, Any]) -> str:
    if figures["messages"] is None:
        return _("How many messages were written is not known: at least two samples are needed.")
    topics = ngettext("%(n)d topic", "%(n)d topics", figures["topics"]) % {"n": figures["topics"]}
    topics = _at_least(topics, figures.get("topics_least", False))
    params = {
        "messages": _at_least(numbers.count(figures["messages"]), figures["messages_least"]),
        "topics": topics,
    }
    if figures["bytes"] is None:
        text = _("%(messages)s messages were written to %(topics)s.") % params
    else:
        params["size"] = _at_least(numbers.size(figures["bytes"]), figures["bytes_least"])
        text = _("%(messages)s messages (%(size)s) were written to %(topics)s.") % params
    text = text[0].upper() + text[1:]
    if not figures["messages"] or figures["topics"] < 2:
        return text
    share = figures["busiest_messages"] / figures["messages"]
    busiest = _("%(topic)s was the busiest with %(share)s of them.") % {
        "topic": figures["busiest_topic"],
        "share": numbers.percent(share),
    }
    return f"{text} {busiest}"


def _at_least(figure: str, is_lower_bound: bool) -> str:
    return _("at least %(figure)s") % {"figure": figure} if is_lower_bound else figure


def _lag_sentence(figures: Mapping[str, Any]) -> str:
    if not figures["groups"]:
        if figures.get("groups_left_out"):
            return _("No consumer group is in this report.")
        return _("There was no consumer group.")
    if figures["worst_lag"] is None:
        return _("The lag of no consumer group is known.")
    if figures["worst_lag"] <= 0:
        return (
            f"{_('No consumer group was behind at any sample.')} {_ahead_sentence(figures)}".strip()
        )
    last = figures["worst_lag_last"]
    params = {
        "group": figures["worst_group"],
        "lag": numbers.count(figures["worst_lag"]),
        "at": times.moment(figures["worst_lag_at_ms"]),
        "last": numbers.count(last),
    }
    text = _("%(group)s was furthest behind: %(lag)s messages at %(at)s.") % params
    if last is not None:
        text = text + " " + _("At the end it was %(last)s.") % params
    return f"{text} {_ahead_sentence(figures)}".strip()


def _ahead_sentence(figures: Mapping[str, Any]) -> str:
    n = figures.get("groups_ahead", 0)  # missing in reports of earlier versions
    if not n:
        return ""
    return ngettext(
        "%(n)d group had commits beyond the end, which count as no lag.",
        "%(n)d groups had commits beyond the end, which count as no lag.",
        n,
    ) % {"n": n}
