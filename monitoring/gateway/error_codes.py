"""Error codes of brokers as GatewayErrors, the same for librdkafka and the project's own client."""

from brokerd.errors import ErrorCode
from monitoring.gateway.errors import ClusterUnavailable, Refused
from monitoring.gateway.wire.limits import printable
from monitoring.reasons import Reason

TEXT_MAX = 300

# What goes away when an election, a restart or the loading of a partition is over.
RETRIABLE = frozenset(
    {
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)


def reason(code: int, text: str) -> Reason:
    """The broker's error text, or its error code if it sent none."""
    message = printable(text, TEXT_MAX)
    return Reason("cluster_says", text=message) if message else Reason("kafka_error", error=code)


def raise_if_error(code: int, text: str) -> None:
    """Raises ClusterUnavailable if the code is a retriable error, Refused if it is another one."""
    if code in RETRIABLE:
        raise ClusterUnavailable(Reason("cluster_silent", why=reason(code, text)))
    if code:
        raise Refused(reason(code, text))
