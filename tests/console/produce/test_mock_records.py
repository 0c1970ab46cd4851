"""Mock records: their form with its preview, the plan, and what is written."""

import json

import pytest

from console.actions import models
from console.actions.models import Plan
from console.produce.models import WaitingRecords
from monitoring.gateway.producing import WriteOutcome
from monitoring.reasons import Reason, loads
from tests.console.produce.conftest import resume, run

URL = "/c/local/topics/orders/write/mock"
EXAMPLE = '{"id": "zebra-17", "amount": 4}'
POSTED = {"kind": "example", "document": EXAMPLE, "key_member": "id", "count": "1500", "seed": "7"}


def rows(orders) -> list[tuple[bytes, bytes]]:
    logs = orders.topics["orders"].records
    return [(row.key, row.value) for log in logs for row in log]


def test_the_preview_shows_the_first_five_records_and_makes_no_plan(orders, client_of, operator):
    page = client_of(operator).post(URL, POSTED | {"preview": "1"}).content.decode()
    assert "The first five records" in page
    assert page.count('<pre class="record-data mt-1">zebra-') == 5
    assert not Plan.objects.exists()


def test_the_records_are_those_of_the_preview(orders, client_of, operator):
    browser = client_of(operator)
    preview = browser.post(URL, POSTED | {"preview": "1"}).content.decode()
    answer = browser.post(URL, POSTED)
    plan = run(Plan.objects.get(), operator)
    assert plan.state == models.DONE
    written = rows(orders)
    assert len(written) == 1500
    for key, value in written:
        assert json.loads(value)["id"] == key.decode()
        assert 2 <= json.loads(value)["amount"] <= 8
    assert sum(f">{key.decode()} →" in preview for key, _value in written) >= 5
    assert "zebra" not in browser.get(answer.url).content.decode()
    assert "zebra" not in str(Plan.objects.values().get())
    assert "zebra" not in WaitingRecords.objects.get().encrypted


def test_a_plan_that_failed_goes_on_with_the_records_that_are_missing(orders, client_of, operator):
    client_of(operator).post(URL, POSTED | {"key_member": "", "partition": "0"})
    plan = Plan.objects.get()
    made = json.loads(WaitingRecords.objects.get().records()[0].value)
    assert made["seed"] == 7
    from console.produce.mock_records import MockSpec

    make = MockSpec(**made).record_of()
    orders.refused_values[make(700).value] = WriteOutcome(0, None, Reason("timed_out"))
    failed = run(plan, operator)
    assert failed.state == models.FAILED
    assert "of 1500 records were acknowledged" in loads(failed.outcome)
    orders.refused_values.clear()
    assert resume(failed, operator).state == models.DONE
    expected = sorted(make(number).value for number in range(1500))
    assert sorted(value for _key, value in rows(orders)) == expected


def test_a_rate_is_kept(orders, client_of, operator, monkeypatch):
    slept = []
    monkeypatch.setattr("console.produce.writer.time.sleep", slept.append)
    posted = POSTED | {"count": "", "rate": "50", "seconds": "4"}
    client_of(operator).post(URL, posted)
    plan = run(Plan.objects.get(), operator)
    assert plan.params["count"] == len(rows(orders)) == 200
    assert len(slept) == 8, "two calls a second"
    assert 3 < slept[-1] <= 3.5


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
