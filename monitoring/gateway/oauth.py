"""Access tokens for OAUTHBEARER, by the client-credentials grant of OAuth 2.0 (RFC 6749, 4.4).

A token is requested once and used until shortly before it expires.
"""

import asyncio
import base64
import hashlib
import threading
from dataclasses import replace
from urllib.parse import quote, urlencode

import httpx

from monitoring.clock import now_ms
from monitoring.clusters.kafka_client_settings import AccessToken, ClientSettings, Sasl
from monitoring.clusters.sasl_mechanisms import OAUTHBEARER
from monitoring.egress import bounded_http, url_checks
from monitoring.error_reason import Reason
from monitoring.gateway import event_loop, request_timeouts
from monitoring.gateway.errors import ClusterUnavailable, Refused

_BYTES_MAX = 64 * 1024
_LIFETIME_S_DEFAULT = 300  # if the endpoint does not say it
_MARGIN_MS = 30_000
_tokens: dict[str, AccessToken] = {}
_lock = threading.Lock()


def with_token(settings: ClientSettings) -> ClientSettings:
    """The settings with a valid token if they need one. Blocks; not for an event loop.

    Raises ClusterUnavailable or Refused.
    """
    sasl = settings.sasl
    if sasl is None or sasl.mechanism != OAUTHBEARER:
        return settings
    try:
        token = event_loop.run(access_token(sasl), request_timeouts.TOKEN_S + 1)
    except TimeoutError as error:
        raise _no_answer(Reason("timed_out")) from error
    return replace(settings, sasl=replace(sasl, token=token))


async def access_token(sasl: Sasl) -> AccessToken:
    """A token that is valid for 30 seconds at least, unless tokens live shorter.

    Raises ClusterUnavailable or Refused.
    """
    key = hashlib.sha256(repr([sasl.token_url, sasl.username, sasl.password]).encode()).hexdigest()
    key += sasl.token_scope
    with _lock:
        known = _tokens.get(key)
    if known is not None and known.expires_at_ms > now_ms() + _MARGIN_MS:
        return known
    token = await _request(sasl)
    with _lock:
        _tokens[key] = token
    return token


async def _request(sasl: Sasl) -> AccessToken:
    form = {"grant_type": "client_credentials"}
    if sasl.token_scope:
        form["scope"] = sasl.token_scope
    login = base64.b64encode(f"{quote(sasl.username)}:{quote(sasl.password)}".encode()).decode()
    headers = {
        "Authorization": f"Basic {login}",
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
    }
    try:
        target = await asyncio.to_thread(
            url_checks.check_url, sasl.token_url, sasl.token_targets
        )  # DNS
        async with bounded_http.new_client(request_timeouts.TOKEN_S) as client:
            answer = await bounded_http.request(
                client, "POST", target, timeout_s=request_timeouts.TOKEN_S,
                body_bytes_max=_BYTES_MAX, headers=headers, content=urlencode(form).encode(),
            )  # fmt: skip
    except (url_checks.EgressRefused, bounded_http.AnswerRefused) as error:
        raise Refused(Reason("token_endpoint", why=error.reason)) from error
    except url_checks.EgressUnresolved as error:
        raise _no_answer(error.reason) from error
    except (TimeoutError, httpx.HTTPError) as error:
        raise _no_answer(str(error) or type(error).__name__) from error
    if answer.status != 200:
        raise Refused(Reason("token_status", status=answer.status))
    return _parse(answer.body)


def _parse(body: bytes) -> AccessToken:
    try:
        fields = bounded_http.parse_json(body)
        token, lifetime_s = fields["access_token"], fields.get("expires_in", _LIFETIME_S_DEFAULT)
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise ValueError("access_token")
        return AccessToken(token, now_ms() + int(lifetime_s) * 1000)
    except (ValueError, KeyError, TypeError, AttributeError, bounded_http.AnswerRefused) as error:
        raise Refused(Reason("token_format")) from error


def _no_answer(why: str) -> ClusterUnavailable:
    return ClusterUnavailable(Reason("token_endpoint", why=why))
