"""Which admin ports belong to the embedded brokers."""

import pytest

from monitoring.egress.addresses import AllowedTarget
from monitoring.gateway.brokerd_admin_urls import AdminUrls
from monitoring.models import Cluster, EgressTarget

pytestmark = pytest.mark.django_db


def allowed(settings, *ports_or_urls):
    settings.BROKERD_PORT_BASE, settings.BROKERD_COUNT = 9092, 3
    urls = {
        str(broker): told if isinstance(told, str) else f"http://127.0.0.1:{told}"
        for broker, told in enumerate(ports_or_urls, start=1)
    }
    return AdminUrls.of(Cluster(slug="c", admin_urls=urls)).allowed


def test_admin_ports_of_embedded_brokers_are_allowed(settings):
    assert allowed(settings, 9192, 9193, 9194) == (AllowedTarget("127.0.0.1"),)


@pytest.mark.parametrize(
    "other", [6379, "http://10.0.0.1:9192", "http://[::1:9192", "http://a:99999"]
)
def test_one_other_address_makes_no_port_allowed(settings, other):
    assert allowed(settings, 9192, other) == ()


def test_other_admin_ports_may_be_at_the_targets_that_an_admin_allowed_for_them(settings):
    EgressTarget.objects.create(host="10.0.0.0/8", port=9192, purpose="admin_port")
    EgressTarget.objects.create(host="hooks.internal", purpose="webhook")
    assert allowed(settings, "http://10.0.0.1:9192") == (AllowedTarget("10.0.0.0/8", 9192),)


def test_a_cluster_without_admin_ports_allows_no_address(settings):
    assert allowed(settings) == ()
