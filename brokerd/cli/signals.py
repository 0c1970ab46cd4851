"""The signals that end a command in good order, as Java's shutdown hooks take them."""

import signal
from collections.abc import Callable

_EXIT_CODE = 128  # plus the signal's number, as of a shell and of Java


def stop_signals() -> tuple[signal.Signals, ...]:
    """SIGTERM, SIGINT and SIGHUP; without SIGHUP if it is ignored, as under `nohup`."""
    always = (signal.SIGTERM, signal.SIGINT)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return always
    return (*always, signal.SIGHUP)


class StoppedBySignal(Exception):
    """Raised when a signal comes that ends the command (`raise_on_signal`)."""

    def __init__(self, exit_code: int) -> None:
        super().__init__()
        self.exit_code = exit_code


def raise_on_signal() -> None:
    """From now on the first signal raises StoppedBySignal."""

    def end(exit_code: int) -> None:
        raise StoppedBySignal(exit_code)

    _on_first_signal(end)


class SignalWatch:
    """Notes that a signal came that ends the command; the command looks at `stopped`."""

    exit_code = 0
    """Of the command: 0 where no signal came."""

    def __init__(self) -> None:
        _on_first_signal(self._end)

    @property
    def stopped(self) -> bool:
        return self.exit_code != 0

    def _end(self, exit_code: int) -> None:
        self.exit_code = exit_code


def _on_first_signal(end: Callable[[int], None]) -> None:
    """Calls `end` with the exit code; a second signal ends the process at once."""

    def handle(number: int, _: object) -> None:
        for each in stop_signals():
            signal.signal(each, signal.SIG_DFL)
        end(_EXIT_CODE + number)

    for each in stop_signals():
        signal.signal(each, handle)
