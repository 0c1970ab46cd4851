"""Lines to records and records to lines, where Kafka's ways surprise."""

import pytest

from brokerd.cli.options import CliError
from brokerd.cli.record_text import Formatter, Line, LineReader, Shown

HEADERS = {"parse.headers": "true"}
LONG = "org.apache.kafka.common.serialization.LongDeserializer"
INTEGER = "org.apache.kafka.common.serialization.IntegerDeserializer"
NULLS = Shown(0, 0, None, -1, None, None, ())


def test_headers_are_separated_by_a_regular_expression() -> None:
    reader = LineReader(HEADERS | {"headers.separator": "[;|]+"})
    assert reader.parse("a:1;|b:2|\tv", 1).headers == [("a", b"1"), ("b", b"2")]
    with pytest.raises(CliError, match="No header key separator found in pair 'a' on line"):
        LineReader(HEADERS | {"headers.separator": "|"}).parse("a:1\tv", 7)
    with pytest.raises(CliError, match=r"headers.separator=\[ is an invalid regex"):
        LineReader(HEADERS | {"headers.separator": "["})


def test_an_empty_separator_is_found_at_the_front() -> None:
    reader = LineReader({"parse.key": "true", "key.separator": ""})
    assert reader.parse("abc", 1) == Line(b"", b"abc", [])
    reader = LineReader(HEADERS | {"headers.key.separator": ""})
    assert reader.parse("h\tv", 1) == Line(None, b"v", [("", b"h")])


def test_what_stands_for_null_is_read_as_the_data_would_be() -> None:
    assert Formatter({}).format(NULLS) == b"null\n"
    assert Formatter({"value.deserializer": INTEGER}).format(NULLS) == b"1853189228\n"
    with pytest.raises(CliError, match="Size of data received by LongDeserializer is not 8"):
        Formatter({"value.deserializer": LONG}).format(NULLS)
