"""The settings of topics' logs when a config in ZooKeeper is invalid."""

from typing import Any
from uuid import uuid4

import pytest

from brokerd.cluster.metadata_image import TopicInfo
from brokerd.config.broker_config import parse
from brokerd.server.broker_config_handler import BrokerConfigHandler
from brokerd.server.topic_config_handler import TopicConfigHandler

FILE = "broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\n"


def test_settings_of_a_topic_that_make_no_sense_are_told_once_for_each_that_had_the_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    socket_server: Any = None
    broker = BrokerConfigHandler(parse(FILE), socket_server, lambda _: None)
    handler = TopicConfigHandler(broker)
    topic = TopicInfo(name="t", topic_id=uuid4(), config={"retention.ms": "soon"})
    assert [handler.topic_config(topic) for _ in range(2)] == [None, None]
    assert len(caplog.records) == 1
    handler.forget_topics(["t", "of which nothing was told"])
    handler.topic_config(topic)
    assert len(caplog.records) == 2
