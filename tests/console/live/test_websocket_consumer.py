"""The live socket, with the real channel layer and without a web server."""

import asyncio
import re
from urllib.parse import urlencode

import pytest
from asgiref.sync import sync_to_async
from channels.layers import channel_layers, get_channel_layer
from django.conf import settings
from django.test import Client

from console.accounts.models import RoleGrant
from console.asgi import application
from console.live import fragment_renderer
from tests.console.conftest import a_user, sample, sample_next
from tests.support.pseudo_language import LANGUAGE, pseudo_language
from tests.support.websocket import WebSocket

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _own_layer(redis_server):
    channel_layers.backends.clear()  # a layer keeps the event loop of the test that made it


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


async def session_of(user) -> str:
    client = await sync_to_async(signed_in)(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


async def connect(user, slug="local", show="", seen="", origin=b"http://127.0.0.1", language="en"):
    headers = [(b"origin", origin), (b"host", b"127.0.0.1")]
    headers.append((b"accept-language", language.encode()))
    if user is not None:
        key = await session_of(user)
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={key}".encode()))
    path = f"/ws/c/{slug}/?{urlencode({'show': show, 'seen': seen})}"
    socket = WebSocket(application, path, headers)
    return socket if await socket.connect() else None


async def announce(number, slug="local"):
    message = {"type": "tick", "cluster": slug, "tick": number}
    await get_channel_layer().group_send(f"tick.{slug}", message)


async def heard(socket) -> str:
    text = await socket.receive_text()
    await socket.send_text("drawn")
    return text


@pytest.fixture
async def world(clusters):
    await sync_to_async(sample)("local")
    return clusters


async def test_a_page_gets_its_fragment_at_once_and_at_each_tick(world, viewer):
    socket = await connect(viewer, show="dashboard")
    first = await heard(socket)
    assert 'id="live-dashboard"' in first
    assert 'id="live-status"' in first
    number = await sync_to_async(sample_next)("local")
    for _ in range(2):  # the second time it has that tick already
        await announce(number)
    assert "live-dashboard" in await heard(socket)
    assert await socket.receive_nothing(timeout=0.3)
    await socket.disconnect()


async def test_each_user_gets_the_fragment_for_their_rights(world, viewer, admin):
    shown = {}
    for user in (viewer, admin):
        socket = await connect(user, show="dashboard")
        shown[user.username] = await heard(socket)
        await socket.disconnect()
    assert "auditors" not in shown["viewer"]
    assert "auditors" in shown["admin"]


async def test_a_page_that_has_the_newest_tick_gets_nothing_until_the_next(world, viewer):
    page = await sync_to_async(lambda: signed_in(viewer).get("/c/local/").content.decode())()
    [seen] = re.findall(r"seen=([^&\"]+)", page)
    socket = await connect(viewer, show="dashboard", seen=seen)
    assert await socket.receive_nothing(timeout=0.5)
    number = await sync_to_async(sample_next)("local")
    await announce(number)
    assert "live-dashboard" in await heard(socket)
    await socket.disconnect()


async def test_a_page_that_was_hidden_for_some_ticks_gets_the_newest_at_once(world, viewer):
    page = await sync_to_async(lambda: signed_in(viewer).get("/c/local/").content.decode())()
    [seen] = re.findall(r"seen=([^&\"]+)", page)
    await sync_to_async(sample_next)("local")
    socket = await connect(viewer, show="dashboard", seen=seen)
    assert "live-dashboard" in await heard(socket)
    await socket.disconnect()


async def test_rows_of_a_list_come_as_the_browser_asked_for_them(world, viewer, admin):
    socket = await connect(admin, show="topics?sort=-name&q=o")
    told = await heard(socket)
    assert told.index("/topics/orders") < told.index("/topics/console.audit")
    assert "sort=name" in told, "the headings lead on from there"
    await socket.disconnect()
    socket = await connect(viewer, show="topics?sort=-name&q=o")
    assert "console.audit" not in await heard(socket)
    await socket.disconnect()


async def test_browsers_with_the_same_rights_and_query_share_a_rendering_of_rows(
    world, viewer, monkeypatch
):
    calls = []
    render = fragment_renderer.render
    monkeypatch.setattr(
        fragment_renderer, "render", lambda *told: calls.append(str(told[2])) or render(*told)
    )
    shows = ("topics?q=ord", "topics?q=ord", "topics?unknown=1&q=ord", "topics?q=x")
    sockets = [await connect(viewer, show=show) for show in shows]
    await asyncio.gather(*map(heard, sockets))
    assert sorted(calls) == ["topics?q=ord", "topics?q=x"]
    await asyncio.gather(*(socket.disconnect() for socket in sockets))


async def test_an_alert_is_reported_at_once_only_to_pages_that_show_alerts(world, viewer):
    sockets = [await connect(viewer, show=show) for show in ("dashboard", "topics")]
    for socket in sockets:
        await heard(socket)
    message = {"type": "alerts", "cluster": "local", "tick": 7}
    await get_channel_layer().group_send("alerts.local", message)
    assert "live-dashboard" in await heard(sockets[0])
    assert await sockets[1].receive_nothing(timeout=0.3)
    await asyncio.gather(*(socket.disconnect() for socket in sockets))


@pytest.mark.parametrize("show", ["unknown", "../x", "group:" + "g" * 5000])
async def test_an_unknown_fragment_is_refused(world, viewer, show):
    assert await connect(viewer, show=show) is None


async def test_an_unknown_group_gets_only_the_banner(world, viewer):
    socket = await connect(viewer, show="group:nobody")
    assert "live-group" not in await heard(socket)
    await socket.disconnect()


async def test_a_page_gets_its_fragment_in_the_language_of_its_browser(world, viewer):
    with pseudo_language():
        in_pseudo = await connect(viewer, show="dashboard", language=LANGUAGE)
        in_english = await connect(viewer, show="dashboard")
        for _ in range(2):
            assert "⟦" in await heard(in_pseudo)
            assert "⟦" not in await heard(in_english)
            number = await sync_to_async(sample_next)("local")
            await announce(number)
        await in_pseudo.disconnect()
        await in_english.disconnect()


async def test_strangers_outsiders_other_sites_and_unknown_clusters_are_refused(
    world, outsider, viewer
):
    assert await connect(None) is None
    assert await connect(outsider) is None
    assert await connect(viewer, slug="nowhere") is None
    assert await connect(viewer, origin=b"https://elsewhere.example") is None
    assert await connect(viewer, origin=b"http://127.0.0.1:8001") is None
    assert await connect(viewer, origin=b"https://127.0.0.1") is None


async def test_losing_the_role_ends_the_stream_at_the_next_tick(world, viewer):
    socket = await connect(viewer)
    await heard(socket)
    await sync_to_async(RoleGrant.objects.all().delete)()
    await announce(7)
    assert (await socket.receive_output(timeout=5))["code"] == 4403


async def test_signing_out_ends_the_stream_at_the_next_tick(world, viewer):
    socket = await connect(viewer)
    await heard(socket)
    viewer.set_password("another")  # ends every session of the user
    await sync_to_async(viewer.save)()
    await announce(7)
    assert (await socket.receive_output(timeout=5))["type"] == "websocket.close"


async def test_a_slow_browser_gets_only_the_newest_tick(world, viewer):
    socket = await connect(viewer)
    await socket.receive_text()  # never said to be drawn
    number = await sync_to_async(sample_next)("local")
    for newer in range(3):
        await announce(await sync_to_async(sample)("local", number + newer))
    assert await socket.receive_nothing(timeout=0.3)
    await socket.send_text("drawn")
    await socket.receive_text()
    await socket.send_text("drawn")
    assert await socket.receive_nothing(timeout=0.3)
    await socket.disconnect()


async def test_a_tick_of_another_cluster_is_ignored(world, viewer):
    socket = await connect(viewer)
    await heard(socket)
    await announce(7, "staging")
    assert await socket.receive_nothing(timeout=0.3)
    await socket.disconnect()


async def test_one_rendering_serves_all_with_the_same_rights(world, viewer, monkeypatch):
    calls = []
    render = fragment_renderer.render
    monkeypatch.setattr(
        fragment_renderer, "render", lambda *told: calls.append(told[1].role) or render(*told)
    )
    users = [await sync_to_async(a_user)(f"v{n}", "viewer") for n in range(3)]
    sockets = [await connect(user, show="dashboard") for user in users]
    await asyncio.gather(*map(heard, sockets))
    assert calls == ["viewer"]
    await asyncio.gather(*(socket.disconnect() for socket in sockets))


async def test_the_socket_continues_after_a_redis_outage(world, viewer, redis_server):
    socket = await connect(viewer)
    await heard(socket)
    redis_server.kill()
    assert await socket.receive_nothing(timeout=0.3)
    redis_server.start()
    number = await sync_to_async(sample_next)("local")
    for newer in range(300):  # the layer subscribes again within some seconds
        await announce(await sync_to_async(sample)("local", number + newer))
        if not await socket.receive_nothing(timeout=0.2):
            break
    assert "live-status" in await heard(socket)
    await socket.disconnect()


async def test_a_socket_does_not_open_while_redis_is_down(world, viewer, redis_server, caplog):
    redis_server.kill()
    assert await connect(viewer) is None
    assert "Redis does not answer" in caplog.text
