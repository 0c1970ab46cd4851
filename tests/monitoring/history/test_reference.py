"""The rows of the raw level against the samples from which they were made."""

import pytest

from monitoring.history.table_specs import TABLES
from monitoring.history.tick_changes import TickChanges
from tests.monitoring.history import random_cluster
from tests.monitoring.history.reference import HOUR_MS, level_rows
from tests.monitoring.history.reference_samples import steps_of

START_MS = 1_760_000_000_000 // HOUR_MS * HOUR_MS


@pytest.mark.parametrize("seed", range(3))
def test_a_raw_row_says_what_the_samples_say(seed: int) -> None:
    ticks = random_cluster.ticks(seed, START_MS, 100)
    steps = steps_of(ticks)
    changes = TickChanges()
    stored: dict = {name: {} for name in TABLES}
    for tick in ticks:
        for name, rows in changes.changed_tables(random_cluster.to_tick(tick)).items():
            for row in rows.to_pylist():
                if name in TABLES:
                    stored[name][row["at_ms"], *(row[key] for key in TABLES[name].keys)] = row
    for name, table in TABLES.items():
        expected = level_rows(table, steps, 1, HOUR_MS)
        assert set(stored[name]) == set(expected), name
        for key, row in stored[name].items():
            figures = {column: row[column] for column in expected[key] if column in row}
            assert figures == {column: expected[key][column] for column in figures}, (name, key)
            for gauge in table.gauges:
                assert row[gauge] == expected[key][f"{gauge}_last"]
