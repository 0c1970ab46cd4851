"""The form of a new topic, begun with a preset or as a copy of another topic."""

import pytest

from console.actions.models import Plan
from console.topics.forms import CreateTopicForm
from console.topics.new_topic_presets import PRESETS
from monitoring.gateway.errors import ClusterUnavailable
from tests.support.fake_gateway import FakeCluster

URL = "/c/local/create-topic"


@pytest.fixture
def orders(sampled, fake_cluster: FakeCluster) -> FakeCluster:
    own = {"retention.ms": "5000", "cleanup.policy": "compact,delete"}
    fake_cluster.create_topic("orders", 4, 2, own)
    fake_cluster.create_topic("console.audit", 1)
    return fake_cluster


@pytest.mark.parametrize("preset", PRESETS)
def test_each_preset_makes_a_valid_form(orders, client_of, operator, preset):
    page = client_of(operator).get(f"{URL}?preset={preset}").content.decode()
    assert str(PRESETS[preset].text) in page
    values = {"name": "new", "partitions": 1, "replication": 1, **PRESETS[preset].initial}
    assert CreateTopicForm(values).is_valid()


def test_the_presets_set_what_they_say():
    def configs(preset: str) -> dict[str, str]:
        form = CreateTopicForm(
            {"name": "new", "partitions": 1, "replication": 1, **PRESETS[preset].initial}
        )
        assert form.is_valid()
        return form.params()["configs"]

    assert configs("events") == {"cleanup.policy": "delete", "retention.ms": "604800000"}
    assert configs("changelog") == {"cleanup.policy": "compact"}
    assert configs("audit")["retention.ms"] == "-1"
    assert configs("short-lived")["segment.ms"] == "600000"


def test_a_clone_begins_with_partitions_replication_and_settings(orders, client_of, operator):
    form = client_of(operator).get(f"{URL}?copy=orders").context["form"]
    assert form.initial["partitions"] == 4
    assert form.initial["replication"] == 2
    assert form.initial["settings"] == "cleanup.policy=compact,delete\nretention.ms=5000"
    posted = {"name": "orders.copy", **form.initial}
    client_of(operator).post(f"{URL}?copy=orders", posted)
    assert Plan.objects.get().params["configs"] == orders.topics["orders"].configs


def test_a_topic_that_one_may_not_see_is_not_cloned(orders, client_of, operator):
    for name in ("console.audit", "nope"):
        page = client_of(operator).get(f"{URL}?copy={name}")
        assert page.status_code in (404, 422), name
        assert "form" not in (page.context or {})


def test_a_cluster_that_does_not_answer_is_503(orders, client_of, operator):
    orders.fails["describe_topic"] = ClusterUnavailable("away")
    assert client_of(operator).get(f"{URL}?copy=orders").status_code == 503
