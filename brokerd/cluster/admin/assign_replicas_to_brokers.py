"""Which brokers hold a new partition's replicas: assigned as by Kafka, rack-unaware or rack-aware
(AdminUtils.assignReplicasToBrokers), or chosen by the client and checked.

Rack-unaware: the first replica goes round the brokers from a start index; the others follow at a
shift that grows by one with each round. Rack-aware: the same on a list of brokers that alternates
racks, where a second replica on a rack (or broker) is taken only once every rack (or broker) has
one. The caller draws the random numbers; a growing topic continues its first assignment.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from brokerd.errors import ErrorCode, KafkaError

Assignment = dict[int, tuple[int, ...]]


def assign_replicas(
    brokers: Mapping[int, str | None],
    partitions: int,
    replication_factor: int,
    *,
    start_index: int,
    shift: int,
    first_partition: int = 0,
) -> Assignment:
    """Replicas for `partitions` partitions from `first_partition` on. `brokers` maps broker id to
    rack; rack-aware if all have one, a mixture is refused as by Kafka. Raises KafkaError."""
    _check(brokers, partitions, replication_factor)
    racks = {broker: rack for broker, rack in brokers.items() if rack is not None}
    ordered = alternate_racks(racks) if racks else sorted(brokers)
    assignment: Assignment = {}
    next_shift = shift
    for index in range(first_partition, first_partition + partitions):
        if index > 0 and index % len(ordered) == 0:
            next_shift += 1
        first = (index + start_index) % len(ordered)
        if racks:
            assignment[index] = _rack_aware(ordered, racks, replication_factor, first, next_shift)
        else:
            assignment[index] = _rack_unaware(ordered, replication_factor, first, next_shift)
    return assignment


def _check(brokers: Mapping[int, str | None], partitions: int, replication_factor: int) -> None:
    if partitions <= 0:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions must be larger than 0."
        )
    if replication_factor <= 0:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0."
        )
    if replication_factor > len(brokers):
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Replication factor: {replication_factor} larger than available brokers: "
            f"{len(brokers)}.",
        )
    if None in brokers.values() and any(brokers.values()):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "Not all brokers have rack information for replica rack aware assignment.",
        )


def _rack_unaware(ordered: Sequence[int], factor: int, first: int, shift: int) -> tuple[int, ...]:
    others = (ordered[_other(first, shift, j, len(ordered))] for j in range(factor - 1))
    return (ordered[first], *others)


def _rack_aware(
    ordered: Sequence[int], racks: Mapping[int, str], factor: int, first: int, shift: int
) -> tuple[int, ...]:
    leader = ordered[first]
    rack_count = len(set(racks.values()))
    replicas, used_racks = [leader], {racks[leader]}
    step = 0
    while len(replicas) < factor:
        position = _other(first, shift * rack_count, step, len(ordered))
        step += 1
        broker = ordered[position]
        rack_free = racks[broker] not in used_racks or len(used_racks) == rack_count
        if rack_free and broker not in replicas:
            replicas.append(broker)
            used_racks.add(racks[broker])
    return tuple(replicas)


def _other(first: int, shift: int, replica: int, brokers: int) -> int:
    if brokers == 1:
        return first
    return (first + 1 + (shift + replica) % (brokers - 1)) % brokers


def alternate_racks(racks: Mapping[int, str]) -> list[int]:
    """Neighbours are on different racks: {0: a, 1: a, 2: b, 3: b} → [0, 2, 1, 3]."""
    by_rack: dict[str, list[int]] = {}
    for broker in sorted(racks):
        by_rack.setdefault(racks[broker], []).append(broker)
    queues = [by_rack[rack] for rack in sorted(by_rack)]
    return [broker for turn in zip_longest(*queues) for broker in turn if broker is not None]


def check_assignment(
    assignment: Mapping[int, Sequence[int]], brokers: Mapping[int, object]
) -> None:
    """Raises INVALID_REPLICATION_ASSIGNMENT for replicas that a caller chose."""
    factors = {len(replicas) for replicas in assignment.values()}
    reason = None
    if sorted(assignment) != list(range(len(assignment))):
        reason = "Partitions should be a consecutive 0-based integer sequence."
    elif 0 in factors:
        reason = "A partition has no replicas."
    elif len(factors) > 1:
        reason = "All partitions should have the same number of replicas."
    for index, replicas in assignment.items():
        unknown = sorted(set(replicas) - set(brokers))
        if len(set(replicas)) != len(replicas):
            reason = f"Duplicate replica assignment found for partition {index}."
        elif unknown:
            reason = f"Partition {index} names unknown brokers {unknown}."
    if reason:
        raise KafkaError(ErrorCode.INVALID_REPLICATION_ASSIGNMENT, reason)
