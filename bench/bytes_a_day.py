"""The row `bytes-a-day`: the size of a day of history at all levels, of a large cluster.

bench/in_checkout/bytes_a_day.py writes two hours of samples each 5 s with the console's own code
and rolls them up with Spark; a day follows from them.
"""

import json
from pathlib import Path

from bench.in_checkout.synthetic import Synthetic
from bench.measured import MB, Measured
from bench.report import Heading, Report
from bench.rows import Contender, Row
from bench.scripts import output_of

KEY = "bytes-a-day"
BUSY = (0, 1000)
THIS = "this"
_TIMEOUT_S = 3600


def measure(directory: Path, topics: int, results: Path) -> Report:
    """An idle cluster, and one with busy partitions. Raises RuntimeError if the script fails."""
    cluster = Synthetic(topics)
    count = int(cluster.partition_counts.sum())
    heading = Heading(
        "Bytes of history a day",
        f"{topics:,} topics, {count:,} partitions, {len(cluster.groups):,} groups, a sample each"
        " 5 s. Goals at 40,000 partitions: less than 100 MB idle, less than 2,000 MB with 1,000"
        " busy partitions.",
        "| Cluster | this | beside it | size ÷ its | goal | | goal |",
        "-bytes",
    )
    report = Report(results, 1, 0, heading)
    for busy in BUSY:
        levels = _bytes(directory / f"busy-{busy}", topics, busy)
        name = f"{busy:,} busy partitions" if busy else "idle"
        sizes = {level: sum(tables.values()) for level, tables in levels.items()}
        for level, size in {"all levels": sum(sizes.values()), **sizes}.items():
            row = Row(f"{KEY}-{busy}-{level}", f"{name}, {level}", "MB a day", "",
                      [Contender(THIS, THIS)], less_is_better=True)  # fmt: skip
            report.add_one(row, Measured(size / MB, 0.0))
    return report


def _bytes(directory: Path, topics: int, busy: int) -> dict[str, dict[str, int]]:
    """Level → table → bytes of a day."""
    directory.mkdir(parents=True)
    output = output_of("bytes_a_day.py", directory, topics, busy, timeout_s=_TIMEOUT_S)
    found: dict[str, dict[str, int]] = json.loads(output)
    return found
