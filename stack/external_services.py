"""Asks the services that settings name instead of the embedded ones whether they are there.

`make up` asks before anything starts: what does not answer is said at once with its setting, tried
again for a while (a machine that boots starts everything together), and then nothing is started.
"""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import redis
from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError

from console.setting_rules import without_secrets
from monitoring.history.location import local_folder

TRY_FOR_S = 20.0
TRY_EVERY_S = 1.0
ANSWER_S = 6.0  # a look-up of a name and a connection
CONNECT_S = 3.0


class Unreachable(Exception):
    """Does not answer; the text says why."""


@dataclass(frozen=True, slots=True)
class Service:
    """Something outside, the setting that names it, and how to ask for it."""

    setting: str
    what: str  # as in "no Redis answers"
    url: str
    ask: Callable[[], None]  # raises Unreachable
    is_waited_for: bool = True

    def sentence(self, reason: str) -> str:
        """That it does not answer, and why."""
        return f"{self.setting}: no {self.what} answers at {without_secrets(self.url)} ({reason})"


def of_settings(settings: Any) -> list[Service]:
    """The services that settings put in the place of embedded ones."""
    wanted = []
    if not settings.AERIE_EMBEDDED_ZOOKEEPER:
        where = settings.ZOOKEEPER_CONNECT
        ask = partial(ask_zookeeper, where)
        wanted.append(Service("ZOOKEEPER_CONNECT", "ZooKeeper", where, ask))
    if not settings.AERIE_EMBEDDED_REDIS:
        where = settings.REDIS_URL
        ask = partial(ask_redis, where, settings.REDIS_OPTIONS)
        wanted.append(Service("REDIS_URL", "Redis", where, ask))
    if not settings.AERIE_EMBEDDED_DATABASE:
        database = settings.DATABASES["default"]
        where = "/".join(filter(None, [database["HOST"], str(database["NAME"])]))
        wanted.append(Service("DATABASE_URL", "database", where, ask_database))
    if local_folder(settings.HISTORY_URL) is None:
        wanted.append(Service("HISTORY_URL", "file system", settings.HISTORY_URL, ask_history))
    if not settings.AERIE_EMBEDDED_SPARK:
        where = settings.SPARK_REMOTE
        ask = partial(ask_spark, where)
        wanted.append(Service("SPARK_REMOTE", "Spark Connect", where, ask, is_waited_for=False))
    return wanted


def wait_for(services: Iterable[Service], say: Callable[[str], None]) -> list[str]:
    """Wait until all answer; a sentence for each that did not in time."""
    reasons = _unreachable(list(services))
    for service, reason in reasons.items():
        tried = f"trying again for {TRY_FOR_S:.0f} s" if service.is_waited_for else "going on"
        say(f"{service.sentence(reason)}; {tried}")
    deadline = time.monotonic() + TRY_FOR_S
    while waited := {each: why for each, why in reasons.items() if each.is_waited_for}:
        if time.monotonic() > deadline:
            return [
                f"{service.sentence(why)}. Start it, or correct {service.setting}"
                for service, why in waited.items()
            ]
        time.sleep(TRY_EVERY_S)
        reasons = _unreachable(list(waited))
        for service in waited.keys() - reasons.keys():
            say(f"{service.setting}: it answers now")
    return []


def _unreachable(services: list[Service]) -> dict[Service, str]:
    """Those that do not answer now, and why; all are asked at the same time."""
    reasons = dict.fromkeys(services, f"no answer within {ANSWER_S:.0f} s")

    def ask(service: Service) -> None:
        try:
            service.ask()
            del reasons[service]
        except Unreachable as error:
            reasons[service] = str(error)

    threads = [threading.Thread(target=ask, args=(each,), daemon=True) for each in services]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + ANSWER_S
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0))
    return dict(reasons)


def ask_redis(url: str, options: dict[str, Any]) -> None:
    """PING, with the password of the URL."""
    try:
        with redis.Redis.from_url(url, **options) as client:
            client.ping()
    except (redis.RedisError, OSError) as error:
        raise Unreachable(_in_short(error)) from None


def ask_zookeeper(connect: str) -> None:
    """A session with any of the servers; it is closed again."""
    servers = connect.partition("/")[0]
    reasons = []
    for server in servers.split(","):
        host, _, port = server.strip().rpartition(":") if ":" in server else (server, "", "2181")
        try:
            _connect(host, int(port))
        except Unreachable as error:
            reasons.append(f"{server}: {error}")
    if len(reasons) == len(servers.split(",")):
        raise Unreachable("; ".join(reasons))
    client = KazooClient(hosts=servers, timeout=CONNECT_S)  # its stop waits for it as well
    client.logger.disabled = True
    try:
        client.start(timeout=CONNECT_S)
    except KazooTimeoutError:
        raise Unreachable("something listens there, but it opens no session") from None
    finally:
        client.logger.disabled = False
        client.stop()
        client.close()


def ask_database() -> None:
    """A connection of Django's, closed again."""
    from django.db import DatabaseError, connection

    try:
        connection.ensure_connection()
    except DatabaseError as error:
        raise Unreachable(_in_short(error)) from None
    finally:
        connection.close()


def ask_history() -> None:
    """A look into the folder."""
    from monitoring.history import root

    try:
        root.current().entries()
    except (OSError, ValueError, ImportError) as error:
        raise Unreachable(_in_short(error)) from None


def ask_spark(remote: str) -> None:
    """A connection; whether the token is right shows in the first report."""
    parts = urlsplit(remote)
    _connect(parts.hostname or "", parts.port or 15002)


def _connect(host: str, port: int) -> None:
    try:
        socket.create_connection((host.strip("[]"), port), CONNECT_S).close()
    except OSError as error:
        raise Unreachable(_in_short(error)) from None


def _in_short(error: Exception) -> str:
    """The reason in one line, without an error number."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = (lines or [type(error).__name__])[0].rstrip(".")
    return re.sub(r"^Error -?\d+ connecting to \S+\. ", "", reason)  # redis-py says where, too
