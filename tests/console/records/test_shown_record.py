"""Records as pages show them."""

import msgpack

from brokerd.coordinator.group.group_coordinator_record_serde import (
    OffsetRecord,
    OffsetValue,
    encode_key,
    encode_value,
)
from console.records import column_paths
from console.records.display_options import DisplayOptions
from console.records.shown_record import MASKED, shown_record
from monitoring.gateway.record_row import RecordRow

PACKED = msgpack.packb({"card": "4711", "user": {"name": "Ann"}})


def a_record(value: bytes | None, key: bytes | None = b"\x00\x00\x00\x07") -> RecordRow:
    return RecordRow(0, 41, 1_000, key, value, (("trace", b"t1"),))


def test_key_and_value_are_read_as_the_user_chose():
    shown = shown_record("orders", a_record(PACKED), [], DisplayOptions("int32", "msgpack"))
    assert (shown.key.text, shown.key.encoding_name) == ("7", "Integer, 32 bits")
    assert (shown.value.kind, shown.value.encoding_name) == ("json", "MessagePack")
    assert shown.value.preview == '{"card": "4711", "user": {"name": "Ann"}}'


def test_what_the_chosen_decoder_refuses_is_shown_in_hex_with_its_reason():
    shown = shown_record("orders", a_record(b"text"), [], DisplayOptions(value_as="int64"))
    assert (shown.value.kind, shown.value.failure) == ("hex", "it has 4 bytes, not 8")


def test_fields_of_decoded_values_are_columns():
    display = DisplayOptions(
        "int32", "msgpack", column_paths.parse("value.user.name, headers.trace")
    )
    assert shown_record("orders", a_record(PACKED), [], display).columns == ("Ann", "t1")


def test_columns_and_encodings_show_nothing_that_is_masked():
    display = DisplayOptions(columns=column_paths.parse("value.card, value, key"))
    row = a_record(b'{"card": "4711"}', b"4711")
    shown = shown_record("orders", row, ["value.card", "key"], display)
    assert "4711" not in str(shown)
    for encoding in ("hex", "base64", "text", "msgpack"):
        shown = shown_record(
            "orders", a_record(PACKED), ["value.card"], DisplayOptions("auto", encoding)
        )
        assert shown.value == MASKED


def test_records_of_internal_topics_are_decoded_by_themselves():
    record = OffsetRecord("billing", "orders", 3, OffsetValue(41, 7, "", 1_000))
    key, value = encode_key(record), encode_value(record)
    shown = shown_record("__consumer_offsets", a_record(value, key), [])
    assert shown.key.preview == '{"group": "billing", "topic": "orders", "partition": 3}'
    assert '"offset": 41' in shown.value.text
    damaged = shown_record("__consumer_offsets", a_record(b"\x00", key), [])
    assert damaged.value.failure == "the record ends early"
