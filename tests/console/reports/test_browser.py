"""The pages of reports in a real browser, with the report computed while somebody watches."""

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import Page

from console.accounts.services import grant
from monitoring.history.append_ticks import append
from monitoring.history.root_folder import current
from monitoring.models import Cluster, Report
from monitoring.spark.server_config import SparkConfig
from tests.console.reports.conftest import T0, a_finished_report
from tests.monitoring.tick_factory import make_tick
from tests.support.web import sign_in
from tests.support.worker import worker

pytestmark = pytest.mark.browser


@pytest.fixture
def operator(web: str, page: Page, cluster: Cluster) -> Page:
    olga = get_user_model().objects.create_user("olga")
    grant(olga, "operator")
    sign_in(page, web, olga)
    return page


def drawn_colours(page: Page) -> set[str]:
    ticks = page.eval_on_selector_all(
        ".xtick text", "texts => texts.map(text => getComputedStyle(text).fill)"
    )
    return set(ticks)


@pytest.mark.spark
def test_a_report_is_ordered_watched_and_read(
    web: str, operator: Page, spark_server: SparkConfig
) -> None:
    ticks = [
        make_tick(
            T0 // 5000 + number,
            partitions=[{"topic": "orders", "partition": 0, "log_end_offset": 100 * number}],
            groups=[{"group": "slow", "topic": "orders", "partition": 0, "committed_offset": 0,
                     "log_end_offset": 100 * number}],
        )
        for number in range(30)
    ]  # fmt: skip
    append(current(), "local", ticks)
    operator.goto(f"{web}/c/local/reports")
    operator.click("text=Make the first report")
    operator.select_option("[name=range]", "custom")
    operator.fill("[name=start]", "2025-10-09T10:00")
    operator.fill("[name=end]", "2025-10-09T08:00")
    operator.click("text=Run the report")
    assert "at least a minute after" in operator.inner_text("form.report-form")
    operator.fill("[name=start]", "2025-10-09T08:00")
    operator.fill("[name=end]", "2025-10-09T10:00")
    operator.click("text=Run the report")
    operator.wait_for_selector("#report progress")
    with worker("spark", SPARK_CONNECT_PORT=str(spark_server.port)):
        operator.wait_for_selector("#report .js-plotly-plot .xtick text", timeout=180_000)
    text = operator.inner_text("#report")
    assert "2\u202f900 messages were written to 1 topic." in text
    assert "slow was furthest behind: 2\u202f900 messages" in text
    with operator.expect_download() as download:
        operator.click("#report details:has-text('Download') >> nth=0")
        operator.click("#report details[open] >> text=CSV >> nth=0")
    assert '"orders",1,2900,' in download.value.path().read_text()
    assert Report.objects.get().state == "done"


def test_charts_follow_the_theme(web: str, operator: Page, cluster: Cluster) -> None:
    report = a_finished_report(cluster)
    operator.goto(f"{web}/c/local/reports/{report.id}")
    operator.wait_for_selector(".js-plotly-plot .xtick text")
    light = drawn_colours(operator)
    operator.evaluate("document.documentElement.dataset.bsTheme = 'dark'")
    operator.wait_for_function(
        "before => getComputedStyle(document.querySelector('.xtick text')).fill !== before",
        arg=next(iter(light)),
    )
    assert len(light) == 1
    assert drawn_colours(operator).isdisjoint(light)


TICKS = [
    ([0, 0, 0], {"0", "1"}),
    ([0, 1, None], {"0", "1"}),
    ([0, 3, 2], {"0", "1", "2", "3"}),
    ([0, 0.5, 0.2], {"0", "0.1", "0.2", "0.3", "0.4", "0.5"}),
]
"""The values of a chart, and what may stand at its axis."""


def test_the_ticks_of_few_are_whole_numbers_and_parts_of_one_are_written_out(
    web: str, operator: Page, cluster: Cluster
) -> None:
    report = a_finished_report(cluster)
    operator.goto(f"{web}/c/local/reports/{report.id}")
    operator.wait_for_selector(".js-plotly-plot .ytick text")
    for values, ticks in TICKS:
        shown = operator.evaluate(
            """async values => {
                const node = document.querySelector(".js-plotly-plot");
                const x = values.map((_, i) => 1760000000000 + i * 60000);
                const spec = {kind: "line", unit: "messages", series: [{name: "a", x, y: values}]};
                node.dispatchEvent(new CustomEvent("chart:data", {detail: spec}));
                await new Promise(done => setTimeout(done, 500));
                return [...node.querySelectorAll(".ytick text")].map(text => text.textContent);
            }""",
            values,
        )
        assert shown, values
        assert set(shown) <= ticks, values


def test_the_page_fits_a_phone(web: str, operator: Page, cluster: Cluster) -> None:
    report = a_finished_report(cluster)
    operator.set_viewport_size({"width": 390, "height": 800})
    for path in ("reports", "reports/new", f"reports/{report.id}"):
        operator.goto(f"{web}/c/local/{path}")
        assert operator.evaluate("document.documentElement.scrollWidth") <= 390, path
