"""Changes configs under `/config`: the node and its notification in one multi, if the node has the
version that was read, else it is read anew. Any broker may do it. Names in paths are
percent-encoded as by Kafka's Sanitizer.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError, NotEmptyError

from brokerd.cluster.admin.api_errors import as_kafka_error, unreachable
from brokerd.cluster.cluster_state_wait import ClusterStateWait
from brokerd.cluster.zookeeper import bulk_reads, paths, zk_data
from brokerd.cluster.zookeeper.multi_operations import Create, Delete, Operation, SetData
from brokerd.cluster.zookeeper.zk_data import NodeFormatError
from brokerd.cluster.zookeeper.zookeeper_client import DISCONNECTED, MultiError, Node, ZooKeeper
from brokerd.errors import ErrorCode, KafkaError

ATTEMPTS_MAX = 5
FOLLOW_TIMEOUT_S = 5.0
CONFIG_BYTES_MAX = 512 * 1024
"""ZooKeeper ends the session of a client that sends it more than 1 MiB."""
NOTHING = -1
_RACES = (BadVersionError, NodeExistsError, NoNodeError, NotEmptyError)

ConfigUpdate = Callable[[Mapping[str, str]], dict[str, str] | Awaitable[dict[str, str]]]
"""Gets the present config, returns the wanted one. Raises KafkaError."""


def sanitized(name: str) -> str:
    """A user, client id or address as a part of a path; never `.` or `..`."""
    if name in (".", ".."):
        return name.replace(".", "%2E")
    return quote(name, safe="").replace("~", "%7E")


def unsanitized(part: str) -> str:
    return unquote(part)


@dataclass(slots=True)
class ConfigAdmin:
    """Changes configs. `_newest_applied_change` gives the newest config change that this broker has
    applied."""

    _zookeeper: ZooKeeper
    _state_wait: ClusterStateWait
    _newest_applied_change: Callable[[], int]

    async def alter(self, entity: str, update: ConfigUpdate, *, validate_only: bool) -> None:
        """Changes the config at `/config/<entity>` and returns when this broker has it. Raises what
        `update` raises, and KafkaError."""
        for _ in range(ATTEMPTS_MAX):
            try:
                number = await self._attempt(entity, update, validate_only)
                break
            except MultiError as error:
                if not isinstance(error.cause, _RACES):
                    raise as_kafka_error(error) from error
            except NodeFormatError as error:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error
            except DISCONNECTED as error:
                raise unreachable(error) from error
        else:
            message = f"The config of '{entity}' changes all the time, try again."
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, message)
        await self._state_wait.until(
            lambda: self._newest_applied_change() >= number, FOLLOW_TIMEOUT_S
        )

    async def _attempt(self, entity: str, update: ConfigUpdate, validate_only: bool) -> int:
        """The number of the config change; NOTHING if nothing changed."""
        path = paths.config(entity)
        node = await self._zookeeper.get(path)
        wanted = update(zk_data.decode_config(path, node[0]) if node else {})
        if inspect.isawaitable(wanted):
            wanted = await wanted
        if validate_only:
            return NOTHING
        write = await self._write(path, node, wanted)
        notification = zk_data.encode_config_change(entity)
        *_, created = await self._zookeeper.multi(
            [*write, Create(paths.CONFIG_CHANGE_PREFIX, notification, sequence=True)]
        )
        number = paths.sequence_number(created)
        return NOTHING if number is None else number

    async def _write(
        self, path: str, node: Node | None, wanted: Mapping[str, str]
    ) -> Sequence[Operation]:
        """An empty config of a quota entity is removed; others stay, as in Kafka."""
        data = zk_data.encode_config(wanted)
        if len(data) > CONFIG_BYTES_MAX:
            message = f"A config may have {CONFIG_BYTES_MAX} bytes, not {len(data)}."
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        if wanted or path.startswith(("/config/topics/", "/config/brokers/")):
            if node is not None:
                return (SetData(path, data, node[1].version),)
            await self._zookeeper.ensure(path.rpartition("/")[0])
            return (Create(path, data),)
        if node is None:
            return ()
        if node[1].numChildren:
            return (SetData(path, data, node[1].version),)
        return (Delete(path, node[1].version),)

    async def read_all(self, kind: str) -> dict[str, dict[str, str]]:
        """Every config under `/config/<kind>`, by its path below /config, clients of users
        included. Raises KafkaError. A node that cannot be read counts as empty."""
        try:
            entities = [f"{kind}/{name}" for name in await self._children(kind)]
            if kind == "users":
                for user in list(entities):
                    names = await self._children(f"{user}/clients")
                    entities += [f"{user}/clients/{name}" for name in names]
            found = [paths.config(entity) for entity in entities]
            nodes = await self._zookeeper.get_many(found)
        except DISCONNECTED as error:
            raise unreachable(error) from error
        return {
            entity: (node and bulk_reads.readable(zk_data.decode_config, path, node[0])) or {}
            for entity, path, node in zip(entities, found, nodes, strict=True)
        }

    async def _children(self, entity: str) -> list[str]:
        return sorted(await self._zookeeper.children(paths.config(entity)))
