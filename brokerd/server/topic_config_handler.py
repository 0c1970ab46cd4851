"""The settings of the logs of topics, from their configs in ZooKeeper (Kafka's TopicConfigHandler).
`metadata_publisher` passes them to the logs when a config has changed.
"""

import logging
from collections.abc import Iterable

from brokerd.cluster.metadata_image import TopicInfo
from brokerd.config.log_config import LogConfig
from brokerd.server.broker_config_handler import BrokerConfigHandler

logger = logging.getLogger(__name__)


class TopicConfigHandler:
    """`broker` has the settings that are the defaults of topics."""

    def __init__(self, broker: BrokerConfigHandler) -> None:
        self._broker = broker
        self._logged: dict[str, str] = {}
        """The error of each topic whose config is invalid: it is logged once."""

    def forget_topics(self, names: Iterable[str]) -> None:
        """The topics were deleted: for new topics with their names, problems are logged again."""
        for name in names:
            self._logged.pop(name, None)

    def topic_config(self, info: TopicInfo) -> LogConfig | None:
        """The settings of a topic's logs; None if its config in ZooKeeper is invalid."""
        try:
            config = LogConfig.from_properties(self._broker.config.raw, info.config)
        except ValueError as error:
            if self._logged.get(info.name) != str(error):
                self._logged[info.name] = str(error)
                logger.warning(
                    "the logs of topic %s keep the settings they have, new ones do without this"
                    " one; set it anew or delete it: %s", info.name, error,
                )  # fmt: skip
            return None
        self._logged.pop(info.name, None)
        return config

    def sound_topic_config(self, info: TopicInfo) -> LogConfig:
        """As `topic_config`, but the broker's values take the place of invalid ones."""
        config = self.topic_config(info)
        return config or LogConfig.from_sound_properties(self._broker.config.raw, info.config)
