"""The signals that end a command in good order, as Java's shutdown hooks take them."""

import os
import select
import signal

from brokerd.cli.options import CliError

PIECE_BYTES = 1 << 16
_EXIT_CODE = 128  # and the signal's number: of a shell, and of Java


def ending() -> tuple[signal.Signals, ...]:
    """SIGTERM, SIGINT and SIGHUP; the last not where it is ignored, as `nohup` has it."""
    always = (signal.SIGTERM, signal.SIGINT)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return always
    return (*always, signal.SIGHUP)


class Ending:
    """Whether a signal came that ends the command; a second one ends the process at once."""

    def __init__(self) -> None:
        self._number: int | None = None
        for number in ending():
            signal.signal(number, self._end)

    @property
    def now(self) -> bool:
        return self._number is not None

    @property
    def exit_code(self) -> int:
        """Of the command: 0 where no signal came."""
        return 0 if self._number is None else _EXIT_CODE + self._number

    def _end(self, number: int, _: object) -> None:
        self._number = number
        for each in ending():
            signal.signal(each, signal.SIG_DFL)


class Input:
    """What comes from a descriptor until it ends, or a signal comes: also one that comes while
    nothing is to be read."""

    def __init__(self, fd: int, ending: Ending) -> None:
        self._fd = fd
        self._ending = ending
        self._woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)

    def __call__(self) -> bytes:
        """The next piece; empty at the end. Raises CliError."""
        if self._ending.now:
            return b""
        ready, _, _ = select.select([self._fd, self._woken], [], [])
        if self._woken in ready:
            return b""
        try:
            return os.read(self._fd, PIECE_BYTES)
        except OSError as error:
            raise CliError(f"The input cannot be read: {error.strerror}") from None
