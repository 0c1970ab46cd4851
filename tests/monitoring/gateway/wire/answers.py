"""Answers of a broker, made by kio through `brokerd.protocol`: another implementation's bytes."""

import uuid
from collections.abc import Callable
from typing import Any

from brokerd.protocol import messages
from monitoring.gateway.wire import (
    groups,
    last_records,
    list_offsets,
    log_dirs,
    metadata,
    offset_fetch,
)


def _answer(api_key: int, version: int, fields: dict[str, Any]) -> bytes:
    body = messages.encode_response(api_key, version, fields)
    return messages.response_frame(api_key, version, 7, body)[4:]


def topic_id(name: str) -> uuid.UUID:
    """The id of each topic of `metadata_answer`."""
    return uuid.uuid5(uuid.NAMESPACE_DNS, name)


def metadata_answer(
    topics: dict[str, dict[int, tuple]],
    brokers=(1, 2),
    controller=1,
    address=None,
    version=metadata.WITH_IDS,
) -> bytes:
    """`topics`: name → partition → (leader, replicas, isr); `address`: of all brokers."""
    places = {b: address or (f"host-{b}", 9090 + b) for b in brokers}
    return _answer(
        metadata.API_KEY,
        version,
        {
            "brokers": [
                {
                    "node_id": b,
                    "host": places[b][0],
                    "port": places[b][1],
                    "rack": None if b == 1 else "r",
                }
                for b in brokers
            ],
            "cluster_id": "the-cluster",
            "controller_id": controller,
            "topics": [
                {
                    "error_code": 0,
                    "name": name,
                    "is_internal": False,
                    **({"topic_id": topic_id(name)} if version == metadata.WITH_IDS else {}),
                    "partitions": [
                        {
                            "error_code": 0,
                            "partition_index": index,
                            "leader_id": leader,
                            "leader_epoch": 4,
                            "replica_nodes": list(replicas),
                            "isr_nodes": list(isr),
                            "offline_replicas": [r for r in replicas if r not in isr],
                        }
                        for index, (leader, replicas, isr) in partitions.items()
                    ],
                }
                for name, partitions in topics.items()
            ],
        },
    )


def decoded_metadata(
    topics: dict[str, dict[int, tuple]], version: int = metadata.WITH_IDS, **more: Any
) -> metadata.Metadata:
    """The metadata of `metadata_answer`."""
    return metadata.decode(metadata_answer(topics, version=version, **more), version)


def offsets_answer(topics: dict[str, dict[int, tuple[int, int]]]) -> bytes:
    """`topics`: name → partition → (error, offset)."""
    without_times = {
        name: {p: (error, -1, offset) for p, (error, offset) in partitions.items()}
        for name, partitions in topics.items()
    }
    fields = {"topics": _listed_offsets(without_times)}
    return _answer(list_offsets.API_KEY, list_offsets.VERSION, fields)


def last_records_answer(topics: dict[str, dict[int, tuple[int, int, int]]]) -> bytes:
    """`topics`: name → partition → (error, timestamp, offset)."""
    fields = {"topics": _listed_offsets(topics)}
    return _answer(last_records.API_KEY, last_records.VERSION, fields)


def _listed_offsets(topics: dict[str, dict[int, tuple[int, int, int]]]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "partitions": [
                {"partition_index": p, "error_code": error, "timestamp": time_ms, "offset": offset}
                for p, (error, time_ms, offset) in partitions.items()
            ],
        }
        for name, partitions in topics.items()
    ]


def log_dirs_answer(
    directories: list[dict[str, dict[int, tuple[int, bool]]]],
    version: int = log_dirs.WITH_DISKS,
    disks: list[tuple[int, int]] | None = None,
    error: int = 0,
) -> bytes:
    """Per directory: topic → partition → (bytes, is a future copy); `disks`: (total, usable)."""
    results = [
        {
            "error_code": 0,
            "log_dir": f"/disk-{number}",
            "topics": [
                {
                    "name": name,
                    "partitions": [
                        {
                            "partition_index": p,
                            "partition_size": size,
                            "offset_lag": 0,
                            "is_future_key": future,
                        }
                        for p, (size, future) in partitions.items()
                    ],
                }
                for name, partitions in topics.items()
            ],
        }
        for number, topics in enumerate(directories)
    ]
    if version == log_dirs.WITHOUT_DISKS:
        return _answer(log_dirs.API_KEY, version, {"results": results})
    for result, (total, usable) in zip(results, disks or [(-1, -1)] * len(results), strict=True):
        result |= {"total_bytes": total, "usable_bytes": usable}
    return _answer(log_dirs.API_KEY, version, {"error_code": error, "results": results})


def commits_answer(told: dict[str, dict[str, list[tuple]]], error: int = 0) -> bytes:
    """`told`: group → topic → [(partition, offset, metadata, error)]."""
    listed = [
        {
            "group_id": group,
            "topics": [
                {
                    "name": name,
                    "partitions": [
                        {
                            "partition_index": p,
                            "committed_offset": offset,
                            "committed_leader_epoch": -1,
                            "metadata": text,
                            "error_code": code,
                        }
                        for p, offset, text, code in partitions
                    ],
                }
                for name, partitions in topics.items()
            ],
            "error_code": error,
        }
        for group, topics in told.items()
    ]
    return _answer(offset_fetch.API_KEY, offset_fetch.VERSION, {"groups": listed})


def describe_answer(told: dict[str, list[tuple[str, bytes]]], protocol: str = "consumer") -> bytes:
    """`told`: group → [(member id, assignment)]."""
    listed = [
        {
            "error_code": 0,
            "group_id": group,
            "group_state": "Stable",
            "protocol_type": protocol,
            "protocol_data": "range",
            "members": [
                {
                    "member_id": member,
                    "group_instance_id": None,
                    "client_id": "client",
                    "client_host": "/10.0.0.9",
                    "member_metadata": b"",
                    "member_assignment": assignment,
                }
                for member, assignment in members
            ],
        }
        for group, members in told.items()
    ]
    return _answer(groups.DESCRIBE_KEY, groups.DESCRIBE_VERSION, {"groups": listed})


def list_answer(listed: list[tuple[str, str]], error: int = 0) -> bytes:
    """(group, state) pairs."""
    told = [{"group_id": g, "protocol_type": "consumer", "group_state": s} for g, s in listed]
    fields = {"error_code": error, "groups": told}
    return _answer(groups.LIST_KEY, groups.LIST_VERSION, fields)


def a_cluster_of_one(topic: str) -> dict[int, Callable[[int], bytes]]:
    """For `hostile_broker`: one partition, always in the versions that the gateway asks for."""
    place = {0: (1, (1,), (1,))}
    return {
        metadata.API_KEY: lambda port: metadata_answer(
            {topic: place}, (1,), 1, ("127.0.0.1", port)
        )[4:],
        list_offsets.API_KEY: lambda _: offsets_answer({topic: {0: (0, 7)}})[4:],
    }
