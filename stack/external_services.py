"""Checks that the external services named by settings can be reached.

`make up` checks them before it starts anything. It prints a line for each service that does not
answer and tries again for a while, since at boot all services start at the same time. If one still
does not answer, nothing is started.
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

from console.environment_checks import without_secrets
from monitoring.history.local_folder import local_folder

TRY_FOR_S = 20.0
TRY_EVERY_S = 1.0
ANSWER_S = 6.0  # for the name lookup and the connection
CONNECT_S = 3.0


class Unreachable(Exception):
    """The service does not answer; the text says why."""


@dataclass(frozen=True, slots=True)
class Service:
    """An external service, the setting that names it, and a function that checks it."""

    setting: str
    product: str  # as in "no Redis answers"
    url: str
    check: Callable[[], None]  # raises Unreachable
    is_required: bool = True

    def message(self, reason: str) -> str:
        """The message for a service that does not answer."""
        url = without_secrets(self.url)
        return f"{self.setting}: no {self.product} answers at {url} ({reason})"


def from_settings(settings: Any) -> list[Service]:
    """The external services that settings name instead of embedded ones."""
    services = []
    if not settings.AERIE_EMBEDDED_ZOOKEEPER:
        address = settings.ZOOKEEPER_CONNECT
        check = partial(check_zookeeper, address)
        services.append(Service("ZOOKEEPER_CONNECT", "ZooKeeper", address, check))
    if not settings.AERIE_EMBEDDED_REDIS:
        address = settings.REDIS_URL
        check = partial(check_redis, address, settings.REDIS_OPTIONS)
        services.append(Service("REDIS_URL", "Redis", address, check))
    if not settings.AERIE_EMBEDDED_DATABASE:
        database = settings.DATABASES["default"]
        address = "/".join(filter(None, [database["HOST"], str(database["NAME"])]))
        services.append(Service("DATABASE_URL", "database", address, check_database))
    if local_folder(settings.HISTORY_URL) is None:
        services.append(Service("HISTORY_URL", "file system", settings.HISTORY_URL, check_history))
    if not settings.AERIE_EMBEDDED_SPARK:
        address = settings.SPARK_REMOTE
        check = partial(check_spark, address)
        services.append(Service("SPARK_REMOTE", "Spark Connect", address, check, is_required=False))
    return services


def wait_for(services: Iterable[Service], print_line: Callable[[str], None]) -> list[str]:
    """Wait until all required ones answer; returns a message for each that did not in time."""
    reasons = _check_all(list(services))
    for service, reason in reasons.items():
        tried = f"trying again for {TRY_FOR_S:.0f} s" if service.is_required else "not required"
        print_line(f"{service.message(reason)}; {tried}")
    deadline = time.monotonic() + TRY_FOR_S
    while missing := {each: why for each, why in reasons.items() if each.is_required}:
        if time.monotonic() > deadline:
            return [
                f"{service.message(why)}. Start it, or correct {service.setting}"
                for service, why in missing.items()
            ]
        time.sleep(TRY_EVERY_S)
        reasons = _check_all(list(missing))
        for service in missing.keys() - reasons.keys():
            print_line(f"{service.setting}: it answers now")
    return []


def _check_all(services: list[Service]) -> dict[Service, str]:
    """The services that do not answer now, with the reason. Checks all at the same time."""
    reasons = dict.fromkeys(services, f"no answer within {ANSWER_S:.0f} s")

    def check(service: Service) -> None:
        try:
            service.check()
            del reasons[service]
        except Unreachable as error:
            reasons[service] = str(error)

    threads = [threading.Thread(target=check, args=(each,), daemon=True) for each in services]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + ANSWER_S
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0))
    return dict(reasons)


def check_redis(url: str, options: dict[str, Any]) -> None:
    """Send PING."""
    try:
        with redis.Redis.from_url(url, **options) as client:
            client.ping()
    except (redis.RedisError, OSError) as error:
        raise Unreachable(_short_reason(error)) from None


def check_zookeeper(connect: str) -> None:
    """Open a session with any of the servers, and close it."""
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
    client = KazooClient(hosts=servers, timeout=CONNECT_S)  # `stop` waits as long, too
    client.logger.disabled = True
    try:
        client.start(timeout=CONNECT_S)
    except KazooTimeoutError:
        raise Unreachable("the port is open, but no ZooKeeper session could be opened") from None
    finally:
        client.logger.disabled = False
        client.stop()
        client.close()


def check_database() -> None:
    """Open Django's database connection, and close it."""
    from django.db import DatabaseError, connection

    try:
        connection.ensure_connection()
    except DatabaseError as error:
        raise Unreachable(_short_reason(error)) from None
    finally:
        connection.close()


def check_history() -> None:
    """List the history's root folder; on S3 its bucket must exist."""
    from monitoring.history import root_folder

    try:
        root_folder.current().check()
    except (OSError, ValueError, ImportError) as error:
        raise Unreachable(_short_reason(error)) from None


def check_spark(remote: str) -> None:
    """Connect. The token is not checked: a wrong one fails the first report."""
    parts = urlsplit(remote)
    _connect(parts.hostname or "", parts.port or 15002)


def _connect(host: str, port: int) -> None:
    try:
        socket.create_connection((host.strip("[]"), port), CONNECT_S).close()
    except OSError as error:
        raise Unreachable(_short_reason(error)) from None


def _short_reason(error: Exception) -> str:
    """The error in one line, without its number."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = (lines or [type(error).__name__])[0].rstrip(".")
    return re.sub(r"^Error -?\d+ connecting to \S+\. ", "", reason)  # redis-py adds the address
