"""CreateTopics, DeleteTopics, CreatePartitions: one answer per topic, served by the controller."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from brokerd.cluster.requests import CreatedTopic, NewPartitions, NewTopic
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.server.context import ColdHandler, Fields, RequestContext
from brokerd.server.handlers.config_entries import topic_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brokerd.server.broker import Broker

NO_ID = UUID(int=0)


async def create_topics(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """Topics by count or by assignment."""
    refused: dict[str, KafkaError] = {}
    wanted = []
    for topic in request.topics:
        try:
            wanted.append(_new_topic(topic))
        except KafkaError as error:
            refused[topic.name] = error
    results: dict[str, CreatedTopic | KafkaError] = dict(refused)
    results |= await broker.cluster.create_topics(
        wanted,
        timeout_ms=_ms(request.timeout),
        validate_only=getattr(request, "validate_only", False),
    )
    names = dict.fromkeys(topic.name for topic in request.topics)
    answers = [_creation(broker, name, results[name]) for name in names]
    if request.validate_only:  # a topic that is not made has no id
        answers = [answer | {"topic_id": NO_ID} for answer in answers]
    return {"topics": answers}


def _new_topic(topic: Any) -> NewTopic:
    missing = [config.name for config in topic.configs if config.value is None]
    if missing:
        message = f"Null value not supported for topic configs: {', '.join(missing)}"
        raise KafkaError(ErrorCode.INVALID_CONFIG, message)
    assignment = {each.partition_index: tuple(each.broker_ids) for each in topic.assignments}
    if len(assignment) != len(topic.assignments):
        message = "A partition is assigned more than once."
        raise KafkaError(ErrorCode.INVALID_REPLICATION_ASSIGNMENT, message)
    return NewTopic(
        name=topic.name,
        partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignment=assignment,
        config={config.name: config.value for config in topic.configs},
    )


def _creation(broker: Broker, name: str, result: CreatedTopic | KafkaError) -> Fields:
    if isinstance(result, KafkaError):
        return {
            "name": name,
            "topic_id": NO_ID,
            "error_code": int(result.code),
            "error_message": result.message,
            "num_partitions": -1,
            "replication_factor": -1,
            "configs": [],
        }
    return {
        "name": name,
        "topic_id": result.topic_id,
        "error_code": 0,
        "error_message": None,
        "num_partitions": result.partitions,
        "replication_factor": result.replication_factor,
        "configs": [
            {
                "name": entry["name"],
                "value": entry["value"],
                "read_only": entry["read_only"],
                "config_source": entry["config_source"],
                "is_sensitive": entry["is_sensitive"],
            }
            for entry in topic_entries(result.config, broker.settings.now, None)
        ],
    }


async def delete_topics(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """Topics by name, or (from version 6 on) by id."""
    responses: list[Fields] = []
    ids: dict[str, UUID | None] = {}
    for name, topic_id in _named(request):
        known = name
        if name is None and topic_id not in (None, NO_ID):
            known = broker.cluster.image.topic_ids.get(topic_id)
            if known is None:
                error = KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, "No topic has this id.")
                responses.append(_deletion(None, topic_id, error))
                continue
        if known is None or (name is not None and topic_id not in (None, NO_ID)):
            error = KafkaError(ErrorCode.INVALID_REQUEST, "Give each topic's name or its id.")
            responses.append(_deletion(name, topic_id, error))
            continue
        info = broker.cluster.image.topics.get(known)
        ids[known] = info.topic_id if info else None
    results = await broker.cluster.delete_topics(list(ids), timeout_ms=_ms(request.timeout))
    responses += [_deletion(name, ids[name], error) for name, error in results.items()]
    return {"responses": responses}


def _named(request: Any) -> list[tuple[str | None, UUID | None]]:
    if hasattr(request, "topic_names"):
        return [(name, None) for name in request.topic_names]
    return [(topic.name, topic.topic_id) for topic in request.topics]


def _deletion(name: str | None, topic_id: UUID | None, error: KafkaError | None) -> Fields:
    return {
        "name": name,
        "topic_id": topic_id or NO_ID,
        "error_code": int(error.code) if error else 0,
        "error_message": error.message if error else None,
    }


async def create_partitions(broker: Broker, context: RequestContext, request: Any) -> Fields:
    """Growth to a total count, with the added partitions' replicas or without."""
    growths = [
        NewPartitions(
            topic=topic.name,
            total=topic.count,
            assignment=_assignment(topic.assignments),
        )
        for topic in request.topics
    ]
    results = await broker.cluster.create_partitions(
        growths, timeout_ms=_ms(request.timeout), validate_only=request.validate_only
    )
    return {
        "results": [
            {
                "name": name,
                "error_code": int(error.code) if error else 0,
                "error_message": error.message if error else None,
            }
            for name, error in results.items()
        ]
    }


def _assignment(told: Sequence[Any] | None) -> tuple[tuple[int, ...], ...] | None:
    """An empty list names no replicas where some are to be named; only null leaves it to us."""
    return None if told is None else tuple(tuple(each.broker_ids) for each in told)


def _ms(duration: timedelta) -> int:
    return max(0, duration // timedelta(milliseconds=1))


HANDLERS: dict[ApiKey, ColdHandler] = {
    ApiKey.CREATE_TOPICS: create_topics,
    ApiKey.DELETE_TOPICS: delete_topics,
    ApiKey.CREATE_PARTITIONS: create_partitions,
}
