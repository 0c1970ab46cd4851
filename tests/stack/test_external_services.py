import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.db import connection
from django.db.utils import OperationalError

from stack import external_services
from stack.external_services import Service, Unreachable, of_settings, wait_for
from tests.support.ports import free_port
from tests.support.zookeeper import ZooKeeper


@pytest.fixture
def mute() -> Iterator[int]:
    """A port that takes connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_services, "TRY_FOR_S", 0.3)
    monkeypatch.setattr(external_services, "TRY_EVERY_S", 0.05)
    monkeypatch.setattr(external_services, "CONNECT_S", 1.0)


def test_only_what_settings_replace_is_asked_for() -> None:
    embedded = {
        "AERIE_EMBEDDED_ZOOKEEPER": True, "AERIE_EMBEDDED_REDIS": True,
        "AERIE_EMBEDDED_DATABASE": True, "AERIE_EMBEDDED_SPARK": True,
        "ZOOKEEPER_CONNECT": "zk1/aerie", "REDIS_URL": "redis://:hunter2@r/0", "REDIS_OPTIONS": {},
        "HISTORY_URL": "file:///srv", "SPARK_REMOTE": "sc://s",
        "DATABASES": {"default": {"HOST": "db", "NAME": "aerie"}},
    }  # fmt: skip
    assert of_settings(SimpleNamespace(**embedded)) == []
    replaced = embedded | {name: False for name in embedded if "EMBEDDED" in name}
    wanted = of_settings(SimpleNamespace(**replaced | {"HISTORY_URL": "s3a://bucket/history"}))
    assert [service.setting for service in wanted] == [
        "ZOOKEEPER_CONNECT", "REDIS_URL", "DATABASE_URL", "HISTORY_URL", "SPARK_REMOTE",
    ]  # fmt: skip
    assert [service.is_waited_for for service in wanted] == [True, True, True, True, False]
    assert "hunter2" not in wanted[1].sentence("refused")


def test_a_redis_that_answers_is_found(redis_server) -> None:
    external_services.ask_redis(settings.REDIS_URL, settings.REDIS_OPTIONS)


def test_a_redis_that_is_not_there_or_says_nothing_is_told(mute: int) -> None:
    with pytest.raises(Unreachable, match=r"^Connection refused$"):
        external_services.ask_redis(f"redis://127.0.0.1:{free_port()}/0", settings.REDIS_OPTIONS)
    with pytest.raises(Unreachable, match="Timeout"):
        external_services.ask_redis(f"redis://127.0.0.1:{mute}/0", settings.REDIS_OPTIONS)


def test_a_zookeeper_that_answers_is_found_beside_one_that_does_not(zookeeper: ZooKeeper) -> None:
    external_services.ask_zookeeper(f"127.0.0.1:{free_port()},{zookeeper.connect('/aerie')}")


def test_a_zookeeper_that_is_not_there_or_says_nothing_is_told(mute: int) -> None:
    port = free_port()
    with pytest.raises(Unreachable, match=f"127.0.0.1:{port}: Connection refused"):
        external_services.ask_zookeeper(f"127.0.0.1:{port}/aerie")
    with pytest.raises(Unreachable, match="opens no session"):
        external_services.ask_zookeeper(f"127.0.0.1:{mute}/aerie")


def test_a_database_that_refuses_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("password authentication failed\n  for user aerie")

    monkeypatch.setattr(connection, "ensure_connection", refuse)
    monkeypatch.setattr(connection, "close", lambda: None)
    with pytest.raises(Unreachable, match=r"^password authentication failed$"):
        external_services.ask_database()


def refusing(setting: str, is_waited_for: bool = True) -> Service:
    def ask() -> None:
        raise Unreachable("Connection refused")

    return Service(setting, "Redis", "redis://:hunter2@h/0", ask, is_waited_for)


def test_what_does_not_answer_is_said_at_once_and_given_up_in_time() -> None:
    said: list[str] = []
    [problem] = wait_for([refusing("REDIS_URL")], said.append)
    sentence = "REDIS_URL: no Redis answers at redis://:…@h/0 (Connection refused)"
    assert said == [f"{sentence}; trying again for 0 s"]
    assert problem == f"{sentence}. Start it, or correct REDIS_URL"


def test_what_comes_late_is_waited_for() -> None:
    said: list[str] = []
    asked = threading.Event()

    def ask() -> None:
        if not asked.is_set():
            asked.set()
            raise Unreachable("Connection refused")

    assert wait_for([Service("REDIS_URL", "Redis", "redis://h", ask)], said.append) == []
    assert said[-1] == "REDIS_URL: it answers now"


def test_a_spark_that_does_not_answer_is_said_and_not_waited_for() -> None:
    said: list[str] = []
    assert wait_for([refusing("SPARK_REMOTE", is_waited_for=False)], said.append) == []
    assert said[0].endswith("(Connection refused); going on")


def test_a_service_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_services, "ANSWER_S", 0.1)
    never = threading.Event()
    hanging = Service("HISTORY_URL", "file system", "s3a://b", lambda: never.wait() and None)
    said: list[str] = []
    [problem] = wait_for([hanging], said.append)
    assert "no answer within" in problem
    never.set()
