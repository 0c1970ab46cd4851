"""Prometheus's text format 0.0.4, read as strictly as it is defined.

https://prometheus.io/docs/instrumenting/exposition_formats/ : every sample stands under the TYPE
line of its metric, all lines of a metric together, no series twice, histograms cumulative with a
`+Inf` bucket that is their count.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_HELP = re.compile(rf"# HELP ({_NAME}) (.*)")
_TYPE = re.compile(rf"# TYPE ({_NAME}) (counter|gauge|histogram|summary|untyped)")
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)')
_ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}
_SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}

Labels = tuple[tuple[str, str], ...]


@dataclass
class Metric:
    """One metric: its kind, its help, and its samples by name and labels."""

    kind: str
    text: str
    samples: dict[tuple[str, Labels], float] = field(default_factory=dict)


class Exposition:
    """A whole page. AssertionError where it is not valid."""

    def __init__(self, page: str) -> None:
        assert page.endswith("\n"), "the last line has no end"
        self.metrics: dict[str, Metric] = {}
        self._read(page.split("\n")[:-1])
        for name, metric in self.metrics.items():
            assert metric.samples, f"{name} has no sample"
            if metric.kind == "histogram":
                self._check_histogram(name, metric)
            if metric.kind in ("counter", "histogram"):
                assert all(value >= 0 for value in metric.samples.values()), name

    def value(self, sample: str, **labels: str) -> float:
        """The value of one series. KeyError where there is none."""
        for metric in self.metrics.values():
            found = metric.samples.get((sample, tuple(sorted(labels.items()))))
            if found is not None:
                return found
        raise KeyError((sample, labels))

    def series(self, sample: str) -> dict[Labels, float]:
        """All series of a sample's name."""
        return {
            labels: value
            for metric in self.metrics.values()
            for (name, labels), value in metric.samples.items()
            if name == sample
        }

    def _read(self, lines: list[str]) -> None:
        current, text = "", ("", "")
        for line in lines:
            if found := _HELP.fullmatch(line):
                text = (found[1], found[2])
            elif found := _TYPE.fullmatch(line):
                current = found[1]
                assert text[0] == current, f"{current} has no help before its type"
                assert text[1], f"{current} has an empty help"
                assert current not in self.metrics, f"{current} stands in two places"
                self.metrics[current] = Metric(found[2], text[1])
            else:
                self._take(current, line)

    def _take(self, current: str, line: str) -> None:
        found = _SAMPLE.fullmatch(line)
        assert found, f"no sample: {line!r}"
        metric = self.metrics[current]
        allowed = [current + suffix for suffix in _SUFFIXES.get(metric.kind, ("",))]
        assert found[1] in allowed, f"{line!r} stands under {current}"
        key = (found[1], tuple(sorted(_labels(found[2] or ""))))
        assert key not in metric.samples, f"twice: {line!r}"
        metric.samples[key] = float(found[3].replace("Inf", "inf"))

    def _check_histogram(self, name: str, metric: Metric) -> None:
        series: dict[Labels, list[tuple[float, float]]] = {}
        for (sample, labels), value in metric.samples.items():
            if sample == f"{name}_bucket":
                bound = float(dict(labels)["le"].replace("Inf", "inf"))
                rest = tuple(each for each in labels if each[0] != "le")
                series.setdefault(rest, []).append((bound, value))
        counts = {labels for sample, labels in metric.samples if sample == f"{name}_count"}
        assert counts == series.keys(), f"{name}: not every series has buckets and a count"
        for labels, buckets in series.items():
            assert buckets == sorted(buckets), f"{name}{labels}: bounds or counts fall"
            values = [value for _, value in buckets]
            assert values == sorted(values), f"{name}{labels}: counts fall"
            assert math.isinf(buckets[-1][0]), f"{name}{labels}: no +Inf"
            assert values[-1] == metric.samples[f"{name}_count", labels]
            assert (f"{name}_sum", labels) in metric.samples


def _labels(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(text):
        found = _LABEL.match(text, position)
        assert found, f"no label: {text[position:]!r}"
        yield found[1], re.sub(r'\\[\\"n]', lambda each: _ESCAPES[each[0]], found[2])
        position = found.end()
