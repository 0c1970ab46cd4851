"""Operations on cluster entries: list, save, remove, and test the connection."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from console.accounts import throttle
from console.accounts.principal import Principal
from console.accounts.services import revoke_all_grants
from console.audit import services as audit
from console.clusters.forms import ClusterForm
from console.live import snapshot_cache
from console.messages.services import copy_masking_rules
from monitoring import identity, own_topics
from monitoring.cluster_cleanup import delete_cluster_data
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, Refused, Unsupported
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster


@dataclass(frozen=True, slots=True)
class ConnectionResult:
    ok: bool
    title: str
    text: str


def visible(principal: Principal) -> list[dict[str, Any]]:
    """The clusters that the user may see, with status and rights."""
    rows = []
    for cluster in Cluster.objects.all():
        rights = principal.rights(cluster)
        if rights.may("cluster.view"):
            snapshot = snapshot_cache.snapshot(cluster.slug, rights)
            same = [o.name for o in identity.others(cluster) if principal.may("cluster.view", o)]
            rows.append(
                {
                    "cluster": cluster,
                    "status": snapshot_cache.sample_status(cluster.slug, rights),
                    "totals": snapshot.totals if snapshot else None,
                    "role": rights.role,
                    "same": ", ".join(same),
                }
            )
    return rows


def audit_fields(cluster: Cluster) -> dict[str, Any]:
    """The fields of a cluster for the audit log, without secrets."""
    if cluster.pk is None:
        return {}
    names = ("name", "slug", "bootstrap_servers", "zookeeper_connect", "read_only", "admin_urls")
    return {name: getattr(cluster, name) for name in names}


def save(principal: Principal, form: ClusterForm, before: dict[str, Any]) -> list[Cluster]:
    """Save the cluster of a valid form; returns the other entries with the same cluster id.

    `before`: its audit fields before the change.
    """
    with transaction.atomic():
        saved = form.save()
        verb = "cluster.edit" if before else "cluster.add"
        after = audit_fields(saved)
        if form.cleaned_data["token"]:
            after["token_changed"] = True
        audit.record_by(principal, verb, saved.slug, saved.name, before, after)
    snapshot_cache.forget(saved.slug)
    return learn_identity(saved)


def remove(principal: Principal, cluster: Cluster) -> None:
    """Delete a cluster's entry and its data; the Kafka cluster is not changed."""
    before = audit_fields(cluster)
    with transaction.atomic():
        before |= {"roles": revoke_all_grants(cluster.slug)}
        copy_masking_rules(cluster)
        own_topics.mark_other_entries(cluster)
        cluster.delete()
        audit.record_by(principal, "cluster.remove", cluster.slug, str(before["name"]), before)
    delete_cluster_data(cluster.slug)
    snapshot_cache.forget(cluster.slug)


def learn_identity(cluster: Cluster) -> list[Cluster]:
    """Read the cluster id of a saved cluster; returns the other entries with the same id."""
    try:
        with for_cluster(cluster) as gateway:
            identity.record(cluster, gateway.wire.cluster_id())
    except GatewayError:
        identity.record(cluster, "")  # the old id may be wrong; the next sample sets it
    return identity.others(cluster)


def test_connection(principal: Principal, cluster: Cluster) -> ConnectionResult:
    """Read the brokers of a cluster, saved or not, and return the result or the error.

    For admins only and rate-limited, since it makes the server open connections to addresses that a
    user entered. It never shows data that the other side sent, and never raises.
    """
    if not throttle.allows("connection-test", principal.user):
        return ConnectionResult(False, _("Too many tests"), _("Wait a minute and test again."))
    gateway = for_cluster(cluster)
    try:
        metadata = gateway.wire.metadata()
    except ClusterUnavailable:
        return ConnectionResult(
            False,
            _("No broker answers"),
            _("Check host and port, and that the address is reachable from this server."),
        )
    except Unsupported:
        return ConnectionResult(
            False, _("The server that answers is not a supported Kafka broker"), ""
        )
    except Refused:
        return ConnectionResult(
            False, _("The broker refused the request"), _("It may require TLS or authentication.")
        )
    except GatewayError:
        return ConnectionResult(
            False, _("The test failed"), _("The broker answered with an error.")
        )
    finally:
        gateway.close()
    return ConnectionResult(
        True,
        _("The cluster answers"),
        _("%(n)d brokers, cluster id %(id)s.")
        % {"n": len(metadata.brokers), "id": metadata.cluster_id},
    )
