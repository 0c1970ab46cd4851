"""Mock records: their form with its preview, the plan, and what is written."""

import html
import json
import re

import pytest

from console.actions import models
from console.actions.models import Plan
from console.produce.actions.mock_records import MockSpec
from console.produce.models import WaitingRecords
from monitoring.error_reason import Reason, loads
from monitoring.gateway.producing import WriteOutcome
from tests.console.actions.conftest import confirm_and_run, resume_and_run
from tests.support.fake_gateway import FakeProducing

URL = "/c/local/topics/orders/write/mock"
EXAMPLE = '{"id": "zebra-00000017", "amount": 4}'
POSTED = {"kind": "example", "document": EXAMPLE, "key_member": "id", "count": "1500", "seed": "7"}


def shown(page: str) -> list[str]:
    """The records of a preview."""
    return list(map(html.unescape, re.findall(r'<pre class="record-data mt-1">(.*?)</pre>', page)))


def spec() -> MockSpec:
    """What the records of the only plan are made of; it is deleted when they are written."""
    [stored] = WaitingRecords.objects.get().records()
    return MockSpec.loads(stored.value)


def rows(orders) -> list[tuple[bytes, bytes]]:
    logs = orders.topics["orders"].records
    return [(row.key, row.value) for log in logs for row in log]


def test_the_preview_shows_the_first_five_records_and_makes_no_plan(orders, client_of, operator):
    page = client_of(operator).post(URL, POSTED | {"preview": "1"}).content.decode()
    assert "The first five records" in page
    assert [text.partition("-")[0] for text in shown(page)] == ["zebra"] * 5
    assert not Plan.objects.exists()


def test_the_records_are_those_of_the_preview(orders, client_of, operator):
    browser = client_of(operator)
    preview = browser.post(URL, POSTED | {"preview": "1"}).content.decode()
    answer = browser.post(URL, POSTED)
    make = spec().record_maker()
    first = [(make(number).key, make(number).value) for number in range(5)]
    assert shown(preview) == [f"{key.decode()} → {value.decode()}" for key, value in first]
    plan = confirm_and_run(Plan.objects.get(), operator)
    assert plan.state == models.DONE
    written = rows(orders)
    assert len(written) == 1500
    for key, value in written:
        assert json.loads(value)["id"] == key.decode()
        assert 2 <= json.loads(value)["amount"] <= 8
    assert set(first) <= set(written)
    assert "zebra" not in browser.get(answer.url).content.decode()
    assert "zebra" not in str(Plan.objects.values().get())
    assert "zebra" not in WaitingRecords.objects.get().encrypted


def test_a_plan_that_failed_goes_on_with_the_records_that_are_missing(orders, client_of, operator):
    client_of(operator).post(URL, POSTED | {"key_member": "", "partition": "0"})
    plan = Plan.objects.get()
    assert spec().seed == 7
    make = spec().record_maker()
    orders.refused_values[make(700).value] = WriteOutcome(0, None, Reason("timed_out"))
    failed = confirm_and_run(plan, operator)
    assert failed.state == models.FAILED
    expected = "999 of 1500 records were acknowledged."
    assert loads(failed.outcome).startswith(expected), "the call that it was in is the last one"
    orders.refused_values.clear()
    assert resume_and_run(failed, operator).state == models.DONE
    values = sorted(make(number).value for number in range(1500))
    assert sorted(value for _key, value in rows(orders)) == values


def test_a_value_that_cannot_be_made_later_is_said(orders, client_of, operator):
    schema = {"type": "object", "properties": {"id": {"const": "x"}}}  # four of five have it
    posted = POSTED | {"kind": "schema", "document": json.dumps(schema), "count": "100"}
    for seed in range(20):
        if client_of(operator).post(URL, posted | {"seed": str(seed)}).status_code == 302:
            break
    failed = confirm_and_run(Plan.objects.get(), operator)
    assert failed.state == models.FAILED
    expected = "A value could not be made: A value has no member “id” for the key."
    assert loads(failed.outcome).startswith(expected)


class Clock:
    """In place of the module `time`: time passes by sleeping."""

    def __init__(self) -> None:
        self.now_s, self.slept_s = 1000.0, []

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.now_s += seconds


def test_a_rate_is_kept(orders, client_of, operator, monkeypatch):
    clock = Clock()
    monkeypatch.setattr("console.produce.writer.time", clock)
    write = FakeProducing.write

    def slow(*args, **options):
        clock.now_s += 0.125
        return write(*args, **options)

    monkeypatch.setattr(FakeProducing, "write", slow)
    posted = POSTED | {"count": "", "rate": "50", "seconds": "4"}
    client_of(operator).post(URL, posted)
    plan = confirm_and_run(Plan.objects.get(), operator)
    assert plan.params["count"] == len(rows(orders)) == 200
    assert clock.slept_s == [0, *[0.375] * 7], "two calls a second"


@pytest.mark.parametrize(
    ("posted", "why"),
    [
        ({"document": ""}, "Enter an example"),
        ({"document": "{"}, "not valid JSON"),
        ({"document": '"' + "x" * (256 << 10) + '"'}, "larger than"),
        ({"kind": "schema", "document": '{"$ref": "http://x"}'}, "other documents are not read"),
        ({"key_member": "nothing"}, "no member “nothing”"),
        ({"count": ""}, "Enter how many records."),
        ({"count": "100001"}, "less than or equal"),
        ({"seconds": "5"}, "how many records a second"),
        ({"rate": "10000", "seconds": "120"}, "more than 100000"),
        ({"rate": "1", "count": "500"}, "at most 120 s"),
        ({"document": '"' + "7" * 2000 + '"', "key_member": "", "count": "90000"}, "about 1"),
    ],
)
def test_bad_input_is_an_error_of_the_form(orders, client_of, operator, posted, why):
    answer = client_of(operator).post(URL, POSTED | posted)
    assert answer.status_code == 422
    assert why in answer.content.decode()
    assert not Plan.objects.exists()
