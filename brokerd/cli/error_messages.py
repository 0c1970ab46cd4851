"""Error codes as KafkaError, with the message of Kafka's clients if the broker sent none."""

from brokerd.errors import ErrorCode, KafkaError

_MESSAGES = {
    ErrorCode.OFFSET_OUT_OF_RANGE:
        "The requested offset is not within the range of offsets maintained by the server.",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
    ErrorCode.LEADER_NOT_AVAILABLE: "There is no leader for this topic-partition.",
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        "The coordinator is loading and hence can't process requests.",
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    ErrorCode.INVALID_TOPIC_EXCEPTION:
        "The request attempted to perform an operation on an invalid topic.",
    ErrorCode.INVALID_GROUP_ID: "The group id is invalid.",
    ErrorCode.UNKNOWN_MEMBER_ID: "The coordinator is not aware of this member.",
    ErrorCode.POLICY_VIOLATION: "Request parameters do not satisfy the configured policy.",
    ErrorCode.KAFKA_STORAGE_ERROR: "Disk error when trying to access log file on the disk.",
    ErrorCode.NON_EMPTY_GROUP: "The group is not empty.",
    ErrorCode.GROUP_ID_NOT_FOUND: "The group id does not exist.",
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC:
        "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed"
        " to it.",
}  # fmt: skip


def error_of(code: int, message: str | None = None) -> KafkaError:
    """The error for a code, with the broker's message or else Kafka's."""
    try:
        known = ErrorCode(code)
    except ValueError:
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, message or f"Error code {code}.")
    return KafkaError(known, message or _MESSAGES.get(known, known.name))


def raise_for_code(code: int, message: str | None = None) -> None:
    """Raises KafkaError unless the code is 0."""
    if code:
        raise error_of(int(code), message)
