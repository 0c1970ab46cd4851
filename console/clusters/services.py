"""Operations on cluster entries: save, remove."""

from typing import Any

from django.db import transaction

from console.accounts.principal import Principal
from console.accounts.services import revoke_all_grants
from console.audit import write_entry as audit
from console.clusters.forms import ClusterForm
from console.clusters.schema_registry_form import COLUMNS as REGISTRY_COLUMNS
from console.clusters.security_form import COLUMNS as SECURITY_COLUMNS
from console.live import snapshot_cache
from console.records.masking_rules import copy_masking_rules
from monitoring import console_topics
from monitoring.clusters import kafka_cluster_id
from monitoring.delete_cluster_data import delete_cluster_data
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster


def audit_fields(cluster: Cluster) -> dict[str, Any]:
    """The fields of a cluster for the audit log, without secrets."""
    if cluster.pk is None:
        return {}
    names = (
        "name", "slug", "bootstrap_servers", "zookeeper_connect", "read_only", "admin_urls",
        "metrics_urls",
    )  # fmt: skip
    return {name: getattr(cluster, name) for name in (*names, *SECURITY_COLUMNS, *REGISTRY_COLUMNS)}


def save(principal: Principal, form: ClusterForm, before: dict[str, Any]) -> list[Cluster]:
    """Save the cluster of a valid form; returns the other entries with the same cluster id.

    `before`: its audit fields before the change.
    """
    with transaction.atomic():
        saved = form.save()
        action = "cluster.edit" if before else "cluster.add"
        after = audit_fields(saved)
        if form.cleaned_data["token"]:
            after["token_changed"] = True
        if secrets := form.entered_secrets():
            after["secrets_changed"] = secrets
        audit.record_by(principal, action, saved.slug, saved.name, before, after)
    snapshot_cache.forget(saved.slug)
    return update_cluster_id(saved)


def remove(principal: Principal, cluster: Cluster) -> None:
    """Delete a cluster's entry and its data; the Kafka cluster is not changed."""
    before = audit_fields(cluster)
    with transaction.atomic():
        before |= {"roles": revoke_all_grants(cluster.slug)}
        copy_masking_rules(cluster)
        console_topics.mark_other_entries(cluster)
        cluster.delete()
        audit.record_by(principal, "cluster.remove", cluster.slug, str(before["name"]), before)
    delete_cluster_data(cluster.slug)
    snapshot_cache.forget(cluster.slug)


def update_cluster_id(cluster: Cluster) -> list[Cluster]:
    """Read a cluster's id from Kafka and store it; returns the other entries with the same id."""
    try:
        with for_cluster(cluster) as gateway:
            kafka_cluster_id.record(cluster, gateway.wire.cluster_id())
    except GatewayError:
        kafka_cluster_id.record(cluster, "")  # the old id may be wrong; the next sample sets it
    return kafka_cluster_id.others(cluster)
