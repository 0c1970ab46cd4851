"""Refuses passwords that are similar to the user name.

The comparison is that of Django's UserAttributeSimilarityValidator, but it ignores case, compatible
forms of letters, and characters that are not letters. In addition, the password must have enough
other characters besides the name and its parts, also if digits replace letters ("p4ul"). Pure.
"""

import re
import unicodedata
from difflib import SequenceMatcher
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

SIMILARITY_MAX = 0.7
OTHER_CHARACTERS_MIN = 6  # letters and digits that must remain without the name
_PART_LENGTH_MIN = 3  # shorter parts occur in many words
_LOOKALIKES = str.maketrans("4@301l5$7", "aaeoiisst")  # the digit 1 and the letter l: both i
_LENGTH_COMPARED_MAX = 300  # comparing takes quadratic time; a name has at most 150 characters


def is_like_name(password: str, username: str) -> bool:
    """Whether the password is the name, contains little else, or is similar to it."""
    typed, name = _normalized(password)[:_LENGTH_COMPARED_MAX], _normalized(username)
    if not name:
        return False
    letters = _letters(name)
    if typed == name or (letters and _letters(typed) == letters):
        return True
    if _is_name_with_little_else(typed, name):
        return True
    return SequenceMatcher(a=typed, b=name).quick_ratio() >= SIMILARITY_MAX


def _is_name_with_little_else(typed: str, name: str) -> bool:
    """Whether few characters remain without the name and its parts."""
    parts = [part for part in re.split(r"[\W\d_]+", name) if len(part) >= _PART_LENGTH_MIN]
    words = {_letters_and_digits(part) for part in (name, name.partition("@")[0], *parts)} - {""}
    patterns = [r"[\W_]*".join(word) for word in sorted(words, key=len, reverse=True)]
    if not patterns:
        return False
    remaining, contains_name = list(typed), False
    for match in re.finditer("|".join(patterns), typed.translate(_LOOKALIKES)):
        remaining[match.start() : match.end()] = " " * (match.end() - match.start())
        contains_name = True
    return contains_name and sum(map(str.isalnum, remaining)) < OTHER_CHARACTERS_MIN


def _letters_and_digits(text: str) -> str:
    """The letters and digits of a text, look-alikes replaced."""
    return "".join(filter(str.isalnum, text)).translate(_LOOKALIKES)


def _normalized(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded).strip()  # casefold can undo the normal form


def _letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalpha())


class UserNameValidator:
    """Refuses passwords like the user's name; used by Django (AUTH_PASSWORD_VALIDATORS)."""

    def validate(self, password: str, user: Any = None) -> None:
        if user is not None and is_like_name(password, user.get_username()):
            raise ValidationError(
                _("The password is too similar to the user name."), code="password_too_similar"
            )

    def get_help_text(self) -> str:
        return _("Your password can’t be too similar to your user name.")
