"""CreateTopics, DeleteTopics, CreatePartitions: one answer per topic, served by the controller."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from brokerd.cluster.admin.new_topic_plan import NewPartitions, NewTopic, TopicPlan
from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.config.dynamic_broker_config import DynamicBrokerConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import map_in_turns
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_item
from brokerd.server.api.config_helper import topic_entries
from brokerd.server.broker_config_handler import BrokerConfigHandler
from brokerd.server.requests.request_context import Fields, RequestContext, error_part, milliseconds

NO_ID = UUID(int=0)
DISABLED_FROM = 3
"""The version of DeleteTopics from which on clients know TOPIC_DELETION_DISABLED."""
CONFIGS_FROM = 5
"""The first version of CreateTopics whose response has a topic's settings."""


@dataclass(frozen=True, slots=True)
class TopicHandlers:
    cluster: BrokerLifecycle
    settings: BrokerConfigHandler

    async def create_topics(self, context: RequestContext, request: Any) -> Fields:
        """Creates topics by count or by assignment. A name given twice is answered twice."""
        wanted = await map_in_turns(request.topics, _new_topic)
        results = await self.cluster.topics.create(
            wanted,
            timeout_ms=milliseconds(request.timeout),
            validate_only=request.validate_only,
        )
        answers = _Creations(
            self.settings.now, context.api_version, has_ids=not request.validate_only
        )
        rows = await map_in_turns(
            wanted, lambda topic: answers.encode(topic.name, results[topic.name])
        )
        return {"topics": rows}

    async def delete_topics(self, context: RequestContext, request: Any) -> Fields:
        """Deletes topics by name or (from version 6) id. One given twice is answered twice; if one
        has both a name and an id, the whole request is refused, as in Kafka."""
        asked = _asked_to_delete(request)
        refusal = self._deletion_refused(context, asked)
        topic_ids = self.cluster.image.topic_ids
        rows = asked
        results: dict[str, KafkaError | None] = {}
        if refusal is None:
            rows = [(topic_ids.get(by) if by else name, by) for name, by in asked]
            names = dict.fromkeys(name for name, _ in rows if name is not None)
            results = await self.cluster.topics.delete(
                list(names), timeout_ms=milliseconds(request.timeout)
            )

        def answer(row: tuple[str | None, UUID | None]) -> bytes:
            name, topic_id = row
            error = refusal
            if error is None:
                error = _nameless(topic_id) if name is None else results[name]
            fields = {"name": name, "topic_id": topic_id or NO_ID, **error_part(error)}
            return encode_item(ApiKey.DELETE_TOPICS, context.api_version, ("responses",), fields)

        return {"responses": await map_in_turns(rows, answer)}

    def _deletion_refused(
        self, context: RequestContext, asked: list[tuple[str | None, UUID | None]]
    ) -> KafkaError | None:
        """The answer for every topic of a request that is refused as a whole."""
        try:
            self.cluster.topics.check_deletion()
        except KafkaError as error:
            is_disabled = error.code is ErrorCode.TOPIC_DELETION_DISABLED
            if is_disabled and context.api_version < DISABLED_FROM:
                return KafkaError(ErrorCode.INVALID_REQUEST, error.message)
            return error.without_frames()
        if any(name is not None and topic_id for name, topic_id in asked):
            return KafkaError(
                ErrorCode.INVALID_REQUEST, "Give each topic's name or its id, not both."
            )
        return None

    async def create_partitions(self, context: RequestContext, request: Any) -> Fields:
        """Adds partitions up to a total count, with or without an assignment of their replicas."""

        def answer(result: tuple[str, KafkaError | None]) -> Fields:
            name, error = result
            return {"name": name, **error_part(error)}

        requests = await map_in_turns(request.topics, _new_partitions)
        results = await self.cluster.topics.grow(
            requests, timeout_ms=milliseconds(request.timeout), validate_only=request.validate_only
        )
        return {"results": await map_in_turns(results.items(), answer)}


def _new_topic(topic: Any) -> NewTopic:
    """If a partition or a setting is given twice, the last one counts, as in Kafka."""
    return NewTopic(
        name=topic.name,
        partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignment={each.partition_index: tuple(each.broker_ids) for each in topic.assignments},
        config={config.name: config.value for config in topic.configs},
    )


def _new_partitions(topic: Any) -> NewPartitions:
    assignment = None  # the broker places the replicas
    if topic.assignments is not None:
        assignment = tuple(tuple(each.broker_ids) for each in topic.assignments)
    return NewPartitions(topic=topic.name, total=topic.count, assignment=assignment)


class _Creations:
    """The answers to a CreateTopics. Most topics of a long request have the same settings, which
    are encoded once."""

    def __init__(self, settings: DynamicBrokerConfig, version: int, *, has_ids: bool) -> None:
        self._settings = settings
        self._version = version
        self._has_ids = has_ids  # a topic that is only validated has none
        self._configs: dict[frozenset[tuple[str, str]], list[bytes]] = {}

    def encode(self, name: str, result: TopicPlan | KafkaError) -> bytes:
        row: Fields = {
            "name": name, "topic_id": NO_ID, "num_partitions": -1, "replication_factor": -1,
            "configs": [],
        }  # fmt: skip
        if isinstance(result, KafkaError):
            row |= error_part(result)
        else:
            row |= error_part() | {
                "topic_id": result.node.topic_id if self._has_ids else NO_ID,
                "num_partitions": len(result.node.replicas),
                "replication_factor": len(result.node.replicas[0]),
                "configs": self._entries(result.config) if self._version >= CONFIGS_FROM else [],
            }
        return encode_item(ApiKey.CREATE_TOPICS, self._version, ("topics",), row)

    def _entries(self, config: dict[str, str]) -> list[bytes]:
        key = frozenset(config.items())
        if key not in self._configs:
            path = ("topics", "configs")
            self._configs[key] = [
                encode_item(ApiKey.CREATE_TOPICS, self._version, path, _setting(entry))
                for entry in topic_entries(config, self._settings, None)
            ]
        return self._configs[key]


def _setting(entry: Fields) -> Fields:
    answered = ("name", "value", "read_only", "config_source", "is_sensitive")
    return {field: entry[field] for field in answered}


def _nameless(topic_id: UUID | None) -> KafkaError:
    if topic_id:
        return KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, "No topic has this id.")
    return KafkaError(ErrorCode.INVALID_REQUEST, "Give each topic's name or its id.")


def _asked_to_delete(request: Any) -> list[tuple[str | None, UUID | None]]:
    if hasattr(request, "topic_names"):
        return [(name, None) for name in request.topic_names]
    return [(topic.name, topic.topic_id) for topic in request.topics]
