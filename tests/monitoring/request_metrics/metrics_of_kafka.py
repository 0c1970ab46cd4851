"""Metrics of Apache Kafka, as Prometheus' JMX exporter writes them by its example rules for Kafka:
quantiles and counts, but neither sums nor means."""

PARTS = (
    "totaltimems", "requestqueuetimems", "localtimems", "remotetimems", "responsequeuetimems",
    "responsesendtimems",
)  # fmt: skip


def kafka_text(
    produced: int,
    *,
    started_s: float | None = 1_700_000_000,
    mean: bool = False,
    count: str = "_count",
) -> str:
    """After so many Produces, in two versions; a tenth failed. No API but Produce was asked for."""
    old = produced // 4
    lines = ["# HELP kafka_network_requestmetrics_requests_total Attribute exposed for management"]
    lines += ["# TYPE kafka_network_requestmetrics_requests_total counter"]
    if started_s is not None:
        lines.append(f"process_start_time_seconds {started_s / 1e9}E9")
    name = "kafka_network_requestmetrics_requests_total"
    for version, n in (("3", old), ("9", produced - old)):
        lines.append(f'{name}{{request="Produce",version="{version}",}} {n}.0')
    for error, n in (("NONE", produced), ("NOT_LEADER_OR_FOLLOWER", produced // 10)):
        name = "kafka_network_requestmetrics_errors_total"
        lines.append(f'{name}{{request="Produce",error="{error}",}} {n}.0')
    for api, n in (("Produce", produced), ("DeleteAcls", 0)):
        for number, part in enumerate(PARTS, start=1):
            name = f"kafka_network_requestmetrics_{part}"
            lines.append(f'{name}{count}{{request="{api}",}} {n}.0')
            for quantile, ms in (("0.50", 2 * number), ("0.75", 3), ("0.99", 40), ("0.999", 50)):
                lines.append(f'{name}{{request="{api}",quantile="{quantile}",}} {float(ms)}')
            if mean:
                lines.append(f'{name}_mean{{request="{api}",}} {2.5 * number}')
    return "\n".join([*lines, "jvm_threads_current 99.0", ""])
