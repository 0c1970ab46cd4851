"""One partition of `__consumer_offsets` that this broker leads: its coordinator on the event loop.

It passes requests, time and the outcome of writes to the pure `GroupCoordinatorShard`, and carries
out the effects: replies, appends, a timer. It lives for one leader epoch; at its end, waiting
requests get NOT_COORDINATOR.
"""

import asyncio
from collections.abc import Callable, Set
from typing import TypeVar, TypeVarTuple

from brokerd.clock import Clock
from brokerd.config.group_coordinator_config import GroupCoordinatorConfig
from brokerd.coordinator.group import delete_groups
from brokerd.coordinator.group.coordinator_context import EventContext
from brokerd.coordinator.group.group_coordinator_shard import GroupCoordinatorShard
from brokerd.coordinator.group.messages import Effects, HeartbeatRequest, Reply, Ticket
from brokerd.errors import ErrorCode, KafkaError
from brokerd.replication.partition import Partition
from brokerd.server.coordinator_runtime.coordinator_loader import load
from brokerd.server.coordinator_runtime.partition_writer import PartitionWriter
from brokerd.server.requests.ack_watchers import AckWatchers

R = TypeVar("R", bound=Reply)
Arguments = TypeVarTuple("Arguments")


class GroupRuntime:
    """See the module. All methods run on the event loop."""

    def __init__(
        self,
        partition: Partition,
        acks: AckWatchers,
        config: GroupCoordinatorConfig,
        commit_timeout_ms: int,
        clock: Clock,
        bytes_of_all_coordinators: Callable[[], int],
    ) -> None:
        self.leader_epoch = partition.leader_epoch
        self.loading = True
        self._partition = partition
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._config = config
        self._bytes_of_all = bytes_of_all_coordinators
        # others only read from it
        self.coordinator = GroupCoordinatorShard(config, self._bytes_of_all)
        self._writes = PartitionWriter(partition, acks, commit_timeout_ms, self)
        self._waiting: dict[Ticket, asyncio.Future[Reply]] = {}
        self._tickets = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._append_planned = False
        self._high_watermark_moved = asyncio.Event()
        self._closed = False
        self._loaded_offset = 0
        self._topics_gone: set[str] = set()

    # Loading and end

    async def read_log(self) -> None:
        """Replays the partition up to its log end into a new coordinator. Raises as `load` does."""
        self.coordinator = GroupCoordinatorShard(self._config, self._bytes_of_all)
        log = self._partition.log
        log.check_end()
        self._loaded_offset = log.log_end_offset
        await load(log, log.log_start_offset, self._loaded_offset, self.coordinator.store)

    async def begin(self) -> None:
        """Waits until the high watermark has passed all that was loaded, then serves."""
        while self._partition.high_watermark < self._loaded_offset:
            self._high_watermark_moved.clear()
            await self._high_watermark_moved.wait()
        self.loading = False
        self._carry_out(self.coordinator.loaded(self._clock.now_ms()))
        if self._topics_gone:
            self.forget_topics(self._topics_gone)

    def partition_moved(self) -> None:
        self._high_watermark_moved.set()

    def close(self) -> None:
        """The leader epoch is over: answers all waiting requests with NOT_COORDINATOR."""
        self._closed = True
        self._writes.close()
        self.loading = True
        if self._timer is not None:
            self._timer.cancel()
        self._answer(self.coordinator.resign(self._clock.now_ms()))
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(KafkaError(ErrorCode.NOT_COORDINATOR))
        self._waiting.clear()

    # Requests

    async def ask(
        self,
        kind: type[R],
        handler: Callable[[EventContext, Ticket, *Arguments], None],
        *arguments: *Arguments,
    ) -> R:
        """Has a request handled and waits for its reply, which may take long. Raises
        KafkaError(NOT_COORDINATOR) if this broker stops leading the partition first."""
        self._tickets += 1
        ticket = self._tickets
        future: asyncio.Future[Reply] = self._loop.create_future()
        self._waiting[ticket] = future
        try:
            now_ms = self._clock.now_ms()
            self._carry_out(self.coordinator.handle(now_ms, handler, ticket, *arguments))
            reply = await future
        finally:
            self._waiting.pop(ticket, None)
        assert isinstance(reply, kind), f"{type(reply).__name__} is no {kind.__name__}"
        return reply

    def heartbeat(self, request: HeartbeatRequest) -> ErrorCode:
        error = self.coordinator.heartbeat(request, self._clock.now_ms())
        self._set_timer()
        return error

    def forget_topics(self, topics: Set[str]) -> None:
        """The topics were deleted: removes their offsets."""
        if self.loading:
            self._topics_gone |= topics
            return
        now_ms = self._clock.now_ms()
        self._carry_out(self.coordinator.handle(now_ms, delete_groups.forget_topics, topics))

    # What became of writes (called by PartitionWriter)

    def write_done(self, write_id: int) -> None:
        self._carry_out(self.coordinator.write_done(write_id, self._clock.now_ms()))

    def write_failed(self, write_id: int, error: ErrorCode) -> None:
        self._carry_out(self.coordinator.write_failed(write_id, error, self._clock.now_ms()))

    def write_timed_out(self, write_id: int, error: ErrorCode) -> None:
        self._carry_out(self.coordinator.write_timed_out(write_id, error, self._clock.now_ms()))

    # Effects

    def _carry_out(self, effects: Effects) -> None:
        self._answer(effects)
        self._writes.add(effects.writes)
        self._plan_append()
        self._set_timer()

    def _answer(self, effects: Effects) -> None:
        for ticket, reply in effects.replies:
            future = self._waiting.pop(ticket, None)
            if future is not None and not future.done():
                future.set_result(reply)

    def _append_queued(self) -> None:
        self._append_planned = False
        if self._closed:
            return
        self._writes.append_queued(self._clock.now_ms())
        self._plan_append()

    def _plan_append(self) -> None:
        if self._writes.queued and not self._append_planned:
            self._append_planned = True
            self._loop.call_soon(self._append_queued)

    def _set_timer(self) -> None:
        due_ms = self.coordinator.next_deadline_ms
        if due_ms is None or self._closed:
            return
        if self._timer is not None:
            if self._timer_ms <= due_ms:
                return
            self._timer.cancel()
        self._timer_ms = due_ms
        delay_s = max(due_ms - self._clock.now_ms(), 0) / 1000
        self._timer = self._loop.call_later(delay_s, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._carry_out(self.coordinator.tick(self._clock.now_ms()))
