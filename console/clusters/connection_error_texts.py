"""Explains the error of a connection test: the step at which it occurs, a title, and what to do."""

from collections.abc import Iterator
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from console.clusters.connection_steps import Step
from console.ui.texts import sentence
from monitoring.error_reason import Reason
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, Refused, Unsupported
from monitoring.models import Cluster


class Explanation(NamedTuple):
    step: Step
    title: str
    text: str  # in _BY_CODE with parameters of the reason, such as %(why)s


# Code of a reason → what it means; the first that occurs explains the error.
_BY_CODE = {
    "settings_unreadable": Explanation(
        Step.SETTINGS, gettext_noop("A stored secret cannot be decrypted"), "%(why)s"
    ),
    "tls_settings": Explanation(
        Step.SETTINGS, gettext_noop("The certificate or key cannot be used"), "%(why)s"
    ),
    "token_endpoint": Explanation(
        Step.TOKEN, gettext_noop("The token endpoint does not answer"), "%(why)s"
    ),
    "token_status": Explanation(
        Step.TOKEN,
        gettext_noop("The token endpoint refuses the login"),
        gettext_noop(
            "It answers with status %(status)s. Check client ID, client secret and scope."
        ),
    ),
    "token_format": Explanation(
        Step.TOKEN,
        gettext_noop("The token endpoint does not answer with an access token"),
        gettext_noop("Check its URL."),
    ),
    "login_mechanism": Explanation(
        Step.LOGIN,
        gettext_noop("The broker does not offer this SASL mechanism"),
        gettext_noop("It offers: %(offered)s."),
    ),
    "login_refused": Explanation(
        Step.LOGIN,
        gettext_noop("The broker refuses the login"),
        gettext_noop("Check user name, password and mechanism."),
    ),
    "login_untrusted": Explanation(
        Step.LOGIN,
        gettext_noop("The broker does not prove that it knows the login"),
        gettext_noop("Another server may answer at this address."),
    ),
    "certificate": Explanation(
        Step.TLS,
        gettext_noop("The broker’s certificate is not accepted"),
        gettext_noop("%(why)s. Check the CA certificates and the host name."),
    ),
    "not_tls": Explanation(
        Step.TLS,
        gettext_noop("The port does not speak TLS"),
        gettext_noop("Choose PLAINTEXT or SASL_PLAINTEXT, or the port of a TLS listener."),
    ),
    "no_tls": Explanation(
        Step.TLS,
        gettext_noop("TLS failed"),
        gettext_noop("%(why)s. The broker may require a client certificate."),
    ),
    "host_unknown": Explanation(
        Step.NAME,
        gettext_noop("The host name does not resolve"),
        gettext_noop("Check the name, and that this server’s DNS knows it."),
    ),
}
# A broker that closes the connection does not say why: the cluster's settings say what is likely.
_CLOSED_CODES = ("closed_by_broker", "answer_size")


def explain(error: GatewayError, cluster: Cluster) -> Explanation:
    """What the error means: the name, the port, TLS, the login, or the broker."""
    reasons = {reason.code: reason for reason in _nested_reasons(error.message)}
    for code, (step, title, text) in _BY_CODE.items():
        if code in reasons:
            params = {name: _clause(value) for name, value in reasons[code].params.items()}
            return Explanation(step, _(title), sentence(_(text) % params))
    if not reasons.keys().isdisjoint(_CLOSED_CODES):
        return _explain_closed(cluster)
    return _explain_by_class(error)


def _nested_reasons(message: str) -> Iterator[Reason]:
    """The reason and the reasons within it."""
    if isinstance(message, Reason):
        yield message
        for value in message.params.values():
            yield from _nested_reasons(value)


def _clause(param: object) -> str:
    """A parameter as a sentence without its full stop: the text of the table has one."""
    return sentence(param if isinstance(param, str) else str(param)).removesuffix(".")


def _explain_closed(cluster: Cluster) -> Explanation:
    step = Step.LOGIN if cluster.uses_sasl else Step.BROKERS
    if cluster.uses_tls:
        step = Step.TLS
    text = _(
        "The port may expect another security protocol than %(protocol)s. Compare with the "
        "broker’s setting “listeners”."
    ) % {"protocol": cluster.security_protocol}
    if cluster.uses_tls and not cluster.certificate_pem:
        text = _("It may require a client certificate, or another security protocol.")
    return Explanation(step, _("The broker closed the connection"), text)


def _explain_by_class(error: GatewayError) -> Explanation:
    """The explanation of an error that the table has no code for, by its class."""
    if isinstance(error, ClusterUnavailable):
        return Explanation(
            Step.PORT,
            _("No broker answers"),
            _("Check host and port, and that the address is reachable from this server."),
        )
    if isinstance(error, Unsupported):
        title = _("The server that answers is not a supported Kafka broker")
        return Explanation(Step.BROKERS, title, text="")
    if isinstance(error, Refused):
        return Explanation(
            Step.BROKERS,
            _("The broker refused the request"),
            _("It may require TLS or authentication."),
        )
    return Explanation(Step.BROKERS, _("The test failed"), _("The broker answered with an error."))
