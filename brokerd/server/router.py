"""Passes frames to handlers (Kafka's KafkaApis.handle), and their answers to the output queue of
the connection.

Produce and Fetch get the bytes of their frames. Consecutive Produces of one receive are collected
and appended together; if they are small, together with those of other clients in the same iteration
of the event loop. They are appended before any other request is served; if they wait for a queue or
the disk, the other request waits for them. All other requests are decoded (`request_codec`) and
passed to the handler of their API; if it waits, the connection's next requests wait for its answer.
So each request sees the effects of those before it, as in Kafka, which serves one request of a
connection at a time.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from struct import Struct
from time import monotonic
from typing import Any

from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import begin_task, in_thread
from brokerd.garbage_collection import uncollected
from brokerd.metric_counters import FETCH
from brokerd.protocol.api_keys import PRODUCE_VERSION_MAX, PRODUCE_VERSION_MIN, ApiKey, is_served
from brokerd.protocol.fetch_request import decode_fetch
from brokerd.protocol.framing import (
    SMALLEST_FRAME_BYTES,
    SMALLEST_REQUEST_BYTES,
    RequestHeader,
    parse_header,
)
from brokerd.server.api.api_versions import refused_api_versions
from brokerd.server.fetch.fetch_handler import FetchHandler
from brokerd.server.network.connection import Connection
from brokerd.server.network.loop_tick import LoopTick
from brokerd.server.network.output import HELD_BYTES_MAX, Slot, UnreadableError
from brokerd.server.network.receive_buffers import SHARED_BYTES, SMALL_FRAME_BYTES
from brokerd.server.produce.produce_handler import ProduceHandler
from brokerd.server.produce.produce_responder import refuse_old_produce
from brokerd.server.requests.request_codec import (
    as_kafka_error,
    decode_request,
    encode_frame,
    error_frame,
    reply_frame,
)
from brokerd.server.requests.request_context import Handler, RequestContext
from brokerd.server.requests.request_times import RequestTimes, Since

logger = logging.getLogger(__name__)

_unpack_head = Struct(">ihh").unpack_from
OTHERS_MAX, OTHERS_MIN = 512, 8
"""So many requests other than Produce are served in an iteration of the loop, shared between the
connections that have any, each of which has a few served: else they would hold it for seconds."""
SERVED_S, SERVED_MIN_S = 0.005, 0.0005
"""A connection is served in an iteration for its share of SERVED_S, but at least for SERVED_MIN_S:
a request of many items takes milliseconds, a Produce whose batch is decompressed half of one."""
TOGETHER_BYTES_MAX = 1 << 14
"""Produces of a receive up to this size are appended with those of other clients."""
TASK_BYTES = 1 << 16
"""What a request whose handler waits counts as, besides its own size: its answer may be long."""
LARGE_BYTES = 1 << 15
"""More than this may take milliseconds to decode."""


class Router:
    def __init__(
        self,
        times: RequestTimes,
        produces: ProduceHandler,
        fetches: FetchHandler,
        handlers: dict[int, Handler],
        on_unreadable: Callable[[OSError], None],
        request_bytes_max: int,
    ) -> None:
        """`request_bytes_max` is socket.request.max.bytes; `on_unreadable` is called with the error
        when a log could not be read while its records were sent."""
        self.metrics = times.metrics
        self.times = times
        self.frame_bytes_max = request_bytes_max + 4
        # no more than a frame may have, so that a frame that is too large is never complete
        self.receive_bytes_max = min(SHARED_BYTES - SMALL_FRAME_BYTES, self.frame_bytes_max)
        self._on_unreadable = on_unreadable
        self._handlers = handlers
        self._fetches = fetches
        self._produces = produces
        self.tick = LoopTick(times.metrics.loop, times, produces.append_all)
        self._produces.append_tick = self.tick.append_tick
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def has_unappended(self) -> bool:
        """Whether Produces wait to be appended: their bytes in the buffer must not change."""
        return bool(self._produces.unappended)

    def frames(
        self,
        connection: Connection,
        buffer: bytearray,
        view: memoryview,
        start: int,
        end: int,
        *,
        may_wait: bool = True,
    ) -> int:
        """Serves the complete frames in `buffer[start:end]`; returns the position after the last
        one served. It stops early if the requests are many or slow, the replies are large, or
        Produces are not in the log yet. With `may_wait`, Produces may wait in the buffer for the
        end of the iteration: the connection then calls `LoopTick.defer_until_append`."""
        waiting = self._produces.unappended
        try:
            if waiting and waiting[0][0] is connection:  # it comes again in this tick, after others
                self.tick.append_tick()
            position = self._frames(connection, buffer, view, start, end)
            if self._produces.unappended and not (
                may_wait
                and position - start <= TOGETHER_BYTES_MAX
                and self.tick.has_more_connections
                and self._produces.can_share_append
            ):
                self.tick.append_tick()
            return position
        except BaseException:
            self._produces.discard()
            self.times.discard()
            self.tick.fail()
            raise

    def _frames(
        self, connection: Connection, buffer: bytearray, view: memoryview, start: int, end: int
    ) -> int:
        position, produces = start, self._produces
        others_bytes = produced = others = others_max = 0
        while end - position >= SMALLEST_FRAME_BYTES and not connection.closed:
            size, api_key, version = _unpack_head(buffer, position)
            frame_end = position + 4 + size
            if frame_end > end or size < SMALLEST_REQUEST_BYTES:
                break  # the connection checks the size, and keeps the rest
            if connection.tasks_open:
                connection.mute_until_done()
                break
            if api_key == 0 and PRODUCE_VERSION_MIN <= version <= PRODUCE_VERSION_MAX:
                position, count = produces.add_run(connection, buffer, view, position, end)
                produced += count
                if count == 1 and position < end and self._is_over(connection):
                    self.tick.append_tick()
                    break
            else:
                if produces.unappended:
                    self.tick.append_tick()
                if connection.produces_open:
                    connection.mute_until_done()
                    break
                others_max = others_max or max(
                    OTHERS_MAX // self.tick.connections_to_serve, OTHERS_MIN
                )
                others += 1
                others_bytes += size
                memo = connection.fetch_memo if api_key == FETCH else None
                if memo and memo.serve(connection, buffer, position, frame_end):
                    self.times.others.append(FETCH)
                else:
                    self._serve(connection, view[position + 4 : frame_end])
                    if connection.output.held_bytes > HELD_BYTES_MAX or self._is_over(connection):
                        others_max = 0
                position = frame_end
                if others >= others_max:
                    break  # the connection keeps the rest for later
        self._count(produced, position - start - others_bytes, others, others_bytes)
        return position

    def _is_over(self, connection: Connection) -> bool:
        """Whether the connection has used up its share of an iteration. Not checked within a run of
        Produces whose records are not checked."""
        served_s = monotonic() - connection.active_at
        return served_s > SERVED_MIN_S and served_s * self.tick.connections_to_serve > SERVED_S

    def _count(self, produces: int, produces_bytes: int, others: int, others_bytes: int) -> None:
        self.metrics.requests += produces + others
        times = self.times
        if produces:
            times.produces += produces
            times.produce.request_bytes += produces_bytes
        times.other_bytes += others_bytes

    def puts_off(self, connection: Connection, buffer: bytearray, position: int) -> bool:
        """Whether the incomplete frame at `position` would have to wait once complete (for open
        requests, for which the connection is muted now, or until replies are sent), or will never
        be served."""
        _, api_key, version = _unpack_head(buffer, position)
        waits_for_produces = not (
            api_key == 0 and PRODUCE_VERSION_MIN <= version <= PRODUCE_VERSION_MAX
        )
        if waits_for_produces and self._produces.unappended:
            # only then is known whether its Produces wait, or end the connection
            self.tick.append_tick()
        if connection.tasks_open or (waits_for_produces and connection.produces_open):
            connection.mute_until_done()
            return True
        return connection.closed or connection.output.held_bytes > HELD_BYTES_MAX

    def _serve(self, connection: Connection, frame: memoryview) -> None:
        try:
            header = parse_header(frame)
        except KafkaError as error:
            connection.end(str(error))
            return
        key, version = header.api_key, header.api_version
        self.times.others.append(key)
        connection.last_header = header
        context = RequestContext(
            key, version, header.correlation_id, header.client_id,
            connection.listener, connection.peer_host,
        )  # fmt: skip
        if not is_served(key, version):
            self._refuse(connection, context, header, frame)
        elif len(frame) > LARGE_BYTES:
            self._serve_large(connection, context, header, frame)
        elif key == ApiKey.FETCH:
            try:
                self._fetches.serve(connection, header, frame)
            except KafkaError as error:
                connection.end(str(error))
        else:
            self._serve_handler(connection, context, frame[header.body_position :])

    def _serve_handler(
        self, connection: Connection, context: RequestContext, body: memoryview
    ) -> None:
        try:
            request = decode_request(context.api_key, context.api_version, body)
        except KafkaError as error:
            connection.end(str(error))
            return
        try:
            answer = self._handlers[context.api_key](context, request)
            if not inspect.isawaitable(answer):
                connection.output.add_parts([reply_frame(context, answer)])
                return
        except Exception as error:
            answered = self._counted(error, context)
            connection.output.add_parts([error_frame(context, request, answered)])
            return
        connection.tasks_open += 1
        slot = connection.output.reserve(TASK_BYTES + len(body))
        since = self.times.begin_wait(connection, context.api_key)
        serving = self._finish(connection, slot, context, request, answer, since)
        begin_task(self._tasks, serving)

    def _serve_large(
        self,
        connection: Connection,
        context: RequestContext,
        header: RequestHeader,
        frame: memoryview,
    ) -> None:
        """Serves a request that may take long to decode, or its answer to encode: in threads."""
        connection.tasks_open += 1
        slot = connection.output.reserve(TASK_BYTES + len(frame))
        since = self.times.begin_wait(connection, context.api_key)
        decode: Callable[[], Any]
        if context.api_key == ApiKey.FETCH:
            view = memoryview(bytes(frame))
            decode = partial(decode_fetch, view, header.body_position, context.api_version)
        else:
            body = bytes(frame[header.body_position :])
            decode = partial(decode_request, context.api_key, context.api_version, body)
        serving = self._finish_large(connection, slot, context, header, [decode], since)
        begin_task(self._tasks, serving)

    async def _finish_large(
        self,
        connection: Connection,
        slot: Slot,
        context: RequestContext,
        header: RequestHeader,
        decode: list[Callable[[], Any]],
        since: Since,
    ) -> None:
        """`decode` has one function, which is taken out when it is called: it holds the frame, and
        a handler may wait for minutes."""
        try:
            with uncollected():
                try:
                    request = await in_thread(decode.pop())
                except KafkaError as error:
                    connection.end(str(error))
                    connection.deliver(slot, [])
                    return
                if context.api_key != ApiKey.FETCH:
                    answer = self._answer(context, request)
                    await self._finish(connection, slot, context, request, answer, since, True)
                    return
                await self._fetches.serve_large(connection, header, request, slot, since)
                connection.tasks_open -= 1
                connection.unmute_if_done()
        except Exception:  # no memory or no thread: this reply, and all behind it, cannot be sent
            logger.exception("a request of API %d could not be served", context.api_key)
            connection.close("an unexpected error in the broker")

    async def _answer(self, context: RequestContext, request: Any) -> Any:
        answer = self._handlers[context.api_key](context, request)
        return await answer if inspect.isawaitable(answer) else answer

    async def _finish(
        self,
        connection: Connection,
        slot: Slot,
        context: RequestContext,
        request: Any,
        answer: Any,
        since: Since,
        is_large: bool = False,
    ) -> None:
        try:
            try:
                frame = await encode_frame(is_large, reply_frame, context, await answer)
            except Exception as error:
                answered = self._counted(error, context)
                frame = await encode_frame(is_large, error_frame, context, request, answered)
        except BaseException as error:  # this reply, and all behind it, cannot be sent
            connection.close("an unexpected error in the broker")
            if not isinstance(error, Exception):
                raise
            logger.exception("an answer of API %d could not be made", context.api_key)
            frame = b""
        connection.deliver(slot, [frame])
        connection.tasks_open -= 1
        connection.unmute_if_done()
        self.times.answered(connection, since)

    def _counted(self, error: Exception, context: RequestContext) -> KafkaError:
        answered = as_kafka_error(error, context)
        self.metrics.errors[context.api_key, int(answered.code)] += 1
        return answered

    def _refuse(
        self,
        connection: Connection,
        context: RequestContext,
        header: RequestHeader,
        frame: memoryview,
    ) -> None:
        """Refuses an API or version that is not served by ending the connection, as Kafka does. Two
        requests get an answer: ApiVersions, and Produce of an old version."""
        if context.api_key == ApiKey.API_VERSIONS:
            # Clients probe with their newest version; the answer is always v0.
            v0 = replace(context, api_version=0)
            connection.output.add_uncounted(reply_frame(v0, refused_api_versions()))
        elif context.api_key == ApiKey.PRODUCE and 0 <= context.api_version < PRODUCE_VERSION_MIN:
            refuse_old_produce(connection, header, frame)
        else:
            connection.end(f"API {context.api_key} version {context.api_version} is not served")

    def unreadable(self, error: UnreadableError) -> None:
        """A file of a log could not be read while a reply was sent: as after any other read, its
        log directory is taken offline. The rest of the reply cannot be sent."""
        self.metrics.errors[FETCH, int(ErrorCode.KAFKA_STORAGE_ERROR)] += 1
        self._on_unreadable(error)

    async def finish_tasks(self, timeout_s: float) -> None:
        """Waits for open handlers for a moment, then cancels them."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout_s)
        for task in tuple(self._tasks):
            task.cancel()
