"""The text format of Prometheus (0.0.4): heads, samples, histograms."""

from collections.abc import Iterable, Iterator, Mapping

from brokerd.metric_counters import Histogram

MS_PER_S = 1000
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, object]
Row = tuple[Labels, float]


def family(name: str, kind: str, text: str, rows: Iterable[Row]) -> Iterator[str]:
    """The lines of one metric with all its samples; none without samples."""
    begun = False
    for labels, value in rows:
        if not begun:
            yield head(name, kind, text)
            begun = True
        yield f"{name}{label_text(labels)} {number(value)}\n"


def singles(prefix: str, *metrics: tuple[str, str, float]) -> Iterator[str]:
    """Metrics without labels: name behind the prefix (counters end with `_total`), help, value."""
    for name, text, value in metrics:
        kind = "counter" if name.endswith("_total") else "gauge"
        yield from family(prefix + name, kind, text, [({}, value)])


def head(name: str, kind: str, text: str) -> str:
    """The two lines before the samples of a metric."""
    escaped = text.replace("\\", r"\\").replace("\n", r"\n")
    return f"# HELP {name} {escaped}\n# TYPE {name} {kind}\n"


def label_text(labels: Labels) -> str:
    """Labels as they follow a metric's name; empty without labels."""
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{escape(value)}"' for name, value in labels.items()) + "}"


def escape(value: object) -> str:
    """A label's value: backslash, quote and newline are escaped."""
    return str(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def number(value: float) -> str:
    """Whole numbers without a point; infinities and NaN in Prometheus' form."""
    if isinstance(value, int):
        return str(int(value))
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)


def histogram(name: str, labels: Labels, values: Histogram, factor: float = 1) -> Iterator[str]:
    """The samples of one histogram without head; bounds and sum are multiplied by `factor`."""
    seen = 0
    for bound, count in zip(values.bounds, values.counts, strict=False):
        seen += count
        text = label_text({**labels, "le": f"{bound * factor:g}"})
        yield f"{name}_bucket{text} {seen}\n"
    yield f"{name}_bucket{label_text({**labels, 'le': '+Inf'})} {values.count}\n"
    text = label_text(labels)
    yield f"{name}_sum{text} {number(round(values.total * factor, 6))}\n"
    yield f"{name}_count{text} {values.count}\n"
