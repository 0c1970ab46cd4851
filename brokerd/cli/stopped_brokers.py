"""Settings of brokers that do not run, shown and changed in ZooKeeper itself, as by Kafka's
ConfigCommand with --zookeeper: one that cannot start with what was set while it ran is mended so,
and so is one that runs and lets nobody in, which applies a change that it finds there.

Nobody knows its properties file here, so that each setting is checked by itself alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from brokerd.cli import zookeeper
from brokerd.cli.config_lines import check_held
from brokerd.cli.options import CliError


class Setting(NamedTuple):
    """One of a stopped broker, as DescribeConfigs would answer it."""

    name: str
    value: str | None
    source: int
    is_sensitive: bool

    @property
    def synonyms(self) -> tuple["Setting", ...]:
        """Where it comes from; of other places nothing is known."""
        return (self,)


class StoppedBroker:
    """The dynamic config of one, or the default of all where none runs."""

    def __init__(self, client: Any, name: str) -> None:
        from brokerd.cluster.zookeeper import paths, znode_json
        from brokerd.config.dynamic import DEFAULT_NAME

        self._client = client
        self._name = name
        self._entity = f"brokers/{name or DEFAULT_NAME}"
        self._path = paths.config(self._entity)
        self._version: int | None = None
        self.held: dict[str, str] = {}
        if client.exists(self._path):
            data, node = client.get(self._path)
            self._version = node.version
            self.held = znode_json.decode_config(self._path, data)

    def settings(self, source: int) -> list[Setting]:
        """What is set, by name; secrets are not shown."""
        from brokerd.config.catalog import ConfigType, known_setting

        found = []
        for name, value in sorted(self.held.items()):
            known = known_setting(name)
            is_secret = known is None or known.type is ConfigType.PASSWORD
            found.append(Setting(name, None if is_secret else value, source, is_secret))
        return found

    def alter(self, added: Mapping[str, str], dropped: Sequence[str]) -> None:
        """Holds at once where the broker runs, else from its start. Raises CliError, KafkaError."""
        from kazoo.exceptions import KazooException

        from brokerd.cluster.zookeeper import paths, znode_json
        from brokerd.config.dynamic import check_each

        check_held(dropped, self.held)
        check_each(self._name, added)
        kept = {key: text for key, text in self.held.items() if key not in dropped}
        data = znode_json.encode_config({**kept, **added})
        change = self._client.transaction()
        if self._version is None:
            parent = paths.BROKER_CONFIGS
            self._client.ensure_path(parent, zookeeper.acl_for(self._client, parent))
            change.create(self._path, data, zookeeper.acl_for(self._client, self._path))
        else:
            change.set_data(self._path, data, self._version)
        notification = znode_json.encode_config_change(self._entity)
        acl = zookeeper.acl_for(self._client, paths.CONFIG_CHANGE_PREFIX)
        change.create(paths.CONFIG_CHANGE_PREFIX, notification, acl, sequence=True)
        for result in change.commit():
            if isinstance(result, KazooException):
                raise CliError(f"{self._path} was changed by another at the same time, try again")


@contextmanager
def stopped(
    connect: str, name: str, is_silent: Callable[[], bool]
) -> Iterator[StoppedBroker | None]:
    """The broker with this id ('' for the default of all); None where it runs, or one does, unless
    asking it shows that it is silent."""
    from brokerd.cluster.zookeeper.paths import BROKER_IDS

    with zookeeper.session(connect, "does not say which brokers run") as client:
        running = client.get_children(BROKER_IDS)
        runs = name in running if name else bool(running)
        yield None if runs and not is_silent() else StoppedBroker(client, name)
