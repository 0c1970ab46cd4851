import pyarrow as pa

from monitoring.history import append_ticks, manifest
from monitoring.history.levels import MINUTE, MINUTE_MS
from monitoring.history.parquet_files import read_file
from monitoring.history.root_folder import SpanFolder
from monitoring.history.table_specs import UNANSWERED_MS, schema_of
from monitoring.pipeline import workspace
from tests.monitoring.pipeline.made_history import START_MS


def test_a_copy_of_a_file_of_an_older_version_has_the_new_columns_as_null(root):
    span_folder = SpanFolder("local", MINUTE, MINUTE.span_of(START_MS))
    schema = schema_of("groups", is_raw=False)
    times = [START_MS, START_MS + MINUTE_MS]
    rows = pa.Table.from_pylist([{"at_ms": at_ms, "group": "g"} for at_ms in times], schema)
    file = append_ticks.write_file(root, span_folder, "groups", rows.drop_columns([UNANSWERED_MS]))
    manifest.replace(root, span_folder, manifest.load(root, span_folder), [file])
    with workspace.opened(root, "local") as space:
        copy = space.copy_without(span_folder, file, START_MS, START_MS + MINUTE_MS)
        kept = read_file(root, root.path(*copy.path), schema)
    assert kept.equals(rows.slice(1))
