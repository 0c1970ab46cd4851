"""The selector under a real event loop: sockets, pipes, processes, and the note of idle time."""

import asyncio
import os
import socket
import time
from collections.abc import Iterator

import pytest

from brokerd.metric_counters import LoopTimes
from brokerd.server.network.timed_selector import TimedSelector


@pytest.fixture
def times() -> LoopTimes:
    return LoopTimes()


@pytest.fixture
def runner(times: LoopTimes) -> Iterator[asyncio.Runner]:
    with asyncio.Runner(
        loop_factory=lambda: asyncio.SelectorEventLoop(TimedSelector(times))
    ) as made:
        yield made


def test_streams_and_processes_work_on_it(runner: asyncio.Runner) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()

    async def talk() -> tuple[bytes, bytes]:
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"hello\n")
        said = await reader.readline()
        writer.close()
        server.close()
        process = await asyncio.create_subprocess_exec(
            "cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate(b"through a pipe")
        return said, out

    assert runner.run(talk()) == (b"hello\n", b"through a pipe")


def test_reading_and_writing_change_on_one_socket(runner: asyncio.Runner) -> None:
    async def both() -> list[str]:
        ours, theirs = socket.socketpair()
        loop = asyncio.get_running_loop()
        seen: list[str] = []
        loop.add_reader(ours, lambda: seen.append(ours.recv(10).decode()))
        loop.add_writer(ours, lambda: (seen.append("writable"), loop.remove_writer(ours)))
        theirs.send(b"read")
        async with asyncio.timeout(10):
            while len(seen) < 2:
                await asyncio.sleep(0.001)
        loop.remove_reader(ours)
        theirs.send(b"never read")
        await asyncio.sleep(0.01)
        ours.close()
        theirs.close()
        return seen

    assert sorted(runner.run(both())) == ["read", "writable"]


def test_a_file_closed_before_it_was_taken_out_does_no_harm(times: LoopTimes) -> None:
    selector = TimedSelector(times)
    read, write = os.pipe()
    selector.register(read, 1)
    with pytest.raises(KeyError):
        selector.register(read, 1)
    os.close(read)
    assert selector.unregister(read).fd == read
    assert selector.select(0) == []
    os.close(write)
    selector.close()


def test_it_notes_how_long_the_loop_slept_and_when_it_woke(
    runner: asyncio.Runner, times: LoopTimes
) -> None:
    async def sleep_then_work() -> tuple[float, float]:
        start_s = time.monotonic()
        idle_s = times.idle_s
        await asyncio.sleep(0.05)
        slept_s = times.idle_s - idle_s
        woke_s = times.woke_s
        while time.monotonic() < woke_s + 0.02:
            pass
        assert times.idle_s - idle_s == slept_s  # work is not idleness
        return slept_s, woke_s - start_s

    slept_s, woke_after_s = runner.run(sleep_then_work())
    assert 0 < slept_s <= woke_after_s
