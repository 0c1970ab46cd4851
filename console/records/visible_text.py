r"""Makes characters visible that a page would not show, or that would change how others are shown.

Control characters, characters that change the direction of text, and those without a width become
escapes such as \u202E. JSON stays JSON with the same values. Pure.
"""

import re

# Joiners within emoji and their variants stay as they are.
_EMOJI = "\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff"
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    f"\U000e0000-\U000e007f]|(?<![{_EMOJI}])\u200d|\u200d(?![{_EMOJI}])"
)


def visible(text: str) -> str:
    """The text with escapes; characters beyond U+FFFF are two, as in JSON."""
    return _INVISIBLE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex().upper()}" for at in range(0, len(units), 2))
