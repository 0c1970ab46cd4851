"""Where a checkout keeps what the bench needs of it: the newest place first, then older ones.

A checkout that moves one of these gets a line here; older checkouts stay measurable.
"""

from importlib import import_module
from typing import Any

# Packages, module and name, apart: whoever moves a module by searching for its dotted name leaves
# the places of older checkouts as they are.
PLACES: dict[str, tuple[str, ...]] = {
    "Tick": ("monitoring ticks tick Tick", "monitoring sampling tick Tick"),
    "PARTITIONS": ("monitoring ticks schema PARTITIONS", "monitoring sampling schema PARTITIONS"),
    "GROUPS": ("monitoring ticks schema GROUPS", "monitoring sampling schema GROUPS"),
    "put_tick": ("monitoring ticks tick_stream put_tick", "monitoring sampling encode put_tick"),
    "notify": (
        "monitoring sampling sample_cluster notify",
        "monitoring sampling services notify",
        "monitoring sampling service notify",
    ),
    "evaluate": ("monitoring alerts evaluate evaluate",),
    "append_history": (
        "monitoring history append_ticks append",
        "monitoring history writer append",
    ),
    "flush_history": ("monitoring history append_ticks flush", "monitoring history writer flush"),
    "write_history_file": (
        "monitoring history append_ticks write_file",
        "monitoring history writer write_file",
    ),
    "history_files": ("monitoring history read_levels files", "monitoring history reader files"),
    "history_root": ("monitoring history root_folder current", "monitoring history root current"),
    "SpanFolder": (
        "monitoring history root_folder SpanFolder",
        "monitoring history root SpanFolder",
        "monitoring history root Place",
    ),
    "span_folders": (
        "monitoring history manifest span_folders",
        "monitoring history manifest places",
    ),
    "run_pipeline_job": ("monitoring pipeline do_job run", "monitoring pipeline jobs run"),
    "Cluster": ("monitoring models Cluster",),
    "AlertRule": ("monitoring models AlertRule",),
    "grant": ("console accounts services grant",),
}

OLDER_COLUMNS = {"replicas_reported": "replicas_told"}
"""Columns of samples that have another name in older checkouts."""


def rule_fields(threshold: int) -> dict[str, int]:
    """The fields of an alert rule; older checkouts call the threshold `lag_max`."""
    names = {field.name for field in find("AlertRule")._meta.get_fields()}
    return {"threshold" if "threshold" in names else "lag_max": threshold}


def find(name: str) -> Any:
    """What this checkout has of that name. Raises LookupError where it is at none of its places."""
    for place in PLACES[name]:
        *parts, attribute = place.split()
        module = ".".join(parts)
        try:
            return getattr(import_module(module), attribute)
        except AttributeError:
            continue
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise  # the module is there and lacks something itself
    places = ", ".join(PLACES[name])
    raise LookupError(f"{name} is not at {places}: add its place to bench/in_checkout/names.py")
