"""Long work on the event loop, a few milliseconds at a time."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from time import monotonic
from typing import Any, ParamSpec, TypeVar

TURN_S = 0.002
AT_ONCE_MAX = 200
"""If each item may take long, no more than this are done in one iteration of the loop."""

SWITCH_INTERVAL_S = 0.0005
"""How long the event loop may have to wait for a thread that runs Python. With Python's 5 ms one in
a hundred of its iterations took 12 ms."""

Item = TypeVar("Item")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")
Steps = Generator[Awaitable[Any], Any, Result]
"""Work that yields what it has to wait for, gets the result, and goes on."""


def expect_busy_threads() -> None:
    """From now on threads may run Python for long, as when they walk records."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)


async def in_thread(
    work: Callable[Arguments, Result], *args: Arguments.args, **named: Arguments.kwargs
) -> Result:
    """What `work` gives, which runs Python for long and knows nothing of the loop's state."""
    expect_busy_threads()
    return await asyncio.to_thread(work, *args, **named)


async def in_turns(items: Iterable[Item], work: Callable[[Item], object]) -> None:
    """Calls `work` with each item in order; whatever else is due on the loop comes in between."""
    now_s = asyncio.get_running_loop().time
    ends_s = now_s() + TURN_S
    for item in items:
        work(item)
        if now_s() > ends_s:
            await asyncio.sleep(0)
            ends_s = now_s() + TURN_S


async def map_in_turns(items: Iterable[Item], work: Callable[[Item], Result]) -> list[Result]:
    """The results of `work` for each item, in order, made as by `in_turns`."""
    results: list[Result] = []
    await in_turns(items, lambda item: results.append(work(item)))
    return results


async def map_in_turns_awaited(
    items: Iterable[Item], work: Callable[[Item], Awaitable[Result]]
) -> list[Result]:
    """As `map_in_turns` with work that may have to wait, and often does not."""
    now_s = asyncio.get_running_loop().time
    ends_s = now_s() + TURN_S
    results: list[Result] = []
    for item in items:
        results.append(await work(item))
        if now_s() > ends_s:
            await asyncio.sleep(0)
            ends_s = now_s() + TURN_S
    return results


def at_once_or_in_turns(
    items: Iterable[Item], work: Callable[[Item], object], result: Result
) -> Result | Awaitable[Result]:
    """Calls `work` with each item in order, which fills `result`: at once, or, where that takes
    longer than a turn, the rest in turns."""
    left = iter(items)
    ends_s = monotonic() + TURN_S
    for item in left:
        work(item)
        if monotonic() > ends_s:
            return _in_turns(left, work, result)
    return result


async def _in_turns(
    items: Iterable[Item], work: Callable[[Item], object], result: Result
) -> Result:
    await asyncio.sleep(0)
    await in_turns(items, work)
    return result


def begin_task(tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
    """Begins a task; `tasks` has it until it has ended."""
    task = asyncio.ensure_future(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


def run_steps(steps: Steps[None], begin: Callable[[Coroutine[Any, Any, None]], object]) -> None:
    """Does the work up to the end, or up to where it has to wait: `begin` is given the rest."""
    try:
        waits_for = next(steps)
    except StopIteration:
        return
    begin(finish_steps(steps, waits_for))


async def finish_steps(steps: Steps[None], waits_for: Awaitable[Any] | None = None) -> None:
    """Does the work up to the end; `waits_for` is what its last step has yielded."""
    result = None
    try:
        while True:
            try:
                if waits_for is not None:
                    result = await waits_for
            except BaseException as error:
                waits_for = steps.throw(error)
            else:
                waits_for = steps.send(result)
    except StopIteration:
        return
