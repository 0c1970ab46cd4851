"""The text format of Prometheus: all lines of one metric are together, after its type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Labels and the value; None: unknown.
Sample = tuple[Mapping[str, str], float | None]


def gauge(name: str, samples: Iterable[Sample]) -> list[str]:
    """The lines of a gauge."""
    return _metric(name, "gauge", samples)


def counter(name: str, samples: Iterable[Sample]) -> list[str]:
    """The lines of a counter; its name ends in `_total`."""
    return _metric(name, "counter", samples)


def _metric(name: str, kind: str, samples: Iterable[Sample]) -> list[str]:
    """The lines of a metric; an unknown value has none: it is not 0.

    Values of labels are not escaped: they are slugs and fixed names.
    """
    lines = [f"# TYPE {name} {kind}"]
    for labels, value in samples:
        if value is not None:
            lines.append(f"{name}{_in_braces(labels)} {value}")
    return lines


def _in_braces(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""
