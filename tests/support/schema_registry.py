"""A schema registry on 127.0.0.1 with Confluent's REST API, as far as Aerie uses it.

It does not check schemas. `Registry.add` registers one.
"""

import base64
import json
import re
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass
class Registry:
    """`login`: "user:password" that requests need; `delay_s`: before each answer; `override`: path
    → status and body in place of the right answer."""

    url: str = ""
    login: str = ""
    delay_s: float = 0.0
    override: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    _versions: dict[int, tuple[str, int, dict[str, Any]]] = field(default_factory=dict)

    def add(
        self,
        subject: str,
        schema: str,
        kind: str = "AVRO",
        references: list[tuple[str, str, int]] | None = None,
    ) -> None:
        """Register a schema; `references` are names, subjects and versions. The ids are 1, 2, …"""
        fields: dict[str, Any] = {"schema": schema}
        if kind != "AVRO":  # as the real one
            fields["schemaType"] = kind
        if references:
            fields["references"] = [
                {"name": name, "subject": of, "version": version}
                for name, of, version in references
            ]
        version = 1 + sum(each[0] == subject for each in self._versions.values())
        self._versions[len(self._versions) + 1] = (subject, version, fields)

    def answer(self, path: str) -> tuple[int, Any]:
        """Status and JSON."""
        if found := re.fullmatch(r"/schemas/ids/(\d+)(/versions)?", path):
            known = self._versions.get(int(found[1]))
            if known is None:
                return 404, {"error_code": 40403, "message": "Schema not found"}
            return 200, [{"subject": known[0], "version": known[1]}] if found[2] else known[2]
        if path == "/subjects":
            return 200, sorted({each[0] for each in self._versions.values()})
        if found := re.fullmatch(r"/subjects/([^/]+)/versions/(\d+|latest)", path):
            for number, (subject, version, fields) in reversed(self._versions.items()):
                if subject == unquote(found[1]) and found[2] in ("latest", str(version)):
                    return 200, {"subject": subject, "version": version, "id": number} | fields
        return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}


@contextmanager
def schema_registry(certificate: Path | None = None) -> Iterator[Registry]:
    """A running registry; `certificate`: a PEM file with chain and key, for HTTPS."""
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            registry.requests.append(path)
            time.sleep(registry.delay_s)
            login = "Basic " + base64.b64encode(registry.login.encode()).decode()
            if registry.login and self.headers.get("Authorization") != login:
                status, content = 401, b"{}"
            elif path in registry.override:
                status, content = registry.override[path]
            else:
                status, answer = registry.answer(path)
                content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(content)))
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.end_headers()
            try:
                self.wfile.write(content)
            except OSError:
                pass  # the client hung up, which is its right

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    scheme = "http" if certificate is None else "https"
    registry.url = f"{scheme}://127.0.0.1:{server.server_port}"
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
