"""Quotas: where they are kept, what is refused, what a filter finds."""

import pytest

from brokerd.cluster.admin.client_quota_znodes import (
    ANY,
    DEFAULT,
    EXACT,
    Component,
    QuotaChange,
    changed_quotas,
    check_filter,
    entity_path,
    found_quotas,
)
from brokerd.errors import ErrorCode, KafkaError

RATE = "producer_byte_rate"
KEPT = {
    "users/ada": {RATE: "1000", "SCRAM-SHA-256": "salt=…"},
    "users/bob": {"SCRAM-SHA-256": "salt=…"},
    "users/eve": {RATE: "fast"},
    "users/<default>/clients/<default>": {RATE: "7"},
    "users/ada/clients/x%20y": {RATE: "1"},
    "clients/<default>": {"controller_mutation_rate": "1.5"},
    "clients/reader": {"request_percentage": "12.5"},
    "ips/10.0.0.1": {"connection_creation_rate": "5"},
}


@pytest.mark.parametrize(
    ("entity", "path"),
    [
        ({"user": "ada"}, "users/ada"),
        ({"user": None}, "users/<default>"),
        ({"client-id": "x y"}, "clients/x%20y"),
        ({"client-id": None, "user": "a/b"}, "users/a%2Fb/clients/<default>"),
        ({"ip": "10.0.0.1"}, "ips/10.0.0.1"),
        ({"user": "<default>"}, "users/%3Cdefault%3E"),
        ({"user": ".."}, "users/%2E%2E"),
    ],
)
def test_an_entity_has_the_place_that_kafka_gives_it(
    entity: dict[str, str | None], path: str
) -> None:
    assert entity_path(entity) == path


@pytest.mark.parametrize(
    "entity",
    [{}, {"planet": "mars"}, {"user": ""}, {"ip": "1.1.1.1", "user": "ada"}],
)
def test_what_is_no_entity_is_refused(entity: dict[str, str | None]) -> None:
    with pytest.raises(KafkaError) as refused:
        entity_path(entity)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_changes_set_and_remove_quotas_and_leave_credentials_alone() -> None:
    changes = [QuotaChange(RATE, None), QuotaChange("consumer_byte_rate", 5.0),
               QuotaChange("request_percentage", 12.5)]  # fmt: skip
    held = KEPT["users/ada"]
    assert changed_quotas(held, "users/ada", changes) == {
        "SCRAM-SHA-256": "salt=…", "consumer_byte_rate": "5", "request_percentage": "12.5",
    }  # fmt: skip
    assert held == KEPT["users/ada"]
    removal = [QuotaChange("SCRAM-SHA-256", None)]
    assert changed_quotas({"SCRAM-SHA-256": "x"}, "users/ada", removal) == {"SCRAM-SHA-256": "x"}


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ("users/ada", "nope", 1.0), ("users/ada", RATE, 1.5), ("users/ada", RATE, -1.0),
        ("users/ada", RATE, 1e30), ("users/ada", RATE, float("nan")),
        ("users/ada", "request_percentage", float("inf")),
        ("users/ada", "connection_creation_rate", 1.0), ("ips/1.1.1.1", RATE, 1.0),
        ("ips/1.1.1.1", "connection_creation_rate", 3e9), ("users/ada", "SCRAM-SHA-256", 1.0),
    ],
)  # fmt: skip
def test_what_is_no_quota_is_refused(path: str, key: str, value: float) -> None:
    with pytest.raises(KafkaError, match=key) as refused:
        changed_quotas({}, path, [QuotaChange(key, value)])
    assert refused.value.code is ErrorCode.INVALID_REQUEST


ADA, DEFAULT_USER, ANY_USER = (
    Component("user", EXACT, "ada"),
    Component("user", DEFAULT, None),
    Component("user", ANY, None),
)
ANY_CLIENT, ANY_IP = Component("client-id", ANY, None), Component("ip", ANY, None)
OF_ADA, BOTH = {"user": "ada"}, {"user": "ada", "client-id": "x y"}
DEFAULTS = {"user": None, "client-id": None}


@pytest.mark.parametrize(
    ("components", "strict", "found"),
    [
        ([ADA], False, [OF_ADA, BOTH]),
        ([ADA], True, [OF_ADA]),
        ([DEFAULT_USER], False, [DEFAULTS]),
        ([ANY_USER], True, [OF_ADA]),
        ([ANY_USER, ANY_CLIENT], True, [DEFAULTS, BOTH]),
        ([ANY_CLIENT], True, [{"client-id": None}, {"client-id": "reader"}]),
        ([ANY_IP], False, [{"ip": "10.0.0.1"}]),
        ([Component("user", EXACT, "bob")], False, []),
        ([], True, []),
    ],
)
def test_a_filter_finds_the_entities_it_names(
    components: list[Component], strict: bool, found: list[dict[str, str | None]]
) -> None:
    check_filter(components)
    assert [dict(entity) for entity, _ in found_quotas(KEPT, components, strict=strict)] == found


def test_without_a_filter_every_quota_is_found_with_its_values() -> None:
    every = found_quotas(KEPT, [], strict=False)
    found = {tuple(entity.values()): quotas for entity, quotas in every}
    assert found[("ada",)] == {RATE: 1000.0}
    assert found[("10.0.0.1",)] == {"connection_creation_rate": 5.0}
    assert len(found) == 6
