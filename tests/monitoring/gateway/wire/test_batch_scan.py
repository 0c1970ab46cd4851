import contextlib
import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.protocol.records import (
    HEADER_BYTES,
    LOG_APPEND_TIME,
    Record,
    encode_batch,
    read_header,
)
from monitoring.gateway.record_row import RecordRow
from monitoring.gateway.wire.batch_scan import DAMAGE_ERRORS, candidates
from monitoring.records.filters import RecordFilter

TEXTS = st.one_of(st.none(), st.binary(max_size=200))
RECORDS = st.lists(
    st.builds(
        Record,
        st.just(0),
        st.integers(0, 2**40),
        TEXTS,
        TEXTS,
        st.lists(st.tuples(st.text(max_size=5), TEXTS), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=30,
)


def rows(records: list[Record], prefilter=None, **more: int) -> list[RecordRow]:
    data = bytes(encode_batch(records, base_offset=100, **more))
    header = read_header(data)
    return list(candidates(3, header, data[HEADER_BYTES:], prefilter))


@given(RECORDS)
def test_records_are_decoded_as_they_were_written(records):
    assert rows(records) == [
        RecordRow(3, 100 + number, each.timestamp_ms, each.key, each.value, each.headers)
        for number, each in enumerate(records)
    ]


@given(RECORDS, st.integers(90, 140), st.integers(0, 30))
def test_only_records_of_the_offsets_are_found(records, first, count):
    offsets = range(first, first + count)
    data = bytes(encode_batch(records, base_offset=100))
    found = candidates(3, read_header(data), data[HEADER_BYTES:], None, offsets)
    assert list(found) == [row for row in rows(records) if row.offset in offsets]


@given(RECORDS, st.binary(min_size=1, max_size=2))
def test_a_prefilter_loses_no_record_that_contains_the_text(records, text):
    wanted = [each for each in rows(records) if text in (each.value or b"")]
    found = rows(records, lambda data: partial(data.find, text))
    assert [each for each in found if text in (each.value or b"")] == wanted


@given(
    st.lists(
        st.tuples(st.sampled_from(["a/b", "a", "é", "ab", "\\", ""]), st.booleans(), st.booleans()),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from(["a/b", "a", "é", "b"]),
    st.sampled_from(['record.value.x == "{}"', 'record.value.x.contains("{}")']),
)
def test_an_expression_finds_the_same_records_with_its_prefilter_and_without(texts, text, form):
    records = []
    for written, is_ascii, is_slash_escaped in texts:
        value = json.dumps({"x": written}, ensure_ascii=is_ascii)
        value = value.replace("/", "\\/") if is_slash_escaped else value
        records.append(Record(0, 0, None, value.encode()))
    record_filter = RecordFilter(expression=form.format(text))
    assert record_filter.prefilter is not None
    found = list(filter(record_filter.accepts, rows(records, record_filter.prefilter)))
    assert found == list(filter(record_filter.accepts, rows(records)))


def test_records_without_the_text_are_not_decoded():
    records = [Record(0, 0, None, b"value-%d" % number) for number in range(1000)]
    found = rows(records, lambda data: partial(data.find, b"value-777"))
    assert [each.offset for each in found] == [877]


@given(RECORDS, st.sampled_from([b"\x00\x00\x00\x00\x05data", b"\x00\x7f\xff\xff\xffx"]))
def test_a_prefilter_loses_no_record_with_a_schema(records, encoded):
    records.append(Record(0, 5, None, encoded))
    records.append(Record(0, 5, encoded, b"value"))
    data = bytes(encode_batch(records, base_offset=0))
    header = read_header(data)
    never = candidates(
        3, header, data[HEADER_BYTES:], lambda _data: lambda _start: -1, with_schemas=True
    )
    values = [(each.key, each.value) for each in never]
    assert (None, encoded) in values
    assert (encoded, b"value") in values


def test_records_of_text_are_not_decoded_although_others_have_schemas():
    records = [Record(0, number % 3, b"k", b"value-%d" % number) for number in range(1000)]
    data = bytes(encode_batch(records, base_offset=0))
    header = read_header(data)
    none = candidates(
        3, header, data[HEADER_BYTES:], lambda _data: lambda _start: -1, with_schemas=True
    )
    assert list(none) == []


def test_the_time_of_the_log_is_that_of_the_batch():
    records = [Record(0, 5, None, b"a"), Record(0, 9, None, b"b")]
    assert [each.timestamp_ms for each in rows(records, attributes=LOG_APPEND_TIME)] == [9, 9]


@given(st.binary(max_size=60))
def test_damaged_records_raise_an_expected_error(data):
    header = read_header(bytes(encode_batch([Record(0, 0, b"k", b"v")] * 3)))
    with contextlib.suppress(*DAMAGE_ERRORS):
        list(candidates(0, header, data, None))


def test_a_record_that_ends_outside_its_batch_is_an_error():
    data = bytes(encode_batch([Record(0, 0, b"k", b"value")]))
    with pytest.raises(DAMAGE_ERRORS):
        list(candidates(0, read_header(data), data[HEADER_BYTES:-1], None))


@pytest.mark.parametrize("field", [b"key", b"value"])
def test_a_field_that_ends_in_the_next_record_is_an_error(field):
    data = bytearray(encode_batch([Record(0, 0, b"key", b"value")] * 2))
    data[data.index(field) - 1] += 40
    with pytest.raises(DAMAGE_ERRORS):
        list(candidates(0, read_header(data), bytes(data[HEADER_BYTES:]), None))
