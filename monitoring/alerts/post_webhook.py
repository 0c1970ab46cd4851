"""Sends one POST to a webhook: checks the URL (egress/), signs the body, follows no redirects."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx

from monitoring.alerts.delivery_retries import is_retriable, is_retriable_error
from monitoring.alerts.webhook_message import body_of, signature
from monitoring.egress import bounded_http
from monitoring.egress.addresses import AllowedTarget
from monitoring.egress.models import EgressTarget, allowed_for
from monitoring.egress.url_checks import EgressRefused, EgressUnresolved, check_url
from monitoring.error_reason import Reason
from monitoring.gateway import event_loop

TIMEOUT_S = 10.0
# InvalidURL and ValueError are raised when httpx builds the request.
_ERRORS = (
    EgressRefused, EgressUnresolved, TimeoutError, httpx.HTTPError, httpx.InvalidURL, ValueError
)  # fmt: skip
# DNS lookups run in threads: a lookup that fails can take half a minute.
_dns_threads = ThreadPoolExecutor(32, thread_name_prefix="dns-lookup")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one attempt. `error` is a Reason or text, without the URL's path and query."""

    delivered: bool
    retriable: bool
    status_code: int | None
    error: str
    took_ms: int


def post(
    url: str, secret: str, delivery_id: int, payload: dict[str, Any], timestamp_s: int
) -> Outcome:
    """Send `payload`. Errors of the webhook are in the result, never raised."""
    started_s = time.monotonic()

    def outcome(error: str, *, retriable: bool = False, status: int | None = None) -> Outcome:
        took_ms = int((time.monotonic() - started_s) * 1000)
        return Outcome(
            delivered=not error,
            retriable=retriable,
            status_code=status,
            error=error,
            took_ms=took_ms,
        )

    body = body_of(payload)
    allowed = allowed_for(EgressTarget.Purpose.WEBHOOK)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Aerie",
        "X-Aerie-Delivery": str(delivery_id),
        "X-Aerie-Timestamp": str(timestamp_s),
    }
    if secret:
        headers["X-Aerie-Signature"] = signature(secret, timestamp_s, body)
    try:
        # The time-out covers the whole request, also for a server that answers slowly byte by byte.
        status = event_loop.run(_send(url, allowed, headers, body), TIMEOUT_S)
    except _ERRORS as error:
        return outcome(_reason(error), retriable=is_retriable_error(error))
    if 200 <= status < 300:
        return outcome("", status=status)
    if 300 <= status < 400:
        return outcome(Reason("webhook_redirect", status=status), status=status)
    reason = Reason("webhook_status", status=status)
    return outcome(reason, retriable=is_retriable(status), status=status)


def _reason(error: Exception) -> Reason:
    """Why there is no status."""
    if isinstance(error, EgressRefused | EgressUnresolved):
        return error.reason
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return Reason("call_timed_out", seconds=round(TIMEOUT_S))
    if isinstance(error, httpx.HTTPError):
        return Reason("webhook_failed", error=type(error).__name__)
    return Reason("webhook_url", error=type(error).__name__)


async def _send(
    url: str, allowed: Sequence[AllowedTarget], headers: dict[str, str], body: bytes
) -> int:
    """The response's status; the body is not read."""
    target = await asyncio.get_running_loop().run_in_executor(_dns_threads, check_url, url, allowed)
    async with bounded_http.new_client(TIMEOUT_S) as client:
        answer = await bounded_http.request(
            client,
            "POST",
            target,
            timeout_s=TIMEOUT_S,
            body_bytes_max=0,
            headers=headers,
            content=body,
        )
        return answer.status
