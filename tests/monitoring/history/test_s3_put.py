"""The signature against Amazon's example, and the answers of a store."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from monitoring.history.s3_put import Account, Unsupported, account_of, create, signed_headers

KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
}
AT = datetime(2013, 5, 24, tzinfo=UTC)


class Store(ThreadingHTTPServer):
    """Keeps objects by path; a PUT with `If-None-Match: *` creates one at most once."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.headers: dict[str, str] = {}
        self.fails_with = 0
        self.lock = threading.Lock()

    def account(self) -> Account:
        return account_of({**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.server_port}"}, "r")


class _Handler(BaseHTTPRequestHandler):
    server: Store

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        with self.server.lock:
            self.server.headers = {name.lower(): value for name, value in self.headers.items()}
            status = self.server.fails_with or (412 if self.path in self.server.objects else 200)
            if status == 200:
                self.server.objects[self.path] = data
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def store() -> Iterator[Store]:
    server = Store()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_signature_is_that_of_amazons_example_of_a_put() -> None:
    found = signed_headers(
        account_of(KEYS, "us-east-1"),
        "PUT",
        "https://examplebucket.s3.amazonaws.com/test%24file.text",
        {"date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"},
        b"Welcome to Amazon S3.",
        AT,
    )
    assert found["authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,"
        "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
    )


def test_what_is_sent_is_what_was_signed(store: Store) -> None:
    path = "bucket/his tory/cluster=a/_manifest-1.json"
    create(store.account(), path, b"{}", AT)
    assert store.objects == {"/bucket/his%20tory/cluster%3Da/_manifest-1.json": b"{}"}
    url = f"{store.account().endpoint}/bucket/his%20tory/cluster%3Da/_manifest-1.json"
    expected = signed_headers(store.account(), "PUT", url, {"if-none-match": "*"}, b"{}", AT)
    assert {name: store.headers[name] for name in expected} == expected


def test_of_eight_writers_of_one_object_one_succeeds(store: Store) -> None:
    results: list[str] = []

    def write(number: int) -> None:
        try:
            create(store.account(), "bucket/m", str(number).encode())
            results.append(str(number))
        except FileExistsError:
            results.append("")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results)[:7] == [""] * 7
    assert store.objects["/bucket/m"].decode() == max(results)


@pytest.mark.parametrize(
    ("status", "error"),
    [(409, FileExistsError), (412, FileExistsError), (501, Unsupported), (403, OSError)],
)
def test_the_answer_of_the_store_is_an_error(
    store: Store, status: int, error: type[Exception]
) -> None:
    store.fails_with = status
    with pytest.raises(error) as caught:
        create(store.account(), "bucket/m", b"")
    assert type(caught.value) is error


def test_a_store_that_is_away_is_an_oserror() -> None:
    account = account_of({**KEYS, "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "r")
    with pytest.raises(OSError, match="does not answer"):
        create(account, "bucket/m", b"")


def test_the_account_is_that_of_the_environment() -> None:
    assert account_of(KEYS, "eu-west-1").endpoint == "https://s3.eu-west-1.amazonaws.com"
    temporary = account_of({**KEYS, "AWS_SESSION_TOKEN": "t"}, "eu-west-1")
    headers = signed_headers(temporary, "PUT", "https://h/b/k", {}, b"", AT)
    assert headers["x-amz-security-token"] == "t"
    assert "x-amz-security-token" in headers["authorization"]
    with pytest.raises(OSError, match="needs AWS_SECRET_ACCESS_KEY in the environment"):
        account_of({"AWS_ACCESS_KEY_ID": "a"}, "r")
