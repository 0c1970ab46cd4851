"""Refuses a password that is the user's own name, or hardly anything else.

Django's own comparison (UserAttributeSimilarityValidator), over both texts as a person sees them:
compatible forms of letters and the case are alike, and what is no letter may stand around. Pure.
"""

import unicodedata
from difflib import SequenceMatcher
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

SIMILARITY_MAX = 0.7
_LENGTH_COMPARED_MAX = 300  # a name has 150 characters at most; comparing takes time by its square


def is_like_name(password: str, username: str) -> bool:
    """Whether the password is the name, contains little else, or is nearly the same."""
    told, name = _seen(password)[:_LENGTH_COMPARED_MAX], _seen(username)
    if not name:
        return False
    if told == name or _letters(told) == _letters(name) != "":
        return True
    return SequenceMatcher(a=told, b=name).quick_ratio() >= SIMILARITY_MAX


def _seen(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).strip()


def _letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalpha())


class UserNameValidator:
    """For AUTH_PASSWORD_VALIDATORS."""

    def validate(self, password: str, user: Any = None) -> None:
        if user is not None and is_like_name(password, user.get_username()):
            raise ValidationError(
                _("The password is too similar to the user name."), code="password_too_similar"
            )

    def get_help_text(self) -> str:
        return _("Your password can’t be too similar to your user name.")
