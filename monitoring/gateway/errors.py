"""What can go wrong with a cluster, as one small tree.

    GatewayError(message, retriable)
    ├── ClusterUnavailable   nobody answers; retriable
    ├── Unreadable           its answers could not be read, or not in time; retriable
    ├── Unsupported          this cluster cannot do that (an old broker, no admin port …)
    ├── NotFound             no such topic, group, partition or segment
    ├── OffsetOutOfRange     the offset was deleted or not yet written
    ├── OverLimit            an answer is larger than what is read, or cannot be true
    └── Refused              the cluster understood and said no; the message says why

The message is meant for people; it never holds a secret.
"""


class GatewayError(Exception):
    """A request to a cluster that did not work; `retriable` = the same may work later."""

    def __init__(self, message: str, *, retriable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.retriable = retriable


class ClusterUnavailable(GatewayError):
    """No broker, ZooKeeper or admin port answered in time."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=True)


class Unreadable(GatewayError):
    """The process that read the cluster's answers died, or took too long."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retriable=True)


class Unsupported(GatewayError):
    """The cluster is reachable but does not offer what was asked."""


class NotFound(GatewayError):
    """What was named does not exist."""


class OffsetOutOfRange(GatewayError):
    """The offset lies outside of what the partition holds."""


class OverLimit(GatewayError):
    """An answer that breaks a limit; the pages of the cluster say so."""


class Refused(GatewayError):
    """The cluster refused a request that it understood."""
