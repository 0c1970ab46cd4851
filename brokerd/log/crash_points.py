"""Named points before and after everything that the log writes to disk, at which a test lets the
process die as by kill -9.

`BROKERD_CRASH_AT=<name>` in the environment arms one of them; a test that wants to know them all
sets the variable to nothing and `observe`s. Without the variable a point in the code costs a
comparison, and what is wrapped by `around` is not wrapped at all.
"""

import os
import signal
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

VARIABLE: Final = "BROKERD_CRASH_AT"

Call = TypeVar("Call", bound=Callable[..., Any])

_armed = os.environ.get(VARIABLE)
wrapped: Final[set[str]] = set()
"""The points made by `around`, where the variable is set."""


def _die_if_armed(name: str) -> None:
    if name == _armed:
        os.kill(os.getpid(), signal.SIGKILL)


_observer: Callable[[str], None] = _die_if_armed


def observe(observer: Callable[[str], None]) -> None:
    """Have `observer` called for every point that is reached from now on."""
    global _observer
    _observer = observer


def reached(name: str) -> None:
    """Die here if this point is armed."""
    if _armed is not None:
        _observer(name)


def around(name: str) -> Callable[[Call], Call]:
    """Make a function's call two points, `before-<name>` and `after-<name>`."""

    def decorate(call: Call) -> Call:
        if _armed is None:
            return call
        wrapped.update((f"before-{name}", f"after-{name}"))

        @wraps(call)
        def watched(*args: Any, **kwargs: Any) -> Any:
            reached(f"before-{name}")
            result = call(*args, **kwargs)
            reached(f"after-{name}")
            return result

        return watched  # type: ignore[return-value]

    return decorate
