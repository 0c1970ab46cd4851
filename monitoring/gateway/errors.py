"""The exceptions of requests to a cluster.

    GatewayError(message, retriable)
    ├── ClusterUnavailable   no answer in time; retriable
    ├── Unreadable           the answers could not be decoded, or not in time; retriable
    ├── Unsupported          the cluster does not support the request (old broker, no admin port)
    ├── NotFound             no such topic, group, partition or segment
    ├── OffsetOutOfRange     the offset was deleted or is not written yet
    ├── OverLimit            an answer exceeds a limit or is invalid
    └── Refused              the cluster refused the request; the message says why

The message is a Reason (monitoring/error_reason.py), which the console translates, or text in the
user's language. Users see it; it never contains a secret.
"""


class GatewayError(Exception):
    """A request to a cluster failed; `retriable`: it may succeed later."""

    def __init__(self, message: str, *, retriable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.retriable = retriable


class ClusterUnavailable(GatewayError):
    """No broker, ZooKeeper or admin port answered in time."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=True)


class Unreadable(GatewayError):
    """The answers could not be decoded, or the process that decodes them died or took too long."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=True)


class Unsupported(GatewayError):
    """The cluster is reachable but does not support the request."""


class NotFound(GatewayError):
    """The topic, group, partition or segment does not exist."""


class OffsetOutOfRange(GatewayError):
    """The offset is outside the partition's range."""


class OverLimit(GatewayError):
    """An answer exceeds a limit or is invalid; the cluster's pages report it."""


class Refused(GatewayError):
    """The cluster refused the request."""
