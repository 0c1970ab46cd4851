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
