"""Texts of pages: messages of monitoring and gateways as sentences, long lists cut short, the note
at written history."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from console.ui import times
from monitoring.translate_error_reason import translated


def sentence(text: str) -> str:
    """A message, translated, as a sentence: with a capital and a full stop."""
    text = translated(text).strip()
    if not text:
        return ""
    with_stop = text if text[-1] in ".!?…:”" else text + "."
    return with_stop[0].upper() + with_stop[1:]


def written_history(from_ms: int, to_ms: int) -> str:
    """The note at figures of a time that has a part of the written history `[from_ms, to_ms)`."""
    text = _("From %(first)s to %(end)s the history was written by a tool, not sampled.")
    return text % {"first": times.moment(from_ms), "end": times.moment(to_ms)}


def first_lines(lines: Iterable[str], count: int = 3) -> str:
    """The first lines as one text, and how many others there are."""
    every = list(lines)
    text = " ".join(every[:count])
    more = len(every) - count
    return text if more <= 0 else f"{text} " + _("And %(n)d more.") % {"n": more}
