"""Client of the metrics of brokers in Prometheus' text format.

A broker's metrics are at the address that the cluster's settings have for it (for example of a JMX
exporter), else at `/metrics` of its admin port (brokerd). Every URL passes the egress check;
responses are limited in size and time.
"""

from dataclasses import dataclass, field

import httpx

from monitoring.clusters.models import Cluster
from monitoring.egress import bounded_http
from monitoring.egress.addresses import AllowedTarget
from monitoring.egress.bounded_http import Answer, AnswerRefused
from monitoring.egress.models import EgressTarget, allowed_for
from monitoring.egress.url_checks import CheckedTarget, EgressRefused, EgressUnresolved, check_url
from monitoring.encryption import SecretUnreadable
from monitoring.error_reason import Reason
from monitoring.gateway import event_loop, request_timeouts
from monitoring.gateway.brokerd_admin_urls import AdminUrls
from monitoring.gateway.errors import ClusterUnavailable, Refused, Unsupported

ANSWER_BYTES_MAX = 32 * 1024 * 1024
_ACCEPT = "text/plain;version=0.0.4"


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """Where a broker's metrics are. `allowed`: the targets that the egress check allows for it."""

    url: str
    token: str = field(repr=False)
    allowed: tuple[AllowedTarget, ...]


class BrokerMetrics:
    """The metrics of one cluster's brokers."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def text(self, broker_id: int) -> str:
        """The broker's current metrics as text. Raises GatewayError."""
        try:
            endpoint = self._endpoint(str(broker_id))
        except SecretUnreadable as error:
            raise Refused(Reason("settings_unreadable", why=error.reason)) from error
        if endpoint is None:
            raise Unsupported(Reason("no_metrics_address", id=broker_id))
        try:
            target = check_url(endpoint.url, endpoint.allowed)
            answer = event_loop.run(_fetch(target, endpoint.token), request_timeouts.METRICS_READ_S)
        except (EgressRefused, EgressUnresolved, AnswerRefused) as error:
            raise Refused(Reason("metrics_of", id=broker_id, why=error.reason)) from error
        except TimeoutError as error:
            raise ClusterUnavailable(
                Reason(
                    "metrics_timed_out", id=broker_id, seconds=int(request_timeouts.METRICS_READ_S)
                )
            ) from error
        except httpx.HTTPError as error:
            is_closed = isinstance(error, httpx.ConnectError)
            why = Reason("metrics_no_connection") if is_closed else type(error).__name__
            raise ClusterUnavailable(Reason("metrics_of_silent", id=broker_id, why=why)) from error
        return _body(broker_id, answer)

    def _endpoint(self, broker_id: str) -> _Endpoint | None:
        """The address of a broker's metrics; None = unknown. Raises SecretUnreadable."""
        if url := self._cluster.metrics_urls.get(broker_id):
            token = self._cluster.decrypt_metrics_token()
            return _Endpoint(url, token, allowed_for(EgressTarget.Purpose.METRICS))
        admin = AdminUrls.of(self._cluster)
        if base := admin.by_broker.get(broker_id):
            return _Endpoint(base.rstrip("/") + "/metrics", admin.token, admin.allowed)
        return None


async def _fetch(target: CheckedTarget, token: str) -> Answer:
    headers = {"Accept": _ACCEPT} | ({"Authorization": f"Bearer {token}"} if token else {})
    async with bounded_http.new_client(request_timeouts.METRICS_READ_S) as client:
        return await bounded_http.request(
            client,
            "GET",
            target,
            timeout_s=request_timeouts.METRICS_READ_S,
            body_bytes_max=ANSWER_BYTES_MAX,
            headers=headers,
        )


def _body(broker_id: int, answer: Answer) -> str:
    """The text of a response. Raises Refused for an error status."""
    if answer.status in (401, 403):
        raise Refused(Reason("metrics_token_refused", id=broker_id, status=answer.status))
    if answer.status != 200:
        raise Refused(Reason("metrics_status", id=broker_id, status=answer.status))
    return answer.body.decode(errors="replace")
