"""What Kafka's error codes mean: one table for both clients. Pure.

wire/ has the codes from its answers. librdkafka reports the same codes, and errors of its own:
librdkafka/error_mapping.py has those.
"""

from brokerd.errors import ErrorCode
from monitoring.error_reason import Reason
from monitoring.gateway.errors import (
    ClusterUnavailable,
    GatewayError,
    NotFound,
    OffsetOutOfRange,
    Refused,
    Unsupported,
)
from monitoring.gateway.wire.response_limits import printable

_TEXT_MAX = 300

# Code → exception; every other code is Refused.
_EXCEPTIONS: dict[int, type[GatewayError]] = {
    ErrorCode.OFFSET_OUT_OF_RANGE: OffsetOutOfRange,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: NotFound,
    ErrorCode.GROUP_ID_NOT_FOUND: NotFound,
    ErrorCode.UNSUPPORTED_VERSION: Unsupported,
    # The same request may succeed later.
    ErrorCode.LEADER_NOT_AVAILABLE: ClusterUnavailable,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ClusterUnavailable,
    ErrorCode.REQUEST_TIMED_OUT: ClusterUnavailable,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ClusterUnavailable,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ClusterUnavailable,
    ErrorCode.NOT_COORDINATOR: ClusterUnavailable,
    ErrorCode.NOT_CONTROLLER: ClusterUnavailable,
    ErrorCode.KAFKA_STORAGE_ERROR: ClusterUnavailable,
}
# A change of a group fails with these while the group has members: only they may commit then.
_HAS_MEMBERS = {
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.NON_EMPTY_GROUP,
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
}


def reason_of(code: int, text: str = "") -> Reason:
    """Why the cluster refuses something: in its own words, if it sent any."""
    if message := printable(text, _TEXT_MAX):
        return Reason("cluster_says", text=message)
    if code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        return Reason("partition_gone")
    return Reason("kafka_error", error=int(code))


def exception_of(code: int, why: Reason | None = None) -> GatewayError:
    """The exception for an error code; without `why`, its message is that of the code."""
    why = reason_of(code) if why is None else why
    found = _EXCEPTIONS.get(code, Refused)
    return found(Reason("cluster_unready", why=why) if found is ClusterUnavailable else why)


def exception_of_group_change(code: int, why: Reason | None = None) -> GatewayError:
    """The exception for an error code that answers a change of a group or of its offsets."""
    if code in _HAS_MEMBERS:
        return Refused(Reason("group_has_members"))
    return exception_of(code, why)


def raise_if_error(code: int, text: str = "") -> None:
    """Raises the exception of the code, unless it is 0."""
    if code:
        raise exception_of(code, reason_of(code, text))
