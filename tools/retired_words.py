"""Refuses names that were replaced, so that nobody brings them back: part of `make check`.

The terms that hold are in docs/glossary.md. A retired name counts as a whole word, in every text
file of the folders below. Exit code 1 where one is found.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("bench", "brokerd", "console", "monitoring", "stack", "templates", "tests", "docs",
           "README.md", "CONTRIBUTING.md")  # fmt: skip
SKIPPED = ("docs/decisions", "bench/results", "tests/tools", "docs/glossary.md", "/migrations/",
           "bench/in_checkout/names.py", "tests/browser/vendor")  # fmt: skip

RETIRED = {
    "console.messages": "console.records",
    "console/messages": "console/records",
    "monitoring.past": "monitoring.synthetic_history",
    "monitoring.records.plan": "monitoring.records.search_windows",
    "change_refusal": "why_not_changeable",
    "console.topics.setting_docs": "console.topics.setting_catalog",
    "SettingDoc": "SettingInfo",
    "console.topics.presets": "console.topics.new_topic_presets",
    "console.groups.changes.offsets": "console.groups.changes.reset_offsets",
    "console.groups.changes.new_offsets": "console.groups.new_offsets",
    "console.groups.reset": "console.groups.resolve_reset",
    "monitoring.pipeline.retention": "monitoring.pipeline.delete_expired",
    "monitoring.alerts.rule_states": "monitoring.alerts.state_machine",
    "PartitionKey": "TopicPartition",
    "GroupPartition": "TopicPartition",
    "monitoring.seed": "monitoring.embedded_cluster",
    "monitoring.lag.flow": "monitoring.lag.lag_state",
    "told_at_ms": "reported_at_ms",
    "replicas_told": "replicas_reported",
    "PlanApplied": "PlanAlreadyConfirmed",
    "APPLYING_MAX": "WORKER_SILENT_MAX",
    "HIDDEN_PREFIXES": "hidden_topics",
    "hidden_prefixes": "hidden_topics",
    "ADMIN_ONLY_TOPICS": "hidden_topics",
    "monitoring.hidden": "monitoring.own_topics",
    "CLOSED_PREFIXES": "ADMIN_ONLY_RECORDS",
    "TopicPlace": "TopicDescription",
    "ReaderRow": "GroupOnTopicRow",
    "Asker": "Prober",
    "Standing": "SubjectState",
    "tell_new": "fact_diff.of_new_topic",
    "tell_existing": "fact_diff.of_existing_topic",
    "console.stack": "stack",
    "console/stack": "stack/",
    "console.demo": "stack.demo",
    "console.live.store": "console.live.snapshot_cache",
    "console.live.sums": "monitoring.read_model.partial_sum",
    "monitoring.store": "monitoring.redis_client",
    "monitoring.lock": "monitoring.redis_lock",
    "sampling.encode": "monitoring.ticks.tick_stream",
    "SealedField": "EncryptedField",
    "note_skipped": "record_gap",
    "why_no_key": "missing_key_problem",
    "console.topics.gaps": "console.records.unread_partitions",
    "console/topics/gaps": "console/records/unread_partitions",
    "monitoring.keys": "monitoring.redis_keys",
    "monitoring.forget": "monitoring.cluster_cleanup",
    "monitoring.gateway.walk": "monitoring.gateway.backward_scan",
    "monitoring.alerts.stuck": "monitoring.alerts.backlog",
    "monitoring.sampling.believed": "monitoring.sampling.group_validation",
    "monitoring.sampling.carry": "monitoring.sampling.carry_over",
    "monitoring.sampling.relief": "monitoring.sampling.free_memory",
    "monitoring.views": "monitoring.read_model",
    "monitoring/views": "monitoring/read_model/",
    "stack.plan": "stack.process_table",
    "stack/plan": "stack/process_table",
    "upkeep": "compaction",
    "COVER": "MASK",
    "held: Rights": "rights: Rights",
    "held.may": "rights.may",
    "rights.of": "rights_of",
    "rights.Rights": "Rights",
    "Plan it anew": "Plan again",
    "accounts.refusals": "accounts.error_texts",
    "registry.Show": "registry.FragmentKey",
    "snapshot_cache.status": "snapshot_cache.sample_status",
    "changes.topic": "changes.shared",
    "turn_to_page": "paginate",
    "topics_there": "existing_topics",
    "To take it back": "Undo",
    "hand_over": "mark_other_entries",
    "has_unconfirmed": "is_delivering",
    "is_of_absent_topic": "is_topic_absent",
    "take_coordinator": "add_coordinator",
    "keep_only": "close_others",
    "live.fragments": "live.fragment_renderer",
    "live/fragments": "live/fragment_renderer",
    "alerts.tables": "alerts.alert_lists",
    "brokers.tables": "brokers.broker_list",
    "groups.tables": "groups.group_list",
    "groups.fragments": "groups.group_page",
    "dashboard.fragments": "dashboard.overview",
    "pipeline.tables": "pipeline.pipeline_page",
    "reports.tables": "reports.report_list",
    "topics.tables": "topics.topic_list, topics.topic_page",
    "lag.notes": "lag.formula",
    "lag/notes": "lag/formula",
    "tick_totals": "group_columns.LagSums",
    "member_totals": "group_columns.LagSums",
    "RULE_OFF": "RULE_DISABLED",
    "monitoring.identity": "monitoring.kafka_cluster_id",
    "identity.record": "kafka_cluster_id.record",
    "snapshot_cache.history": "snapshot_cache.recent_totals",
    "monitoring.beat": "monitoring.quiet_scheduler",
    "samples_of": "spark.transforms.buckets.buckets_of",
    "plan.done": "plan.applied_items",
    "progress.done": "progress.applied_items",
    "console.actions.apply": "console.actions.tasks.apply_plan",
    "monitoring.reports.run": "monitoring.reports.tasks.run",
    "monitoring.pipeline.refresh": "monitoring.pipeline.tasks.refresh",
    "monitoring.pipeline.roll_up": "monitoring.pipeline.tasks.roll_up",
    "brokerd.config_catalog": "brokerd.config.catalog",
    "brokerd.config_docs": "brokerd.config.docs",
    "brokerd.config_dynamic": "brokerd.config.dynamic",
    "brokerd.config_listeners": "brokerd.config.listeners",
    "brokerd.config_reach": "brokerd.config.listener_changes",
    "brokerd.config_tls": "brokerd.config.tls",
    "brokerd.config_values": "brokerd.config.values",
    "brokerd.log.log_config": "brokerd.config.log_config",
    "brokerd.groups": "brokerd.coordinator.group",
    "brokerd.transactions": "brokerd.coordinator.transaction",
    "brokerd/groups": "brokerd/coordinator/group",
    "brokerd.log.compaction": "brokerd.log.cleaner",
    "log/compaction": "log/cleaner",
    "Settling": "StartupEpochWait",
    "unharmed": "cleanly_stopped",
    "LeaderReadiness": "NewPartitionWait",
    "ParkingLot": "Purgatory",
    "Parked": "DelayedOperation",
    "Duties": "Scheduler",
    "Duty": "Task",
    "Housekeeping": "LogTasks",
    "DutyTimes": "TaskIntervals",
    "ClusterSurvey": "ClusterCounts",
    "ColdError": "NotInPageCache",
    "ColdReads": "PendingReads",
    "cold_reads": "pending_reads",
    "RangeSpot": "PendingRangeRead",
    "FilesSpot": "PendingFilesRead",
    "Spot": "PendingRead",
    "AsideSpot": "BackgroundRead",
    "IndexSpot": "BackgroundIndexBuild",
    "DataAside": "SegmentSnapshot",
    "warm_offset": "cached_from_offset",
    "ProduceRound": "ProduceBatcher",
    "_LateFetch": "DelayedFetch",
    "WaitedFor": "MinBytesTracker",
    "commit_turn": "commit_tick",
    "patient": "may_block",
    "brokerd.server.net": "brokerd.server.network",
    "brokerd/server/net": "brokerd/server/network",
    "brokerd.server.admin": "brokerd.server.admin_http",
    "brokerd/server/admin": "brokerd/server/admin_http",
    "brokerd.server.events": "brokerd.server.admin_http.events",
    "brokerd.server.append_queues": "brokerd.server.produce.append_queues",
    "brokerd.server.fetch_sessions": "brokerd.server.fetch.sessions",
    "brokerd.server.context": "brokerd.server.requests.context",
    "brokerd.server.dispatch": "brokerd.server.requests.codec",
    "brokerd.server.request_times": "brokerd.server.requests.request_times",
    "brokerd.server.refusals": "brokerd.server.requests.led_partitions",
    "brokerd.server.delayed_operations": "brokerd.server.requests.delayed_operations",
    "brokerd.server.pending_reads": "brokerd.server.background.pending_reads",
    "brokerd.server.disk_worker": "brokerd.server.background.disk_worker",
    "brokerd.server.cleaner_workers": "brokerd.server.background.cleaner_workers",
    "brokerd.server.log_start_saves": "brokerd.server.background.log_start_saves",
    "brokerd.server.scheduler": "brokerd.server.background.scheduler",
    "brokerd.server.table": "brokerd.server.wiring",
    "brokerd.server.metadata_cache": "brokerd.server.api.metadata_cache",
    "brokerd.log.files": "brokerd.log.io.files",
    "brokerd.log.flush": "brokerd.log.io.flush",
    "brokerd.log.flushed_appends": "brokerd.log.io.flushed_appends",
    "brokerd.log.linux": "brokerd.log.io.linux",
    "brokerd.log.open_files": "brokerd.log.io.open_files",
    "brokerd.log.page_cache": "brokerd.log.io.page_cache",
    "brokerd.log.scan": "brokerd.log.io.scan",
    "brokerd.log.write_back": "brokerd.log.io.write_back",
    "brokerd.log.offset_index": "brokerd.log.indexes.offset_index",
    "brokerd.log.time_index": "brokerd.log.indexes.time_index",
    "brokerd.log.txn_index": "brokerd.log.indexes.txn_index",
    "brokerd.log.sparse_indexing": "brokerd.log.indexes.sparse_indexing",
    "brokerd.log.segment": "brokerd.log.segments.segment",
    "brokerd.log.segment_list": "brokerd.log.segments.segment_list",
    "brokerd.log.indexed_data": "brokerd.log.segments.indexed_data",
    "brokerd.log.header_page": "brokerd.log.segments.header_page",
    "brokerd.log.damage": "brokerd.log.segments.damage",
    "brokerd.log.index_build": "brokerd.log.segments.index_build",
    "brokerd.log.index_checks": "brokerd.log.segments.index_checks",
    "brokerd.log.background_read": "brokerd.log.segments.background_read",
    "brokerd.log.removal": "brokerd.log.segments.removal",
    "brokerd.log.replace_segments": "brokerd.log.segments.replace_segments",
    "brokerd.log.search": "brokerd.log.segments.timestamp_search",
    "brokerd.log.loader": "brokerd.log.loading.loader",
    "brokerd.log.recovery": "brokerd.log.loading.recovery",
    "brokerd.log.lazy_log": "brokerd.log.loading.lazy_log",
    "brokerd.log.epochs": "brokerd.log.leader_epochs",
    "brokerd.log.browser": "brokerd.log.inspection",
    "server/net": "server/network",
    "server/admin": "server/admin_http",
    "brokerd.server.handlers": "brokerd.server.produce, .fetch, .api",
    "brokerd/server/handlers": "brokerd/server/api",
    "server/handlers": "server/api",
    "Newcomers": "NewConnections",
    "says_nothing_of_disks": "is_transient_error",
    "NOT_THE_DISKS": "TRANSIENT_ERRNOS",
    "is_passing": "is_transient",
    "PASSING_MAX": "TRANSIENT_FAILURES_MAX",
    "ReadAside": "ReadInBackground",
    "say_nothing_of": "zero_offsets",
    "_say_full": "_log_full",
    "_say_once": "_log_once",
    "let_go": "unmute",
    "hold_until_done": "mute_until_done",
    "go_on_if_done": "unmute_if_done",
    "EpochCache": "LeaderEpochFileCache",
    "Glimpse": "SegmentSummary",
    "glimpses": "segment_summaries",
    "heard_cut": "on_truncated",
    "heard_synced": "on_synced",
    "deafen": "pause",
    "tells_of_errors": "raises_storage_error",
    "tell_of_loss": "warn_of_loss",
    "_tell_by_closing": "_answer_by_closing",
    "_told_size": "_declared_size",
    "tell_offline": "report_offline",
    "_offline_told": "_offline_reported",
    "_tell_of_offsets": "_log_offsets",
    "offline_replicas.tell": "offline_replicas.report",
    "TOLD_MAX": "REPORTED_MAX, LOGGED_MAX",
    "include_list": "topic_filter",
    "brokerd.cli.numbers": "brokerd.cli.options",
    "group_formatters": "internal_formatters",
    "transaction_formatters": "internal_formatters",
    "internal_records": "internal_topics",
    "brokerd.server.requests.refusals": "brokerd.server.requests.led_partitions",
    "brokerd.server.api.table": "brokerd.server.wiring",
    "serve_fetch": "FetchHandler.serve",
    "serve_large_fetch": "FetchHandler.serve_large",
    "Broker.config": "LiveSettings.config",
    "broker.generation": "Partition.generation",
    "ReadState": "LagState",
    "monitoring.read_model.rows": "monitoring.read_model.row_types",
    "monitoring.gateway.loop": "monitoring.gateway.event_loop",
    "monitoring.pipeline.plan": "monitoring.pipeline.due_jobs",
    "console.audit.middleware": "console.audit.access_log",
    "console.logs": "console.log_filter",
    "console.records.downloads": "console.records.record_download",
    "console.ui.moments": "console.ui.moment_input",
    "console.accounts.access": "console.accounts.decorators",
    "console.accounts.throttle": "console.accounts.rate_limit",
    "console.reassignments.proposal": "console.reassignments.assignment",
    "monitoring.records.expression": "monitoring.records.cel_expression",
    "monitoring.history.cluster_rows": "monitoring.history.broker_and_cluster_rows",
    "monitoring.history.cover": "monitoring.history.level_choice",
    "monitoring.history.cleanup": "monitoring.history.unlisted_files",
    "console.groups.states": "console.groups.state_texts",
    "monitoring.lag.read_state": "monitoring.lag.lag_state",
    "registry.names": "registry.actions",
    "DRAFT_AGE_MAX": "PROPOSED_AGE_MAX",
    "models.DRAFT": "models.PROPOSED",
    "plan.stage": "plan.current_step",
    "plan.kind": "plan.action",
}

RETIRED_IN_BROKERD = {
    "told": "answered, reported, logged, called",
    "park": "delay",
    "parked": "delayed",
    "parks": "delays",
    "newcomer": "new member, new connection",
    "newcomers": "new members, new connections",
}
"""Words that had a meaning of their own in brokerd; refused in brokerd/ only."""


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w./])(?:{longest_first})(?!\w)")


_NAME = _any_of(RETIRED)
_NAME_IN_BROKERD = _any_of(RETIRED | RETIRED_IN_BROKERD)


def find(text: str, *, in_brokerd: bool = False) -> Iterator[tuple[int, str]]:
    """(line number, retired name) for each in the text."""
    pattern = _NAME_IN_BROKERD if in_brokerd else _NAME
    for number, line in enumerate(text.splitlines(), start=1):
        for match in pattern.finditer(line):
            yield number, match[0]


def tracked(folders: Iterable[str]) -> list[Path]:
    """The files under these folders that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    names = [name for name in listed.split("\0") if name]
    return [ROOT / name for name in names if not any(part in name for part in SKIPPED)]


def main() -> int:
    """Print each retired name with its place and what to write instead."""
    found = 0
    for path in tracked(FOLDERS):
        if not path.is_file():
            continue
        file = path.relative_to(ROOT)
        text = path.read_text(errors="ignore")
        for number, name in find(text, in_brokerd=file.parts[0] == "brokerd"):
            found += 1
            instead = (RETIRED | RETIRED_IN_BROKERD)[name]
            print(f"{file}:{number}: “{name}” was replaced: write “{instead}”")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
