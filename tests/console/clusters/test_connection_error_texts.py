import pytest

from console.clusters.connection_error_texts import explain
from console.clusters.connection_steps import Step
from monitoring.error_reason import Reason
from monitoring.gateway.errors import GatewayError
from monitoring.models import Cluster

PLAIN = Cluster(security_protocol="PLAINTEXT")
SECURED = Cluster(security_protocol="SASL_SSL", sasl_mechanism="PLAIN", registry_url="https://r")


@pytest.mark.parametrize(
    ("reason", "cluster", "step"),
    [
        (Reason("host_unknown"), PLAIN, Step.NAME),
        (Reason("certificate", why="expired"), SECURED, Step.TLS),
        (Reason("login_refused", why="?"), SECURED, Step.LOGIN),
        (Reason("closed_by_broker", why="?"), SECURED, Step.TLS),
        (
            Reason("closed_by_broker", why="?"),
            Cluster(security_protocol="SASL_PLAINTEXT"),
            Step.LOGIN,
        ),
        (Reason("closed_by_broker", why="?"), PLAIN, Step.BROKERS),
    ],
)
def test_each_reason_has_the_step_at_which_it_occurs(reason, cluster, step):
    assert explain(GatewayError(reason), cluster).step == step


def test_the_text_has_the_parameters_of_a_reason_within_another_and_one_full_stop():
    inner = Reason("certificate", why="it has expired")
    for reason in (inner, Reason("cluster_silent", why=inner)):
        explained = explain(GatewayError(reason), SECURED)
        assert explained.text == "It has expired. Check the CA certificates and the host name."
    secret = Reason("settings_unreadable", why=Reason("host_unknown"))
    assert explain(GatewayError(secret), SECURED).text == "The host name does not resolve."
