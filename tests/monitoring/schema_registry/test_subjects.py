"""Subjects of a registry: listed, read, changed."""

import pytest

from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.egress.addresses import AllowedTarget
from monitoring.schema_registry import subjects
from monitoring.schema_registry.connection import RegistryError
from monitoring.schema_registry.read_schemas import Reference
from monitoring.schema_registry.subjects import SchemaText, SubjectRow
from tests.support.schema_registry import Registry, schema_registry

VALUE, KEY, NESTED = "orders-value", "orders-key", "a/ö"


@pytest.fixture
def registry():
    with schema_registry() as running:
        running.add(VALUE, '"string"')
        running.add(VALUE, '"long"')
        running.add(NESTED, 'syntax = "proto3";', "PROTOBUF", [("orders", VALUE, 2)])
        yield running


def settings(registry: Registry) -> RegistrySettings:
    return RegistrySettings(registry.url, allowed=(AllowedTarget("127.0.0.1"),))


def test_subjects_are_counted(registry):
    assert subjects.count_subjects(settings(registry)) == 2


def test_a_list_has_the_latest_version_and_compatibility(registry):
    registry.compatibility[VALUE] = "FULL"
    names = subjects.list_names(settings(registry))
    assert names == [NESTED, VALUE]
    rows, default = subjects.list_subjects(settings(registry), names)
    assert rows == [
        SubjectRow(NESTED, 1, 3, "PROTOBUF", ""),
        SubjectRow(VALUE, 2, 2, "AVRO", "FULL"),
    ]
    assert default == "BACKWARD"


def test_what_a_list_does_not_get_in_time_is_not_known(registry, monkeypatch):
    monkeypatch.setattr(subjects, "_LIST_S", 0.1)
    registry.delay_s = 0.5
    rows, default = subjects.list_subjects(settings(registry), [VALUE])
    assert (rows, default) == ([SubjectRow(VALUE)], "")


def test_one_subject_that_fails_spoils_no_list(registry):
    registry.override[f"/subjects/{VALUE}/versions/latest"] = (500, b"{}")
    rows, _default = subjects.list_subjects(settings(registry), [NESTED, VALUE])
    assert [row.version for row in rows] == [1, None]


def test_a_subject_has_its_versions_with_references(registry):
    found = subjects.read_subject(settings(registry), VALUE)
    assert (found.versions, found.compatibility, found.default) == ((1, 2), "", "BACKWARD")
    (version,) = subjects.read_versions(settings(registry), NESTED, [1])
    assert (version.id, version.schema.references) == (3, (Reference("orders", VALUE, 2),))


def test_what_is_missing_is_named(registry):
    with pytest.raises(RegistryError) as raised:
        subjects.read_subject(settings(registry), "nowhere")
    assert raised.value.reason.code == "subject_missing"
    with pytest.raises(RegistryError) as raised:
        subjects.read_versions(settings(registry), VALUE, [7])
    assert raised.value.reason.code == "version_missing"


def test_a_schema_is_registered_found_and_deleted(registry):
    schema = SchemaText('"int"')
    assert subjects.find_version(settings(registry), KEY, schema) is None
    subjects.register(settings(registry), KEY, schema)
    assert subjects.find_version(settings(registry), KEY, schema) == 1
    subjects.delete_version(settings(registry), KEY, 1)
    assert KEY not in subjects.list_names(settings(registry))


def test_the_registry_says_what_is_not_compatible(registry):
    schema = SchemaText('"incompatible"')
    assert subjects.incompatibilities(settings(registry), VALUE, SchemaText('"int"')) == []
    assert subjects.incompatibilities(settings(registry), KEY, schema) == []
    (why,) = subjects.incompatibilities(settings(registry), VALUE, schema)
    assert "without a default" in why
    with pytest.raises(RegistryError) as raised:
        subjects.register(settings(registry), VALUE, schema)
    assert raised.value.reason.code == "registry_refuses"
    assert "It is incompatible" in str(raised.value.reason)


def test_compatibility_is_set_and_removed(registry):
    subjects.set_compatibility(settings(registry), VALUE, "NONE")
    assert subjects.read_subject(settings(registry), VALUE).compatibility == "NONE"
    subjects.set_compatibility(settings(registry), VALUE, "")
    assert subjects.read_subject(settings(registry), VALUE).compatibility == ""
