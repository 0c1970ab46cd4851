"""A record of the Messages page fills the form that writes one."""

import html
import re

import pytest

from console.produce.models import WaitingRecords
from console.records.models import MaskingRule
from monitoring.gateway.producing import NewRecord
from monitoring.gateway.record_row import RecordRow
from tests.console.produce.conftest import local

PANEL = "/c/local/topics/orders/messages/1/0"
AGAIN = "/c/local/topics/orders/write?partition=1&offset=0"


@pytest.fixture
def record(orders) -> RecordRow:
    headers = (("trace", b"a: 1"), ("raw", b"\x00\xff"), ("none", None))
    row = RecordRow(1, 0, 1_700_000_000_000, b"\x00k", b"\nline\n\ttwo <b>", headers)
    orders.topics["orders"].records[1].append(row)
    return row


def fields(page: str) -> dict[str, str]:
    """What a browser would send of the form."""
    found = {}
    for name, text in re.findall(r'<textarea name="(\w+)"[^>]*>\n?(.*?)</textarea>', page, re.S):
        found[name] = html.unescape(text).replace("\n", "\r\n")
    for name, options in re.findall(r'<select name="(\w+)".*?>(.*?)</select>', page, re.S):
        chosen = re.search(r'value="(\w*)" selected', options)
        found[name] = chosen[1] if chosen else ""
    return found


def test_the_form_holds_the_record_and_sends_the_same_bytes(record, client_of, operator):
    browser = client_of(operator)
    page = browser.get(AGAIN).content.decode()
    assert "As the record of partition 1, offset 0" in page
    answer = browser.post("/c/local/topics/orders/write", fields(page))
    assert answer.status_code == 302, fields(page)
    [again] = WaitingRecords.objects.get().records()
    assert again == NewRecord(record.key, record.value, record.headers, 1)


def test_headers_that_the_form_cannot_hold_are_left_out_and_it_says_so(orders, client_of, operator):
    headers = (("a:b", b"1"), ("good", b"2"))
    orders.topics["orders"].records[1].append(RecordRow(1, 0, 5, None, None, headers))
    page = client_of(operator).get(AGAIN).content.decode()
    assert "1 header was left out" in page
    assert fields(page)["headers"] == "good: 2"


def test_the_link_is_there_for_those_who_may_write(record, client_of, operator, viewer):
    link = 'href="/c/local/topics/orders/write?partition=1&amp;offset=0"'
    assert link in client_of(operator).get(PANEL).content.decode()
    assert link not in client_of(viewer).get(PANEL).content.decode()
    type(local()).objects.update(read_only=True)
    assert link not in client_of(operator).get(PANEL).content.decode()


def test_a_record_that_is_masked_in_part_is_not_sent_again(record, client_of, operator, admin):
    MaskingRule.objects.create(cluster=local(), topic_pattern="orders", target="key")
    browser = client_of(operator)
    assert "orders/write?partition" not in browser.get(PANEL).content.decode()
    page = browser.get(AGAIN).content.decode()
    assert "Parts of this topic’s records are masked for you" in page
    assert "line" not in fields(page)["value"]
    assert "line" in fields(client_of(admin).get(AGAIN).content.decode())["value"]


def test_a_record_that_is_gone_is_said(record, client_of, operator):
    for query in ("partition=1&offset=9", "partition=7&offset=0"):
        page = client_of(operator).get(f"/c/local/topics/orders/write?{query}").content.decode()
        assert "The record could not be read" in page
    page = client_of(operator).get("/c/local/topics/orders/write?offset=-1&partition=x")
    assert page.status_code == 200
