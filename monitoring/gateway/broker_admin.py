"""What brokerd tells on its admin port: segments, index entries, batches, events, counters.

For pages, one question at a time; the sampler reads its counters itself (counters.py). Every URL
passes the egress check, answers are bounded in size and time.
"""

import json
from typing import Any

import httpx

from monitoring.egress import EgressRefused, EgressUnresolved, Target, check_url
from monitoring.gateway.admin_urls import AdminUrls
from monitoring.gateway.errors import ClusterUnavailable, NotFound, Refused, Unsupported

_TIMEOUT_S = 5.0
_ANSWER_BYTES_MAX = 16 * 1024 * 1024


class BrokerAdmin:
    """The admin ports of one cluster's brokers."""

    def __init__(self, urls: AdminUrls) -> None:
        self._urls = urls
        self._client = httpx.Client(follow_redirects=False, trust_env=False, timeout=_TIMEOUT_S)

    def segments(self, broker_id: int, topic: str, partition: int) -> dict[str, Any]:
        """The files of a partition as `broker_id` holds them."""
        return self._get(broker_id, "/v1/segments", {"topic": topic, "partition": partition})

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
        """Entries `start` … of a segment's index; `kind` is "offset" or "time"."""
        where = {"topic": topic, "partition": partition, "base_offset": base_offset}
        asked = where | {"kind": kind, "start": start, "limit": limit}
        return self._get(broker_id, "/v1/segments/index", asked)

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
        where = {"topic": topic, "partition": partition, "base_offset": base_offset}
        asked = where | {"position": position, "limit": limit}
        return self._get(broker_id, "/v1/segments/batches", asked)

    def broker(self, broker_id: int) -> dict[str, Any]:
        """Counters, memory, CPU and disks of a broker."""
        return self._get(broker_id, "/v1/broker", {})

    def events(self, broker_id: int, after: int, limit: int) -> dict[str, Any]:
        """What happened on a broker after event number `after`."""
        return self._get(broker_id, "/v1/events", {"after": after, "limit": limit})

    def close(self) -> None:
        self._client.close()

    def _get(self, broker_id: int, path: str, query: dict[str, Any]) -> dict[str, Any]:
        base = self._urls.by_broker.get(str(broker_id))
        if base is None:
            raise Unsupported(
                f"broker {broker_id} has no admin address in this cluster's settings; "
                "only brokerd has an admin port"
            )
        try:
            target = check_url(base.rstrip("/") + path, self._urls.also_allowed)
            status, body = self._fetch(target, query)
        except (EgressRefused, EgressUnresolved) as error:
            raise Refused(str(error)) from error
        except httpx.HTTPError as error:
            raise ClusterUnavailable(
                f"the admin port of broker {broker_id} does not answer: {type(error).__name__}"
            ) from error
        return _understand(broker_id, status, body)

    def _fetch(self, target: Target, query: dict[str, Any]) -> tuple[int, bytes]:
        headers = {**target.headers, "Authorization": f"Bearer {self._urls.token}"}
        body = bytearray()
        with self._client.stream(
            "GET", target.url, params=query, headers=headers, extensions=target.extensions
        ) as answer:
            for part in answer.iter_bytes():
                body += part
                if len(body) > _ANSWER_BYTES_MAX:
                    raise Refused(f"the admin port answers more than {_ANSWER_BYTES_MAX} bytes")
            return answer.status_code, bytes(body)


def _understand(broker_id: int, status: int, body: bytes) -> dict[str, Any]:
    """The answer's JSON, or the error that its status stands for."""
    try:
        told = json.loads(body)
    except ValueError:
        told = None
    if status == 200 and isinstance(told, dict):
        return told
    reason = str(told.get("error", ""))[:200] if isinstance(told, dict) else ""
    if status in (401, 403):
        raise Refused(f"broker {broker_id} refuses the admin token of this cluster's settings")
    if status == 404:
        raise NotFound(reason or f"broker {broker_id} does not have that")
    if status == 503:
        raise ClusterUnavailable(reason or f"broker {broker_id} is not ready")
    raise Refused(f"broker {broker_id} answers {status} {reason}".strip())
