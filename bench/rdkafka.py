"""librdkafka without Python between it and the records: a client that is not the bottleneck.

confluent-kafka spends about 2 µs of Python on every record, which caps a load of 1 KiB records at
600 MB/s, below what both brokers do. These few calls go to the same library by ctypes and hand it
thousands of records at a time. Source of the C signatures: rdkafka.h of librdkafka 2.

Fetched responses are kept out of mmap: otherwise each megabyte is unmapped after use and its pages
are faulted in again, which costs the client more than the broker's part.
"""

import ctypes
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path

import confluent_kafka

_ERROR_TEXT_BYTES = 512
_PRODUCER, _CONSUMER = 0, 1
_CONF_OK = 0
_QUEUE_FULL = -184
_OFFSET_BEGINNING = -2
_PARTITION_OF_EACH = 0x8
_UNASSIGNED = -1
_BATCH = 10_000
_QUEUE_FULL_PAUSE_S = 0.002
_GROUP_TIMEOUT_S = 60
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_BYTES = 1 << 28


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


class _TopicPartition(ctypes.Structure):
    """rd_kafka_topic_partition_t."""

    _fields_ = (
        ("topic", c_char_p),
        ("partition", c_int32),
        ("offset", c_int64),
        ("metadata", c_void_p),
        ("metadata_size", c_size_t),
        ("opaque", c_void_p),
        ("err", c_int),
        ("_private", c_void_p),
    )


class _TopicPartitionList(ctypes.Structure):
    """rd_kafka_topic_partition_list_t."""

    _fields_ = (("cnt", c_int), ("size", c_int), ("elems", POINTER(_TopicPartition)))


_List = POINTER(_TopicPartitionList)
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
        ("rd_kafka_poll_set_consumer", c_int, (c_void_p,)),
        ("rd_kafka_queue_get_consumer", c_void_p, (c_void_p,)),
        ("rd_kafka_queue_destroy", None, (c_void_p,)),
        ("rd_kafka_consume_callback_queue", c_int, (c_void_p, c_int, c_void_p, c_void_p)),
        ("rd_kafka_topic_partition_list_new", _List, (c_int,)),
        ("rd_kafka_topic_partition_list_add", c_void_p, (_List, c_char_p, c_int32)),
        ("rd_kafka_topic_partition_list_destroy", None, (_List,)),
        ("rd_kafka_subscribe", c_int, (c_void_p, _List)),
        ("rd_kafka_assignment", c_int, (c_void_p, POINTER(_List))),
        ("rd_kafka_assign", c_int, (c_void_p, _List)),
        ("rd_kafka_consumer_close", c_int, (c_void_p,)),
    ):
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


_rd = _library()
_libc = ctypes.CDLL(None)
_libc.mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)
_libc.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
# librdkafka calls this for each record before it frees it. Any C function that takes what comes
# and does nothing will do; a Python one would cost more than the record.
_NOTHING = ctypes.cast(_libc.labs, c_void_p)


class Producer:
    """Sends the same records over and over, to partition 0 of a topic or to all in turn."""

    def __init__(
        self, handle: int, topic: int, values: Sequence[bytes], partitions: int, errors: list[str]
    ) -> None:
        self._handle = handle
        self._topic = topic
        self._errors = errors
        self._flags = _PARTITION_OF_EACH if partitions > 1 else 0
        # Neither copied nor freed by the library: they must outlive every delivery.
        self._values = [ctypes.create_string_buffer(value, len(value)) for value in values]
        self._messages = (_Message * _BATCH)()
        for number, message in enumerate(self._messages):
            value = self._values[number % len(values)]
            message.payload, message.len = ctypes.addressof(value), len(value)
            message.partition = number % partitions

    def send(self) -> int:
        """Queue up to 10,000 records, as many as there is room for; how many that was."""
        count = len(self._messages)
        messages = self._messages
        taken = int(_rd.rd_kafka_produce_batch(self._topic, 0, self._flags, messages, count))
        if taken < count:
            refused = next(each.err for each in messages if each.err)
            if refused != _QUEUE_FULL:
                raise RuntimeError(f"produce failed: {_text(refused)}")
            time.sleep(_QUEUE_FULL_PAUSE_S)  # asking again at once would take a core
        _rd.rd_kafka_poll(self._handle, 0)
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
def producer(
    settings: Mapping[str, object], topic: str, values: Sequence[bytes], partitions: int = 1
) -> Iterator[Producer]:
    """A producer of `values` to `topic`; `settings` are librdkafka's."""
    errors: list[str] = []

    @_ON_DELIVERY
    def delivered(_handle: int, message: "ctypes._Pointer[_Message]", _opaque: int) -> None:
        if message.contents.err:
            errors.append(_text(message.contents.err))

    conf = _configuration({**settings, "delivery.report.only.error": "true"})
    _rd.rd_kafka_conf_set_dr_msg_cb(conf, delivered)
    with _client(_PRODUCER, conf, topic) as (handle, topic_handle):
        yield Producer(handle, topic_handle, values, partitions, errors)


