"""TLS on a non-blocking socket of ours, with the methods of a socket that a connection uses.

OpenSSL works in memory here: one receive from the socket feeds as many records as came, and what is
to be sent is encrypted in large pieces and leaves in few sends. What the socket did not take waits
as ciphertext, which a retried write of OpenSSL's own could not do without the same bytes again.
"""

import socket
import ssl
from contextlib import suppress
from typing import Any

_HANDSHAKE = 22
"""The content type that a TLS client begins with; a frame of Kafka's begins with its size."""


class TlsFailure(ConnectionAbortedError):
    """The peer and we do not understand each other; the text says why."""


class TlsSocket:
    """One connection's TLS. `ciphertext` is a buffer that all of the loop's connections share."""

    __slots__ = (
        "_begun", "_ciphertext", "_ended", "_incoming", "_outgoing", "_tls", "_unsent",
        "has_more", "is_open", "sent_bytes", "socket",
    )  # fmt: skip

    def __init__(
        self, sock: socket.socket, context: ssl.SSLContext, ciphertext: memoryview
    ) -> None:
        self.socket = sock
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._ciphertext = ciphertext
        self._unsent = memoryview(b"")
        self._begun = self._ended = False
        self.has_more = False
        self.is_open = False
        self.sent_bytes = 0

    def fileno(self) -> int:
        """The descriptor of the socket below."""
        return self.socket.fileno()

    @property
    def has_unsent(self) -> bool:
        """Whether ciphertext waits until the socket is writable."""
        return bool(self._unsent) or bool(self._outgoing.pending)

    # ---- receiving

    def recv_into(self, view: memoryview) -> int:
        """As a socket's; BlockingIOError also while the handshake is under way. `has_more` says
        that something is left for which the socket will not become readable."""
        if not self.has_more:
            self._receive()
        self.has_more = False
        try:
            if not self.is_open:
                if self._ended:
                    return 0
                self._tls.do_handshake()
                self.is_open = True
            count = self._decrypt(view)
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
        """As a socket's, of which only the count is told."""
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
                self.has_more = True  # the end is told by a receive of its own
            if count < len(view) or not self.has_more:
                break
        return (filled,)

    def _receive(self) -> None:
        count = self.socket.recv_into(self._ciphertext)
        if count == 0:
            self._ended = True  # OpenSSL is not told: it would send nothing more
            return
        if not self._begun and self._ciphertext[0] != _HANDSHAKE:
            raise TlsFailure("it does not speak TLS, which this listener needs")
        self._begun = True
        self._incoming.write(self._ciphertext[:count])

    def _decrypt(self, view: memoryview) -> int:
        """Fills the view as far as there is plaintext."""
        filled, room = 0, len(view)
        read: Any = self._tls.read  # into a buffer it returns a number
        try:
            while filled < room:
                count = read(room - filled, view[filled:])
                if count == 0:
                    self._ended = True
                    break
                filled += count
            else:
                self.has_more = True
        except ssl.SSLWantReadError:
            pass
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            self._ended = True
        if self._ended and filled:
            self.has_more = True  # the end is told by a receive of its own
        return filled

    # ---- sending

    def write(self, data: bytes) -> None:
        """Encrypts; `flush` sends. To be called only while nothing is unsent."""
        self._tls.write(data)

    def flush(self) -> bool:
        """Sends ciphertext; False while some is left. OSError when the peer is gone."""
        while True:
            if not self._unsent:
                if not self._outgoing.pending:
                    return True
                self._unsent = memoryview(self._outgoing.read())
            try:
                sent = self.socket.send(self._unsent)
            except BlockingIOError:
                return False
            self.sent_bytes += sent
            self._unsent = self._unsent[sent:]

    def _send_quietly(self) -> None:
        with suppress(OSError):
            self.flush()

    def close(self) -> None:
        """Tells the peer, if that can be done at once, and closes."""
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
