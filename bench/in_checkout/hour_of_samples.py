"""Run in a checkout: writes an hour of raw samples into the history of a cluster.

    python bench/in_checkout/hour_of_samples.py FOLDER SLUG TOPICS BUSY_PARTITIONS HOUR_MS

FOLDER is that of the history, HOUR_MS the start of the hour. The samples are those of
`bytes_a_day.py`. Prints the number of rows.
"""

import sys
from pathlib import Path

import pyarrow.fs as pafs
from bytes_a_day import HOUR_MS, INTERVAL_MS, Quiet, write_hours
from django.conf import settings
from names import find


def main() -> None:
    """See the module."""
    folder, slug, hour_ms = Path(sys.argv[1]), sys.argv[2], int(sys.argv[5])
    settings.configure(AERIE_TICK_SECONDS=INTERVAL_MS // 1000)
    from monitoring.history.levels import RAW
    from monitoring.history.root_folder import Root
    from monitoring.history.table_specs import TABLES

    root = Root(pafs.LocalFileSystem(), str(folder), f"file://{folder}")
    write_hours(root, Quiet(int(sys.argv[3]), int(sys.argv[4])), hour_ms, 1, slug)
    files_of = find("history_files")
    found = (files_of(root, slug, RAW, name, hour_ms, hour_ms + HOUR_MS) for name in TABLES)
    print(sum(file.rows for files in found for _, file in files))


if __name__ == "__main__":
    main()
