"""Lines to records and records to lines, where Kafka's ways surprise."""

import pytest

from brokerd.cli.options import CliError
from brokerd.cli.record_text import ConsumedRecord, DefaultFormatter, InputRecord, LineReader

HEADERS = {"parse.headers": "true"}
LONG = "org.apache.kafka.common.serialization.LongDeserializer"
INTEGER = "org.apache.kafka.common.serialization.IntegerDeserializer"
NULLS = ConsumedRecord(0, 0, None, -1, None, None, ())


def test_headers_are_pairs_between_separators() -> None:
    reader = LineReader(HEADERS | {"headers.separator": ";"})
    assert reader.parse("a:1;b:2\tv", 1) == InputRecord(None, b"v", [("a", b"1"), ("b", b"2")])
    with pytest.raises(CliError, match="No header key separator found in pair 'a' on line"):
        reader.parse("a\tv", 7)


@pytest.mark.parametrize("properties", [{"key.separator": ""}, {"headers.separator": ":"}])
def test_separators_are_there_and_differ(properties: dict[str, str]) -> None:
    with pytest.raises(CliError, match="separator"):
        LineReader(HEADERS | properties)


def test_what_stands_for_null_is_read_as_the_data_would_be() -> None:
    assert DefaultFormatter({}).format(NULLS) == b"null\n"
    assert DefaultFormatter({"value.deserializer": INTEGER}).format(NULLS) == b"1853189228\n"
    with pytest.raises(CliError, match="Size of data received by LongDeserializer is not 8"):
        DefaultFormatter({"value.deserializer": LONG}).format(NULLS)