class Consumer:
    """Reads partition 0 of a topic from its start, as often as wanted."""

    def __init__(self, topic: int) -> None:
        self._topic = topic

    def start(self) -> None:
        """Begin at the first offset."""
        if _rd.rd_kafka_consume_start(self._topic, 0, _OFFSET_BEGINNING):
            raise RuntimeError("consume did not start")

    def read(self, timeout_s: float) -> int:
        """Take every record that is there, waiting for the first one; how many that was."""
        timeout_ms = int(timeout_s * 1000)
        found = int(_rd.rd_kafka_consume_callback(self._topic, 0, timeout_ms, _NOTHING, None))
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


class Group:
    """Members of one consumer group that share a topic and read it from the start."""

    def __init__(self, members: Sequence[int]) -> None:
        self._members = members
        self._queues = [int(_rd.rd_kafka_queue_get_consumer(member)) for member in members]

    def join(self, topic: str, partitions: int) -> None:
        """Subscribe, and wait until the partitions are shared out among all members."""
        wanted = _rd.rd_kafka_topic_partition_list_new(1)
        _rd.rd_kafka_topic_partition_list_add(wanted, topic.encode(), _UNASSIGNED)
        for member in self._members:
            if _rd.rd_kafka_subscribe(member, wanted):
                raise RuntimeError("subscribe failed")
        _rd.rd_kafka_topic_partition_list_destroy(wanted)
        deadline = time.monotonic() + _GROUP_TIMEOUT_S
        while True:
            self.read()
            shares = [self._assignment(member) for member in self._members]
            counts = [share.contents.cnt for share in shares]
            for share in shares:
                _rd.rd_kafka_topic_partition_list_destroy(share)
            if sum(counts) == partitions and all(counts):
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"the group did not settle; its members have {counts}")

    def _assignment(self, member: int) -> "ctypes._Pointer[_TopicPartitionList]":
        found = _List()
        if _rd.rd_kafka_assignment(member, ctypes.byref(found)):
            raise RuntimeError("no assignment is known")
        return found

    def rewind(self) -> None:
        """Every member goes to the start of its partitions; what it had fetched is forgotten."""
        for member in self._members:
            share = self._assignment(member)
            for number in range(share.contents.cnt):
                share.contents.elems[number].offset = 0
            if _rd.rd_kafka_assign(member, share):
                raise RuntimeError("assign failed")
            _rd.rd_kafka_topic_partition_list_destroy(share)

    def read(self) -> int:
        """Take every record that is there; how many that was."""
        found = 0
        for queue in self._queues:
            found += max(int(_rd.rd_kafka_consume_callback_queue(queue, 1, _NOTHING, None)), 0)
        return found

    def leave(self) -> None:
        """Every member leaves the group; the handles are the caller's to destroy."""
        for member, queue in zip(self._members, self._queues, strict=True):
            _rd.rd_kafka_queue_destroy(queue)
            _rd.rd_kafka_consumer_close(member)


@contextmanager
def group(settings: Mapping[str, object], members: int) -> Iterator[Group]:
    """A consumer group of so many members; `settings` are librdkafka's."""
    with ExitStack() as handles:
        made = []
        for _ in range(members):
            handle = _handle(_CONSUMER, _configuration(settings))
            handles.callback(_rd.rd_kafka_destroy, handle)
            _rd.rd_kafka_poll_set_consumer(handle)
            made.append(handle)
        found = Group(made)
        try:
            yield found
        finally:
            found.leave()


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


def _handle(kind: int, conf: int) -> int:
    text = ctypes.create_string_buffer(_ERROR_TEXT_BYTES)
    handle = _rd.rd_kafka_new(kind, conf, text, _ERROR_TEXT_BYTES)
    if not handle:
        raise RuntimeError(text.value.decode())
    return int(handle)


@contextmanager
def _client(kind: int, conf: int, topic: str) -> Iterator[tuple[int, int]]:
    handle = _handle(kind, conf)
    topic_handle = _rd.rd_kafka_topic_new(handle, topic.encode(), None)
    try:
        yield handle, topic_handle
    finally:
        _rd.rd_kafka_topic_destroy(topic_handle)
        _rd.rd_kafka_destroy(handle)


def _text(error: int) -> str:
    return str(_rd.rd_kafka_err2str(error).decode())
