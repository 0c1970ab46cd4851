import pytest

from monitoring.clusters.sasl_mechanisms import OAUTHBEARER
from monitoring.egress.addresses import AllowedTarget
from monitoring.egress.models import EgressTarget, allowed_for
from monitoring.encryption import encrypt
from monitoring.models import Cluster

pytestmark = pytest.mark.django_db
Purpose = EgressTarget.Purpose


def test_a_purpose_gets_its_own_targets_and_those_for_all_requests():
    EgressTarget.objects.create(host="10.0.0.1", port=80, purpose=Purpose.WEBHOOK)
    EgressTarget.objects.create(host="10.0.0.2", purpose=Purpose.ANY)
    EgressTarget.objects.create(host="10.0.0.3", purpose=Purpose.TOKEN)
    assert allowed_for(Purpose.WEBHOOK) == (
        AllowedTarget("10.0.0.1", 80),
        AllowedTarget("10.0.0.2"),
    )
    assert allowed_for(Purpose.ADMIN_PORT) == (AllowedTarget("10.0.0.2"),)


def test_a_target_that_is_allowed_twice_is_listed_once():
    for purpose in (Purpose.WEBHOOK, Purpose.ANY):
        EgressTarget.objects.create(host="10.0.0.1", purpose=purpose)
    assert allowed_for(Purpose.WEBHOOK) == (AllowedTarget("10.0.0.1"),)


def test_the_login_of_a_cluster_takes_the_targets_of_token_endpoints():
    EgressTarget.objects.create(host="10.0.0.3", purpose=Purpose.TOKEN)
    cluster = Cluster(
        slug="far", security_protocol="SASL_SSL", sasl_mechanism=OAUTHBEARER,
        sasl_username="aerie", sasl_password=encrypt("s3cret"), token_url="https://10.0.0.3/token",
    )  # fmt: skip
    assert cluster.sasl().token_targets == (AllowedTarget("10.0.0.3"),)
    cluster.sasl_mechanism = "PLAIN"
    assert cluster.sasl().token_targets == ()


@pytest.mark.parametrize(
    ("host", "port", "text"),
    [
        ("hooks.internal", 0, "hooks.internal"),
        ("hooks.internal", 8080, "hooks.internal:8080"),
        ("fd00::1", 8080, "[fd00::1]:8080"),
        ("fd00::/64", 8080, "fd00::/64:8080"),
    ],
)
def test_a_target_is_written_with_its_port(host, port, text):
    assert str(EgressTarget(host=host, port=port)) == text
