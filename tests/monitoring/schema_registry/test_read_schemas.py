"""Reading schemas from a registry, kind and hostile."""

import json

import pytest

from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.egress.addresses import AllowedTarget
from monitoring.schema_registry import connection, read_schemas
from monitoring.schema_registry.connection import RegistryError
from monitoring.schema_registry.read_schemas import (
    read_latest,
    read_schema,
)
from tests.support.hostile_http import MIB, answering, json_answer, memory_below, zstd_bomb
from tests.support.pki import Authority
from tests.support.schema_registry import schema_registry

RECORD = '{"type": "record", "name": "%s", "fields": []}'


@pytest.fixture
def registry():
    with schema_registry() as running:
        yield running


def settings(url, **more):
    return RegistrySettings(url, allowed=(AllowedTarget("127.0.0.1"),), **more)


def failure(registry_settings, schema_id=1):
    with pytest.raises(RegistryError) as raised:
        read_schema(registry_settings, schema_id)
    return raised.value


def test_a_schema_comes_with_its_type_and_subject(registry):
    registry.add("orders-value", '"string"')
    schema = read_schema(settings(registry.url), 1)
    assert (schema.id, schema.type, schema.text) == (1, "AVRO", '"string"')
    assert (schema.subject, schema.version) == ("orders-value", 1)


def test_references_come_after_their_own_references(registry):
    registry.add("c", RECORD % "C")
    registry.add("b/ö", RECORD % "B", references=[("C", "c", 1)])
    registry.add("a", RECORD % "A", references=[("B", "b/ö", 1), ("C", "c", 1)])
    schema = read_schema(settings(registry.url), 3)
    assert [name for name, _text in schema.references] == ["C", "B"]
    assert [text for _name, text in schema.references] == [RECORD % "C", RECORD % "B"]


def test_a_schema_without_a_subject_is_read(registry):
    registry.add("orders-value", '"string"')
    registry.override["/schemas/ids/1/versions"] = (404, b"{}")
    assert read_schema(settings(registry.url), 1).subject == ""


def test_the_login_is_sent_and_never_shown(registry):
    registry.login = "ann:s3cr:t"
    registry.add("s", '"int"')
    registry_settings = settings(registry.url, username="ann", password="s3cr:t")
    assert read_schema(registry_settings, 1).text == '"int"'
    assert "s3cr" not in repr(registry_settings)
    error = failure(settings(registry.url, username="ann", password="wrong"))
    assert error.reason.code == "registry_login"
    assert error.has_registry_failed


def test_tls_is_checked_against_the_ca(tmp_path):
    authority = Authority("registries")
    path = tmp_path / "server.pem"
    server = authority.issue("registry")
    path.write_text(server.key + server.chain)
    with schema_registry(path) as registry:
        registry.add("s", '"int"')
        assert read_schema(settings(registry.url, ca_pem=authority.certificate), 1).text == '"int"'
        other = Authority("others").certificate
        assert failure(settings(registry.url, ca_pem=other)).reason.code == "registry_certificate"


def test_a_missing_schema_is_not_a_failure_of_the_registry(registry):
    error = failure(settings(registry.url), 7)
    assert error.reason.code == "schema_missing"
    assert not error.has_registry_failed


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (500, b"{}", "registry_status"),
        (302, b"{}", "registry_status"),
        (200, b"<html>", "registry_format"),
        (200, b"[]", "registry_format"),
        (200, b'{"schema": 5}', "registry_format"),
        (200, b"[" * 500_000, "registry_format"),
        (200, b'{"schema": "' + b"x" * (1 << 20) + b'"}', "registry_format"),
        (200, b'{"schema": "x", "references": 5}', "schema_references"),
        (200, b'{"schema": "x", "references": [5]}', "registry_format"),
        (200, b'{"schema": "x", "references": [{"name": "\\ud800"}]}', "registry_format"),
    ],
)
def test_an_answer_of_another_form_is_refused(registry, status, body, code):
    registry.override["/schemas/ids/1"] = (status, body)
    assert failure(settings(registry.url)).reason.code == code
    assert "/elsewhere" not in registry.requests


def test_a_subject_that_no_page_can_show_is_left_out(registry):
    registry.add("s", '"int"')
    registry.override["/schemas/ids/1/versions"] = (200, b'[{"subject": "\\ud800", "version": 1}]')
    assert read_schema(settings(registry.url), 1).subject == ""


def test_references_are_limited_in_number(registry):
    for number in range(read_schemas.REFERENCES_MAX + 5):
        before = [(f"r{number - 1}", f"s{number - 1}", 1)] if number else []
        registry.add(f"s{number}", "{}", references=before)
    assert (
        failure(settings(registry.url), read_schemas.REFERENCES_MAX).reason.code
        == "schema_references"
    )


def test_a_schema_that_references_itself_ends(registry):
    registry.add("a", '"int"', references=[("a", "a", 1)])
    assert [name for name, _text in read_schema(settings(registry.url), 1).references] == ["a"]


def test_a_silent_registry_is_given_up_in_time(registry, monkeypatch):
    monkeypatch.setattr(connection, "TIMEOUT_S", 0.2)
    registry.delay_s = 1
    error = failure(settings(registry.url))
    assert error.reason.code == "registry_silent"
    assert error.has_registry_failed


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (zstd_bomb(), "registry_format"),
        (b"\x16\x03\x01", "registry_silent"),
        (b"HTTP/1.1 200 OK\r\n" * 10, "registry_silent"),
    ],
)
def test_an_answer_that_is_no_http_or_a_bomb_is_refused(answer, code):
    with answering(answer) as (port, _heads), memory_below(64 * MIB):
        assert failure(settings(f"http://127.0.0.1:{port}")).reason.code == code


def test_an_address_that_is_not_allowed_is_not_requested():
    with answering(json_answer(b"{}")) as (port, heads):
        error = failure(RegistrySettings(f"http://127.0.0.1:{port}"))
    assert error.reason.code == "registry_url"
    assert not heads


def test_the_base_url_may_have_a_path(registry):
    registry.override["/apis/v7/schemas/ids/1"] = (200, json.dumps({"schema": "x"}).encode())
    assert read_schema(settings(f"{registry.url}/apis/v7/"), 1).text == "x"


def test_the_latest_version_of_a_subject_is_read_with_its_references(registry):
    registry.add("tag", '"string"')
    for name in ("Old", "New"):
        registry.add("orders", RECORD % name, references=[("Tag", "tag", 1)])
    schema = read_latest(settings(registry.url), "orders")
    assert (schema.id, schema.version, schema.subject) == (3, 2, "orders")
    assert schema.references == (("Tag", '"string"'),)
    with pytest.raises(RegistryError, match="no subject"):
        read_latest(settings(registry.url), "absent")
