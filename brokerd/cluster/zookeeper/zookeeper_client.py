"""The adapter to ZooKeeper: kazoo with its threads on one side, coroutines of the event loop on the
other.

Watches are functions without arguments that are called on the loop once, when the watched thing
changed; after a lost connection they must be set again on `on_connected`. While there is no
connection every call fails at once with one of DISCONNECTED: kazoo would queue it without limit.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from kazoo import exceptions
from kazoo.protocol.states import EventType, KazooState, WatchedEvent, ZnodeStat

from brokerd.cluster.zookeeper.kazoo_client import Client, why_unreachable
from brokerd.cluster.zookeeper.multi_operations import Check, Create, Delete, Operation, SetData
from brokerd.security.jaas import Credentials

logger = logging.getLogger(__name__)

DISCONNECTED = (
    exceptions.ConnectionLoss,
    exceptions.ConnectionClosedError,
    exceptions.SessionExpiredError,
    exceptions.SessionMovedError,
    exceptions.OperationTimeoutError,
)
"""The outcome of a call that raised one of these is unknown."""
NOT_LET_IN = (exceptions.NoAuthError, exceptions.SessionClosedRequireSaslError)
"""ZooKeeper wants credentials, or others."""
IN_FLIGHT_MAX = 500
INLINE_MAX = 20
"""More requests than this are begun in a thread: kazoo takes up to 0.1 ms for each."""
_NOT_AT_FAULT = (exceptions.RolledBackError, exceptions.RuntimeInconsistency)


Watch = Callable[[], None]
Node = tuple[bytes, ZnodeStat]
Acl = Sequence[Any]
AclOf = Callable[[str], Acl | None]


def _open(_: str) -> None:
    """The world may do everything."""


class MultiError(Exception):
    """A multi did not happen: the operation at `index` failed for `cause`."""

    def __init__(self, index: int, operation: Operation, cause: Exception) -> None:
        super().__init__(f"{type(operation).__name__} {operation.path}: {cause!r}")
        self.index = index
        self.operation = operation
        self.cause = cause


class ZooKeeper:
    """Sessions with a ZooKeeper ensemble, one after another. `on_connected(session_id)` is called
    on the loop for every new connection, `on_lost` when the session has ended (its ephemeral nodes
    are gone). `acl_of` gives the ACL of nodes that are created."""

    def __init__(
        self,
        connect: str,
        session_timeout_ms: int,
        loop: asyncio.AbstractEventLoop,
        on_connected: Callable[[int], None],
        on_suspended: Callable[[], None],
        on_lost: Callable[[], None],
        credentials: Credentials | None = None,
        acl_of: AclOf = _open,
    ) -> None:
        self._loop = loop
        self._connect = connect
        self._acl_of = acl_of
        self._listeners = {KazooState.SUSPENDED: on_suspended, KazooState.LOST: on_lost}
        self._on_connected = on_connected
        self._connected = threading.Event()
        self._ending = threading.Lock()
        self._ended = False
        self._client = Client(connect, session_timeout_ms, credentials=credentials)
        self._client.add_listener(self._state_changed)

    @property
    def session(self) -> tuple[int, bytes]:
        """Session id and password. Raises ConnectionLoss while there is no connection."""
        client_id: tuple[int, bytes] | None = self._client.client_id
        if client_id is None:
            raise exceptions.ConnectionLoss("no connection to ZooKeeper")
        return client_id

    @property
    def session_timeout_ms(self) -> int:
        """The timeout that the server granted, which may differ from the requested one."""
        return self._client.granted_timeout_ms

    async def why_unreachable(self) -> str:
        """Why there is no connection, in brackets, if that is known."""
        if self._client.refusal:
            return f" ({self._client.refusal})"
        return await asyncio.to_thread(why_unreachable, self._connect)

    def start(self) -> None:
        """Begins to connect, and tries again for ever."""
        self._client.start_async()

    async def stop(self) -> None:
        """Ends the session, so that its ephemeral nodes go at once."""
        self._listeners = {}
        self._on_connected = lambda _: None
        await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        with self._ending:
            self._ended = True
            try:
                self._client.stop()
                self._client.close()
            except (exceptions.KazooException, OSError, AttributeError) as error:
                # kazoo stumbles over its own socket where it never had a connection.
                logger.debug("closing the ZooKeeper session: %r", error)

    def give_session_up(self) -> None:
        """Ends the session and begins another: `on_lost`, then `on_connected`. For other threads
        than the loop's; blocks. Without a connection nothing is done: the session will time out."""
        with self._ending:
            if self._ended or not self._connected.is_set():
                return
            try:
                self._client.stop()
            except (exceptions.KazooException, OSError) as error:
                logger.warning("the ZooKeeper session could not be ended: %r", error)
            self._client.start_async()

    def _state_changed(self, state: str) -> None:
        """Called by a thread of kazoo's."""
        if state == KazooState.CONNECTED:
            self._connected.set()
            self._post(self._notify_connected)
            return
        self._connected.clear()
        listener = self._listeners.get(state)
        if listener is not None:
            self._post(listener)

    def _notify_connected(self) -> None:
        try:
            session_id, _ = self.session
        except exceptions.ConnectionLoss:
            return  # gone again before the loop heard of it
        self._on_connected(session_id)

    def _post(self, callback: Callable[..., None], *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *args)
        except RuntimeError:
            logger.debug("a ZooKeeper event came after the loop was closed")

    async def _result(self, begin: Callable[[], Any]) -> Any:
        if not self._connected.is_set():
            raise exceptions.ConnectionLoss("no connection to ZooKeeper")
        future: asyncio.Future[Any] = self._loop.create_future()
        begin().rawlink(lambda result: self._post(_settle, future, result))
        return _value(await future)

    def _watcher(self, watch: Watch | None) -> "_Watcher | None":
        return _Watcher(self._post, watch) if watch is not None else None

    async def get(self, path: str, watch: Watch | None = None) -> Node | None:
        """Data and stat; None if the node does not exist (then nothing is watched)."""
        try:
            node: Node = await self._result(
                lambda: self._client.get_async(path, self._watcher(watch))
            )
        except exceptions.NoNodeError:
            return None
        return node

    async def exists(self, path: str, watch: Watch | None = None) -> ZnodeStat | None:
        """The stat; a watch is also set for a node that does not exist yet."""
        stat: ZnodeStat | None = await self._result(
            lambda: self._client.exists_async(path, self._watcher(watch))
        )
        return stat

    async def children(self, path: str, watch: Watch | None = None) -> list[str]:
        """Names of the children; none if the node does not exist."""
        try:
            names: list[str] = await self._result(
                lambda: self._client.get_children_async(path, self._watcher(watch))
            )
        except exceptions.NoNodeError:
            return []
        return names

    async def get_many(self, many: Sequence[str], watch: Watch | None = None) -> list[Node | None]:
        """As `get` for each path, in order; at most IN_FLIGHT_MAX at a time."""
        nodes: list[Node | None] = []
        for start in range(0, len(many), IN_FLIGHT_MAX):
            nodes += await self._get_run(many[start : start + IN_FLIGHT_MAX], watch)
        return nodes

    async def _get_run(self, run: Sequence[str], watch: Watch | None) -> list[Node | None]:
        if not self._connected.is_set():
            raise exceptions.ConnectionLoss("no connection to ZooKeeper")
        future: asyncio.Future[list[Any]] = self._loop.create_future()
        # Only kazoo's one completion thread counts, so the count needs no lock.
        left = len(run)

        def done(_: Any) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self._post(_settle, future, results)

        def begin() -> list[Any]:
            return [self._client.get_async(path, self._watcher(watch)) for path in run]

        results = begin() if len(run) <= INLINE_MAX else await asyncio.to_thread(begin)
        for result in results:
            result.rawlink(done)
        return [_node(result) for result in await future]

    async def create(
        self, path: str, data: bytes = b"", *, ephemeral: bool = False, sequence: bool = False
    ) -> str:
        """The path of the new node. Raises NodeExistsError, NoNodeError (no parent)."""
        created: str = await self._result(
            lambda: self._client.create_async(
                path, data, self._acl_of(path), ephemeral=ephemeral, sequence=sequence
            )
        )
        return created

    async def ensure(self, path: str) -> None:
        """Creates an empty node and those above it, if they do not exist."""
        if await self.exists(path) is not None:
            return
        level = ""
        for name in path.split("/")[1:]:
            level += f"/{name}"
            with suppress(exceptions.NodeExistsError):
                await self.create(level)

    async def make_chroot(self) -> None:
        """Creates the nodes of the chroot in `zookeeper.connect`, if they do not exist."""
        if not self._client.chroot:
            return
        with suppress(exceptions.NodeExistsError):
            await self._result(lambda: self._client.make_chroot_async(self._acl_of("/")))

    async def set(self, path: str, data: bytes, version: int = -1) -> ZnodeStat:
        """Raises BadVersionError, NoNodeError."""
        stat: ZnodeStat = await self._result(lambda: self._client.set_async(path, data, version))
        return stat

    async def acl(self, path: str) -> Acl:
        """The ACL of a node. Raises NoNodeError."""
        acl: Acl = (await self._result(lambda: self._client.get_acls_async(path)))[0]
        return acl

    async def set_acl(self, path: str, acl: Acl) -> None:
        """Raises NoNodeError."""
        await self._result(lambda: self._client.set_acls_async(path, acl))

    async def delete(self, path: str) -> None:
        """Deletes a node; a missing node is no error."""
        with suppress(exceptions.NoNodeError):
            await self._result(lambda: self._client.delete_async(path))

    async def multi(self, operations: Sequence[Operation]) -> list[Any]:
        """Does all operations or none. Raises MultiError with the operation that failed."""
        transaction = self._client.transaction()
        for operation in operations:
            _add(transaction, operation, self._acl_of)
        results: list[Any] = await self._result(transaction.commit_async)
        for index, result in enumerate(results):
            if isinstance(result, Exception) and not isinstance(result, _NOT_AT_FAULT):
                raise MultiError(index, operations[index], result)
        return results


