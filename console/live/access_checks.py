"""Checks what the sessions of open pages may see; several checks share one call in a thread.

At each tick all open pages check at once, and each call in a thread opens and closes a database
connection. Nothing is cached: a right that was taken away is gone at the next tick.
websocket_consumer.py closes the socket (4403).
"""

import asyncio
from collections.abc import Callable, Sequence
from importlib import import_module
from types import SimpleNamespace

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import get_user

from console.accounts.rights import Rights, rights_of
from monitoring.models import Cluster

CHECKS_PER_JOB = 10  # so that the first pages are rendered before the last ones are checked
Key = tuple[str, str]  # the key of a session, and the slug of a cluster
Access = tuple[Cluster, Rights]


def find_access(key: Key) -> Access | None:
    """The cluster and the current rights of the session's user; None without access."""
    session_key, slug = key
    engine = import_module(settings.SESSION_ENGINE)
    session = engine.SessionStore(session_key)
    user = get_user(SimpleNamespace(session=session))  # type: ignore[arg-type]
    cluster = Cluster.objects.filter(slug=slug).first()
    rights = rights_of(user, slug)
    if cluster is None or not rights.may("cluster.view"):
        return None
    return cluster, rights


class AccessChecks:
    """The checks that wait for a job. Use it on one event loop only."""

    def __init__(self, find: Callable[[Key], Access | None] = find_access) -> None:
        self._find = find
        self._waiting: dict[Key, asyncio.Future[Access | None]] = {}
        self._jobs: asyncio.Task[None] | None = None

    async def access(self, session_key: str, slug: str) -> Access | None:
        """What `find_access` returns now; None = the session may not see the cluster.

        Raises its errors.
        """
        key = (session_key, slug)
        if key not in self._waiting:
            self._waiting[key] = asyncio.get_running_loop().create_future()
            if self._jobs is None or self._jobs.done():
                self._jobs = asyncio.ensure_future(self._run_jobs())
        return await asyncio.shield(self._waiting[key])

    async def _run_jobs(self) -> None:
        while self._waiting:
            keys = list(self._waiting)[:CHECKS_PER_JOB]
            futures = [self._waiting.pop(key) for key in keys]
            try:
                found = await database_sync_to_async(self._find_all)(keys)
            except Exception as error:  # no connection to the database: no page must wait for ever
                found = [error] * len(keys)
            for future, access in zip(futures, found, strict=True):
                if isinstance(access, Exception):
                    future.set_exception(access)
                else:
                    future.set_result(access)

    def _find_all(self, keys: Sequence[Key]) -> list[Access | Exception | None]:
        found: list[Access | Exception | None] = []
        for key in keys:
            try:
                found.append(self._find(key))
            except Exception as error:  # `access` raises it for the page that asked
                found.append(error)
        return found


_checks: dict[int, AccessChecks] = {}


def access_checks() -> AccessChecks:
    """The AccessChecks of the running event loop; a process has one loop, tests have several."""
    loop = asyncio.get_running_loop()
    if id(loop) not in _checks:
        _checks.clear()
        _checks[id(loop)] = AccessChecks()
    return _checks[id(loop)]
