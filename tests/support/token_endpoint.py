"""A token endpoint of OAuth 2.0 on 127.0.0.1: gives unsecured tokens to one client, for an hour."""

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CLIENT_ID, CLIENT_SECRET = "aerie", "s3cr=t:%"


@contextmanager
def token_endpoint() -> Iterator[tuple[str, list[str]]]:
    """Its URL, and the bodies of the requests so far."""
    bodies: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            login = "aerie:s3cr%3Dt%3A%25"  # both parts are percent-encoded first (RFC 6749, 2.3.1)
            is_known = self.headers["Authorization"] == f"Basic {_base64(login)}"
            answer = {"access_token": _token("ann"), "expires_in": 3600} if is_known else {}
            body = json.dumps(answer).encode()
            self.send_response(200 if is_known else 401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/token", bodies
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def _token(subject: str) -> str:
    """As Kafka's OAuthBearerUnsecuredValidatorCallbackHandler accepts it."""
    now_s = time.time()
    claims = {"sub": subject, "iat": now_s, "exp": now_s + 3600}
    parts = (json.dumps({"alg": "none"}), json.dumps(claims))
    encoded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, ""])  # an empty signature


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
