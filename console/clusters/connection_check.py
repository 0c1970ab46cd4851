"""The test of a cluster's connection: connects as the form says, and explains what is wrong.

It never shows text that the other side sent, except the mechanisms and rights that Kafka names.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.accounts import rate_limit
from console.accounts.principal import Principal
from console.clusters import connection_steps
from console.clusters.connection_steps import Step, StepResult, step_of
from console.ui.texts import sentence
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, Refused, Unsupported
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.models import Cluster
from monitoring.reasons import Reason
from monitoring.schema_registry.connection import RegistryError
from monitoring.schema_registry.subjects import count_subjects
from monitoring.secrets import SecretUnreadable

# The operations on a cluster that the console's pages and changes need, in Kafka's names.
NEEDED_OPERATIONS = ("DESCRIBE", "DESCRIBE_CONFIGS", "CREATE", "ALTER", "ALTER_CONFIGS")


@dataclass(frozen=True, slots=True)
class ConnectionResult:
    """`failed`: the step at which the test stopped; None if all passed, or none was tried."""

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
    if not rate_limit.allows("connection-test", principal.user):
        return ConnectionResult(False, _("Too many tests"), _("Wait a minute and test again."))
    try:
        with for_cluster(cluster) as gateway:
            metadata = gateway.wire.metadata()
            missing = _missing_operations(gateway)
    except GatewayError as error:
        return result_of_error(error, cluster)
    text = _("%(n)d brokers, cluster id %(id)s.") % {
        "n": len(metadata.brokers),
        "id": metadata.cluster_id,
    }
    if missing:
        rights = _("The login has no right to %(operations)s on the cluster; what needs it fails.")
        text = f"{text} {rights % {'operations': ', '.join(missing)}}"
    result = ConnectionResult(True, _("The cluster answers"), text, lacks_rights=bool(missing))
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


def result_of_error(error: GatewayError, cluster: Cluster) -> ConnectionResult:
    """The result that explains an error: the name, the port, TLS, the login, or the broker."""
    reasons = {reason.code: reason for reason in _nested_reasons(error.message)}
    for code, (title, text) in _texts(cluster).items():
        if code in reasons:
            params = {name: sentence(str(v)) for name, v in reasons[code].params.items()}
            return ConnectionResult(False, title, text % params, step_of(code, cluster))
    title, text = _text_of_kind(error, cluster)
    failed = Step.PORT if isinstance(error, ClusterUnavailable) else Step.BROKERS
    return ConnectionResult(False, title, text, failed)


def _missing_operations(gateway: Gateway) -> list[str]:
    try:
        allowed = gateway.topics.cluster_operations()
    except GatewayError:
        return []
    return [] if allowed is None else [name for name in NEEDED_OPERATIONS if name not in allowed]


def _nested_reasons(message: str) -> Iterator[Reason]:
    """The reason and the reasons within it."""
    if isinstance(message, Reason):
        yield message
        for value in message.params.values():
            yield from _nested_reasons(value)


def _texts(cluster: Cluster) -> dict[str, tuple[str, str]]:
    """Code of a reason → title and text; the first that occurs explains the error."""
    closed = (_("The broker closed the connection"), _closed_text(cluster))
    return {
        "settings_unreadable": (_("A stored secret cannot be decrypted"), "%(why)s"),
        "tls_settings": (_("The certificate or key cannot be used"), "%(why)s"),
        "token_endpoint": (_("The token endpoint does not answer"), "%(why)s"),
        "token_status": (
            _("The token endpoint refuses the login"),
            _("It answers with status %(status)s. Check client ID, client secret and scope."),
        ),
        "token_format": (
            _("The token endpoint does not answer with an access token"),
            _("Check its URL."),
        ),
        "login_mechanism": (
            _("The broker does not offer this SASL mechanism"),
            _("It offers: %(offered)s."),
        ),
        "login_refused": (
            _("The broker refuses the login"),
            _("Check user name, password and mechanism."),
        ),
        "login_untrusted": (
            _("The broker does not prove that it knows the login"),
            _("Another server may answer at this address."),
        ),
        "certificate": (
            _("The broker’s certificate is not accepted"),
            _("%(why)s. Check the CA certificates and the host name."),
        ),
        "not_tls": (
            _("The port does not speak TLS"),
            _("Choose PLAINTEXT or SASL_PLAINTEXT, or the port of a TLS listener."),
        ),
        "no_tls": (
            _("TLS failed"),
            _("%(why)s. The broker may require a client certificate."),
        ),
        "host_unknown": (
            _("The host name does not resolve"),
            _("Check the name, and that this server’s DNS knows it."),
        ),
        "closed_by_broker": closed,
        "answer_size": closed,
    }


def _closed_text(cluster: Cluster) -> str:
    if cluster.uses_tls and not cluster.certificate_pem:
        return _("It may require a client certificate, or another security protocol.")
    text = _(
        "The port may expect another security protocol than %(protocol)s. Compare with the "
        "broker’s setting “listeners”."
    )
    return text % {"protocol": cluster.security_protocol}


def _text_of_kind(error: GatewayError, cluster: Cluster) -> tuple[str, str]:
    if isinstance(error, ClusterUnavailable):
        return (
            _("No broker answers"),
            _("Check host and port, and that the address is reachable from this server."),
        )
    if isinstance(error, Unsupported):
        return _("The server that answers is not a supported Kafka broker"), ""
    if isinstance(error, Refused):
        return _("The broker refused the request"), _("It may require TLS or authentication.")
    return _("The test failed"), _("The broker answered with an error.")
