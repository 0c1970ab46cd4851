"""Exports all records that a search finds, in the order of the offsets of each partition.

The search masks them (monitoring/records/search.py), before anything is written.
"""

from collections.abc import Iterator, Mapping

from console.accounts.principal import Principal
from console.audit import write_entry as audit
from console.records import start_search
from console.records.exports.writers import ExportEnd, Writer
from console.records.start_search import SearchQuery
from console.ui.kafka_number_limits import OFFSET_MAX
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError
from monitoring.models import Cluster
from monitoring.records import search_limits
from monitoring.records.search_events import COMPLETE, Event, SearchProgress
from monitoring.records.search_limits import ExportLimits
from monitoring.records.search_process_client import RunningSearch
from monitoring.translate_error_reason import translated


def start(
    principal: Principal,
    cluster: Cluster,
    query: SearchQuery,
    file_format: str,
    limits: ExportLimits = search_limits.EXPORT,
) -> RunningSearch:
    """A running export, which the caller stops; audited. Raises what start_search.start raises."""
    running = start_search.start(principal, cluster, query, limits)
    try:
        details = {"format": file_format, "search": _audit_fields(query)}
        audit.record_by(principal, "record.export", cluster.slug, query.topic, after=details)
    except BaseException:
        running.stop()
        raise
    return running


def file_chunks(events: Iterator[Event], writer: Writer) -> Iterator[bytes]:
    """The file in chunks, none of them empty; an error of the cluster is written at its end."""
    progress, error = SearchProgress(), ""
    yield from _unless_empty(writer.begin())
    try:
        for event in events:
            if isinstance(event, SearchProgress):
                progress = event
            else:
                yield from _unless_empty(writer.rows(event))
    except GatewayError as failure:
        error = sentence(failure.message)
    yield from _unless_empty(writer.end(_export_end(progress, error)))


def _unless_empty(chunk: bytes) -> Iterator[bytes]:
    if chunk:
        yield chunk


def _export_end(progress: SearchProgress, error: str) -> ExportEnd:
    why = "error" if error else progress.end
    is_searched = why == COMPLETE and not progress.unread
    return ExportEnd(
        is_complete=is_searched and not progress.damaged,
        why=why,
        records=progress.matched,
        continue_at="" if is_searched else positions_text(progress.positions),
        error=error,
        failures=progress.failures,
        damaged_batches=progress.damaged,
        partitions_not_read={
            number: translated(reason) for number, reason in progress.unread.items()
        },
        not_decoded=progress.undecoded,
    )


def positions_text(positions: Mapping[int, int]) -> str:
    """Positions as text, for example "0:41,1:7"."""
    return ",".join(f"{number}:{offset}" for number, offset in sorted(positions.items()))


def parse_positions(text: str) -> dict[int, int]:
    """The positions in a text. Raises ValueError."""
    pairs = [pair.split(":") for pair in text.replace(" ", "").split(",") if pair]
    return {_number(partition): _number(offset) for partition, offset in pairs}


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= OFFSET_MAX):
        raise ValueError(text)
    return int(text)


def _audit_fields(query: SearchQuery) -> dict[str, str]:
    """What was searched, for the audit log."""
    conditions = (f"{each.field} {each.operator} “{each.text}”" for each in query.conditions)
    found = {
        "condition": " and ".join(conditions),
        "expression": query.expression,
        "since_ms": query.since_ms,
        "until_ms": query.until_ms,
        "first_offset": query.first_offset,
        "end_offset": query.end_offset,
        "partition": query.partition,
        "continue_at": positions_text(query.positions),
    }
    return {name: str(value) for name, value in found.items() if value not in ("", None)}
