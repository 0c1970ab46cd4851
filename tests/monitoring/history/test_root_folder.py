"""A store like S3 that fails, or has no bucket."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from monitoring.history import root_folder
from monitoring.history.root_folder import Root, current

CODES = {404: "NoSuchBucket", 500: "InternalError"}


class Store(ThreadingHTTPServer):
    """Answers every request with `status`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 404
        self.requests: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Store

    def do_GET(self) -> None:
        self.server.requests.append(self.command)
        self.send_response(self.server.status)
        text = f"<Error><Code>{CODES[self.server.status]}</Code><Message>no</Message></Error>"
        body = text.encode() if self.command == "GET" else b""
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, settings) -> Iterator[Store]:
    server = Store()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    for name, value in (
        ("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}/"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    settings.HISTORY_URL = "s3a://bucket/history"
    root_folder._root_of.cache_clear()
    yield server
    root_folder._root_of.cache_clear()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def root(store: Store) -> Root:
    found = current()
    store.requests.clear()
    return found


def test_a_missing_bucket_is_named(root: Root) -> None:
    assert root.entries() == []  # as a folder that is not there yet
    with pytest.raises(FileNotFoundError, match="there is no bucket bucket: create it"):
        root.check()


def test_a_store_that_fails_is_asked_three_times(store: Store, root: Root) -> None:
    store.status = 500
    with pytest.raises(OSError, match="bucket"):
        root.entries()
    assert len(store.requests) == 3
