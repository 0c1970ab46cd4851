"""Messages of monitoring and gateways as page texts: translated, and as sentences."""

from django.utils.translation import gettext

from monitoring.reason_catalog import TEXTS
from monitoring.reasons import Reason, filled


def translated(text: str) -> str:
    """A Reason in the user's language; any other text unchanged."""
    if not isinstance(text, Reason):
        return text
    return filled(gettext(TEXTS[text.code]), text.params, translated)


def sentence(text: str) -> str:
    """A message, translated, as a sentence: with a capital and a full stop."""
    text = translated(text).strip()
    if not text:
        return ""
    with_stop = text if text[-1] in ".!?…:”" else text + "."
    return with_stop[0].upper() + with_stop[1:]
