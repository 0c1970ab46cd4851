"""The signals that end a command in good order, as Java's shutdown hooks take them."""

import signal
from collections.abc import Callable

_EXIT_CODE = 128  # and the signal's number: of a shell, and of Java


def ending() -> tuple[signal.Signals, ...]:
    """SIGTERM, SIGINT and SIGHUP; the last not where it is ignored, as `nohup` has it."""
    always = (signal.SIGTERM, signal.SIGINT)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return always
    return (*always, signal.SIGHUP)


class Ended(Exception):
    """A signal came while the command waited."""

    def __init__(self, exit_code: int) -> None:
        super().__init__()
        self.exit_code = exit_code


def raise_ended() -> None:
    """From now on a signal raises Ended."""

    def end(exit_code: int) -> None:
        raise Ended(exit_code)

    _on_first(end)


class Ending:
    """Whether a signal came that ends the command."""

    exit_code = 0
    """Of the command: 0 where no signal came."""

    def __init__(self) -> None:
        _on_first(self._end)

    @property
    def now(self) -> bool:
        return self.exit_code != 0

    def _end(self, exit_code: int) -> None:
        self.exit_code = exit_code


def _on_first(end: Callable[[int], None]) -> None:
    """Calls `end` with the exit code; a second signal ends the process at once."""

    def handle(number: int, _: object) -> None:
        for each in ending():
            signal.signal(each, signal.SIG_DFL)
        end(_EXIT_CODE + number)

    for each in ending():
        signal.signal(each, handle)
