"""A schema registry on 127.0.0.1 with Confluent's REST API, as far as Aerie uses it.

It does not check schemas: one is not compatible if it contains "incompatible", and does not parse
if it contains "unparsable". `Registry.add` registers one. An id is of one
version; deleted versions keep it.
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
    compatibility: dict[str, str] = field(default_factory=lambda: {"": "BACKWARD"})
    _versions: dict[int, tuple[str, int, dict[str, Any]]] = field(default_factory=dict)
    _deleted: set[int] = field(default_factory=set)

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
        self._register(subject, fields)

    def _register(self, subject: str, fields: dict[str, Any]) -> int:
        version = 1 + sum(each[0] == subject for each in self._versions.values())
        number = len(self._versions) + 1
        self._versions[number] = (subject, version, fields)
        return number

    def versions(self, subject: str) -> dict[int, tuple[int, dict[str, Any]]]:
        """Version → id and fields."""
        return {
            version: (number, fields)
            for number, (of, version, fields) in self._versions.items()
            if of == subject and number not in self._deleted
        }

    def answer(self, path: str, method: str = "GET", body: Any = None) -> tuple[int, Any]:
        """Status and JSON."""
        if found := re.fullmatch(r"/schemas/ids/(\d+)(/versions)?", path):
            known = self._versions.get(int(found[1]))
            if known is None:
                return 404, {"error_code": 40403, "message": "Schema not found"}
            return 200, [{"subject": known[0], "version": known[1]}] if found[2] else known[2]
        if method == "POST" and "unparsable" in body["schema"]:
            return 422, {"error_code": 42201, "message": "Invalid schema: it does not parse"}
        if path == "/subjects":
            names = {each[0] for each in self._versions.values()}
            return 200, sorted(name for name in names if self.versions(name))
        if found := re.fullmatch(r"/config(?:/([^/]+))?", path):
            return self._config(unquote(found[1] or ""), method, body)
        if found := re.fullmatch(r"(/compatibility)?/subjects/([^/]+)(/versions)?(?:/(.+))?", path):
            subject = unquote(found[2])
            if found[1]:
                return self._compatible(subject, body)
            return self._subject(subject, method, body, bool(found[3]), found[4])
        return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}

    def _config(self, subject: str, method: str, body: Any) -> tuple[int, Any]:
        if method == "PUT":
            self.compatibility[subject] = body["compatibility"]
            return 200, body
        if subject not in self.compatibility:
            return 404, {"error_code": 40408, "message": "No compatibility of its own"}
        level = self.compatibility[subject]
        if method == "DELETE":
            del self.compatibility[subject]
        return 200, {"compatibilityLevel": level}

    def _compatible(self, subject: str, body: Any) -> tuple[int, Any]:
        if not self.versions(subject):
            return 404, {"error_code": 40401, "message": "Subject not found"}
        is_compatible = "incompatible" not in body["schema"]
        messages = [] if is_compatible else ["reader has a field without a default"]
        return 200, {"is_compatible": is_compatible, "messages": messages}

    def _subject(
        self, subject: str, method: str, body: Any, of_versions: bool, version: str | None
    ) -> tuple[int, Any]:
        known = self.versions(subject)
        if method == "POST" and of_versions:
            if known and "incompatible" in body["schema"]:
                return 409, {"error_code": 409, "message": "It is incompatible"}
            return 200, {"id": self._register(subject, body)}
        if not known:
            return 404, {"error_code": 40401, "message": f"Subject '{subject}' not found."}
        if method == "POST":
            for number, (_id, fields) in known.items():
                if fields == body:
                    return 200, {"subject": subject, "version": number}
            return 404, {"error_code": 40403, "message": "Schema not found"}
        if version is None:
            return 200, list(known)
        number = max(known) if version == "latest" else int(version)
        if number not in known:
            return 404, {"error_code": 40402, "message": "Version not found"}
        if method == "DELETE":
            self._deleted.add(known[number][0])
            return 200, number
        return 200, {"subject": subject, "version": number, "id": known[number][0]} | known[number][
            1
        ]


@contextmanager
def schema_registry(certificate: Path | None = None) -> Iterator[Registry]:
    """A running registry; `certificate`: a PEM file with chain and key, for HTTPS."""
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            size_bytes = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size_bytes)) if size_bytes else None
            registry.requests.append(path)
            time.sleep(registry.delay_s)
            login = "Basic " + base64.b64encode(registry.login.encode()).decode()
            if registry.login and self.headers.get("Authorization") != login:
                status, content = 401, b"{}"
            elif path in registry.override:
                status, content = registry.override[path]
            else:
                status, answer = registry.answer(path, self.command, body)
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

        do_POST = do_PUT = do_DELETE = do_GET

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
