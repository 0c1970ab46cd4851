"""Records that are encoded with a schema of the cluster's registry."""

import json
from collections.abc import Iterator
from functools import partial

import pytest

from console.actions import models
from console.actions.models import Plan
from console.audit.models import AuditEntry
from console.produce import schema_data
from monitoring.models import Cluster
from monitoring.schema_registry.compiled_schema import CompiledSchema
from monitoring.schema_registry.read_schemas import Schema
from tests.console.actions.conftest import confirm_and_run
from tests.monitoring.schema_registry import serialized
from tests.support.schema_registry import Registry, schema_registry

ONE, LINES = "/c/local/topics/orders/write", "/c/local/topics/orders/write/lines"
MOCK = "/c/local/topics/orders/write/mock"


@pytest.fixture
def registry(orders, settings) -> Iterator[Registry]:
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]
    with schema_registry() as running:
        Cluster.objects.update(registry_url=running.url)
        running.add("orders-value", '{"type": "record", "name": "Old", "fields": []}')
        running.add("orders-value", serialized.AVRO_SCHEMA)
        running.add("orders-key", '"string"')
        running.add("shop", serialized.PROTO_SCHEMA, "PROTOBUF")
        running.add("clicks", serialized.JSON_SCHEMA, "JSON")
        yield running


def written(cluster, partition: int = 0) -> list:
    return cluster.topics["orders"].records[partition]


def post(browser, **fields: str):
    posted = {"value_format": "schema", "partition": "0", "times": "1"} | fields
    return browser.post(ONE, posted)


def test_key_and_value_get_the_latest_schemas_of_the_topics_subjects(
    registry, orders, client_of, operator
):
    value = json.dumps(serialized.AVRO_VALUE)
    answer = post(client_of(operator), key='"k"', key_format="schema", value=value)
    assert answer.status_code == 302, answer.content.decode()
    plan = confirm_and_run(Plan.objects.get(), operator)
    assert plan.state == models.DONE
    [row] = written(orders)
    assert row.key == b"\x00\x00\x00\x00\x03\x02k"
    assert row.value == b"\x00\x00\x00\x00\x02" + serialized.AVRO_RECORD[5:]
    page = client_of(operator).get(answer.url).content.decode()
    assert "Avro, orders-value, version 2 (id 2)" in page
    assert AuditEntry.objects.get().after["schemas"]["key"] == "Avro, orders-key, version 1 (id 3)"


@pytest.mark.parametrize(
    ("schema", "value", "data"),
    [
        ("shop", {"order_id": 1}, b"\x00\x00\x00\x00\x04\x00\x08\x01"),
        ("shop#Customer", {"name": "Ann"}, b"\x00\x00\x00\x00\x04\x02\x02\x0a\x03Ann"),
        ("5", {"page": "/"}, b'\x00\x00\x00\x00\x05{"page": "/"}'),
        ("1", {}, b"\x00\x00\x00\x00\x01"),
    ],
)
def test_another_schema_is_chosen_by_subject_or_id(
    registry, orders, client_of, operator, schema, value, data
):
    answer = post(client_of(operator), value=json.dumps(value), value_schema=schema)
    assert answer.status_code == 302, answer.content.decode()
    confirm_and_run(Plan.objects.get(), operator)
    assert [row.value for row in written(orders)] == [data]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"value": "{"}, "It is not valid JSON: see line 1, column 2."),
        ({"value": '{"id": NaN}'}, "It is not valid JSON: NaN, Infinity, or a number that is"),
        ({"value": '{"id": 1e9999999999999999999999}'}, "It is not valid JSON"),
        ({"value": '{"id": "1"}'}, "At “value.id”: expected long"),
        ({"value": "{}", "value_schema": "absent"}, "has no subject “absent”"),
        ({"value": "{}", "value_schema": "99"}, "has no schema with the id 99."),
        ({"value": "{}", "value_schema": "shop#No"}, "Schema 4 has no message “No”"),
        ({"value": ""}, "Enter a value"),
    ],
)
def test_what_does_not_fit_is_an_error_of_the_form(registry, client_of, operator, fields, why):
    answer = post(client_of(operator), **fields)
    assert answer.status_code == 422
    assert why in answer.content.decode().replace("&quot;", '"')
    assert not Plan.objects.exists()


