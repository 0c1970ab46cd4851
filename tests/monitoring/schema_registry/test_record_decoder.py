"""Records with a schema become JSON; what cannot be read says why, and the registry is spared."""

import orjson
import pytest

from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.error_reason import Reason
from monitoring.gateway.record_row import RecordRow
from monitoring.schema_registry import record_decoder
from monitoring.schema_registry.connection import RegistryError
from monitoring.schema_registry.read_schemas import Schema
from monitoring.schema_registry.record_decoder import RecordDecoder
from monitoring.schema_registry.schema_cache import (
    MISSING_RETRY_S,
    REGISTRY_RETRY_S,
    SCHEMAS_MAX,
    SchemaCache,
)
from tests.monitoring.schema_registry import serialized

SETTINGS = RegistrySettings("http://registry.example")
SCHEMAS = {
    1: Schema(1, "AVRO", serialized.AVRO_SCHEMA, (), "orders-value", 3),
    2: Schema(2, "JSON", serialized.JSON_SCHEMA),
    3: Schema(3, "PROTOBUF", serialized.PROTO_SCHEMA),
    4: Schema(4, "THRIFT", "struct X {}"),
    5: Schema(5, "AVRO", "{"),
}


class Clock:
    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        return self.now_s


class Registry:
    """Stands for the registry: what was asked, and whether it is up."""

    def __init__(self):
        self.asked, self.clock, self.is_up, self.takes_s = [], Clock(), True, 0.0
        self.cache = SchemaCache(SETTINGS, self.read, self.clock)

    def read(self, _settings, schema_id):
        self.asked.append(schema_id)
        self.clock.now_s += self.takes_s
        if not self.is_up:
            raise RegistryError(Reason("registry_silent", why="x"), has_registry_failed=True)
        if schema_id not in SCHEMAS:
            raise RegistryError(Reason("schema_missing", id=schema_id))
        return SCHEMAS[schema_id]

    def decoder(self, seconds_max=10.0):
        return RecordDecoder(self.cache, seconds_max, self.clock)


@pytest.fixture
def registry():
    return Registry()


def row(value, key=None):
    return RecordRow(0, 7, 1000, key, value, ())


def unknown(schema_id):
    return row(b"\x00" + schema_id.to_bytes(4, "big") + b"data")


@pytest.mark.parametrize(
    ("data", "value", "kind", "title"),
    [
        (serialized.AVRO_RECORD, serialized.AVRO_VALUE, "AVRO", "Payment"),
        (serialized.JSON_RECORD, serialized.JSON_VALUE, "JSON", "Click"),
        (serialized.PROTO_RECORD, serialized.PROTO_VALUE, "PROTOBUF", "shop.v1.Order"),
    ],
)
def test_each_format_becomes_json(registry, data, value, kind, title):
    decoded = registry.decoder().decode(row(data))
    assert orjson.loads(decoded.value) == value
    note = decoded.value_schema
    assert (note.type, note.title, note.problem, note.raw) == (kind, title, "", data)
    assert note.size_bytes == len(data)


def test_a_key_is_decoded_too(registry):
    decoded = registry.decoder().decode(row(None, serialized.AVRO_RECORD))
    assert orjson.loads(decoded.key) == serialized.AVRO_VALUE
    assert decoded.key_schema.subject == "orders-value"
    assert decoded.key_schema.version == 3


@pytest.mark.parametrize(
    "data", [None, b"", b"\x00", b"text", b'{"a": 1}', bytes(9), b"\x00\xff" * 9]
)
def test_other_data_stay_as_they_are(registry, data):
    before = row(data)
    assert registry.decoder().decode(before) is before
    assert not registry.asked


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (unknown(99).value, "schema_missing"),
        (unknown(4).value, "schema_type"),
        (unknown(5).value, "schema_invalid"),
        (serialized.AVRO_RECORD[:-1], "schema_data"),
        (serialized.AVRO_RECORD + b"x", "schema_data"),
        (b"\0\0\0\0\x02{", "schema_data"),
        (b"\0\0\0\0\x01" + bytes(9 << 20), "schema_data_size"),
    ],
)
def test_data_that_cannot_be_decoded_stay_with_the_reason(registry, data, code):
    decoded = registry.decoder().decode(row(data))
    assert decoded.value == data
    assert decoded.value_schema.problem.code == code


def test_a_schema_is_asked_for_once(registry):
    for _ in range(3):
        registry.decoder().decode(row(serialized.AVRO_RECORD))
    assert registry.asked == [1]


def test_a_missing_schema_is_asked_for_again_after_a_while(registry):
    for _ in range(2):
        registry.decoder().decode(unknown(99))
    assert registry.asked == [99]
    registry.clock.now_s += MISSING_RETRY_S
    registry.decoder().decode(unknown(99))
    assert registry.asked == [99, 99]


def test_a_registry_that_fails_is_not_asked_for_a_while(registry):
    registry.is_up = False
    decoder = registry.decoder()
    for schema_id in (1, 2, 3):
        decoded = decoder.decode(unknown(schema_id))
        assert decoded.value_schema.problem.code == "registry_silent"
    assert registry.asked == [1]
    registry.clock.now_s += REGISTRY_RETRY_S
    registry.is_up = True
    assert registry.decoder().decode(row(serialized.AVRO_RECORD)).value_schema.problem == ""


def test_binary_data_do_not_ask_for_a_schema_each(registry):
    decoder = registry.decoder()
    for schema_id in range(100, 1000):
        last = decoder.decode(unknown(schema_id))
    assert len(registry.asked) == record_decoder.FAILED_LOOKUPS_MAX
    assert last.value_schema.problem.code == "schema_lookups"


def test_a_page_waits_for_a_limited_time(registry):
    registry.takes_s = 4.0
    decoder = registry.decoder()
    codes = [
        getattr(decoder.decode(unknown(schema_id)).value_schema.problem, "code", "")
        for schema_id in (1, 2, 3, 99)
    ]
    assert codes[-1] == "schema_budget"
    assert registry.asked == [1, 2, 3]


def test_a_search_waits_for_a_slow_registry_for_a_limited_time(registry):
    registry.takes_s = 4.0
    decoder = registry.decoder(None)
    for schema_id in range(100, 120):
        last = decoder.decode(unknown(schema_id))
    assert len(registry.asked) == 5
    assert last.value_schema.problem.code == "registry_slow"


def test_the_cache_is_bounded():
    def read(_settings, schema_id):
        return Schema(schema_id, "AVRO", '"int"')

    cache = SchemaCache(SETTINGS, read)
    numbers = range(1, SCHEMAS_MAX + 10)
    for schema_id in numbers:
        cache.get(schema_id)
    known = [schema_id for schema_id in numbers if cache.cached(schema_id) is not None]
    assert known == list(numbers)[-SCHEMAS_MAX:]


def test_no_secret_is_in_a_note(registry):
    assert "4111" not in repr(registry.decoder().decode(row(serialized.AVRO_RECORD)).value_schema)
