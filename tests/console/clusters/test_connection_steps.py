from console.clusters.connection_steps import Step, steps
from monitoring.models import Cluster

PLAIN = Cluster(security_protocol="PLAINTEXT")
SECURED = Cluster(security_protocol="SASL_SSL", sasl_mechanism="PLAIN", registry_url="https://r")


def states(cluster, failed=None, *, lacks_rights=False):
    return {
        found.step.value: found.state for found in steps(cluster, failed, lacks_rights=lacks_rights)
    }


def test_a_cluster_has_the_steps_that_its_settings_need():
    assert list(states(PLAIN)) == ["name", "port", "brokers", "rights"]
    assert list(states(SECURED)) == [
        "name", "port", "tls", "login", "brokers", "rights", "registry"
    ]  # fmt: skip
    oauth = Cluster(security_protocol="SASL_PLAINTEXT", sasl_mechanism="OAUTHBEARER")
    assert list(states(oauth))[:2] == ["token", "name"]


def test_what_comes_before_the_failed_step_passed_and_the_rest_was_not_reached():
    assert states(SECURED, Step.TLS) == {
        "name": "passed", "port": "passed", "tls": "failed", "login": "not-reached",
        "brokers": "not-reached", "rights": "not-reached", "registry": "not-reached",
    }  # fmt: skip


def test_settings_are_a_step_only_if_they_cannot_be_used():
    assert states(PLAIN, Step.SETTINGS)["settings"] == "failed"
    assert "settings" not in states(PLAIN)


def test_missing_rights_are_a_warning():
    assert states(PLAIN, lacks_rights=True)["rights"] == "warning"
    assert states(SECURED, Step.LOGIN, lacks_rights=True)["rights"] == "not-reached"
