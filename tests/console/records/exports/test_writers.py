"""The formats of exports."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest

from console.records.exports.forms import ExportForm
from console.records.exports.writers import FORMATS, ExportEnd, writer_of
from monitoring.gateway.record_row import RecordRow

ROWS = [
    RecordRow(0, 41, 1_000, b"k", b'{"a": "\xc3\xa9,\n"}', (("trace", b"t1"),)),
    RecordRow(1, 7, None, None, b"\xff\x00", ()),
]
END = ExportEnd(False, "limit", 2, "0:42,1:8")


def written(name: str) -> bytes:
    writer = writer_of(name, "orders")
    return writer.begin() + writer.rows(ROWS[:1]) + writer.rows(ROWS[1:]) + writer.end(END)


def test_json_lines_have_a_record_each_and_the_end():
    first, second, end = map(json.loads, written("jsonl").splitlines())
    assert (first["offset"], first["value"]) == (41, {"text": '{"a": "é,\n"}'})
    assert (second["key"], second["value"]) == (None, {"base64": "/wA="})
    assert end["end"]["continue_at"] == "0:42,1:8"


def test_csv_has_a_header_and_can_be_read_back():
    head, first, second = csv.reader(io.StringIO(written("csv").decode(), newline=""))
    assert head[:3] == ["partition", "offset", "timestamp_ms"]
    assert first[:5] == ["0", "41", "1000", "k", "text"]
    assert first[5:] == ['{"a": "é,\n"}', "text", '[["trace", "t1"]]']
    assert second == ["1", "7", "", "", "null", "/wA=", "base64", "[]"]


@pytest.mark.parametrize(
    ("value", "cell", "encoding"),
    [
        (b"=HYPERLINK(1)", "'=HYPERLINK(1)", "text"),
        (b" @SUM(1)", "' @SUM(1)", "text"),
        (b"-1", "'-1", "text"),
        (b"a=b", "a=b", "text"),
        (b"", "", "text"),
        (None, "", "null"),
        (b"\x00\x00\x00\x2a", "AAAAKg==", "base64"),
        (b"\xfb\xff", "'+/8=", "base64"),
    ],
)
def test_csv_runs_no_formula_and_tells_null_empty_and_binary_apart(value, cell, encoding):
    line = writer_of("csv", "orders").rows([RecordRow(0, 1, None, b"k", value, ())]).decode()
    assert next(csv.reader([line]))[5:7] == [cell, encoding]


def test_parquet_has_the_bytes_and_the_end_in_its_metadata():
    file = pq.ParquetFile(io.BytesIO(written("parquet")))
    rows = file.read().to_pylist()
    assert [row["value"] for row in rows] == [row.value for row in ROWS]
    assert rows[0]["headers"] == [{"name": "trace", "value": b"t1"}]
    assert rows[0]["timestamp"].timestamp() == 1
    end = json.loads(file.metadata.metadata[b"aerie.export"])
    assert (end["is_complete"], end["records"]) == (False, 2)


def test_an_empty_export_is_a_valid_file():
    for name in ("jsonl", "csv", "parquet"):
        writer = writer_of(name, "orders")
        assert writer.begin() + writer.end(ExportEnd(True, "complete", 0))


def test_the_form_offers_each_format_and_another_one_is_an_error():
    offered = dict(ExportForm.declared_fields["file_format"].choices)
    assert list(offered) == list(FORMATS)
    with pytest.raises(KeyError, match="xml"):
        writer_of("xml", "orders")
