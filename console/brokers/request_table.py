"""The table of a broker's requests by API: rates, the total time, and its parts.

A figure that the source has for no API has no column: brokerd has no response queue, and the
example rules of JMX exporters for Kafka export neither means nor bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from console.ui.table import Column, Table
from monitoring.request_metrics.counters import PARTS
from monitoring.request_metrics.figures_between_readings import ApiRow, Latency

TOTAL = "total"
FIGURES = ("mean", "p50", "p99")
TimeFigure = tuple[str, str]  # a part, and one of FIGURES


def figure_names() -> dict[str, str]:
    return {"mean": _("Mean"), "p50": "p50", "p99": "p99"}


def figures_of_parts(rows: Sequence[ApiRow]) -> list[str]:
    """The figures (of FIGURES) that the source has for a part of the time, such as the queue."""
    return [each for each in FIGURES if any(_is_known(rows, (part, each)) for part in PARTS)]


def build(params: Mapping[str, str], rows: Sequence[ApiRow], figure_of_parts: str) -> Table:
    """The table with the rates and times that the source has; `figure_of_parts`: one of FIGURES."""
    rates = {
        name: value_of
        for name, value_of in _rates().items()
        if name == "requests" or any(value_of(row) is not None for row in rows)
    }
    times: list[TimeFigure] = [(TOTAL, figure) for figure in FIGURES]
    times += [(part, figure_of_parts) for part in PARTS if part != TOTAL]
    times = [time for time in times if _is_known(rows, time)]
    columns = [Column("api", _("API"), lambda row: row.api)]
    columns += [_rate_column(name, value_of) for name, value_of in rates.items()]
    columns += [_time_column(time) for time in times]
    table = Table(params, columns, "-requests_per_s", id="requests", page_size=200)
    table.show(rows, lambda row: row.api)
    return table.map_rows(lambda row: _template_row(row, rates, times))


def _rates() -> dict[str, Callable[[ApiRow], float | None]]:
    return {
        "requests": lambda row: row.requests,
        "errors": lambda row: row.errors,
        "bytes_in": lambda row: row.bytes_in,
    }


def _rate_column(name: str, value_of: Callable[[ApiRow], float | None]) -> Column:
    titles = {"requests": _("Requests"), "errors": _("Errors"), "bytes_in": _("Bytes in")}
    return Column(f"{name}_per_s", titles[name], value_of, numeric=True)


def _time_column(time: TimeFigure) -> Column:
    part, figure = time
    titles = {
        "queue": _("Queue"),
        "local": _("Local"),
        "remote": _("Remote"),
        "response_queue": _("Response queue"),
        "send": _("Response send"),
    }
    key, title = (part, titles[part]) if part != TOTAL else (figure, figure_names()[figure])
    return Column(f"{key}_ms", title, lambda row: _ms(row, time), numeric=True)


def _ms(row: ApiRow, time: TimeFigure) -> float | None:
    part, figure = time
    value: float | None = getattr(row.times[part], figure)
    return value


def _is_known(rows: Sequence[ApiRow], time: TimeFigure) -> bool:
    return any(_ms(row, time) is not None for row in rows)


def _template_row(
    row: ApiRow, rates: Mapping[str, Any], times: Sequence[TimeFigure]
) -> dict[str, Any]:
    """The values of a row for the template; `times` are (sign, ms)."""
    return {
        "api": row.api,
        **{name: value_of(row) for name, value_of in rates.items()},
        "times": [
            (_limit_sign(row.times[part], figure), _ms(row, (part, figure)))
            for part, figure in times
        ],
    }


def _limit_sign(latency: Latency, figure: str) -> str:
    """≤ or ≥ if the value is the limit of the first or last bucket of the histogram."""
    value = getattr(latency, figure)
    if figure == "mean" or value is None:
        return ""
    return {latency.first_ms: "≤ ", latency.last_ms: "≥ "}.get(value, "")
