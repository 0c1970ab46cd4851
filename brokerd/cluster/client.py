"""The broker's door to the cluster: registration, metadata image, controller, topic
administration."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from brokerd.cluster.image import ImageDelta, MetadataImage
from brokerd.cluster.requests import (
    ClusterSettings,
    ConfigChange,
    CreatedTopic,
    NewPartitions,
    NewTopic,
)
from brokerd.errors import KafkaError


class ClusterClient:
    """One broker's membership of the cluster. All methods run on the event loop.

    `on_change` is called with each change of the image, after the image took it, before it is
    acknowledged to the controller. `on_fatal` is called once when the membership cannot go on
    (another live broker owns our id): the process must end.
    """

    def __init__(
        self,
        settings: ClusterSettings,
        loop: asyncio.AbstractEventLoop,
        on_change: Callable[[ImageDelta], None],
        on_fatal: Callable[[Exception], None],
    ) -> None:
        self.image = MetadataImage()

    @property
    def is_controller(self) -> bool:
        """Whether this broker is the elected controller."""
        raise NotImplementedError

    @property
    def disconnected_since_ms(self) -> int | None:
        """Since when ZooKeeper does not answer; None while it does."""
        raise NotImplementedError

    async def start(self) -> None:
        """Connects, registers, loads the image (on_change gets it all), stands for election.

        Raises ClusterError with a message fit for a user.
        """
        raise NotImplementedError

    async def stop(self) -> None:
        """Ends the session: the registration (and controllership) goes at once."""
        raise NotImplementedError

    async def create_topics(
        self, topics: Sequence[NewTopic], *, timeout_ms: int, validate_only: bool = False
    ) -> dict[str, CreatedTopic | KafkaError]:
        """Creates topics; the answer per name. Only on the controller (NOT_CONTROLLER
        elsewhere)."""
        raise NotImplementedError

    async def delete_topics(
        self, names: Sequence[str], *, timeout_ms: int
    ) -> dict[str, KafkaError | None]:
        """Deletes topics; the answer per name (None = done). Only on the controller."""
        raise NotImplementedError

    async def create_partitions(
        self, growths: Sequence[NewPartitions], *, timeout_ms: int, validate_only: bool = False
    ) -> dict[str, KafkaError | None]:
        """Grows topics; the answer per name (None = done). Only on the controller."""
        raise NotImplementedError

    async def incremental_alter_configs(
        self, topic: str, changes: Sequence[ConfigChange], *, validate_only: bool = False
    ) -> None:
        """Changes single settings of a topic, all or none. On any broker. Raises KafkaError."""
        raise NotImplementedError

    async def replace_config(
        self, topic: str, config: Mapping[str, str], *, validate_only: bool = False
    ) -> None:
        """Replaces a topic's whole config (AlterConfigs). On any broker. Raises KafkaError."""
        raise NotImplementedError

    async def auto_create(self, name: str) -> None:
        """Creates a topic with the broker's defaults if it does not exist, and waits until it has
        leaders. `__consumer_offsets` gets its own partition count and compact policy. On any
        broker. Raises KafkaError (bad name, no live broker, REQUEST_TIMED_OUT)."""
        raise NotImplementedError

    async def next_producer_id_block(self) -> tuple[int, int]:
        """Claims a block of 1,000 producer ids: (first, last), both inclusive."""
        raise NotImplementedError
