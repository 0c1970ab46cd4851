"""How messages of other parts are written on a page: translated, and as sentences."""

from django.utils.translation import gettext

from monitoring.reason_catalog import TEXTS
from monitoring.reasons import Reason, filled


def translated(text: str) -> str:
    """A Reason in the reader's language; any other text (of an older Aerie, of others) as it is."""
    if not isinstance(text, Reason):
        return text
    return filled(gettext(TEXTS[text.code]), text.params, translated)


def sentence(text: str) -> str:
    """A message, translated, as a sentence: with a capital and a full stop."""
    text = translated(text).strip()
    if not text:
        return ""
    ended = text if text[-1] in ".!?…:”" else text + "."
    return ended[0].upper() + ended[1:]
