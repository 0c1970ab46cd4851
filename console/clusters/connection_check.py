"""The test of a cluster's connection: connects as the form says, and explains what is wrong.

connection_error_texts.py has the explanations, connection_steps.py the steps. No text that a server
sent is shown, except its cluster id and SASL mechanisms.
"""

from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.accounts import outgoing_connection_rate_limit
from console.accounts.principal import Principal
from console.clusters import connection_steps
from console.clusters.connection_error_texts import explain
from console.clusters.connection_steps import Step, StepResult
from console.ui.texts import sentence
from monitoring.encryption import SecretUnreadable
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.models import Cluster
from monitoring.schema_registry.connection import RegistryError
from monitoring.schema_registry.subjects import count_subjects

# The operations on a cluster that the console's pages and changes need, in Kafka's names.
NEEDED_OPERATIONS = ("DESCRIBE", "DESCRIBE_CONFIGS", "CREATE", "ALTER", "ALTER_CONFIGS")


@dataclass(frozen=True, slots=True)
class ConnectionResult:
    """`failed`: the step at which the test stopped; None if all passed, or none was tried.

    `lacks_rights`: the cluster does not allow its login all NEEDED_OPERATIONS.
    """

    ok: bool
    title: str
    text: str
    failed: Step | None = None
    lacks_rights: bool = False

    def steps(self, cluster: Cluster) -> list[StepResult]:
        """Empty if the test was not made."""
        if not self.ok and self.failed is None:
            return []
        return connection_steps.steps(cluster, self.failed, lacks_rights=self.lacks_rights)


def check_connection(principal: Principal, cluster: Cluster) -> ConnectionResult:
    """Read the brokers of a cluster, saved or not, and return the result or the error.

    For admins only and rate-limited, since it makes the server open connections to addresses that a
    user entered. It never raises.
    """
    if not outgoing_connection_rate_limit.allows("connection-test", principal.user):
        return ConnectionResult(
            ok=False, title=_("Too many tests"), text=_("Wait a minute and test again.")
        )
    try:
        with for_cluster(cluster) as gateway:
            metadata = gateway.wire.metadata()
            missing = _missing_operations(gateway)
    except GatewayError as error:
        failed, title, text = explain(error, cluster)
        return ConnectionResult(ok=False, title=title, text=text, failed=failed)
    text = _("%(n)d brokers, cluster id %(id)s.") % {
        "n": len(metadata.brokers),
        "id": metadata.cluster_id,
    }
    if missing:
        warning = _("The login has no right to %(operations)s on the cluster; what needs it fails.")
        text = f"{text} {warning % {'operations': ', '.join(missing)}}"
    title = _("The cluster answers")
    result = ConnectionResult(ok=True, title=title, text=text, lacks_rights=bool(missing))
    return add_registry_result(cluster, result)


def add_registry_result(cluster: Cluster, result: ConnectionResult) -> ConnectionResult:
    """Test the schema registry, too, if the cluster has one; returns the result of both."""
    failed = _("The cluster answers, but not its schema registry")
    try:
        registry = cluster.registry()
        if registry is None:
            return result
        n = count_subjects(registry)
    except SecretUnreadable as error:
        return replace(
            result, ok=False, title=failed, text=sentence(error.reason), failed=Step.REGISTRY
        )
    except RegistryError as error:
        text = f"{result.text} {sentence(error.reason)}"
        return replace(result, ok=False, title=failed, text=text, failed=Step.REGISTRY)
    subjects = ngettext(
        "The schema registry has %(n)d subject.", "The schema registry has %(n)d subjects.", n
    ) % {"n": n}
    return replace(result, text=f"{result.text} {subjects}")


def _missing_operations(gateway: Gateway) -> list[str]:
    try:
        allowed = gateway.topics.cluster_operations()
    except GatewayError:
        return []
    return [] if allowed is None else [name for name in NEEDED_OPERATIONS if name not in allowed]
