"""The signals that end a command in good order, as Java's shutdown hooks take them."""

import signal


def ending() -> tuple[signal.Signals, ...]:
    """SIGTERM, SIGINT and SIGHUP; the last not where it is ignored, as `nohup` has it."""
    always = (signal.SIGTERM, signal.SIGINT)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return always
    return (*always, signal.SIGHUP)
