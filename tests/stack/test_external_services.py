import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.db import connection
from django.db.utils import OperationalError

from stack import external_services
from stack.external_services import Service, Unreachable, from_settings, wait_for
from tests.support.ports import free_port
from tests.support.zookeeper import ZooKeeper


@pytest.fixture
def mute() -> Iterator[int]:
    """A port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_services, "TRY_FOR_S", 0.3)
    monkeypatch.setattr(external_services, "TRY_EVERY_S", 0.05)
    monkeypatch.setattr(external_services, "CONNECT_S", 1.0)


def test_only_external_services_are_checked() -> None:
    embedded = {
        "AERIE_EMBEDDED_ZOOKEEPER": True, "AERIE_EMBEDDED_REDIS": True,
        "AERIE_EMBEDDED_DATABASE": True, "AERIE_EMBEDDED_SPARK": True,
        "ZOOKEEPER_CONNECT": "zk1/aerie", "REDIS_URL": "redis://:hunter2@r/0", "REDIS_OPTIONS": {},
        "HISTORY_URL": "file:///srv", "SPARK_REMOTE": "sc://s",
        "DATABASES": {"default": {"HOST": "db", "NAME": "aerie"}},
    }  # fmt: skip
    assert from_settings(SimpleNamespace(**embedded)) == []
    replaced = embedded | {name: False for name in embedded if "EMBEDDED" in name}
    wanted = from_settings(SimpleNamespace(**replaced | {"HISTORY_URL": "s3a://bucket/history"}))
    assert [service.setting for service in wanted] == [
        "ZOOKEEPER_CONNECT", "REDIS_URL", "DATABASE_URL", "HISTORY_URL", "SPARK_REMOTE",
    ]  # fmt: skip
    assert [service.is_required for service in wanted] == [True, True, True, True, False]
    assert "hunter2" not in wanted[1].message("refused")


def test_a_redis_that_answers_is_reachable(redis_server) -> None:
    external_services.check_redis(settings.REDIS_URL, settings.REDIS_OPTIONS)


def test_a_redis_that_refuses_or_does_not_answer_is_unreachable(mute: int) -> None:
    with pytest.raises(Unreachable, match=r"^Connection refused$"):
        external_services.check_redis(f"redis://127.0.0.1:{free_port()}/0", settings.REDIS_OPTIONS)
    with pytest.raises(Unreachable, match="Timeout"):
        external_services.check_redis(f"redis://127.0.0.1:{mute}/0", settings.REDIS_OPTIONS)


def test_zookeeper_is_reachable_if_one_of_its_servers_answers(zookeeper: ZooKeeper) -> None:
    external_services.check_zookeeper(f"127.0.0.1:{free_port()},{zookeeper.connect('/aerie')}")


def test_a_zookeeper_that_refuses_or_does_not_answer_is_unreachable(mute: int) -> None:
    port = free_port()
    with pytest.raises(Unreachable, match=f"127.0.0.1:{port}: Connection refused"):
        external_services.check_zookeeper(f"127.0.0.1:{port}/aerie")
    with pytest.raises(Unreachable, match="no ZooKeeper session could be opened"):
        external_services.check_zookeeper(f"127.0.0.1:{mute}/aerie")


def test_the_error_of_a_database_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("password authentication failed\n  for user aerie")

    monkeypatch.setattr(connection, "ensure_connection", refuse)
    monkeypatch.setattr(connection, "close", lambda: None)
    with pytest.raises(Unreachable, match=r"^password authentication failed$"):
        external_services.check_database()


def refusing(setting: str, is_required: bool = True) -> Service:
    def ask() -> None:
        raise Unreachable("Connection refused")

    return Service(setting, "Redis", "redis://:hunter2@h/0", ask, is_required)


def test_an_unreachable_service_is_reported_at_once_and_fails_after_the_deadline() -> None:
    printed: list[str] = []
    [problem] = wait_for([refusing("REDIS_URL")], printed.append)
    message = "REDIS_URL: no Redis answers at redis://:…@h/0 (Connection refused)"
    assert printed == [f"{message}; trying again for 0 s"]
    assert problem == f"{message}. Start it, or correct REDIS_URL"


def test_a_service_that_starts_late_is_waited_for() -> None:
    printed: list[str] = []
    asked = threading.Event()

    def ask() -> None:
        if not asked.is_set():
            asked.set()
            raise Unreachable("Connection refused")

    assert wait_for([Service("REDIS_URL", "Redis", "redis://h", ask)], printed.append) == []
    assert printed[-1] == "REDIS_URL: it answers now"


def test_an_unreachable_spark_is_reported_but_not_required() -> None:
    printed: list[str] = []
    assert wait_for([refusing("SPARK_REMOTE", is_required=False)], printed.append) == []
    assert printed[0].endswith("(Connection refused); not required")


def test_a_service_that_hangs_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_services, "ANSWER_S", 0.1)
    never = threading.Event()
    hanging = Service("HISTORY_URL", "file system", "s3a://b", lambda: never.wait() and None)
    printed: list[str] = []
    [problem] = wait_for([hanging], printed.append)
    assert "no answer within" in problem
    never.set()
