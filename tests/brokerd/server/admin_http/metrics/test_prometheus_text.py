"""The text format: escapes, numbers, histograms; read back by a strict reader."""

import pytest

from brokerd.metric_counters import Histogram
from brokerd.server.admin_http.metrics.prometheus_text import family, head, histogram, number
from tests.support.exposition import Exposition


@pytest.mark.parametrize("value", ["plain", "a\\b", 'say "so"', "two\nlines", "\\n", "ü{},=", ""])
def test_labels_are_read_back_as_they_were(value: str) -> None:
    page = "".join(family("a_total", "counter", "Help.", [({"topic": value}, 3)]))
    assert Exposition(page).value("a_total", topic=value) == 3


def test_help_stays_on_its_line() -> None:
    page = "".join(family("a", "gauge", "back\\slash\nnext", [({}, 1)]))
    assert page.startswith("# HELP a back\\\\slash\\nnext\n")
    assert Exposition(page).value("a") == 1


def test_a_metric_without_samples_is_not_named() -> None:
    assert "".join(family("a", "gauge", "Help.", [])) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "1"), (10**18, "1000000000000000000"), (0.25, "0.25"), (float("inf"), "+Inf"),
     (float("-inf"), "-Inf"), (float("nan"), "NaN")],
)  # fmt: skip
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


def test_a_histogram_is_cumulative_and_in_the_unit_of_its_name() -> None:
    values = Histogram((0.001, 0.5))
    for seconds in (0.0005, 0.25, 0.25, 7.0):
        values.add(seconds)
    lines = histogram("took_ms", {"request": "Fetch"}, values, 1000)
    page = Exposition(head("took_ms", "histogram", "Help.") + "".join(lines))
    found = [page.value("took_ms_bucket", request="Fetch", le=le) for le in ("1", "500", "+Inf")]
    assert found == [1, 3, 4]
    assert page.value("took_ms_sum", request="Fetch") == 7500.5
    assert page.value("took_ms_count", request="Fetch") == 4
