"""What charts show: the charts of each kind of subject, their titles, units and lines.

A measure of a chart is a column of the history (monitoring/history/table_specs.py). A new one is
added to MEASURES and `line_names`; a new chart to `titles` and `units`, too, and to its page.
"""

from django.utils.translation import gettext as _

# Kind of subject → value of `show` → the measures in the chart, each drawn as one line.
MEASURES: dict[str, dict[str, tuple[str, ...]]] = {
    "cluster": {
        "records": ("records", "consumed"),
        "bytes": ("bytes_in", "bytes_out"),
        "lag": ("lag",),
        "size": ("disk_bytes",),
    },
    "topic": {
        "records": ("records",),
        "bytes": ("bytes_in", "bytes_out"),
        "size": ("size_bytes",),
    },
    # `records` of a group: what its topics get, and what it consumes of them.
    "group": {"lag": ("lag",), "records": ("records", "consumed")},
    "broker": {
        "bytes": ("bytes_in", "bytes_out"),
        "requests": ("requests",),
        "cpu": ("cpu_ms",),
        "memory": ("rss_bytes",),
        "disk": ("disk_free_bytes",),
        "size": ("size_bytes",),
    },
}


def titles() -> dict[str, str]:
    """Value of `show` → the title of the chart."""
    return {
        "records": _("Records per second"),
        "bytes": _("Bytes per second"),
        "size": _("Size"),
        "lag": _("Lag"),
        "requests": _("Requests per second"),
        "cpu": _("CPU"),
        "memory": _("Memory"),
        "disk": _("Free disk space"),
    }


def units() -> dict[str, str]:
    """Value of `show` → the unit of the chart."""
    return {
        "records": _("records/s"),
        "bytes": _("bytes/s"),
        "size": _("bytes"),
        "lag": _("records"),
        "requests": _("requests/s"),
        "cpu": _("cores"),
        "memory": _("bytes"),
        "disk": _("bytes"),
    }


def line_names() -> dict[str, str]:
    """Measure → the name of its line."""
    return {
        "records": _("produced"),
        "consumed": _("consumed"),
        "bytes_in": _("bytes in"),
        "bytes_out": _("bytes out"),
        "lag": _("lag"),
        "size_bytes": _("size"),
        "disk_bytes": _("size on disk, all replicas"),
        "requests": _("requests"),
        "cpu_ms": _("CPU"),
        "rss_bytes": _("resident memory"),
        "disk_free_bytes": _("free disk space"),
    }
