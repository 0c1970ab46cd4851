"""Changing a topic's config: the node and its notification in one multi, conditional on what was
read.

Any broker does it. Two who change one config at the same time do not undo each other: the second
finds another version, reads anew and applies its change to that.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from kazoo.exceptions import BadVersionError, NodeExistsError

from brokerd.cluster import paths
from brokerd.cluster.codecs import decode_config, encode_config, encode_config_change
from brokerd.cluster.image import MetadataImage
from brokerd.cluster.operations import Create, SetData
from brokerd.cluster.progress import Progress
from brokerd.cluster.requests import ClusterSettings, ConfigChange
from brokerd.cluster.topic_admin import unreachable
from brokerd.cluster.topic_configs import apply_changes, check_topic_config
from brokerd.cluster.zookeeper import DISCONNECTED, MultiError, ZooKeeper
from brokerd.errors import ErrorCode, KafkaError

ATTEMPTS_MAX = 5
FOLLOW_TIMEOUT_S = 5.0
NOTHING = -1


class ConfigAdmin:
    """Config changes of topics. `followed` gives the newest change that this broker took over."""

    def __init__(
        self,
        zookeeper: ZooKeeper,
        settings: ClusterSettings,
        image: MetadataImage,
        progress: Progress,
        followed: Callable[[], int],
    ) -> None:
        self._zookeeper = zookeeper
        self._settings = settings
        self._image = image
        self._progress = progress
        self._followed = followed

    async def change(
        self, topic: str, changes: Sequence[ConfigChange], validate_only: bool
    ) -> None:
        defaults = self._settings.topic_defaults
        await self._alter(topic, lambda held: apply_changes(held, changes, defaults), validate_only)

    async def replace(self, topic: str, config: Mapping[str, str], validate_only: bool) -> None:
        check_topic_config(config)
        await self._alter(topic, lambda _: dict(config), validate_only)

    async def _alter(
        self,
        topic: str,
        wanted_of: Callable[[Mapping[str, str]], dict[str, str]],
        validate_only: bool,
    ) -> None:
        if topic not in self._image.topics:
            message = f"Topic '{topic}' is unknown."
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
        for _ in range(ATTEMPTS_MAX):
            try:
                number = await self._attempt(topic, wanted_of, validate_only)
            except MultiError as error:
                if not isinstance(error.cause, BadVersionError | NodeExistsError):
                    raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error
                continue
            except DISCONNECTED as error:
                raise unreachable(error) from error
            await self._progress.until(partial(self._has_followed, number), FOLLOW_TIMEOUT_S)
            return
        message = f"The config of '{topic}' changes all the time, try again."
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, message)

    async def _attempt(
        self,
        topic: str,
        wanted_of: Callable[[Mapping[str, str]], dict[str, str]],
        validate_only: bool,
    ) -> int:
        """The number of the config change; NOTHING where there was none to be made."""
        path = paths.topic_config(topic)
        node = await self._zookeeper.get(path)
        wanted = wanted_of(decode_config(path, node[0]) if node else {})
        if validate_only:
            return NOTHING
        data = encode_config(wanted)
        write = Create(path, data) if node is None else SetData(path, data, node[1].version)
        told = encode_config_change(f"topics/{topic}")
        _, created = await self._zookeeper.multi(
            [write, Create(paths.CONFIG_CHANGE_PREFIX, told, sequence=True)]
        )
        number = paths.sequence_number(created)
        return NOTHING if number is None else number

    def _has_followed(self, number: int) -> bool:
        return self._followed() >= number
