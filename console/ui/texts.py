"""Texts of pages: messages of monitoring and gateways as sentences, long lists cut short."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from monitoring.reason_translation import translated


def sentence(text: str) -> str:
    """A message, translated, as a sentence: with a capital and a full stop."""
    text = translated(text).strip()
    if not text:
        return ""
    with_stop = text if text[-1] in ".!?…:”" else text + "."
    return with_stop[0].upper() + with_stop[1:]


def first_lines(lines: Iterable[str], count: int = 3) -> str:
    """The first lines as one text, and how many others there are."""
    every = list(lines)
    text = " ".join(every[:count])
    more = len(every) - count
    return text if more <= 0 else f"{text} " + _("And %(n)d more.") % {"n": more}