def test_lines_are_encoded_also_those_that_a_download_decoded(
    registry, orders, client_of, operator
):
    note = {"id": 9, "type": "AVRO", "subject": "s", "version": 1, "problem": ""}
    text = json.dumps(serialized.AVRO_VALUE)
    lines = [
        {"key": "plain", "value": serialized.AVRO_VALUE},
        {"value": {"text": text, "schema": note}},
        {"value": {"json": serialized.AVRO_VALUE}},
        {"key": "k", "value": None},
    ]
    posted = {
        "lines": "\n".join(map(json.dumps, lines)), "value_format": "schema", "partition": "0",
    }  # fmt: skip
    answer = client_of(operator).post(LINES, posted)
    assert answer.status_code == 302, answer.content.decode()
    confirm_and_run(Plan.objects.get(), operator)
    data = b"\x00\x00\x00\x00\x02" + serialized.AVRO_RECORD[5:]
    assert [row.value for row in written(orders)] == [data, data, data, None]
    assert written(orders)[0].key == b"plain"


def test_a_line_that_does_not_fit_is_named_and_no_digit_of_a_decimal_is_lost(
    registry, orders, client_of, operator
):
    posted = {"lines": '{"value": {}}', "value_format": "schema"}
    page = client_of(operator).post(LINES, posted).content.decode()
    assert "Line 1: At “value.id”: it is missing; expected long." in page
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 20}
    registry.add("exact", json.dumps(decimal))
    posted |= {
        "lines": '{"value": 1.12345678901234567891}', "value_schema": "exact", "partition": "0",
    }  # fmt: skip
    client_of(operator).post(LINES, posted)
    confirm_and_run(Plan.objects.get(), operator)
    schema = CompiledSchema(Schema(6, "AVRO", json.dumps(decimal)))
    assert schema.decode(written(orders)[0].value).json == b'"1.12345678901234567891"'


def test_without_a_registry_the_form_offers_none(orders, client_of, operator):
    page = client_of(operator).get(ONE).content.decode()
    assert "schema" not in page.partition("<form class=")[2].partition("</form>")[0]
    answer = post(client_of(operator), value="{}")
    assert answer.status_code == 422


def test_a_registry_that_does_not_answer_is_said(registry, client_of, operator):
    registry.override["/subjects/orders-value/versions/latest"] = (500, b"{}")
    page = post(client_of(operator), value="{}").content.decode()
    assert "The schema registry answers with status 500." in page


@pytest.mark.parametrize(("schema", "title"), [("", "orders-value, version 2"), ("clicks", "JSON")])
def test_mock_records_of_a_schema_of_the_registry_are_encoded_with_it(
    registry, orders, client_of, operator, schema, title
):
    posted = {
        "kind": "registry", "schema": schema, "count": "40", "rate": "1000", "partition": "0",
        "seed": "3",
    }  # fmt: skip
    browser = client_of(operator)
    preview = browser.post(MOCK, posted | {"preview": "1"}).content.decode()
    assert preview.count("record-data mt-1") == 5
    answer = browser.post(MOCK, posted)
    assert answer.status_code == 302, answer.content.decode()
    registry.override["/schemas/ids/2"] = (500, b"")  # the plan has the schema
    plan = confirm_and_run(Plan.objects.get(), operator)
    assert plan.state == models.DONE
    assert title in str(plan.draft["changes"])
    found = Schema(2, "AVRO", serialized.AVRO_SCHEMA)
    found = Schema(5, "JSON", serialized.JSON_SCHEMA) if schema else found
    for row in written(orders):
        assert CompiledSchema(found).decode(row.value).json is not None
    assert len(written(orders)) == 40


@pytest.mark.parametrize(
    ("schema", "why"),
    [("absent", "no subject “absent”"), ("shop", "made of schemas of Avro and JSON Schema")],
)
def test_mock_records_of_no_usable_schema_are_refused(registry, client_of, operator, schema, why):
    posted = {"kind": "registry", "schema": schema, "count": "5"}
    answer = client_of(operator).post(MOCK, posted)
    assert answer.status_code == 422
    assert why in answer.content.decode()


def test_a_schema_that_takes_too_long_for_a_file_is_given_up(
    registry, client_of, operator, monkeypatch
):
    out_of_time = partial(schema_data.FormEncoder, seconds_left=0)
    monkeypatch.setattr(schema_data, "FormEncoder", out_of_time)
    posted = {"lines": '{"value": {}}', "value_format": "schema"}
    assert "Encoding takes too long" in client_of(operator).post(LINES, posted).content.decode()
