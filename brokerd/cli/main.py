"""The command line: `brokerd COMMAND …`, the same as `python -m brokerd COMMAND …`."""

import argparse
from collections.abc import Sequence

from brokerd.cli.start import start


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code of the process."""
    parser = argparse.ArgumentParser(prog="brokerd", description="A Kafka-compatible broker.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("start", help="run a broker")
    run.add_argument("properties", help="server.properties, with Kafka's names")
    run.add_argument(
        "--override", action="append", default=[], metavar="KEY=VALUE",
        help="a setting that goes before the file's; may be repeated",
    )  # fmt: skip
    run.add_argument("-daemon", action="store_true", help="in the background, once it is ready")
    options = parser.parse_args(arguments)
    return start(options.properties, options.override, daemon=options.daemon)
