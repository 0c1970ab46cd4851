"""Metadata: brokers, topics and leaders of the cluster; creates topics."""

import asyncio
from collections.abc import Awaitable, Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from brokerd.cluster.broker_lifecycle import BrokerLifecycle
from brokerd.cluster.metadata_image import TopicInfo
from brokerd.cluster.topic_names import is_topic_name
from brokerd.errors import ErrorCode
from brokerd.event_loop_turns import AT_ONCE_MAX, in_turns
from brokerd.protocol.acl_operations import CLUSTER_OPERATIONS
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_item, encode_response
from brokerd.server.api.metadata_topic_cache import MetadataTopicCache, View
from brokerd.server.requests.request_codec import as_kafka_error
from brokerd.server.requests.request_context import Fields, Reply, RequestContext

CREATED_AT_ONCE = 32
WARM_UPS_MAX = 3

IDS_FIELD_FROM, IDS_FROM = 10, 12
"""Versions of Metadata: the first with a topic's id, and the first in which it may be used."""


@dataclass(frozen=True, slots=True)
class MetadataHandlers:
    cluster: BrokerLifecycle
    cache: MetadataTopicCache
    creates_topics: bool

    def metadata(self, context: RequestContext, request: Any) -> Reply | Awaitable[Reply]:
        """Brokers of the client's listener, and the topics asked for; creates them if allowed."""
        if IDS_FIELD_FROM <= context.api_version < IDS_FROM and _needs_ids(request):
            code = int(ErrorCode.INVALID_REQUEST)
            topics = [
                {"error_code": code, "name": each.name or "", "topic_id": each.topic_id}
                for each in request.topics
            ]
            return {"brokers": (), "topics": topics}
        answer = _Answer(self, context, request)
        missing = answer.topics_to_create()
        if missing or answer.is_slow() or answer.new_topics():
            return self._metadata_later(answer, missing)
        return answer.encode()

    async def _metadata_later(self, answer: "_Answer", missing: list[str]) -> Reply:
        for start in range(0, len(missing), CREATED_AT_ONCE):
            names = missing[start : start + CREATED_AT_ONCE]
            created = await asyncio.gather(
                *(self.cluster.topics.auto_create(name) for name in names), return_exceptions=True
            )
            for name, outcome in zip(names, created, strict=True):
                if isinstance(outcome, BaseException):
                    answer.failed(name, outcome)
        await self.cluster.new_partition_wait.wait(answer.new_topics())
        for _ in range(WARM_UPS_MAX):
            await answer.warm_up()
            if not answer.is_slow():  # else much of it has changed meanwhile
                break
        return answer.encode()


def _needs_ids(request: Any) -> bool:
    """Whether a topic has an id, or no name; versions 10 and 11 know the field and refuse both."""
    return any(each.topic_id or each.name is None for each in request.topics or ())


