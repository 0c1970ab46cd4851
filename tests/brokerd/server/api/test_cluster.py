"""DescribeCluster and UpdateFeatures over the wire."""

from collections.abc import Callable
from typing import Any

from confluent_kafka.admin import AdminClient

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from tests.support.brokerd import BrokerdCluster

Ask = Callable[..., Any]


def test_the_cluster_is_described_by_its_live_brokers(
    admin: AdminClient, brokers: BrokerdCluster
) -> None:
    found = admin.describe_cluster().result(timeout=10)
    assert {(node.id, node.host, node.port) for node in found.nodes} == {
        (broker.id, "127.0.0.1", broker.port) for broker in brokers.brokers
    }
    assert found.controller.id in (1, 2)
    meta = (brokers.brokers[0].logs / "meta.properties").read_text()
    assert f"cluster.id={found.cluster_id}" in meta


def test_another_kind_of_endpoint_is_refused(ask) -> None:
    response = ask(ApiKey.DESCRIBE_CLUSTER, 1, {"endpoint_type": 2})
    assert response.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE


def test_operations_are_told_only_when_asked_for(ask) -> None:
    asked = ask(
        ApiKey.DESCRIBE_CLUSTER,
        0,
        {"include_cluster_authorized_operations": True},
    )
    assert asked.cluster_authorized_operations & 1 << 5
    assert ask(ApiKey.DESCRIBE_CLUSTER, 0, {}).cluster_authorized_operations == -(2**31)


def update(*names: str) -> dict[str, Any]:
    rows = [{"feature": name, "max_version_level": 1, "upgrade_type": 1} for name in names]
    return {"timeout": 5000, "feature_updates": rows, "validate_only": False}


def test_no_feature_can_be_changed(ask_controller: Ask) -> None:
    answer = ask_controller(ApiKey.UPDATE_FEATURES, 1, update("metadata.version", ""))
    assert answer.error_code == 0
    assert [(each.feature, each.error_code) for each in answer.results] == [
        ("metadata.version", ErrorCode.INVALID_REQUEST),
        ("", ErrorCode.INVALID_REQUEST),
    ]


def test_features_are_the_controllers_business(ask_other: Ask) -> None:
    answer = ask_other(ApiKey.UPDATE_FEATURES, 1, update("metadata.version"))
    assert answer.error_code == ErrorCode.NOT_CONTROLLER
