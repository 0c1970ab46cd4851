"""Lines of a log: what others chose (names, reasons, host names) can neither begin a line of its
own nor steer a terminal.

Every character that is not printable, as `str.isprintable` has it, is written as an escape: control
characters (C0, DEL, C1), line and paragraph separators, marks that turn the direction of writing,
halves of surrogate pairs. The escapes are those of JSON, so that a line of JSON stays one. A
backslash is left as it is.
"""

import logging
import traceback

MESSAGE_CHARS_MAX = 4_000
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(text: str) -> str:
    """The text with an escape for every character that is not printable."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def line_of(text: str) -> str:
    """As `escape`, for a line of a log: shortened if it is too long."""
    if len(text) > MESSAGE_CHARS_MAX:
        text = f"{text[:MESSAGE_CHARS_MAX]}… ({len(text) - MESSAGE_CHARS_MAX} more characters)"
    return escape(text)


def _escaped(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


class LineFormatter(logging.Formatter):
    """A record as one line; the traceback behind it keeps the line ends that are Python's own."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return line_of(super().formatMessage(record))

    def formatException(self, ei: object) -> str:
        error = ei[1] if isinstance(ei, tuple) else None
        return "" if error is None else traceback_of(error)


def traceback_of(error: BaseException) -> str:
    """The traceback of an error; what the error says is one line, whatever it is."""
    shown = traceback.TracebackException.from_exception(error)
    return "\n".join(line for piece in shown.format() for line in _lines(piece))


def _lines(piece: str) -> list[str]:
    """A piece is a place in the code, the words between two errors, or what an error says."""
    if piece.startswith(('  File "', "\n")):
        return [line_of(line) for line in piece.removesuffix("\n").split("\n")]
    return [line_of(piece.removesuffix("\n"))]
