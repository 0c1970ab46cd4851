"""The client's side of SASL: PLAIN, SCRAM (RFC 5802), OAUTHBEARER (RFC 7628).

Pure: the messages of one login. The caller passes the nonce and sends the messages.
"""

import base64
import hashlib
import hmac
from collections.abc import Generator
from secrets import compare_digest

from monitoring.clusters.kafka_client_settings import AccessToken, Sasl
from monitoring.clusters.sasl_mechanisms import OAUTHBEARER, PLAIN, SCRAM_256, SCRAM_512

ITERATIONS_MAX = 1_000_000  # a server could demand hours of hashing
_HASHES = {SCRAM_256: "sha256", SCRAM_512: "sha512"}

# Yields each message for the broker, and is sent the broker's answer to it.
Login = Generator[bytes, bytes, None]


class ServerNotTrusted(Exception):
    """The broker's message is not valid, or the broker does not know the password itself."""


def login(sasl: Sasl, token: AccessToken | None, nonce: str) -> Login:
    """The messages of one login; OAUTHBEARER needs `token`. Raises ServerNotTrusted."""
    if sasl.mechanism == OAUTHBEARER:
        if token is None:
            raise ValueError("OAUTHBEARER needs an access token")
        return _oauth(token)
    return _plain(sasl) if sasl.mechanism == PLAIN else _scram(sasl, nonce)


def _plain(sasl: Sasl) -> Login:
    yield f"\0{sasl.username}\0{sasl.password}".encode()


def _oauth(token: AccessToken) -> Login:
    refusal = yield f"n,,\1auth=Bearer {token.value}\1\1".encode()
    if refusal:  # a JSON text with the error; the broker fails the login after this message
        yield b"\1"


def _scram(sasl: Sasl, nonce: str) -> Login:
    digest = _HASHES[sasl.mechanism]
    user = sasl.username.replace("=", "=3D").replace(",", "=2C")
    client_first = f"n={user},r={nonce}"
    server_first = (yield f"n,,{client_first}".encode()).decode("utf-8", "replace")
    fields = _fields(server_first)
    try:
        salt, iterations = base64.b64decode(fields["s"], validate=True), int(fields["i"])
        server_nonce = fields["r"]
    except (KeyError, ValueError) as error:
        raise ServerNotTrusted("its message is not SCRAM") from error
    if not server_nonce.startswith(nonce) or len(server_nonce) == len(nonce):
        raise ServerNotTrusted("its nonce is not ours")
    if not 0 < iterations <= ITERATIONS_MAX:
        raise ServerNotTrusted(f"it demands {iterations} iterations")
    salted = hashlib.pbkdf2_hmac(digest, sasl.password.encode(), salt, iterations)
    without_proof = f"c=biws,r={server_nonce}"
    auth_message = f"{client_first},{server_first},{without_proof}".encode()
    client_key = _hmac(salted, b"Client Key", digest)
    signature = _hmac(hashlib.new(digest, client_key).digest(), auth_message, digest)
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    final = yield f"{without_proof},p={base64.b64encode(proof).decode()}".encode()
    expected = _hmac(_hmac(salted, b"Server Key", digest), auth_message, digest)
    signature_text = _fields(final.decode("utf-8", "replace")).get("v", "")
    if not compare_digest(signature_text.encode(), base64.b64encode(expected)):
        raise ServerNotTrusted("its signature is wrong")


def _fields(message: str) -> dict[str, str]:
    """`r=…,s=…,i=…` as a dict."""
    return {name: value for name, _, value in (part.partition("=") for part in message.split(","))}


def _hmac(key: bytes, message: bytes, digest: str) -> bytes:
    return hmac.new(key, message, digest).digest()
