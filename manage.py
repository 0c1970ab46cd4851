#!/usr/bin/env python3
"""Django's entry: `manage.py up` starts the whole product, `manage.py help` lists the rest."""

import os
import signal
import sys
from typing import NoReturn

INTERRUPTED = 128 + signal.SIGINT


def _interrupted(*_: object) -> NoReturn:
    """Ctrl-C while modules are still loading: nothing is there that would have to be put away."""
    os.write(2, b"\naerie: stopped before anything was started\n")
    os._exit(INTERRUPTED)


def main() -> None:
    """Run one management command; a wrong setting is said in a line, not in a traceback."""
    if sys.argv[1:2] == ["up"]:  # the supervisor sets its own handler when there is more to stop
        signal.signal(signal.SIGINT, _interrupted)
    # The Makefile starts us with Ctrl-C held back until here.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        problems = str(error).replace("\n", "\n  ")
        sys.exit(f"aerie: nothing was started. Correct this first:\n  {problems}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.stderr.write("\naerie: interrupted\n")
        sys.exit(INTERRUPTED)
