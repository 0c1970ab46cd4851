"""A real HTTP server on 127.0.0.1 that answers as told and remembers what it was sent."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebhookServer:
    """`answers`: the status of each next request, the last one for all that follow."""

    url: str = ""
    answers: list[int] = field(default_factory=lambda: [204])
    received: list[Received] = field(default_factory=list)
    body: bytes = b""
    location: str = ""


@pytest.fixture
def webhook_server(settings) -> Iterator[WebhookServer]:
    """Running; the egress check lets it through."""
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]
    state = WebhookServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.received.append(Received(self.path, dict(self.headers), body))
            status = state.answers.pop(0) if len(state.answers) > 1 else state.answers[0]
            self.send_response(status)
            if state.location:
                self.send_header("Location", state.location)
            if status != 204:
                self.send_header("Content-Length", str(len(state.body)))
            self.end_headers()
            if status != 204:
                try:
                    self.wfile.write(state.body)
                except ConnectionError:
                    pass  # nobody need read it

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        state.url = f"http://127.0.0.1:{server.server_port}/hook?token=t0ken"
        yield state
        server.shutdown()
