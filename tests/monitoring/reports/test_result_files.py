import uuid
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.conf import LazySettings

from monitoring.reports import result_files


@pytest.fixture(autouse=True)
def data(settings: LazySettings, tmp_path: Path) -> Path:
    settings.AERIE_DATA = tmp_path
    return tmp_path / "reports"


def write(report: uuid.UUID, **columns: list) -> result_files.Result:
    table = pa.table(columns)
    return result_files.read(
        result_files.write(report, {"rows": table}, {"a": 1}, {"c": {"kind": "line"}})
    )


def test_a_result_is_read_back_as_it_was_stored(data: Path) -> None:
    report = uuid.uuid4()
    result = write(report, name=["x", "y", "z"], lag=[1, None, 3])
    assert result.figures == {"a": 1}
    assert result.charts == {"c": {"kind": "line"}}
    assert result.rows == {"rows": 3}
    assert result.table("rows", 2) == [{"name": "x", "lag": 1}, {"name": "y", "lag": None}]
    assert result.file("rows", "csv").read_text() == '"name","lag"\n"x",1\n"y",\n"z",3\n'
    assert pq.read_table(result.file("rows", "parquet")).num_rows == 3
    assert [path.name for path in data.iterdir()] == [str(report)]


def test_computing_once_more_replaces_the_result(data: Path) -> None:
    report = uuid.uuid4()
    write(report, name=["old"])
    assert write(report, name=["new"]).table("rows", 9) == [{"name": "new"}]
    assert [path.name for path in data.iterdir()] == [str(report)]


def test_a_result_that_cannot_be_stored_leaves_nothing_behind(data: Path) -> None:
    with pytest.raises(TypeError):
        result_files.write(uuid.uuid4(), {}, {"a": object()}, {})
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("name", ["", "absent", "../../etc"])
def test_a_missing_folder_is_a_typed_error(name: str) -> None:
    with pytest.raises(result_files.ResultMissing):
        result_files.read(name)


@pytest.mark.parametrize(
    ("table", "extension"), [("other", "csv"), ("rows", "exe"), ("../x", "csv")]
)
def test_only_its_own_files_are_named(table: str, extension: str) -> None:
    with pytest.raises(KeyError):
        write(uuid.uuid4(), name=["x"]).file(table, extension)


def test_text_that_a_spreadsheet_would_run_is_made_harmless() -> None:
    names = ["=1+1", "+x", "-x", "@x", "a=b", None]
    result = write(uuid.uuid4(), name=names)
    lines = result.file("rows", "csv").read_text().splitlines()[1:]
    assert lines == ['"\'=1+1"', '"\'+x"', '"\'-x"', '"\'@x"', '"a=b"', ""]
    assert pq.read_table(result.file("rows", "parquet"))["name"].to_pylist() == names


def test_large_strings_have_no_formulas_either() -> None:
    texts = pa.array(["=HYPERLINK(1)"], pa.large_string())
    result = result_files.write(uuid.uuid4(), {"rows": pa.table({"name": texts})}, {}, {})
    written = (result_files.root() / result / "rows.csv").read_text()
    assert written == '"name"\n"\'=HYPERLINK(1)"\n'


def test_moments_are_text_in_a_spreadsheet_and_numbers_for_programs() -> None:
    result = write(uuid.uuid4(), bucket_ms=[1_760_000_000_000, None], lag=[1, 2])
    csv = result.file("rows", "csv").read_text()
    assert csv == '"bucket_start_utc","lag"\n"2025-10-09 08:53:20",1\n,2\n'
    read = pd.read_parquet(result.file("rows", "parquet"))
    assert read["bucket_ms"].tolist()[0] == 1_760_000_000_000
    back = pd.read_csv(result.file("rows", "csv"), parse_dates=["bucket_start_utc"])
    assert back["bucket_start_utc"][0] == pd.Timestamp("2025-10-09 08:53:20")


def test_removing_what_is_not_there_is_no_error() -> None:
    result_files.remove(uuid.uuid4())
