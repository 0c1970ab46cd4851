"""TLS on a non-blocking socket of ours, with the methods of a socket that a connection uses
(Kafka's SslTransportLayer).

OpenSSL works in memory: one receive brings as many records as came, and what is to be sent leaves
in few sends. What the socket did not take waits as ciphertext. OpenSSL's memory never gets smaller:
it is given what came, and asked for what it made, a few records at a time.
"""

import socket
import ssl
from contextlib import suppress
from typing import Any

RECORD_BYTES_MAX = 5 + (1 << 14) + 2048
"""A record of TLS with its header (RFC 5246; those of TLS 1.3 are smaller)."""
STEP_BYTES = 1 << 15
"""So much is given to OpenSSL, or encrypted by it, at once."""
_HANDSHAKE = 22
"""The content type that a TLS client begins with; a frame of Kafka's begins with its size."""


class TlsFailure(ConnectionAbortedError):
    """TLS with the peer failed; the message says why."""


class SslTransportLayer:
    """One connection's TLS. `ciphertext` is a buffer that all of the loop's connections share."""

    __slots__ = (
        "_begun", "_ciphertext", "_ended", "_incoming", "_outgoing", "_tls", "_unsent", "has_more",
        "is_open", "sent_bytes", "socket",
    )  # fmt: skip

    def __init__(
        self, sock: socket.socket, context: ssl.SSLContext, ciphertext: memoryview
    ) -> None:
        self.socket = sock
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._ciphertext = ciphertext
        self._unsent: list[bytes | memoryview] = []
        self._begun = self._ended = False
        self.has_more = False
        self.is_open = False
        self.sent_bytes = 0

    def fileno(self) -> int:
        return self.socket.fileno()

    @property
    def has_unsent(self) -> bool:
        """Whether ciphertext waits until the socket is writable."""
        return bool(self._unsent or self._outgoing.pending)

    # ---- receiving

    def recv_into(self, view: memoryview) -> int:
        """As a socket's; BlockingIOError also while the handshake is under way. `has_more` says
        that something is left for which the socket will not become readable."""
        received = b"" if self.has_more else self._receive(len(view) if self.is_open else 0)
        self.has_more = False
        try:
            if not self.is_open:
                if self._ended:
                    return 0
                self._incoming.write(received)
                received = b""
                self._tls.do_handshake()
                self.is_open = True
            count = self._decrypt(received, view)
        except ssl.SSLWantReadError:
            count = 0
        except ssl.SSLError as error:
            self._send_quietly()  # the alert that tells the peer
            raise TlsFailure(_words(error)) from None
        self.flush()
        if count == 0 and not self._ended:
            raise BlockingIOError
        return count

    def recvmsg_into(self, views: list[memoryview]) -> tuple[int]:
        """As a socket's, of which only the count is returned."""
        filled = 0
        for view in views:
            try:
                count = self.recv_into(view)
            except BlockingIOError:
                if filled == 0:
                    raise
                break
            filled += count
            if count == 0 and filled:
                self.has_more = True  # the end is returned by a receive of its own
            if count < len(view) or not self.has_more:
                break
        return (filled,)

    def _receive(self, room: int) -> memoryview | bytes:
        """Receives at most what has room when decrypted, or a few records."""
        count = self.socket.recv_into(self._ciphertext[: max(room, STEP_BYTES)])
        if count == 0:
            self._ended = True  # OpenSSL must not know: it would send nothing more
            return b""
        if not self._begun and self._ciphertext[0] != _HANDSHAKE:
            raise TlsFailure("it does not speak TLS, which this listener needs")
        self._begun = True
        return self._ciphertext[:count]

    def _decrypt(self, received: memoryview | bytes, view: memoryview) -> int:
        """Fills the view with plaintext, as far as there is any."""
        filled, room = 0, len(view)
        given, incoming = 0, self._incoming
        read: Any = self._tls.read  # into a buffer it returns a number
        while filled < room:
            if given < len(received) and incoming.pending < RECORD_BYTES_MAX:
                given += incoming.write(received[given : given + STEP_BYTES])
            try:
                count = read(room - filled, view[filled:])
            except ssl.SSLWantReadError:
                if given == len(received):
                    break
                given += incoming.write(received[given : given + STEP_BYTES])
                continue
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                count = 0
            if count == 0:
                self._ended = True
                break
            filled += count
        else:
            self.has_more = True
            incoming.write(received[given:])
        if self._ended and filled:
            self.has_more = True  # the end is returned by a receive of its own
        return filled

    # ---- sending

    def write(self, data: bytes | memoryview) -> None:
        """Encrypts; `flush` sends. May be called only while `has_unsent` is false."""
        view = memoryview(data)
        for start in range(0, len(view), STEP_BYTES):
            self._tls.write(view[start : start + STEP_BYTES])
            self._unsent.append(self._outgoing.read())

    def flush(self) -> bool:
        """Sends ciphertext; False while some is left. OSError if the peer is gone."""
        unsent = self._unsent
        while True:
            if self._outgoing.pending:
                unsent.append(self._outgoing.read())
            if not unsent:
                return True
            try:
                sent = self.socket.sendmsg(unsent)
            except BlockingIOError:
                return False
            self.sent_bytes += sent
            while unsent and sent >= len(unsent[0]):
                sent -= len(unsent.pop(0))
            if sent:
                unsent[0] = memoryview(unsent[0])[sent:]

    def _send_quietly(self) -> None:
        with suppress(OSError):
            self.flush()

    def close(self) -> None:
        """Tells the peer, if that is possible at once, and closes the socket."""
        if self.is_open and not self._unsent:
            with suppress(ssl.SSLError, OSError):
                self._tls.unwrap()
            self._send_quietly()
        self.socket.close()


_SAID = {
    "HTTP_REQUEST": "it speaks HTTP, not TLS",
    "HTTPS_PROXY_REQUEST": "it speaks HTTP, not TLS",
    "WRONG_VERSION_NUMBER": "it does not speak TLS, which this listener needs",
    "UNSUPPORTED_PROTOCOL": "it offers no TLS version of ssl.enabled.protocols",
    "NO_SHARED_CIPHER": "it offers no cipher suite that can be used here",
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": "it sent no certificate, and ssl.client.auth=required",
}


def _words(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {error.verify_message}"
    if isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
        return "it ended the TLS handshake"
    reason = error.reason or "unknown"
    if "ALERT" in reason:
        return f"it ended TLS: {reason.lower().replace('_', ' ')}"
    return _SAID.get(reason, f"TLS failed: {reason.lower().replace('_', ' ')}")
