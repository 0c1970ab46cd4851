"""Reasons in the user's language, for pages and for the errors of models."""

from django.utils.translation import gettext

from monitoring.error_reason import Reason, filled
from monitoring.error_reason_texts import TEXTS


def translated(text: str) -> str:
    """A Reason in the user's language; any other text unchanged."""
    if not isinstance(text, Reason):
        return text
    return filled(gettext(TEXTS[text.code]), text.params, translated)
