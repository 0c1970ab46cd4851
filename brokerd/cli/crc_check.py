"""Checks the CRCs of the batches that a consumer has read.

librdkafka has a check (`check.crcs`), but after a batch with a wrong CRC it continues at a wrong
position, where an assertion may end the process before it has delivered earlier records. So its
check is disabled, and this module reads the batches of the consumed records again.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from brokerd.cli import client_tls
from brokerd.cli.client import Client
from brokerd.cli.options import CliError
from brokerd.cli.words import refusal
from brokerd.errors import KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import crc_matches, iter_batches
from brokerd.topic_partition import TopicPartition

FETCH_BYTES = 1 << 20


class CrcCheck:
    """What was looked at so far, by partition."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._leaders: dict[TopicPartition, int] = {}
        self._behind: dict[TopicPartition, int] = {}
        """Up to this offset the batches are right, or nobody can say."""

    def close(self) -> None:
        self._client.__exit__()

    def damaged(self, messages: Sequence[Any]) -> dict[TopicPartition, int]:
        """Of the partitions of these messages, in which a batch has another CRC than its header
        says: the batch's first offset."""
        spans: dict[TopicPartition, tuple[int, int]] = {}
        for each in messages:
            if each.error() is None:
                place, offset = (each.topic(), each.partition()), each.offset()
                first, last = spans.get(place, (offset, offset))
                spans[place] = (min(first, offset), max(last, offset))
        found = {place: self._look(place, *span) for place, span in spans.items()}
        return {place: offset for place, offset in found.items() if offset is not None}

    def _look(self, place: TopicPartition, first: int, last: int) -> int | None:
        offset = max(self._behind.get(place, first), first)
        while offset <= last:
            behind = offset
            try:
                data = self._client.retrying(partial(self._fetch, place, offset))
                for header, batch in iter_batches(memoryview(data)):
                    if not crc_matches(header, batch):
                        return header.base_offset
                    behind = header.last_offset + 1
            except (KafkaError, CliError, LookupError, ValueError):
                pass  # the consumer, which has the records, goes on
            offset = behind if behind > offset else last + 1
        self._behind[place] = offset
        return None

    def _fetch(self, place: TopicPartition, offset: int) -> bytes:
        topic, index = place
        if place not in self._leaders:
            (described,) = self._client.metadata([topic]).topics
            self._leaders |= {(topic, p.partition_index): p.leader_id for p in described.partitions}
        partition = {
            "partition": index, "fetch_offset": offset, "partition_max_bytes": FETCH_BYTES,
        }  # fmt: skip
        fields = {
            "replica_id": -1, "max_wait": 0, "min_bytes": 1, "max_bytes": FETCH_BYTES,
            "isolation_level": 0, "topics": [{"topic": topic, "partitions": [partition]}],
        }  # fmt: skip
        answer = self._client.to(self._leaders.get(place, -1), ApiKey.FETCH, fields)
        (row,) = answer.responses[0].partitions
        if row.error_code:
            self._leaders.pop(place, None)
            raise refusal(row.error_code)
        return bytes(row.records or b"")


def crc_check(bootstrap: Sequence[tuple[str, int]], settings: Mapping[str, str]) -> CrcCheck | None:
    """By the settings of Java's consumer; None where nobody wants it (check.crcs=false), or we
    cannot connect as the consumer does (SASL)."""
    if settings.get("check.crcs", "true").strip().lower() == "false":
        return None
    if settings.get("security.protocol", "PLAINTEXT").upper() not in ("PLAINTEXT", "SSL"):
        return None
    return CrcCheck(Client(bootstrap, tls=client_tls.context(settings)))
