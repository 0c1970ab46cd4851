"""The GatewayError of each of librdkafka's errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaError, KafkaException

from monitoring.error_reason import Reason
from monitoring.gateway import error_codes
from monitoring.gateway.errors import (
    ClusterUnavailable,
    GatewayError,
    NotFound,
    OffsetOutOfRange,
    Refused,
    Unsupported,
)

# Errors of librdkafka itself; the broker's codes are in error_codes.py.
_UNAVAILABLE = {
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._RESOLVE,
}
_NOT_FOUND = {KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}


def gateway_error_of(error: KafkaError) -> GatewayError:
    """The GatewayError for `error`."""
    code, text = error.code(), _text(error)
    if code in _UNAVAILABLE:
        return ClusterUnavailable(Reason("cluster_silent", why=text))
    if code in _NOT_FOUND:
        return NotFound(text)
    if code == KafkaError._AUTO_OFFSET_RESET:
        return OffsetOutOfRange(text)
    if code == KafkaError._UNSUPPORTED_FEATURE:
        return Unsupported(text)
    return error_codes.exception_of(code, text)


def gateway_error_of_group_change(error: KafkaError) -> GatewayError:
    """The GatewayError for an error that answers a change of a group or of its offsets: some codes
    mean something else there."""
    if error.code() < 0:
        return gateway_error_of(error)
    return error_codes.exception_of_group_change(error.code(), _text(error))


def _text(error: KafkaError) -> Reason:
    return Reason("cluster_says", text=error.str())


@contextmanager
def raising_gateway_errors() -> Iterator[None]:
    """Converts each KafkaException raised inside to a GatewayError."""
    try:
        yield
    except KafkaException as exception:
        error = exception.args[0] if exception.args else None
        if isinstance(error, KafkaError):
            raise gateway_error_of(error) from exception
        raise Refused(Reason("cluster_says", text=str(exception))) from exception
