"""Fetch sessions (KIP-227): a consumer sends only the partitions that changed since its last Fetch.

Pure: no socket, no clock, no random source. A request is one of

    epoch -1 or none   a full request without a session; a session that it names ends
    epoch 0            a full request that would like a session; one that it names ends
    epoch n            what changed since request n - 1: partitions added, changed or forgotten

Bounds: `slots` sessions, and PARTITIONS_MAX partitions in all; one with a long topic name counts
several times. At a bound, sessions unused for STALE_MS are evicted, the one unused longest first;
if all slots are in use, a larger session evicts the smallest that is older than STALE_MS, as in
Kafka. Without room the fetcher gets no session and continues with full requests.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from brokerd.errors import ErrorCode, KafkaError
from brokerd.integer_ranges import INT32_MAX
from brokerd.protocol.fetch_request import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    FetchPartition,
    FetchRequest,
    TopicIdPartition,
)
from brokerd.protocol.fetch_response import FetchReply
from brokerd.replication.partition import Partition
from brokerd.server.fetch.fetch_session import (
    Names,
    Session,
    partition_key,
    size_of,
)

STALE_MS: Final = 120_000
PARTITIONS_MAX: Final = 500_000


class FetchContext:
    """One request: the partitions to read (with a session those that are dirty), and after the read
    which replies are sent."""

    __slots__ = (
        "_all", "_cache", "_epoch", "_left_out", "_look_up", "_made", "_moves", "_names",
        "_uses_topic_ids", "_wants_session", "session",
    )  # fmt: skip

    def __init__(
        self,
        cache: "FetchSessionCache",
        partitions: list[FetchPartition],
        *,
        session: Session | None = None,
        wants_session: bool = False,
        uses_topic_ids: bool = False,
    ) -> None:
        self._cache = cache
        self._all = partitions
        self._left_out: Collection[TopicIdPartition] = ()
        self._epoch = session.epoch if session else INITIAL_EPOCH
        self._wants_session = wants_session
        self._made: Session | None = None
        self._look_up: Callable[[], Names] = dict
        self._names: Names | None = None
        self._uses_topic_ids = uses_topic_ids
        self._moves = 0
        self.session = session

    def next_partitions(self) -> list[FetchPartition]:
        """Those to read now; `has_more_dirty` then says whether others were added since."""
        session = self.session
        if session is not None:
            self._moves = session.moves
            if not self._left_out:
                return [each.wanted for each in session.dirty.values()]
            return [each.wanted for k, each in session.dirty.items() if k not in self._left_out]
        if not self._left_out:
            return self._all
        return [each for each in self._all if partition_key(each) not in self._left_out]

    @property
    def has_clean(self) -> bool:
        """Whether it has partitions besides those to read."""
        return self.session is not None and len(self.session.dirty) < len(self.session.partitions)

    @property
    def has_more_dirty(self) -> bool:
        """Whether others are to be read than `next_partitions` returned last."""
        return self.session is not None and self.session.moves != self._moves

    def leave_out(self, keys: Collection[TopicIdPartition]) -> None:
        """These are not read again for this request."""
        self._left_out = keys

    def wanted_of(self, replica: "Partition") -> FetchPartition | None:
        """What its session requests of a partition of this broker."""
        return None if self.session is None else self.session.wanted_of(replica)

    def keep_names(self, names: Callable[[], Names]) -> None:
        """The request waits; `names` are the names of its topics by id."""
        self._look_up = names
        self._names = None

    def name_of(self, wanted: FetchPartition) -> str | None:
        """The name of a topic id when the request came, or when its session first knew it."""
        known = self.session and self.session.partitions.get(wanted.key)
        if known and known.name is not None:
            return known.name
        if self._names is None:
            self._names = self._look_up()
        return self._names.get(wanted.topic_id)

    def session_id_to_answer(self, now_ms: int) -> int:
        """Returns the session's id. The session of a first Fetch is made only here, if there is
        room. Raises KafkaError if the session has served another request meanwhile."""
        if self.session is not None:
            self._require_epoch(self.session)
            return self.session.id
        if self._wants_session:
            self._made = self._cache.create(self._all, self._uses_topic_ids, now_ms)
        return NO_SESSION if self._made is None else self._made.id

    def take_answers(self, replies: list[FetchReply]) -> list[FetchReply]:
        """Which of these replies are sent; the session remembers them. Call it after
        `session_id_to_answer`, as which it raises."""
        if self.session is not None:
            self._require_epoch(self.session)
            return self.session.take_answers(replies)
        if self._made is not None:
            known = self._made.partitions
            for reply in replies:
                known[reply.topic, reply.topic_id, reply.partition].update(reply)
        return replies

    def _require_epoch(self, session: Session) -> None:
        if session.epoch != self._epoch:
            raise _wrong_epoch(session, self._epoch)


class FetchSessionCache:
    """All sessions of a broker. `new_id` draws ids from 1 on that cannot be guessed; `names` are
    the names of all topics by id."""

    __slots__ = (
        "_names", "_new_id", "_none_below", "_none_until_ms", "_sessions", "_size", "_slots",
    )  # fmt: skip

    def __init__(
        self, slots: int, new_id: Callable[[], int], names: Callable[[], Names] = dict
    ) -> None:
        self._slots = slots
        self._new_id = new_id
        self._names = names
        self._sessions: dict[int, Session] = {}  # the one used longest ago first
        self._size = 0
        # up to _none_until_ms no session that may be replaced is smaller than _none_below
        self._none_until_ms = self._none_below = 0

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def partition_count(self) -> int:
        return sum(len(each.partitions) for each in self._sessions.values())

    def begin(self, request: FetchRequest, uses_topic_ids: bool, now_ms: int) -> FetchContext:
        """The partitions to read for a request. Raises KafkaError: FETCH_SESSION_ID_NOT_FOUND,
        INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR; then the fetcher begins a new
        session."""
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._remove(request.session_id)
            return FetchContext(
                self, _once_each(request.partitions), uses_topic_ids=uses_topic_ids,
                wants_session=request.session_epoch == INITIAL_EPOCH,
            )  # fmt: skip
        session = self._sessions.get(request.session_id)
        if session is None:
            raise KafkaError(
                ErrorCode.FETCH_SESSION_ID_NOT_FOUND, f"no fetch session {request.session_id}"
            )
        if session.epoch != request.session_epoch:
            raise _wrong_epoch(session, request.session_epoch)
        if session.uses_topic_ids != uses_topic_ids:
            raise KafkaError(
                ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
                f"fetch session {session.id} began with topic "
                + ("ids" if session.uses_topic_ids else "names"),
            )
        return self._go_on(session, request, now_ms)

    def _go_on(self, session: Session, request: FetchRequest, now_ms: int) -> FetchContext:
        before = session.size
        session.update(request.partitions, request.forgotten, self._names())
        self._size += session.size - before
        if session.size < before:
            self._none_below = min(self._none_below, session.size)
        session.used_ms = now_ms
        self._sessions[session.id] = self._sessions.pop(session.id)
        if not session.partitions or not self._make_room(0, 0, now_ms):
            partitions = [each.wanted for each in session.partitions.values()]
            self._remove(session.id)
            return FetchContext(self, partitions)
        session.epoch = 1 if session.epoch == INT32_MAX else session.epoch + 1
        return FetchContext(self, [], session=session)

    def create(
        self, partitions: Sequence[FetchPartition], uses_topic_ids: bool, now_ms: int
    ) -> Session | None:
        """A session of these partitions; None if there is no room."""
        wanted = dict(zip(map(partition_key, partitions), partitions, strict=True))
        size = sum(map(size_of, wanted))
        if size > PARTITIONS_MAX:
            return None
        if not self._make_room(1, size, now_ms) and not self._replace_smaller(size, now_ms):
            return None
        session = Session(self._free_id(), uses_topic_ids, now_ms)
        session.update(wanted.values(), (), self._names())
        self._sessions[session.id] = session
        self._size += session.size
        return session

    def _free_id(self) -> int:
        while True:
            session_id = self._new_id()
            if session_id not in self._sessions:
                return session_id

    def _make_room(self, slots: int, size: int, now_ms: int) -> bool:
        """Evicts unused sessions until there is room for so many partitions more, if possible."""
        while len(self._sessions) + slots > self._slots or self._size + size > PARTITIONS_MAX:
            oldest = next(iter(self._sessions.values()), None)
            if oldest is None or now_ms - oldest.used_ms <= STALE_MS:
                return False
            self._remove(oldest.id)
        return True

    def _replace_smaller(self, size: int, now_ms: int) -> bool:
        """Evicts a smaller session for one of that size, if only the slots are full."""
        if self._size + size > PARTITIONS_MAX:
            return False
        if size <= self._none_below and now_ms <= self._none_until_ms:
            return False
        victim = self._smallest_settled(now_ms)
        if victim is None or victim.size >= size:
            return False
        self._remove(victim.id)
        return True

    def _smallest_settled(self, now_ms: int) -> Session | None:
        """The session to be replaced first. The search looks at all sessions, so its result is
        remembered."""
        smallest = None
        next_ms = now_ms  # sessions made from now on will be old enough after those there are
        for session in self._sessions.values():
            if now_ms - session.created_ms <= STALE_MS:
                next_ms = min(next_ms, session.created_ms)
            elif smallest is None or session.size < smallest.size:
                smallest = session
        self._none_until_ms = next_ms + STALE_MS
        self._none_below = PARTITIONS_MAX if smallest is None else smallest.size
        return smallest

    def _remove(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.close()
            self._size -= session.size


def _once_each(partitions: list[FetchPartition]) -> list[FetchPartition]:
    """If a partition is named twice, the last request counts, as in Kafka."""
    if len(partitions) == 1:
        return partitions
    return list(dict(zip(map(partition_key, partitions), partitions, strict=True)).values())


def _wrong_epoch(session: Session, epoch: int) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        f"fetch session {session.id} is at epoch {session.epoch}, not {epoch}",
    )
