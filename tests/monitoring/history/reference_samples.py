"""The samples of every key of every table at each tick, from plain ticks (random_cluster.py)."""

from monitoring.history.table_specs import (
    BROKERS,
    CLUSTER,
    GROUP_PARTITIONS,
    GROUP_TOPICS,
    GROUPS,
    LOG_DIRS,
    PARTITIONS,
    TOPICS,
    Table,
)
from tests.monitoring.history.random_cluster import INTERVAL_MS
from tests.monitoring.history.reference import Sample, Step

GAP_MS = 3 * INTERVAL_MS


class Readings:
    """The last known values of a key's counters, while the key exists."""

    def __init__(self) -> None:
        self.of: dict = {}
        self.was_known: set = set()
        self.facts: dict = {}


def steps_of(ticks: list[dict]) -> list[Step]:
    """The ticks with status ok, with all samples."""
    found: list[Step] = []
    kept: dict = {}
    for tick in ticks:
        if not tick["ok"]:
            continue
        since_ms = tick["at_ms"] - found[-1].at_ms if found else None
        step_ms = since_ms if since_ms and since_ms <= GAP_MS else None
        found.append(Step(tick["at_ms"], step_ms, _samples(tick, kept, not found, step_ms)))
    return found


def _samples(tick: dict, kept: dict, is_first: bool, step_ms: int | None) -> dict:
    def readings(table: Table, keys) -> tuple[dict, set]:
        """The readings of these keys, and the keys that are new; forgets all others."""
        last = kept.get(table.name, {})
        kept[table.name] = {key: last.get(key) or Readings() for key in keys}
        return kept[table.name], {key for key in keys if key not in last}

    last, new = readings(PARTITIONS, tick["partitions"])
    partitions = {
        key: _partition(row, last[key], key in new, is_first)
        for key, row in tick["partitions"].items()
    }
    of_groups = _group_partitions(tick, kept.get(GROUP_PARTITIONS.name, {}))
    last, _ = readings(GROUP_PARTITIONS, of_groups)
    group_partitions = {
        key: _group_partition(*answer, last[key]) for key, answer in of_groups.items()
    }
    last, _ = readings(BROKERS, [(number,) for number in tick["brokers"]])
    brokers = {
        (number,): _broker(row, last[number,], partitions, number)
        for number, row in tick["brokers"].items()
    }
    groups = _groups(tick, group_partitions, kept)
    topics = _by(partitions, 1, TOPICS)
    for (topic,), sample in topics.items():
        rows = [row for key, row in tick["partitions"].items() if key[0] == topic]
        sample.gauges["disk_bytes"] = _disk(rows)
        sample.facts = {
            "partitions": len(rows),
            "under_replicated": sum(len(row["isr"]) < len(row["replicas"]) for row in rows),
            "offline": sum(row["leader"] < 0 for row in rows),
        }
    found = {
        PARTITIONS.name: partitions,
        TOPICS.name: topics,
        GROUP_PARTITIONS.name: group_partitions,
        GROUP_TOPICS.name: _group_topics(tick, group_partitions, kept),
        GROUPS.name: groups,
        BROKERS.name: brokers,
        LOG_DIRS.name: {
            (number, log_dir["path"]): Sample(
                {}, {name: log_dir[name] for name in LOG_DIRS.gauges}, {}, set()
            )
            for number, row in tick["brokers"].items()
            for log_dir in row["log_dirs"]
        },
    }
    found[CLUSTER.name] = {(): _cluster(tick, partitions, topics, groups)}
    if step_ms is None:
        for samples in found.values():
            for sample in samples.values():
                sample.rated = set()
    return found


def _partition(row: dict, last: Readings, is_new: bool, is_first: bool) -> Sample:
    id_before = last.facts.get("topic_id")
    end, end_before = row["log_end_offset"], last.of.get("records")
    if row["topic_id"] and id_before:
        is_again = row["topic_id"] != id_before
    else:
        is_again = None not in (end, end_before) and end < end_before
    is_new = (is_new or is_again) and not is_first
    is_same_leader = row["leader"] == last.facts.get("leader") or is_new
    if is_new:
        last.facts = last.facts | {"topic_id": None}
    sample = Sample(_facts(row, last), {"size_bytes": row["size_bytes"]}, {}, set())
    values = {"records": row["log_end_offset"], "bytes_in": row["bytes_in"],
              "bytes_out": row["bytes_out"]}  # fmt: skip
    known = set()
    for counter, value in values.items():
        is_offset = counter == "records"
        base = last.of.get(counter) if is_offset or is_same_leader else None
        is_valid = is_new or (counter in last.was_known and (is_offset or is_same_leader))
        if is_new:
            base = (row["log_start_offset"] or 0) if is_offset else 0
        _count(sample, counter, value, base, is_valid, restarts=not is_offset)
        if value is not None:
            last.of[counter] = value
            known.add(counter)
        elif base is not None:
            last.of[counter] = base
        else:
            last.of.pop(counter, None)
    last.was_known, last.facts = known, sample.facts
    return sample


