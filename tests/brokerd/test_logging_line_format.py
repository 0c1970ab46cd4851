import io
import json
import logging
import unicodedata

import pytest

from brokerd.logging_line_format import MESSAGE_CHARS_MAX, LineFormatter, escape

FORGED = "topic\n2026-01-01 00:00:00,000 ERROR all is lost\x1b[31m\x9b2J\x7f\u2028\u202e\ud800"


def logged(*args: object, error: Exception | None = None, name: str = "brokerd") -> str:
    """What a handler writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter("%(levelname)s %(name)s %(message)s"))
    record = logging.LogRecord(
        name, logging.WARNING, __file__, 1, str(args[0]), args[1:], error and _raised(error)
    )
    handler.handle(record)
    return stream.getvalue()


def _raised(error: Exception) -> tuple[type[Exception], Exception, object]:
    try:
        raise error
    except Exception:
        return type(error), error, error.__traceback__


@pytest.mark.parametrize("category", ["Cc", "Cf", "Cs", "Zl", "Zp"])
def test_no_character_that_steers_anything_is_left(category: str) -> None:
    steering = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) == category]
    escaped = escape("".join(steering))
    assert escaped.isprintable()
    assert escaped.isascii()


def test_text_that_people_read_stays_as_it_is() -> None:
    for text in ("", "orders", "Bestellungen für Zürich", "注文", "C:\\new", "🦅"):
        assert escape(text) == text


def test_escapes_are_those_of_json() -> None:
    text = FORGED.replace("\ud800", "\U000e0001")
    assert escape(text).startswith("topic\\n2026")
    assert json.loads(f'"{escape(text)}"') == text


def test_a_message_is_one_line_whatever_it_quotes() -> None:
    text = logged("there is no topic %s", FORGED, name="brokerd.\n")
    assert text == (
        "WARNING brokerd.\\n there is no topic topic\\n2026-01-01 00:00:00,000 ERROR all is lost"
        "\\u001b[31m\\u009b2J\\u007f\\u2028\\u202e\\ud800\n"
    )


def test_a_message_without_end_is_cut() -> None:
    text = logged("%s", "\n" * 1_000_000)
    assert len(text) < 2 * MESSAGE_CHARS_MAX + 100
    assert "more characters)" in text


def test_a_traceback_keeps_its_lines_and_what_the_errors_say_is_one_line_each() -> None:
    error = ValueError(FORGED)
    error.__cause__ = KeyError()
    error.__cause__.__cause__ = OSError(5, FORGED)
    first, *lines = logged("failed", error=error).splitlines()
    assert first == "WARNING brokerd failed"
    assert "Traceback (most recent call last):" in lines
    assert "The above exception was the direct cause of the following exception:" in lines
    assert f'  File "{__file__}", line ' in "\n".join(lines)
    assert "    raise error" in lines
    assert [line for line in lines if "all is lost" in line] == [
        line for line in lines if line.startswith(("ValueError: topic\\n", "OSError: [Errno 5] "))
    ]
    assert all(line.isprintable() for line in lines)
