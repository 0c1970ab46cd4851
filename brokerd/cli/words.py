"""What Kafka's clients say of an error code where the broker sent no words of its own."""

from brokerd.errors import ErrorCode, KafkaError

_WORDS = {
    ErrorCode.UNKNOWN_SERVER_ERROR:
        "The server experienced an unexpected error when processing the request.",
    ErrorCode.OFFSET_OUT_OF_RANGE:
        "The requested offset is not within the range of offsets maintained by the server.",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
    ErrorCode.LEADER_NOT_AVAILABLE:
        "There is no leader for this topic-partition as we are in the middle of a leadership"
        " election.",
    ErrorCode.REQUEST_TIMED_OUT: "The request timed out.",
    ErrorCode.NOT_LEADER_OR_FOLLOWER:
        "For requests intended only for the leader, this error indicates that the broker is not"
        " the current leader. For requests intended for any replica, this error indicates that the"
        " broker is not a replica of the topic partition.",
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        "The coordinator is loading and hence can't process requests.",
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    ErrorCode.NOT_COORDINATOR: "This is not the correct coordinator.",
    ErrorCode.INVALID_TOPIC_EXCEPTION:
        "The request attempted to perform an operation on an invalid topic.",
    ErrorCode.INVALID_GROUP_ID: "The group id is invalid.",
    ErrorCode.UNKNOWN_MEMBER_ID: "The coordinator is not aware of this member.",
    ErrorCode.REBALANCE_IN_PROGRESS: "The group is rebalancing, so a rejoin is needed.",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
    ErrorCode.UNSUPPORTED_VERSION: "The version of API is not supported.",
    ErrorCode.TOPIC_ALREADY_EXISTS: "Topic with this name already exists.",
    ErrorCode.INVALID_PARTITIONS: "Number of partitions is below 1.",
    ErrorCode.INVALID_REPLICATION_FACTOR:
        "Replication factor is below 1 or larger than the number of available brokers.",
    ErrorCode.INVALID_REPLICATION_ASSIGNMENT: "Replica assignment is invalid.",
    ErrorCode.INVALID_CONFIG: "Configuration is invalid.",
    ErrorCode.NOT_CONTROLLER: "This is not the correct controller for this cluster.",
    ErrorCode.INVALID_REQUEST:
        "This most likely occurs because of a request being malformed by the client library or the"
        " message was sent to an incompatible broker. See the broker logs for more details.",
    ErrorCode.POLICY_VIOLATION: "Request parameters do not satisfy the configured policy.",
    ErrorCode.KAFKA_STORAGE_ERROR: "Disk error when trying to access log file on the disk.",
    ErrorCode.NON_EMPTY_GROUP: "The group is not empty.",
    ErrorCode.GROUP_ID_NOT_FOUND: "The group id does not exist.",
    ErrorCode.TOPIC_DELETION_DISABLED: "Topic deletion is disabled.",
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC:
        "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed"
        " to it.",
}  # fmt: skip


def refusal(code: int, message: str | None = None) -> KafkaError:
    """The error of an answer, with the broker's words or Kafka's for that code."""
    try:
        known = ErrorCode(code)
    except ValueError:
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, message or f"Error code {code}.")
    return KafkaError(known, message or _WORDS.get(known, known.name))


def check(code: int, message: str | None = None) -> None:
    """Raises KafkaError unless the code says that all is well."""
    if code:
        raise refusal(int(code), message)


_EXCEPTIONS = {
    ErrorCode.NON_EMPTY_GROUP: "GroupNotEmpty",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "InvalidTopic",
    ErrorCode.TOPIC_ALREADY_EXISTS: "TopicExists",
    ErrorCode.REQUEST_TIMED_OUT: "Timeout",
    ErrorCode.KAFKA_STORAGE_ERROR: "KafkaStorage",
}


def as_java(error: KafkaError) -> str:
    """The error as Java prints it: so some of Kafka's tools show it, and scripts look for it."""
    name = _EXCEPTIONS.get(error.code)
    if name is None:
        name = "".join(word.capitalize() for word in error.code.name.split("_"))
    return f"org.apache.kafka.common.errors.{name}Exception: {error}"