def _facts(row: dict, last: Readings) -> dict:
    facts = {
        "leader": row["leader"],
        "replicas": len(row["replicas"]),
        "in_sync": len(row["isr"]),
    }
    for name in ("topic_id", "log_start_offset", "log_end_offset"):
        facts[name] = row[name] if row[name] is not None else last.facts.get(name)
    return facts


def _count(sample: Sample, counter: str, value, base, is_valid: bool, *, restarts: bool) -> None:
    """What a counter adds: its growth; its value after a restart, which has no rate."""
    sample.amounts[counter] = 0
    if value is None:
        return
    sample.known.add(counter)
    if base is None:
        return
    if value >= base:
        sample.amounts[counter] = value - base
        if is_valid:
            sample.rated.add(counter)
    elif restarts:
        sample.amounts[counter] = value


def _group_partitions(tick: dict, before: dict) -> dict:
    """{(group, topic, partition): (is_answered, committed, end)}; a group that did not answer is
    unknown."""
    found = {}
    for name, group in tick["groups"].items():
        for key, committed in group["commits"].items():
            end = tick["partitions"].get(key, {}).get("log_end_offset")
            found[name, *key] = (True, committed, end) if group["answered"] else _NO_ANSWER
    if not tick["complete"]:
        for key in before:
            found.setdefault(key, _NO_ANSWER)
    return found


_NO_ANSWER = (False, None, None)


def _group_partition(
    is_answered: bool, committed: int | None, end: int | None, last: Readings
) -> Sample:
    lag = None if committed is None or end is None else max(end - committed, 0)
    facts = {
        "committed_offset": last.of.get("consumed") if committed is None else committed,
        "log_end_offset": last.facts.get("log_end_offset") if end is None else end,
    }
    sample = Sample(facts, {"lag": lag}, {}, set())
    sample.is_unanswered = not is_answered or (committed is not None and end is None)
    is_valid = "consumed" in last.was_known
    _count(sample, "consumed", committed, last.of.get("consumed"), is_valid, restarts=False)
    if committed is not None:
        last.of["consumed"] = committed
    last.was_known, last.facts = set(sample.known), facts
    return sample


def _by(parts: dict, length: int, table: Table, is_part=lambda key: True) -> dict:
    """Sums of samples by the first names of their keys. Parts that are no part of a sum still
    count in the amounts."""
    found = {}
    for name in dict.fromkeys(key[:length] for key in parts):
        every = [(key, part) for key, part in parts.items() if key[:length] == name]
        chosen = [part for key, part in every if is_part(key)]
        found[name] = _sum(table, [part for _, part in every], chosen)
    return found


def _sum(table: Table, every: list[Sample], chosen: list[Sample]) -> Sample:
    sample = Sample({}, {}, dict.fromkeys(table.counters, 0), set())
    sample.is_unanswered = any(part.is_unanswered for part in every)
    for gauge in table.gauges:
        values = [part.gauges.get(gauge) for part in chosen]
        sample.gauges[gauge] = None if None in values or not values else sum(values)
    for counter in table.counters:
        sample.amounts[counter] = sum(part.amounts.get(counter, 0) for part in every)
        if chosen and all(counter in part.known for part in chosen):
            sample.known.add(counter)
        if chosen and all(counter in part.rated for part in chosen):
            sample.rated.add(counter)
    return sample


def _disk(rows: list[dict]) -> int | None:
    if any(row["replicas_reported"] < len(row["replicas"]) for row in rows) or not rows:
        return None
    return sum(row["replicas_size_bytes"] for row in rows)


