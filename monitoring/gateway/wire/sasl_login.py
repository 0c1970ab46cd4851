"""The login of a connection with SASL.

SaslHandshake v1    = mechanism s                → error i16, mechanisms[s]
SaslAuthenticate v1 = bytes                      → error i16, message s?, bytes, lifetime_ms i64
"""

import secrets
from struct import Struct

from monitoring.clusters.kafka_client_settings import Sasl
from monitoring.clusters.sasl_mechanisms import OAUTHBEARER
from monitoring.error_reason import Reason
from monitoring.gateway import oauth
from monitoring.gateway.errors import Refused
from monitoring.gateway.wire import sasl as mechanisms
from monitoring.gateway.wire.connection import Connection, frame
from monitoring.gateway.wire.cursor import AFTER_CORRELATION_ID, Cursor
from monitoring.gateway.wire.response_limits import printable

HANDSHAKE_KEY, AUTHENTICATE_KEY = 17, 36
_VERSION = 1
_TEXT_MAX = 300
_I16, _I32 = Struct(">h"), Struct(">i")


async def authenticate(connection: Connection, sasl: Sasl, timeout_s: float) -> int:
    """Log in; returns after how many ms the broker ends the session, 0 = never.

    Raises Refused, or ClusterUnavailable if the broker does not answer.
    """
    token = await oauth.access_token(sasl) if sasl.mechanism == OAUTHBEARER else None
    await _handshake(connection, sasl.mechanism, timeout_s)
    login = mechanisms.login(sasl, token, secrets.token_urlsafe(24))
    lifetime_ms = 0
    message = next(login)
    while True:
        answer, lifetime_ms = await _send(connection, message, timeout_s)
        try:
            message = login.send(answer)
        except StopIteration:
            return lifetime_ms
        except mechanisms.ServerNotTrusted as error:
            raise Refused(Reason("login_untrusted", why=str(error))) from error


async def _handshake(connection: Connection, mechanism: str, timeout_s: float) -> None:
    name = mechanism.encode()
    body = _I16.pack(len(name)) + name
    cursor = await _call(connection, HANDSHAKE_KEY, body, timeout_s)
    if cursor.i16():
        offered = [
            printable(cursor.text() or "") for _ in range(cursor.array_length(item_bytes_min=2))
        ]
        names = {"mechanism": mechanism, "offered": ", ".join(offered)[:_TEXT_MAX] or "—"}
        raise Refused(Reason("login_mechanism", **names))


async def _send(connection: Connection, message: bytes, timeout_s: float) -> tuple[bytes, int]:
    body = _I32.pack(len(message)) + message
    cursor = await _call(connection, AUTHENTICATE_KEY, body, timeout_s)
    error, text = cursor.i16(), cursor.text()
    if error:
        why = printable(text or f"error {error}", _TEXT_MAX)
        raise Refused(Reason("login_refused", why=why))
    return cursor.bytes(), cursor.i64()


async def _call(connection: Connection, api_key: int, body: bytes, timeout_s: float) -> Cursor:
    correlation_id = connection.next_correlation_id()
    request = frame(api_key, _VERSION, correlation_id, body)
    answer = await connection.call(correlation_id, request, timeout_s)
    return Cursor(answer, AFTER_CORRELATION_ID)
