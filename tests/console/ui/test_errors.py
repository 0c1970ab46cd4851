import logging

import pytest

from tests.support.websocket import WebSocket


def test_an_unknown_host_name_is_answered_with_400_and_how_to_add_it(client, db) -> None:
    client.raise_request_exception = False
    answer = client.get("/", headers={"host": "elsewhere.example"})
    assert answer.status_code == 400
    assert "AERIE_ALLOWED_HOSTS" in answer.content.decode()


@pytest.mark.django_db(transaction=True)
async def test_an_unknown_websocket_address_is_refused() -> None:
    from console.asgi import application

    headers = [(b"origin", b"http://127.0.0.1"), (b"host", b"127.0.0.1")]
    assert not await WebSocket(application, "/ws/zzz", headers).connect()


def logged(client, caplog: pytest.LogCaptureFixture, url: str) -> list[logging.LogRecord]:
    from console.logs import WithoutTracebackOfRefusals

    with caplog.at_level("WARNING"), caplog.filtering(WithoutTracebackOfRefusals()):
        client.get(url)
    return caplog.records


def test_a_refusal_is_one_line_in_the_log(client, viewer, clusters, caplog) -> None:
    client.force_login(viewer)
    [record] = logged(client, caplog, "/audit")
    assert record.getMessage() == "Forbidden (Permission denied): /audit"
    assert record.exc_info is None


def test_a_failure_keeps_its_traceback(client, viewer, clusters, caplog, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("console.health.views._ask_redis", fail)
    monkeypatch.setattr("console.health.views.JsonResponse", fail)
    client.raise_request_exception = False
    records = logged(client, caplog, "/readyz")
    assert any(record.exc_info for record in records)
