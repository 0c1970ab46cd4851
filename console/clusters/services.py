"""The connection test of the cluster form: what is wrong, as a class of error.

For admins only and rate-limited, since it makes the server open connections to addresses that a
person typed. It never repeats what the other side sent.
"""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.accounts import throttle
from monitoring import identity
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, Refused, Unsupported
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster


@dataclass(frozen=True, slots=True)
class Tested:
    ok: bool
    title: str
    text: str


def learn_identity(cluster: Cluster) -> list[Cluster]:
    """Asks a saved cluster for its id; the other entries that lead to the same one."""
    try:
        with for_cluster(cluster) as gateway:
            identity.record(cluster, gateway.wire.cluster_id())
    except GatewayError:
        identity.record(cluster, "")  # what it was may be another's: a sample tells
    return identity.others(cluster)


def test_connection(cluster: Cluster, user: Any) -> Tested:
    """Asks the cluster, saved or not, for its brokers. Never raises."""
    if not throttle.allows("connection-test", user):
        return Tested(False, _("Too many tests"), _("Wait a minute and test again."))
    gateway = for_cluster(cluster)
    try:
        found = gateway.wire.metadata()
    except ClusterUnavailable:
        return Tested(
            False,
            _("No broker answers"),
            _("Check host and port, and that the address is reachable from this server."),
        )
    except Unsupported:
        return Tested(False, _("Something answers, but not a Kafka broker of a known version"), "")
    except Refused:
        return Tested(False, _("The broker refuses"), _("It may demand TLS or a sign-in."))
    except GatewayError:
        return Tested(False, _("The test failed"), _("The broker answered with an error."))
    finally:
        gateway.close()
    return Tested(
        True,
        _("The cluster answers"),
        _("%(n)d brokers, cluster id %(id)s.") % {"n": len(found.brokers), "id": found.cluster_id},
    )