def _group_topics(tick: dict, parts: dict, kept: dict) -> dict:
    read = {key: part for key, part in parts.items() if _committed(tick, key) is not _NOT_READ}
    found = _by(read, 2, GROUP_TOPICS, lambda key: _committed(tick, key) is not None)
    for name, sample in found.items():
        keys = [key for key in read if key[:2] == name]
        sample.facts = {"partitions": len(keys)} | _counts(tick, keys)
    return _with_unread(tick, found, kept, GROUP_TOPICS)


def _groups(tick: dict, parts: dict, kept: dict) -> dict:
    before = kept.get(GROUPS.name, {})
    found = {}
    for name, group in tick["groups"].items():
        keys = [key for key in parts if key[0] == name and key[1:] in group["commits"]]
        chosen = [parts[key] for key in keys if _committed(tick, key) is not None]
        sample = _sum(GROUPS, [parts[key] for key in keys], chosen)
        answered = group["answered"]
        sample.is_unanswered = sample.is_unanswered or not answered
        sample.gauges["members"] = group["members"] if answered else None
        lag = sample.gauges["lag"]
        sample.gauges["behind"] = None if lag is None else int(lag > 0)
        coordinator = group["coordinator"]
        if coordinator is None and (name,) in before:
            coordinator = before[name,].facts["coordinator"]
        sample.facts = {"group_state": group["state"] if answered else None}
        sample.facts |= {"coordinator": coordinator} | _counts(tick, keys)
        found[name,] = sample
    return _with_unread(tick, found, kept, GROUPS)


_NOT_READ = object()


def _committed(tick: dict, key: tuple):
    group = tick["groups"].get(key[0])
    return group["commits"].get(key[1:], _NOT_READ) if group else _NOT_READ


def _counts(tick: dict, keys: list[tuple]) -> dict:
    """Of these partitions: how many are without a commit, and how many are ahead of the end."""
    ahead = 0
    for key in keys:
        end = tick["partitions"].get(key[1:], {}).get("log_end_offset")
        committed = _committed(tick, key)
        if tick["groups"][key[0]]["answered"] and None not in (end, committed):
            ahead += committed > end
    return {"not_committed": sum(_committed(tick, key) is None for key in keys), "ahead": ahead}


def _with_unread(tick: dict, found: dict, kept: dict, table: Table) -> dict:
    """And the keys of the tick before that could not be read: they exist, all else is unknown."""
    if not tick["complete"]:
        for key, before in kept.get(table.name, {}).items():
            nothing = dict.fromkeys(table.counters, 0)
            unread = Sample(before.facts, dict.fromkeys(table.gauges), nothing, set())
            unread.is_unanswered = True
            found.setdefault(key, unread)
    kept[table.name] = found
    return found


def _broker(row: dict, last: Readings, partitions: dict, number: int) -> Sample:
    gauges = {name: row.get(name) for name in BROKERS.gauges}
    gauges["leaders"] = sum(part.facts["leader"] == number for part in partitions.values())
    sample = Sample({"up": row["up"]}, gauges, {}, set())
    seconds = row["cpu_seconds"]
    values = row | {"cpu_ms": None if seconds is None else seconds * 1000}
    for counter in BROKERS.counters:
        value, is_valid = values.get(counter), counter in last.was_known
        _count(sample, counter, value, last.of.get(counter), is_valid, restarts=True)
        if value is not None:
            last.of[counter] = value
    last.was_known = set(sample.known)
    return sample


def _cluster(tick: dict, partitions: dict, topics: dict, groups: dict) -> Sample:
    every = list(partitions.values())
    sample = _sum(CLUSTER, every, every)
    with_lag = [part for part in groups.values() if part.gauges["lag"] is not None or part.known]
    consumed = _sum(CLUSTER, list(groups.values()), with_lag)
    sample.amounts["consumed"] = consumed.amounts["consumed"]
    sample.known = sample.known - {"consumed"} | consumed.known & {"consumed"}
    sample.rated = sample.rated - {"consumed"} | consumed.rated & {"consumed"}
    sample.gauges["lag"] = consumed.gauges["lag"] if tick["complete"] else None
    sample.gauges["disk_bytes"] = _disk(list(tick["partitions"].values()))
    sample.facts = {
        "topics": len(topics),
        "partitions": len(partitions),
        "groups": len(groups),
        "brokers": len(tick["brokers"]),
        "brokers_up": sum(row["up"] for row in tick["brokers"].values()),
        "under_replicated": sum(topic.facts["under_replicated"] for topic in topics.values()),
        "offline": sum(topic.facts["offline"] for topic in topics.values()),
        "controller": 1,
    }
    return sample