class _Answer:
    def __init__(self, handlers: MetadataHandlers, context: RequestContext, request: Any) -> None:
        self._cluster = handlers.cluster
        self._image = handlers.cluster.image
        self._cache = handlers.cache
        self._creates_topics = handlers.creates_topics
        self._context = context
        self._request = request
        self._version = context.api_version
        self._operations = bool(getattr(request, "include_topic_authorized_operations", False))
        self._failures: dict[str, ErrorCode] = {}
        self._unknown_rows: dict[tuple[str | None, UUID | None, ErrorCode], bytes] = {}
        topics = request.topics or ()
        ids = (getattr(topic, "topic_id", None) for topic in topics)  # None: it has a name
        self._ids = list(dict.fromkeys(filter(None, ids)))
        # one id, and the names of the request count no more, as in Kafka
        self._names = [] if self._ids else list(dict.fromkeys(topic.name for topic in topics))

    @property
    def _is_for_all(self) -> bool:
        topics = self._request.topics
        return topics is None or (self._version == 0 and not topics)

    def topics_to_create(self) -> list[str]:
        """Requested names that do not exist, if client and broker allow creation."""
        if self._is_for_all or not self._creates_topics:
            return []
        if not getattr(self._request, "allow_auto_topic_creation", True):
            return []
        known = self._image.topics
        named = (each for each in self._names if each is not None and each not in known)
        return list(filter(is_topic_name, named))

    def new_topics(self) -> list[str]:
        """The requested topics whose leaders may not know all their partitions yet."""
        if self._is_for_all:
            return []
        readiness = self._cluster.new_partition_wait
        return [name for name in self._names if name is not None and readiness.is_awaited(name)]

    def failed(self, name: str, error: BaseException) -> None:
        """A topic could not be created (or has no leaders yet)."""
        code = as_kafka_error(error, self._context).code
        if code is ErrorCode.REQUEST_TIMED_OUT:
            code = ErrorCode.LEADER_NOT_AVAILABLE
        self._failures[name] = code

    def _infos(self) -> Collection[TopicInfo]:
        """The existing topics of the answer."""
        image = self._image
        if self._is_for_all:
            return image.topics.values()
        names = self._names or [image.topic_ids.get(each) for each in self._ids]
        return [image.topics[name] for name in names if name in image.topics]

    def _view(self) -> View:
        without_listener = [
            broker.id
            for broker in self._image.brokers.values()
            if self._context.listener not in broker.endpoints
        ]
        return View(self._version, self._operations, frozenset(without_listener))

    def is_slow(self) -> bool:
        """Whether it takes several iterations of the loop to encode what is not cached."""
        asked = len(self._names) + len(self._ids)
        if (
            asked > AT_ONCE_MAX
            and asked - len(self._infos()) - len(self._unknown_rows) > AT_ONCE_MAX
        ):
            return True
        return self._cache.is_slow(self._view(), self._infos())

    async def warm_up(self) -> None:
        """Encodes the topics into the cache, some per iteration of the loop, and the refusals."""
        cache, view = self._cache, self._view()
        await in_turns(list(self._infos()), lambda info: cache.topic(view, info))
        await in_turns(self._ids, lambda topic_id: self._by_id(topic_id, view))
        await in_turns(self._names, lambda name: self._by_name(name, view))

    def encode(self) -> bytes:
        image, view = self._image, self._view()
        fields: Fields = {
            "brokers": self._brokers(),
            "cluster_id": image.cluster_id or None,
            "controller_id": image.controller_id,
        }
        if getattr(self._request, "include_cluster_authorized_operations", False):
            fields["cluster_authorized_operations"] = CLUSTER_OPERATIONS
        if self._is_for_all:
            topics = [self._cache.topic(view, info) for info in image.topics.values()]
        else:
            topics = [self._by_id(topic_id, view) for topic_id in self._ids]
            topics += [self._by_name(name, view) for name in self._names]
        return encode_response(ApiKey.METADATA, self._version, {**fields, "topics": topics})

    def _brokers(self) -> list[Fields]:
        listed = []
        for broker in self._image.brokers.values():
            endpoint = broker.endpoints.get(self._context.listener)
            if endpoint is not None:
                host, port = endpoint
                listed.append(
                    {"node_id": broker.id, "host": host, "port": port, "rack": broker.rack}
                )
        return listed

    def _by_id(self, topic_id: UUID, view: View) -> bytes:
        image = self._image
        info = image.topics.get(image.topic_ids.get(topic_id, ""))
        if info is None:
            return self._unknown(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
        return self._cache.topic(view, info)

    def _by_name(self, name: str | None, view: View) -> bytes:
        if name is None:
            return self._unknown("", None, ErrorCode.INVALID_TOPIC_EXCEPTION)
        info = self._image.topics.get(name)
        if info is not None:
            return self._cache.topic(view, info)
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if not is_topic_name(name):
            code = ErrorCode.INVALID_TOPIC_EXCEPTION
        return self._unknown(name, None, self._failures.get(name, code))

    def _unknown(self, name: str | None, topic_id: UUID | None, code: ErrorCode) -> bytes:
        key = (name, topic_id, code)
        row = self._unknown_rows.get(key)
        if row is None:
            fields = {"error_code": int(code), "name": name, "topic_id": topic_id}
            row = encode_item(ApiKey.METADATA, self._version, ("topics",), fields)
            self._unknown_rows[key] = row
        return row