class _Watcher:
    """A watch as kazoo calls it. Those of one function are equal, so that kazoo's sets have it
    once."""

    __slots__ = ("_post", "_watch")

    def __init__(self, post: Callable[..., None], watch: Watch) -> None:
        self._post = post
        self._watch = watch

    def __call__(self, event: WatchedEvent) -> None:
        if event.type != EventType.NONE:
            self._post(self._watch)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Watcher) and self._watch == other._watch

    def __hash__(self) -> int:
        return hash(self._watch)


def _add(transaction: Any, operation: Operation, acl_of: AclOf) -> None:
    match operation:
        case Create(path, data, ephemeral, sequence):
            acl = acl_of(path)
            transaction.create(path, data, acl, ephemeral=ephemeral, sequence=sequence)
        case SetData(path, data, version):
            transaction.set_data(path, data, version)
        case Delete(path, version):
            transaction.delete(path, version)
        case Check(path, version):
            transaction.check(path, version)


def _node(result: Any) -> Node | None:
    if isinstance(result.exception, exceptions.NoNodeError):
        return None
    node: Node = _value(result)
    return node


def _value(result: Any) -> Any:
    if result.exception is not None:
        raise result.exception
    return result.value


def _settle(future: "asyncio.Future[Any]", value: Any) -> None:
    if not future.done():
        future.set_result(value)
