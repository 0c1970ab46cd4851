import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.error_reason import Reason
from monitoring.gateway.record_row import RecordRow, SchemaNote
from monitoring.records.mask_record import MASK, is_target, mask, rounded_size


def a_record(**parts):
    told = {"key": b"alice", "value": b'{"card":"4111","who":{"name":"a"}}', "headers": ()}
    return RecordRow(partition=0, offset=7, timestamp_ms=1, **(told | parts))


def test_a_key_is_masked_and_the_value_stays():
    masked = mask(a_record(), ["key"])
    assert masked.key == MASK.encode()
    assert masked.value == a_record().value


def test_a_field_of_a_json_value_is_masked_and_the_others_stay():
    value = json.loads(mask(a_record(), ["value.who.name"]).value)
    assert value == {"card": "4111", "who": {"name": MASK}}


def test_a_field_is_masked_in_each_element_of_a_list():
    record = a_record(value=b'[{"card":"1"},{"card":"2"},3]')
    assert json.loads(mask(record, ["value.card"]).value) == [
        {"card": MASK},
        {"card": MASK},
        MASK,
    ]


@pytest.mark.parametrize(
    "value",
    [
        b"card 4111", b"\xff\x00", b'"4111"', b"[" * 100_000,
        b'{"card":"4111","odd":"\\ud800"}',
    ],
)  # fmt: skip
def test_a_value_that_is_not_json_is_masked_completely(value):
    assert mask(a_record(value=value), ["value.card"]).value == MASK.encode()


@pytest.mark.parametrize("depth", [1, 400, 900, 960, 990])
def test_a_deeply_nested_value_is_masked(depth):
    value = b"[" * depth + b'{"card":"4111"}' + b"]" * depth
    assert b"4111" not in mask(a_record(value=value), ["value.card"]).value


def test_both_of_two_fields_with_the_same_name_are_masked():
    masked = mask(a_record(value=b'{"card":"4111","card":"4222"}'), ["value.card"]).value
    assert b"4111" not in masked
    assert b"4222" not in masked


def test_a_header_is_masked_in_any_case():
    record = a_record(headers=(("Token", b"s3cret"), ("trace", b"1")))
    assert mask(record, ["headers.token"]).headers == (("Token", MASK.encode()), ("trace", b"1"))


def test_a_tombstone_stays_a_tombstone():
    assert mask(a_record(value=None), ["value", "value.card"]).value is None


def test_rules_add_up():
    masked = mask(a_record(), ["key", "value.card", "value.who"])
    assert masked.key == MASK.encode()
    assert json.loads(masked.value) == {"card": MASK, "who": MASK}


@pytest.mark.parametrize("text", ["key", "value", "value.a", "value.a.b", "headers.x-token"])
def test_a_rule_names_a_part_of_a_record(text):
    assert is_target(text)


@pytest.mark.parametrize("text", ["", "keys", "value.", "headers.", "value..a", "offset", "key.a"])
def test_other_texts_are_not_valid_targets(text):
    assert not is_target(text)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ('{"user":"bob <bob@x.y>"}', {"user": MASK}),
        ('{"user":"{\\"email\\":\\"bob@x.y\\"}"}', {"user": MASK}),
        ('{"user":["bob@x.y",null]}', {"user": [MASK, None]}),
        ('{"user":4711}', {"user": MASK}),
        ('{"user.email":"bob@x.y","id":1}', {"user.email": MASK, "id": 1}),
        ('{"user":{"email":{"home":"bob@x.y"}}}', {"user": {"email": MASK}}),
        ('{"user":{"name":"bob"},"vip":true}', {"user": {"name": "bob"}, "vip": True}),
    ],
)
def test_a_value_that_may_contain_the_field_in_another_form_is_masked(value, shown):
    record = a_record(value=value.encode())
    assert json.loads(mask(record, ["value.user.email"]).value) == shown


@pytest.mark.parametrize("number", ["12345678901234567.89", "1e400"])
def test_a_number_that_a_float_cannot_represent_masks_the_value(number):
    record = a_record(value=f'{{"card":"1","sum":{number}}}'.encode())
    assert mask(record, ["value.card"]).value == MASK.encode()


@given(st.integers(1, 2**40))
def test_a_rounded_size_is_the_nearest_power_of_two(size):
    rounded = rounded_size(size)
    assert rounded.bit_count() == 1
    assert 2 / 3 <= rounded / size <= 3 / 2


def test_a_size_of_zero_stays_zero():
    assert rounded_size(0) == 0


def a_decoded_record(value, kind="AVRO", **more):
    note = SchemaNote(1, kind, size_bytes=9, raw=b"4111 raw", **more)
    return a_record(value=value, value_schema=note)


def test_decoded_data_are_masked_and_their_raw_bytes_are_dropped():
    masked = mask(a_decoded_record(b'{"card":"4111","n":1}'), ["value.card"])
    assert json.loads(masked.value) == {"card": MASK, "n": 1}
    assert masked.value_schema.raw is None
    assert masked.value_schema.type == "AVRO"


def test_data_that_could_not_be_decoded_are_masked_as_a_whole():
    problem = Reason("schema_data", id=1, why="the data end within a value")
    masked = mask(a_decoded_record(b"\0\0\0\0\x01\x084111", problem=problem), ["value.other"])
    assert masked.value == MASK.encode()
    assert masked.value_schema.raw is None
    assert masked.value_schema.problem == ""


def test_a_part_that_is_masked_as_a_whole_has_no_schema():
    record = a_decoded_record(b'{"card":"4111"}')._replace(key_schema=SchemaNote(2, raw=b"k"))
    masked = mask(record, ["value", "key"])
    assert masked.value_schema is masked.key_schema is None


@pytest.mark.parametrize("name", ["card_number", "cardNumber"])
def test_both_names_of_a_protobuf_field_are_masked(name):
    record = a_decoded_record(b'{"who":{"card_number":"4111"}}', "PROTOBUF")
    assert b"4111" not in mask(record, [f"value.who.{name}"]).value


def test_an_any_of_an_unknown_type_is_masked_as_a_whole():
    record = a_decoded_record(b'{"detail":"type.example/x NDExMQ=="}', "PROTOBUF")
    assert b"NDEx" not in mask(record, ["value.detail.card"]).value
