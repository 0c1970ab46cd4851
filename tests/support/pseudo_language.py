"""A language that puts each translated text into brackets: what stands outside is untranslated.

No files: the catalog is made in memory, from whatever is asked of it.

    with pseudo_language():
        client.get(url, headers={"accept-language": LANGUAGE})
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.test import override_settings
from django.utils.translation import trans_real

LANGUAGE = "eo"  # Django must know it
OPEN, CLOSE = "⟦", "⟧"
_SPOKEN = ("title", "aria-label", "placeholder", "alt")  # attributes that people read or hear
_UNSEEN = ("script", "style", "svg", "template")
_VOID = ("area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr", "use", "path")


class _Catalog:
    """What Django asks of a translation."""

    plural = staticmethod(lambda n: int(n != 1))

    def gettext(self, message: str) -> str:
        if message.startswith(OPEN):
            return message  # a message that was translated before it was marked safe
        return f"{OPEN}{message}{CLOSE}"

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        return self.gettext(singular if number == 1 else plural)

    def to_language(self) -> str:
        return LANGUAGE

    def language(self) -> str:
        return LANGUAGE


class _Translation(_Catalog):
    """With contexts as Django joins them to the message."""

    def gettext(self, message: str) -> str:
        text = message.rpartition(trans_real.CONTEXT_SEPARATOR)[2]
        return super().gettext(text)

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        return self.gettext(singular if number == 1 else plural)


@contextmanager
def pseudo_language() -> Iterator[None]:
    """Lets the pseudo-language be chosen, and makes it the default."""
    languages = [*settings.LANGUAGES, (LANGUAGE, "Pseudo")]
    with override_settings(LANGUAGES=languages), pytest.MonkeyPatch.context() as patch:
        trans_real.translation("en")  # makes the table
        patch.setitem(trans_real._translations, LANGUAGE, _Translation())
        yield


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._unseen = 0
        self._stack: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.texts += [given[name] or "" for name in _SPOKEN if name in given]
        if tag in _VOID:
            return
        is_data = "data-untranslated" in given or (given.get("translate") == "no")
        is_unseen = tag in _UNSEEN or is_data
        self._stack.append(is_unseen)
        self._unseen += is_unseen

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.texts += [given[name] or "" for name in _SPOKEN if name in given]

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID and self._stack:
            self._unseen -= self._stack.pop()

    def handle_data(self, data: str) -> None:
        if not self._unseen and data.strip():
            self.texts.append(" ".join(data.split()))


def texts(html: str) -> list[str]:
    """What a person reads or hears of a page."""
    parser = _Texts()
    parser.feed(html)
    return parser.texts


def outside(text: str) -> str:
    """What of a text stands in no brackets."""
    while (shorter := re.sub(rf"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}", " ", text)) != text:
        text = shorter
    return " ".join(text.split())


def pieces(text: str) -> int:
    """Of how many translated messages a text is put together."""
    depth = count = 0
    for letter in text:
        count += letter == OPEN and depth == 0
        depth += (letter == OPEN) - (letter == CLOSE)
    return count
