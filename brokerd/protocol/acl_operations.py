"""The authorized operations of Metadata and other responses, as bits.

There is no authorizer yet, so every client is authorized to every operation of a resource.
"""

from collections.abc import Iterable
from enum import IntEnum

NOT_ASKED = -(2**31)
"""The answer to a client that did not ask."""


class AclOperation(IntEnum):
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


def bits(operations: Iterable[AclOperation]) -> int:
    """One bit for each operation, at its code."""
    return sum(1 << operation for operation in operations)


_OF_CLUSTERS_ALONE = {AclOperation.CLUSTER_ACTION, AclOperation.IDEMPOTENT_WRITE}
_OF_TOPICS_ALONE = {AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE}

TOPIC_OPERATIONS = bits(set(AclOperation) - _OF_CLUSTERS_ALONE)
CLUSTER_OPERATIONS = bits(set(AclOperation) - _OF_TOPICS_ALONE)
GROUP_OPERATIONS = bits({AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE})
