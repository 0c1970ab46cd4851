"""Records from a file of JSON Lines."""

import json

import pytest

from console.produce import json_lines, records_as_text
from console.produce.data_formats import InvalidData
from console.records import record_download
from monitoring.error_reason import Reason
from monitoring.gateway.producing import NewRecord
from monitoring.gateway.record_row import RecordRow, SchemaNote


def read(*lines: str, most: int = 100, **options) -> list[NewRecord]:
    options = {"keeps_partitions": True, "keeps_times": True} | options
    return json_lines.records("\n".join(lines), most, **options)


def test_each_line_is_a_record():
    first, second, third = read(
        '{"key": "k", "value": {"amount": 3}, "headers": {"source": "shop", "none": null}}',
        "",
        '{"value": null, "partition": 2, "timestamp_ms": 1700000000000}',
        '{"key": {"hex": "00ff"}, "value": {"base64": "AAE="}, "headers": [{"name": "a"}]}\r',
    )
    assert first == NewRecord(b"k", b'{"amount":3}', (("source", b"shop"), ("none", None)))
    assert second == NewRecord(None, None, (), 2, 1_700_000_000_000)
    assert third == NewRecord(b"\x00\xff", b"\x00\x01", (("a", None),))


def test_values_that_look_like_an_encoding_can_be_written():
    [wrapped, two, number] = read(
        '{"value": {"json": {"text": "x"}}}', '{"value": {"text": "x", "n": 1}}', '{"value": 7}'
    )
    assert wrapped.value == b'{"text":"x"}'
    assert two.value == b'{"text":"x","n":1}'
    assert number.value == b"7"


def test_a_download_of_a_record_is_read_back():
    headers = (("trace", b"\xff"), ("none", None))
    row = RecordRow(3, 41, 1_700_000_000_000, b"k\xff", '{"text": "Grüße"}'.encode(), headers)
    text = record_download.content("orders", row, "record").decode()
    assert read(text) == [NewRecord(row.key, row.value, headers, 3, row.timestamp_ms)]
    assert read(text, keeps_partitions=False, keeps_times=False) == [
        NewRecord(row.key, row.value, headers)
    ]


def test_data_that_a_download_decoded_are_refused_and_others_are_read_back():
    note = SchemaNote(5, "AVRO", "orders-value", 1)
    decoded = RecordRow(0, 1, 0, None, b'{"a":1}', (), value_schema=note)
    with pytest.raises(InvalidData, match="Line 1: It was decoded with a schema"):
        read(record_download.content("orders", decoded, "record").decode())
    unknown = SchemaNote(5, problem=Reason("schema_missing", id=5))
    for data in (b"\x00\x00\x00\x00\x05\xff", b"\x00\x00\x00\x00\x05x"):
        row = RecordRow(0, 1, 0, None, data, (), value_schema=unknown)
        assert read(record_download.content("orders", row, "record").decode())[0].value == data
    [own] = read('{"value": {"text": "x", "schema": {"id": 1}}}')
    assert own.value == b'{"text":"x","schema":{"id":1}}'


def test_with_an_encoder_the_written_json_is_the_value_that_is_checked():
    [record] = read(
        '{"key": {"n": 1.10}, "value": {"json": {"a": 0.12345678901234567891}}}',
        encoders={"value": lambda value, text: f"{value} as {text}".encode()},
    )
    digits = "0.12345678901234567891"
    assert record.value == f"{{'a': Decimal('{digits}')}} as {{\"a\":{digits}}}".encode()
    assert record.key == b'{"n":1.1}', "as without an encoder"
    nested = "[" * 900 + "]" * 900
    with pytest.raises(InvalidData, match="nested"):
        read(f'{{"value": {nested}}}', encoders={"value": lambda value, text: b""})


def test_the_last_line_of_an_export_is_no_record():
    assert read('{"value": "1"}', '{"end": {"reason": "complete"}}') == [NewRecord(None, b"1")]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("secret", "Line 2: It is not valid JSON"),
        ('{"value": {"x": NaN}}', "Line 2: It is not valid JSON"),
        ("[1]", "Line 2: It is not a JSON object"),
        ('{"key": "secret"}', "“value” is missing"),
        ('{"value": 1, "partition": -1}', "“partition” must be a number"),
        ('{"value": 1, "timestamp_ms": "secret"}', "“timestamp_ms” must be a number"),
        ('{"value": 1, "headers": ["secret"]}', "“headers” must be"),
        ('{"value": {"base64": "secret!"}}', "not valid base64"),
        ('{"value": "\\ud800"}', "UTF-8"),
        ('{"value": 1, "secret": 2}', "none of: key, value, headers"),
        ("[" * 100_000, "nested"),
    ],
)
def test_an_error_names_the_line_and_nothing_of_it(line, why):
    with pytest.raises(InvalidData, match=why) as caught:
        read('{"value": 1}', line)
    assert "secret" not in str(caught.value)


def test_the_number_of_records_is_limited():
    with pytest.raises(InvalidData, match="more than 2 records"):
        read(*['{"value": 1}'] * 3, most=2)
    with pytest.raises(InvalidData, match="no records"):
        read("", "  ")


def test_stored_contents_come_back_unchanged():
    records = [NewRecord(None, b"\xff"), NewRecord(b"", None, (("ü", None), ("a", b"b")), 3, 5)]
    assert records_as_text.loads(records_as_text.dumps(records)) == records


def test_records_are_divided_into_at_most_1000_items():
    for count in (1, 999, 1000, 1001, 5000, 100_000):
        groups = records_as_text.item_ranges(count)
        assert len(groups) <= 1000
        assert [number for group in groups for number in group] == list(range(count))
    assert records_as_text.item_key(records_as_text.item_ranges(5000)[1]) == "6–10"
    assert json.dumps(records_as_text.item_key(range(4, 5))) == '"5"'
