"""Plans to change, purge or delete several topics."""

from collections.abc import Mapping
from typing import Any

from console.accounts.principal import Principal
from console.actions import services as plans
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.topics.actions.bulk import ConfigureTopics, PurgeTopics, purge_params
from console.topics.actions.purge import read_logs
from console.topics.actions.topic_target import names_as_resource
from monitoring.error_reason import Reason
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster


def propose_bulk(
    principal: Principal,
    cluster: Cluster,
    action: str,
    names: list[str],
    configs: Mapping[str, str | None] | None = None,
) -> Plan:
    """Plan a change to several topics. Raises PlanRefused or GatewayError."""
    params: dict[str, Any] = {"names": names}
    if action == PurgeTopics.action:
        verb = PurgeTopics.verb
        if not all(principal.may(verb, cluster, name) for name in names):
            raise PlanRefused(Reason("plan_not_allowed"))
        with for_cluster(cluster) as gateway:
            logs = {name: read_logs(gateway, name) for name in names}
        params = purge_params(names, logs)
    elif action == ConfigureTopics.action:
        params["configs"] = {name: dict(configs or {}) for name in names}
    return plans.propose(principal, cluster, action, names_as_resource(names), params)
