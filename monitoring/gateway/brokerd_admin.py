"""Client of brokerd's admin port: segments, index entries, batches, events, counters.

Pages use it; the sampler has its own client (brokerd_sample.py). Every URL passes the egress check;
responses are limited in size and time.
"""

from typing import Any

import httpx

from monitoring.egress import bounded_http
from monitoring.egress.bounded_http import Answer, AnswerRefused
from monitoring.egress.url_checks import CheckedTarget, EgressRefused, EgressUnresolved, check_url
from monitoring.error_reason import Reason
from monitoring.gateway import event_loop, request_timeouts
from monitoring.gateway.brokerd_admin_urls import AdminUrls
from monitoring.gateway.errors import ClusterUnavailable, NotFound, Refused, Unsupported

_ANSWER_BYTES_MAX = 16 * 1024 * 1024


class BrokerdAdmin:
    """The admin ports of one cluster's brokers."""

    def __init__(self, urls: AdminUrls) -> None:
        self._urls = urls
        # Created and used on the gateway's event loop.
        self._client: httpx.AsyncClient | None = None

    def has(self, broker_id: int) -> bool:
        """Whether the cluster's settings have the address of this broker's admin port."""
        return str(broker_id) in self._urls.by_broker

    def segments(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        *,
        with_samples: bool = False,
        offset: int | None = None,
        at_ms: int | None = None,
    ) -> dict[str, Any]:
        """The segment files of a partition on `broker_id`, and the settings of its retention.

        `with_samples`: also the codecs and sizes of the first batches of the newest segments.
        With `offset`: also how the log finds it. `at_ms`: it is the first record at or after this
        time, so that the time index comes first.
        """
        query = {"topic": topic, "partition": partition, "samples": int(with_samples)}
        wanted = {"offset": offset, "at_ms": at_ms}
        query |= {name: value for name, value in wanted.items() if value is not None}
        return self._get(broker_id, "/v1/segments", query)

    def index(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        base_offset: int,
        kind: str,
        start: int,
        limit: int,
    ) -> dict[str, Any]:
        """Index entries of a segment, from number `start` on; `kind` is "offset" or "time"."""
        segment = {"topic": topic, "partition": partition, "base_offset": base_offset}
        query = segment | {"kind": kind, "start": start, "limit": limit}
        return self._get(broker_id, "/v1/segments/index", query)

    def batches(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        base_offset: int,
        position: int,
        limit: int,
    ) -> dict[str, Any]:
        """Batch headers of a segment from byte `position` on."""
        segment = {"topic": topic, "partition": partition, "base_offset": base_offset}
        query = segment | {"position": position, "limit": limit}
        return self._get(broker_id, "/v1/segments/batches", query)

    def broker(self, broker_id: int) -> dict[str, Any]:
        """Counters, memory, CPU and disks of a broker."""
        return self._get(broker_id, "/v1/broker", query={})

    def events(self, broker_id: int, after: int, limit: int) -> dict[str, Any]:
        """The events of a broker after event number `after`."""
        return self._get(broker_id, "/v1/events", {"after": after, "limit": limit})

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            event_loop.run(client.aclose(), request_timeouts.READ_S)

    def _get(self, broker_id: int, path: str, query: dict[str, Any]) -> dict[str, Any]:
        base = self._urls.by_broker.get(str(broker_id))
        if base is None:
            raise Unsupported(Reason("no_admin_address", id=broker_id))
        try:
            target = check_url(base.rstrip("/") + path, self._urls.allowed)
            answer = event_loop.run(self._fetch(target, query), request_timeouts.READ_S)
        except (EgressRefused, EgressUnresolved) as error:
            raise Refused(Reason("admin_port_of", id=broker_id, why=error.reason)) from error
        except AnswerRefused as error:
            raise Refused(Reason("admin_port_of", id=broker_id, why=error.reason)) from error
        except (httpx.HTTPError, TimeoutError) as error:
            why = Reason("timed_out") if isinstance(error, TimeoutError) else type(error).__name__
            raise ClusterUnavailable(
                Reason("admin_port_of_silent", id=broker_id, why=why)
            ) from error
        return _parse(broker_id, answer)

    async def _fetch(self, target: CheckedTarget, query: dict[str, Any]) -> Answer:
        if self._client is None:
            self._client = bounded_http.new_client(request_timeouts.READ_S)
        return await bounded_http.request(
            self._client,
            "GET",
            target,
            timeout_s=request_timeouts.READ_S,
            body_bytes_max=_ANSWER_BYTES_MAX,
            headers={"Authorization": f"Bearer {self._urls.token}"},
            params=query,
        )


def _parse(broker_id: int, answer: Answer) -> dict[str, Any]:
    """The response's JSON. Raises a GatewayError for an error status."""
    status = answer.status
    try:
        response = bounded_http.parse_json(answer.body)
    except AnswerRefused as error:
        raise Refused(Reason("admin_port_of", id=broker_id, why=error.reason)) from error
    except ValueError:
        response = None
    if status == 200 and isinstance(response, dict):
        return response
    error_text = str(response.get("error", ""))[:200] if isinstance(response, dict) else ""
    if status in (401, 403):
        raise Refused(Reason("admin_token_refused", id=broker_id))
    if status == 404:
        raise NotFound(_response_reason(error_text) or Reason("broker_has_not", id=broker_id))
    if status == 503:
        raise ClusterUnavailable(
            _response_reason(error_text) or Reason("broker_not_ready", id=broker_id)
        )
    raise Refused(Reason("broker_status", id=broker_id, status=status, why=error_text or "—"))


def _response_reason(text: str) -> Reason | None:
    return Reason("cluster_says", text=text) if text else None
