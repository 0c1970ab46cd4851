"""The command line: `brokerd COMMAND …`, the same as `python -m brokerd COMMAND …`. A command is
imported when it is asked for: the tools start without the broker."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

TOOLS = {
    "topics": ("topic_command", "create, describe, list, alter and delete topics"),
    "configs": ("config_command", "show and change settings of topics and brokers"),
    "console-producer": ("console_producer", "send lines of standard input as records"),
    "console-consumer": ("console_consumer", "print the records of a topic"),
    "consumer-groups": (
        "consumer_group_command",
        "list, describe, reset and delete consumer groups",
    ),
    "get-offsets": ("get_offset_shell", "print offsets of partitions"),
    "delete-records": ("delete_records_command", "delete the oldest records of partitions"),
    "log-dirs": ("log_dirs_command", "print the log directories of brokers and their partitions"),
    "dump-log": ("dump_log_segments", "print the contents of segments and indexes"),
}
"""Command → its module, named as Kafka's class, and what it does. The function in the module has
the name of the command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code of the process."""
    arguments = sys.argv[1:] if arguments is None else arguments
    _open_closed_streams()
    if arguments and arguments[0] in TOOLS:
        module, _ = TOOLS[arguments[0]]
        tool = getattr(import_module(f"brokerd.cli.{module}"), arguments[0].replace("-", "_"))
        return int(tool(arguments[1:]))
    return _start(arguments)


def _open_closed_streams() -> None:
    """Opens /dev/null in place of standard streams that are closed (`<&-`)."""
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115  (as long as the process lives)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def _start(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="brokerd", description="A Kafka-compatible broker.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser("start", help="run a broker")
    run.add_argument("properties", help="server.properties, with Kafka's names")
    run.add_argument(
        "--override", action="append", default=[], metavar="KEY=VALUE",
        help="a setting that replaces the file's; may be repeated",
    )  # fmt: skip
    run.add_argument("-daemon", action="store_true", help="in the background, once it is ready")
    for name, (_, text) in TOOLS.items():
        commands.add_parser(name, help=text)
    options = parser.parse_args(arguments)
    from brokerd.cli.start import start  # the broker and all it needs

    return start(options.properties, options.override, daemon=options.daemon)
