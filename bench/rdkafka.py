"""librdkafka without Python between it and the records: a client that is not the bottleneck.

confluent-kafka spends about 2 µs of Python on every record, which caps a load of 1 KiB records at
600 MB/s, below what both brokers do. These few calls go to the same library by ctypes and hand it
thousands of records at a time. Source of the C signatures: rdkafka.h of librdkafka 2.
"""

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path

import confluent_kafka

_ERROR_TEXT_BYTES = 512
_PRODUCER, _CONSUMER = 0, 1
_CONF_OK = 0
_QUEUE_FULL = -184
_OFFSET_BEGINNING = -2


class _Message(ctypes.Structure):
    """rd_kafka_message_t."""

    _fields_ = (
        ("err", c_int),
        ("rkt", c_void_p),
        ("partition", c_int32),
        ("payload", c_void_p),
        ("len", c_size_t),
        ("key", c_void_p),
        ("key_len", c_size_t),
        ("offset", c_int64),
        ("_private", c_void_p),
    )


_ON_DELIVERY = ctypes.CFUNCTYPE(None, c_void_p, POINTER(_Message), c_void_p)


def _library() -> ctypes.CDLL:
    package = Path(confluent_kafka.__file__).parent
    (path,) = (package.parent / "confluent_kafka.libs").glob("librdkafka*.so*")
    found = ctypes.CDLL(str(path))
    for name, result, arguments in (
        ("rd_kafka_conf_new", c_void_p, ()),
        ("rd_kafka_conf_set", c_int, (c_void_p, c_char_p, c_char_p, c_char_p, c_size_t)),
        ("rd_kafka_conf_set_dr_msg_cb", None, (c_void_p, _ON_DELIVERY)),
        ("rd_kafka_new", c_void_p, (c_int, c_void_p, c_char_p, c_size_t)),
        ("rd_kafka_topic_new", c_void_p, (c_void_p, c_char_p, c_void_p)),
        ("rd_kafka_topic_destroy", None, (c_void_p,)),
        ("rd_kafka_destroy", None, (c_void_p,)),
        ("rd_kafka_produce_batch", c_int, (c_void_p, c_int32, c_int, POINTER(_Message), c_int)),
        ("rd_kafka_poll", c_int, (c_void_p, c_int)),
        ("rd_kafka_flush", c_int, (c_void_p, c_int)),
        ("rd_kafka_consume_start", c_int, (c_void_p, c_int32, c_int64)),
        ("rd_kafka_consume_stop", c_int, (c_void_p, c_int32)),
        ("rd_kafka_consume_callback", c_int, (c_void_p, c_int32, c_int, c_void_p, c_void_p)),
        ("rd_kafka_err2str", c_char_p, (c_int,)),
    ):
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


_rd = _library()


class Producer:
    """Sends one record over and over to partition 0 of a topic."""

    def __init__(self, handle: int, topic: int, value: bytes, errors: list[str]) -> None:
        self._handle = handle
        self._topic = topic
        self._errors = errors
        # Neither copied nor freed by the library: it must outlive every delivery.
        self._value = ctypes.create_string_buffer(value, len(value))
        address = ctypes.addressof(self._value)
        self._messages = (_Message * 10_000)()
        for message in self._messages:
            message.payload, message.len = address, len(value)

    def send(self) -> int:
        """Queue up to 10,000 records, as many as there is room for; how many that was."""
        count = len(self._messages)
        taken = int(_rd.rd_kafka_produce_batch(self._topic, 0, 0, self._messages, count))
        if taken < count:
            refused = next(each.err for each in self._messages if each.err)
            if refused != _QUEUE_FULL:
                raise RuntimeError(f"produce failed: {_text(refused)}")
        _rd.rd_kafka_poll(self._handle, 0 if taken else 1)
        self._raise_errors()
        return taken

    def flush(self, timeout_s: float) -> None:
        """Wait until everything was acknowledged. Raises RuntimeError where it was not."""
        error = _rd.rd_kafka_flush(self._handle, int(timeout_s * 1000))
        if error:
            raise RuntimeError(f"flush failed: {_text(error)}")
        self._raise_errors()

    def _raise_errors(self) -> None:
        if self._errors:
            raise RuntimeError(f"a delivery failed: {self._errors[0]}")


@contextmanager
def producer(settings: Mapping[str, object], topic: str, value: bytes) -> Iterator[Producer]:
    """A producer of `value` to `topic`; `settings` are librdkafka's."""
    errors: list[str] = []

    @_ON_DELIVERY
    def delivered(_handle: int, message: "ctypes._Pointer[_Message]", _opaque: int) -> None:
        if message.contents.err:
            errors.append(_text(message.contents.err))

    conf = _configuration({**settings, "delivery.report.only.error": "true"})
    _rd.rd_kafka_conf_set_dr_msg_cb(conf, delivered)
    with _client(_PRODUCER, conf, topic) as (handle, topic_handle):
        yield Producer(handle, topic_handle, value, errors)


class Consumer:
    """Reads partition 0 of a topic from its start, as often as wanted."""

    # librdkafka calls this for each record before it frees it. Any C function that takes what comes
    # and does nothing will do; a Python one would cost more than the record.
    _NOTHING = ctypes.cast(ctypes.CDLL(None).labs, c_void_p)

    def __init__(self, topic: int) -> None:
        self._topic = topic

    def start(self) -> None:
        """Begin at the first offset."""
        if _rd.rd_kafka_consume_start(self._topic, 0, _OFFSET_BEGINNING):
            raise RuntimeError("consume did not start")

    def read(self, timeout_s: float) -> int:
        """Take every record that is there, waiting for the first one; how many that was."""
        timeout_ms = int(timeout_s * 1000)
        found = int(_rd.rd_kafka_consume_callback(self._topic, 0, timeout_ms, self._NOTHING, None))
        if found < 0:
            raise RuntimeError("consume failed")
        return found

    def stop(self) -> None:
        """Forget what was fetched and not read."""
        _rd.rd_kafka_consume_stop(self._topic, 0)


@contextmanager
def consumer(settings: Mapping[str, object], topic: str) -> Iterator[Consumer]:
    """A consumer of `topic`; `settings` are librdkafka's."""
    with _client(_CONSUMER, _configuration(settings), topic) as (_, topic_handle):
        yield Consumer(topic_handle)


def _configuration(settings: Mapping[str, object]) -> int:
    conf = int(_rd.rd_kafka_conf_new())
    text = ctypes.create_string_buffer(_ERROR_TEXT_BYTES)
    for name, value in settings.items():
        if (
            _rd.rd_kafka_conf_set(conf, name.encode(), str(value).encode(), text, _ERROR_TEXT_BYTES)
            != _CONF_OK
        ):
            raise ValueError(text.value.decode())
    return conf


@contextmanager
def _client(kind: int, conf: int, topic: str) -> Iterator[tuple[int, int]]:
    text = ctypes.create_string_buffer(_ERROR_TEXT_BYTES)
    handle = _rd.rd_kafka_new(kind, conf, text, _ERROR_TEXT_BYTES)
    if not handle:
        raise RuntimeError(text.value.decode())
    topic_handle = _rd.rd_kafka_topic_new(handle, topic.encode(), None)
    try:
        yield handle, topic_handle
    finally:
        _rd.rd_kafka_topic_destroy(topic_handle)
        _rd.rd_kafka_destroy(handle)


def _text(error: int) -> str:
    return str(_rd.rd_kafka_err2str(error).decode())
