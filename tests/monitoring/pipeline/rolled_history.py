"""Two hours of a day, rolled up once for all tests that begin with it.

`rolled_root`: the current history is a copy of it. The first raw hour has several files; minutes,
hours and the day are there; nothing is merged.
"""

import shutil
from pathlib import Path

import pytest
from django.test import override_settings
from pyspark.sql import SparkSession

from monitoring.history import append_ticks
from monitoring.history.levels import DAY_MS
from monitoring.history.root_folder import Root, current
from tests.monitoring.pipeline.do_all import due, run
from tests.monitoring.pipeline.made_history import START_MS, ticks, write

NOW_MS = START_MS + 2 * DAY_MS
SEED, HOURS = 3, 2


@pytest.fixture(scope="session")
def rolled_history(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder, which no test changes."""
    folder = tmp_path_factory.mktemp("rolled") / "history"
    with override_settings(HISTORY_URL=f"file://{folder}"):
        append_ticks._changes_by_cluster.clear()
        made = ticks(SEED, HOURS)
        for part in (made[:4], made[4:8], made[8:12], made[12:]):
            write(current(), part)
        while found := due(NOW_MS, merges=False):
            run(spark, found[0])
    append_ticks._changes_by_cluster.clear()
    return folder


@pytest.fixture
def rolled_root(rolled_history: Path, tmp_path: Path, settings: object) -> Root:
    copy = tmp_path / "rolled history"
    shutil.copytree(rolled_history, copy)
    settings.HISTORY_URL = f"file://{copy}"  # type: ignore[attr-defined]
    append_ticks._changes_by_cluster.clear()
    return current()
