"""A chart in a real browser: drawn after the page, over another range, beside yesterday."""

import pytest
from playwright.sync_api import expect

from monitoring.history import append_ticks, written_range
from monitoring.history.levels import DAY_MS
from monitoring.history.root_folder import current
from monitoring.history.written_range import WrittenRange
from tests.console.conftest import GROUPS, sample, tick_now
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick
from tests.support.web import sign_in

pytestmark = pytest.mark.browser
DRAWN_MS = 20_000


def test_a_chart_shows_another_range_and_yesterday(web, page, clusters, operator):
    append_ticks._changes_by_cluster.clear()
    number, a_day = tick_now() - 3, DAY_MS // INTERVAL_MS
    lags = [row | {"log_end_offset": 70} for row in GROUPS]
    append_ticks.append(
        current(), "local", [make_tick(number - a_day + n, groups=lags) for n in range(3)]
    )
    for n in range(3):
        sample(number=number + n)
    sign_in(page, web, operator)
    page.goto(f"{web}/c/local/groups/billing?range=15m")
    lag = page.locator(".chart[data-src*='show=lag']")
    expect(lag.locator("path.js-line").first).to_be_attached(timeout=DRAWN_MS)
    assert lag.locator(".legendtext").count() == 0
    page.get_by_role("link", name="Yesterday").click()
    expect(lag.locator(".legendtext")).to_have_count(2, timeout=DRAWN_MS)
    expect(lag.locator(".legendtext").nth(1)).to_contain_text("a day before")
    page.get_by_role("link", name="24h", exact=True).click()
    page.wait_for_url("**range=24h&compare=yesterday")
    expect(page.get_by_role("link", name="24h", exact=True)).to_have_attribute(
        "aria-current", "true"
    )
    expect(lag.locator(".legendtext")).to_have_count(2, timeout=DRAWN_MS)


def test_each_line_of_a_chart_has_the_peaks_around_it(web, page, clusters, operator):
    number, a_day = tick_now() - 3, DAY_MS // INTERVAL_MS
    peak = [[row | {"log_end_offset": end} for row in GROUPS] for end in (70, 9000, 70)]
    append_ticks._changes_by_cluster.clear()
    append_ticks.append(
        current(), "local", [make_tick(number - a_day + n, groups=peak[n]) for n in range(3)]
    )
    for n in range(3):
        sample(number=number + n, groups=peak[n])
    sign_in(page, web, operator)
    page.goto(f"{web}/c/local/groups/billing?range=90d&compare=yesterday")
    lag = page.locator(".chart[data-src*='show=lag']")
    expect(lag.locator("path.js-fill")).to_have_count(2, timeout=DRAWN_MS)
    expect(lag.locator(".ytick").last).to_contain_text("k")


def test_a_chart_with_written_history_has_a_note_below_it(web, page, clusters, operator):
    written_range.store(current(), "local", WrittenRange(0, (tick_now() + 1) * INTERVAL_MS, "x"))
    for n in range(3):
        sample(number=tick_now() - 3 + n)
    sign_in(page, web, operator)
    try:
        page.goto(f"{web}/c/local/groups/billing?range=15m")
        card = page.locator(".card", has=page.locator(".chart[data-src*='show=lag']"))
        expect(card.locator("path.js-line").first).to_be_attached(timeout=DRAWN_MS)
        expect(card.get_by_text("the history was written by a tool, not sampled")).to_be_visible()
    finally:
        written_range.delete(current(), "local")


@pytest.mark.parametrize("window_px", [390, 1440])
def test_a_chart_asks_for_the_points_that_its_width_has_room_for(
    web, page, clusters, operator, window_px
):
    for n in range(3):
        sample(number=tick_now() - 3 + n)
    page.set_viewport_size({"width": window_px, "height": 800})
    sign_in(page, web, operator)
    chart = page.locator(".chart[data-src*='show=lag']")
    with page.expect_response(lambda answer: "show=lag" in answer.url) as answered:
        page.goto(f"{web}/c/local/groups/billing?range=90d")
        chart.scroll_into_view_if_needed()
    [line] = answered.value.json()["series"]
    width = chart.evaluate("chart => chart.clientWidth")
    assert answered.value.url.endswith(f"&width={width - width % 100}")
    assert width < len(line["x"]) <= 2 * width


def test_lines_of_an_earlier_time_have_the_colours_of_the_lines_with_their_names(
    web, page, operator
):
    """A line without values is left out, now or earlier: so their order is not the same."""
    sign_in(page, web, operator)
    page.goto(web)
    colours = page.evaluate("""async () => {
      const { colorOf } = await import("/static/app/chart-colors.js");
      const series = [
        { name: "produced" }, { name: "consumed" }, { name: "written", is_other: true },
        { name: "consumed, a day before", name_now: "consumed", is_earlier: true },
        { name: "produced, a day before", name_now: "produced", is_earlier: true },
        { name: "written, a day before", name_now: "written", is_earlier: true },
      ];
      const colours = { palette: ["red", "green", "blue"], text: "grey" };
      return series.map((each, number) => colorOf({ series }, each, number, colours));
    }""")
    assert colours == ["red", "green", "blue", "green", "red", "grey"]
