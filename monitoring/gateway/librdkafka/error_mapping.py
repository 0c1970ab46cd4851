"""Maps librdkafka's errors to GatewayError."""

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaError, KafkaException

from monitoring.gateway import error_codes
from monitoring.gateway.errors import (
    ClusterUnavailable,
    GatewayError,
    NotFound,
    OffsetOutOfRange,
    Refused,
    Unsupported,
)
from monitoring.reasons import Reason

_UNAVAILABLE = {
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._RESOLVE,
    *error_codes.RETRIABLE,
}
_NOT_FOUND = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError.GROUP_ID_NOT_FOUND,
}
_UNSUPPORTED = {KafkaError._UNSUPPORTED_FEATURE, KafkaError.UNSUPPORTED_VERSION}
_OUT_OF_RANGE = {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}


def translate(error: KafkaError) -> GatewayError:
    """The GatewayError for `error`."""
    code, text = error.code(), Reason("cluster_says", text=error.str())
    if code in _UNAVAILABLE:
        return ClusterUnavailable(Reason("cluster_silent", why=text))
    if code in _NOT_FOUND:
        return NotFound(text)
    if code in _OUT_OF_RANGE:
        return OffsetOutOfRange(text)
    if code in _UNSUPPORTED:
        return Unsupported(text)
    return Refused(text)


@contextmanager
def translated() -> Iterator[None]:
    """Converts each KafkaException raised inside to a GatewayError."""
    try:
        yield
    except KafkaException as exception:
        error = exception.args[0] if exception.args else None
        if isinstance(error, KafkaError):
            raise translate(error) from exception
        raise Refused(Reason("cluster_says", text=str(exception))) from exception
