"""The lines of the review of records: sizes and a hash, never contents. Pure."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.actions.action_type import Params
from console.actions.draft import Facts
from console.ui import numbers

_PARTITIONS_SHOWN = 10


def rows(params: Params) -> list[tuple[str, str, str]]:
    """(name, before, after) of each line; before is empty."""
    count = params["count"]
    lines = [
        (_("Partition"), _partitions(params)),
        (_("Compression"), _("none") if params["compression"] == "none" else params["compression"]),
        (_("Headers"), numbers.count(params["headers"])),
        (_("Timestamp"), _times(params)),
    ]
    if params.get("rate"):
        rate = _("%(n)s records a second, for %(seconds)s s")
        values = {
            "n": numbers.count(params["rate"]),
            "seconds": numbers.count(-(-count // params["rate"])),
        }
        lines.append((_("Rate"), rate % values))
    for part, title in (("key", _("Schema of the key")), ("value", _("Schema of the value"))):
        if part in params.get("schemas", {}):
            lines.append((title, params["schemas"][part]))
    if params["times"] > 1:
        lines.append((_("Copies of each record"), numbers.count(params["times"])))
    for title, key in (
        (_("Records without a key"), "without_key"),
        (_("Tombstones"), "tombstones"),
    ):
        if params[key]:
            lines.append((title, _("%(n)s of %(all)s") % _number_of_all(params[key], count)))
    titles = {
        "file": _("SHA-256 of the file"),
        "mock": _("SHA-256 of schema and seed"),
        "value": _("SHA-256 of the value"),
    }
    if params.get("sha256"):
        lines.append((titles[params["hashed"]], params["sha256"]))
    return [(title, "", after) for title, after in lines]


def warnings(facts: Facts, params: Params) -> list[str]:
    lines = [
        _(
            "The records stay: this cannot be undone. Retention deletes them later, an admin can "
            "purge the oldest records of a partition, and on a compacted topic a tombstone deletes "
            "its key."
        )
    ]
    policy, bytes_max = facts["policy"] or "", facts["bytes_max"]
    if params["tombstones"] and "compact" not in policy:
        lines.append(
            _("The topic is not compacted: a record with a null value deletes nothing there.")
        )
    if bytes_max and bytes_max.isdigit() and params["largest_bytes"] > int(bytes_max):
        text = _("The brokers take batches of at most %(size)s and may refuse the largest record.")
        lines.append(text % {"size": numbers.size(int(bytes_max))})
    return lines


def _partitions(params: Params) -> str:
    names = [str(number) for number in params["partitions"][:_PARTITIONS_SHOWN]]
    if len(params["partitions"]) > _PARTITIONS_SHOWN:
        names.append("…")
    if not names:
        return _("by key")
    shown = ", ".join(names)
    if not params["by_key"]:
        return shown
    return _("%(names)s; %(n)s by key") % {"names": shown, "n": numbers.count(params["by_key"])}


def _times(params: Params) -> str:
    number = params["with_time"]
    if not number:
        return _("the time of writing")
    if number == params["count"]:
        return ngettext("as given", "as given for each", number)
    return _("as given for %(n)s of %(all)s") % _number_of_all(number, params["count"])


def _number_of_all(number: int, count: int) -> dict[str, str]:
    return {"n": numbers.count(number), "all": numbers.count(count)}
