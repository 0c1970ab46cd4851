"""The parts of the draft of a reassignment: changes, figures, warnings; and its check. Pure."""

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _

from console.actions.action_type import ITEMS
from console.actions.draft import Change, Facts, Figure, PlanRefused
from console.reassignments.moves import Move
from console.topics.changeable_topics import refuse_unchangeable
from console.ui import numbers

_BROKERS_SHOWN = 12


def check(planned: Sequence[Move], facts: Facts) -> None:
    """Raises PlanRefused if these moves are not possible."""
    for move in planned:
        refuse_unchangeable(move.topic)
        fact = facts[ITEMS][move.key]
        if fact is None:
            raise PlanRefused(_("There is no partition “%(name)s”.") % {"name": move.key})
        if fact["replicas"] != list(move.before):
            text = _("The replicas of “%(name)s” are %(now)s now. Plan the change again.")
            raise PlanRefused(text % {"name": move.key, "now": ids(fact["replicas"])})
        if dead := [broker for broker in move.after if broker not in facts["up"]]:
            text = _("Broker %(id)d is not up. “%(name)s” cannot be moved to it.")
            raise PlanRefused(text % {"id": dead[0], "name": move.key})


def change(move: Move, size: int | None) -> Change:
    """A partition as a line of the review; `size`: the bytes of one replica."""
    if move.added:
        note = _("copies %(size)s to %(brokers)s") % {
            "size": numbers.size(size),
            "brokers": ids(move.added),
        }
    elif len(move.after) < len(move.before):
        note = _("removes replicas, copies nothing")
    else:
        note = _("changes the preferred leader, copies nothing")
    return Change(move.key, ids(move.before), ids(move.after), note)


def figures(planned: Sequence[Move], facts: Facts) -> list[Figure]:
    """The number of partitions, the bytes in all, and the bytes to each broker."""
    arriving = facts["arriving"]
    known = [size for size in arriving.values() if size is not None]
    bytes_to_copy = sum(known) if len(known) == len(arriving) else None
    return [
        Figure(_("Partitions"), numbers.count(len(planned))),
        Figure(_("To copy"), numbers.size(bytes_to_copy), _("in all, as counted now")),
        *_broker_figures(arriving, facts["free"]),
    ]


def _broker_figures(arriving: Mapping[str, int | None], free: Mapping[str, int]) -> list[Figure]:
    """Bytes to each broker that gets replicas."""
    return [
        Figure(
            _("To broker %(id)s") % {"id": broker},
            numbers.size(size),
            _("%(size)s free") % {"size": numbers.size(free.get(broker))},
        )
        for broker, size in list(arriving.items())[:_BROKERS_SHOWN]
    ]


def warnings(planned: Sequence[Move], facts: Facts, throttle: int | None) -> list[str]:
    found = []
    for broker, size in facts["arriving"].items():
        free = facts["free"].get(broker)
        if size is None:
            text = _("The size of some replicas for broker %(id)s is unknown.")
            found.append(text % {"id": broker})
        elif free is None:
            found.append(_("The free space of broker %(id)s is unknown.") % {"id": broker})
        elif size > free:
            text = _("Broker %(id)s has %(free)s free and gets %(size)s.")
            values = {"id": broker, "free": numbers.size(free), "size": numbers.size(size)}
            found.append(text % values)
    found += _below_min_insync(planned, facts["min_insync"])
    if any(move.added for move in planned):
        if throttle:
            text = _(
                "Copying is limited to %(rate)s per broker. A throttle that these brokers and "
                "topics have now is replaced, and removed when the copies are complete."
            )
            found.append(text % {"rate": numbers.size_rate(throttle)})
        else:
            found.append(_("Copying has no limit. It can slow down producers and consumers."))
    return found


def _below_min_insync(planned: Sequence[Move], min_insync: Mapping[str, int | None]) -> list[str]:
    factors: dict[str, int] = {}
    for move in planned:
        factors[move.topic] = min(factors.get(move.topic, len(move.after)), len(move.after))
    text = _(
        "“%(name)s” gets %(factor)d replicas and has min.insync.replicas %(min)d: producers with "
        "acks=all cannot write to it."
    )
    return [
        text % {"name": name, "factor": factor, "min": required}
        for name, factor in factors.items()
        if (required := min_insync.get(name)) is not None and required > factor
    ]


def ids(brokers: Sequence[int]) -> str:
    return ", ".join(map(str, brokers)) or "—"
