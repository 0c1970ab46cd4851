"""The forms that write records, and the page of their plan."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from console.actions.models import Plan
from console.produce.models import WaitingRecords
from monitoring.gateway.producing import NewRecord
from tests.console.actions.conftest import confirm_and_run

ONE = "/c/local/topics/orders/write"
LINES = f"{ONE}/lines"


def waiting() -> list[NewRecord]:
    return WaitingRecords.objects.get().records()


def test_the_form_leads_to_the_review_and_the_result_to_the_record(orders, client_of, operator):
    browser = client_of(operator)
    posted = {
        "key": "k", "key_format": "text", "value": '{"amount": 1}', "value_format": "json",
        "headers": "trace: 7", "partition": "1", "compression": "zstd",
        "at": "2026-11-27T10:00:00.125", "times": "3",
    }  # fmt: skip
    answer = browser.post(ONE, posted)
    headers, at_ms = (("trace", b"7"),), 1_795_773_600_125
    assert waiting() == [NewRecord(b"k", b'{"amount": 1}', headers, 1, at_ms)]
    page = browser.get(answer.url).content.decode()
    assert "zstd" in page
    assert "SHA-256 of the value" in page
    assert "amount" not in page
    plan = Plan.objects.get()
    assert plan.params["times"] == 3
    confirm_and_run(plan, operator)
    page = browser.get(answer.url).content.decode()
    assert 'href="/c/local/topics/orders/messages?partition=1&amp;offset=0"' in page
    assert "Partition 1: 3 records, offsets 0 to 2" in page


def test_a_record_needs_only_a_value(orders, client_of, operator):
    client_of(operator).post(ONE, {"value": "a\r\nb"})
    assert waiting() == [NewRecord(None, b"a\nb")]


def test_a_tombstone_and_an_empty_value_are_chosen(orders, client_of, operator):
    for value_format, value in (("null", None), ("empty", b"")):
        client_of(operator).post(ONE, {"key": "k", "value_format": value_format})
        assert waiting() == [NewRecord(b"k", value)]
        WaitingRecords.objects.all().delete()


@pytest.mark.parametrize(
    ("posted", "why"),
    [
        ({}, "Enter a value"),
        ({"value": "x", "value_format": "null"}, "Delete this text"),
        ({"value": "{", "value_format": "json"}, "not valid JSON"),
        ({"value": "x", "key": "zz", "key_format": "hex"}, "not valid hex"),
        ({"value": "x", "headers": "nothing"}, "Line 1 is not"),
        ({"value": "x", "partition": "9"}, "partitions 0 to 1"),
        ({"value": "x", "partition": "one"}, "number of a partition"),
        ({"value": "x", "times": "0"}, "greater than or equal"),
        ({"value": "x", "times": "5001"}, "less than or equal"),
        ({"value": "x", "at": "yesterday"}, "valid date"),
        ({"value": "x", "compression": "rar"}, "valid choice"),
        ({"value": "x" * 1000, "times": "2000"}, "One plan writes at most"),
    ],
)
def test_bad_input_is_an_error_of_the_form_and_nothing_typed_is_lost(
    orders, client_of, operator, posted, why
):
    answer = client_of(operator).post(ONE, {"headers": "typed: before"} | posted)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert why in page
    assert posted.get("headers", "typed: before") in page
    assert not WaitingRecords.objects.exists()


def test_a_file_of_json_lines_is_written_as_it_says(orders, client_of, operator):
    content = b'\xef\xbb\xbf{"key": "k", "value": "v", "partition": 1, "timestamp_ms": 5}\n'
    for partition, expected in (("", None), ("file", 1), ("0", 0)):
        file = SimpleUploadedFile("records.jsonl", content)
        posted = {"file": file, "partition": partition, "keeps_times": "on"}
        assert client_of(operator).post(LINES, posted).status_code == 302
        assert waiting() == [NewRecord(b"k", b"v", (), expected, 5)]
        WaitingRecords.objects.all().delete()
    assert Plan.objects.first().params["hashed"] == "file"


def test_pasted_lines_are_written(orders, client_of, operator):
    client_of(operator).post(LINES, {"lines": '{"value": "1", "timestamp_ms": 5}\r\n{"value": 2}'})
    assert waiting() == [NewRecord(None, b"1"), NewRecord(None, b"2")]


@pytest.mark.parametrize(
    ("lines", "file", "why"),
    [
        ("", None, "Choose a file"),
        ("{}", b"{}", "not both"),
        ("{}", None, "“value” is missing"),
        ("", b"\xff", "not UTF-8"),
        ("", b"[1]", "Line 1"),
        ("", b" " * (3 << 20) + b"x", "too large"),
    ],
)
def test_a_bad_file_is_an_error_of_the_form(orders, client_of, operator, lines, file, why):
    posted = {"lines": lines}
    if file is not None:
        posted["file"] = SimpleUploadedFile("records.jsonl", file)
    answer = client_of(operator).post(LINES, posted)
    assert answer.status_code == 422
    assert why in answer.content.decode()


def test_pages_of_a_topic_offer_it_to_those_who_may(orders, client_of, operator, viewer, admin):
    for user, topic, is_offered in (
        (operator, "orders", True),
        (viewer, "orders", False),
        (admin, "console.audit", False),
    ):
        page = client_of(user).get(f"/c/local/topics/{topic}").content.decode()
        assert (f"/c/local/topics/{topic}/write" in page) is is_offered


def test_a_topic_that_takes_no_records_says_why_in_place_of_a_form(orders, client_of, admin):
    answer = client_of(admin).get("/c/local/topics/console.audit/write")
    assert answer.status_code == 422
    assert "Only the console writes to it" in answer.content.decode()
