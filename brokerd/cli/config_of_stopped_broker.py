"""Settings of stopped brokers, read and changed in ZooKeeper (ConfigCommand with --zookeeper):
repairs a broker that cannot start, or lets nobody in, because of a dynamic setting. Its properties
file is not known here, so that each setting is checked alone."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from brokerd.cli import zookeeper_session
from brokerd.cli.options import CliError, check_are_set
from brokerd.cluster.zookeeper import paths, zk_data
from brokerd.config.all_dynamic_configs import known_setting
from brokerd.config.dynamic_broker_config import DEFAULT_NAME
from brokerd.config.validate_reconfiguration import validate_each
from brokerd.config.value_parsers import ConfigType


class Setting(NamedTuple):
    """A setting of a stopped broker, with the fields of an answer to DescribeConfigs."""

    name: str
    value: str | None
    source: int
    is_sensitive: bool

    @property
    def synonyms(self) -> tuple["Setting", ...]:
        """Only itself: of other sources nothing is known."""
        return (self,)


class StoppedBroker:
    """The dynamic config of a stopped broker, or the default of all if none runs."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name
        self._entity = f"brokers/{name or DEFAULT_NAME}"
        self._path = paths.config(self._entity)
        self._version: int | None = None
        self.current: dict[str, str] = {}
        if client.exists(self._path):
            data, node = client.get(self._path)
            self._version = node.version
            self.current = zk_data.decode_config(self._path, data)

    def settings(self, source: int) -> list[Setting]:
        """The dynamic settings, sorted by name; secrets have no value."""
        found = []
        for name, value in sorted(self.current.items()):
            known = known_setting(name)
            is_secret = known is None or known.type is ConfigType.PASSWORD
            found.append(Setting(name, None if is_secret else value, source, is_secret))
        return found

    def alter(self, added: Mapping[str, str], dropped: Sequence[str]) -> None:
        """Changes settings, at once or for the broker's next start. Raises CliError, KafkaError."""
        from kazoo.exceptions import KazooException

        check_are_set(dropped, self.current)
        validate_each(self._name, added)
        kept = {key: text for key, text in self.current.items() if key not in dropped}
        data = zk_data.encode_config({**kept, **added})
        change = self._client.transaction()
        if self._version is None:
            parent = paths.BROKER_CONFIGS
            self._client.ensure_path(parent, zookeeper_session.acl_for(self._client, parent))
            change.create(self._path, data, zookeeper_session.acl_for(self._client, self._path))
        else:
            change.set_data(self._path, data, self._version)
        notification = zk_data.encode_config_change(self._entity)
        acl = zookeeper_session.acl_for(self._client, paths.CONFIG_CHANGE_PREFIX)
        change.create(paths.CONFIG_CHANGE_PREFIX, notification, acl, sequence=True)
        for result in change.commit():
            if isinstance(result, KazooException):
                raise CliError(f"{self._path} was changed by another at the same time, try again")


@contextmanager
def stopped_broker(connect: str, name: str) -> Iterator[StoppedBroker | None]:
    """The broker with this id, or for '' the default of all brokers. None if that broker runs, or
    for '' if any broker runs."""
    with zookeeper_session.session(connect, "does not say which brokers run") as client:
        running = client.get_children(paths.BROKER_IDS)
        runs = name in running if name else bool(running)
        yield None if runs else StoppedBroker(client, name)
