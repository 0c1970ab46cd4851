"""The log directories of real brokers: brokerd's, compared with its admin port, and Apache
Kafka's."""

import os
import shutil
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Producer

from monitoring.gateway.errors import NotFound, Refused, Unreadable, Unsupported
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.log_directory.log_directories import LogDirectoryUnusable
from monitoring.models import Cluster
from tests.support.kafka import dump_of_files

pytestmark = pytest.mark.django_db
SMALL = {"segment.bytes": "30000", "index.interval.bytes": "1000"}
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def write_segments(cluster: Cluster, topic: str) -> int:
    """A topic of one partition with several segments, each codec among them, unless a test has
    written it; returns its leader."""
    with for_cluster(cluster) as gateway:
        is_written = gateway.wire.has_topic(topic)
        if not is_written:
            gateway.topics.create_topic(topic, 1, 1, SMALL)
        leader = gateway.topics.describe_topic(topic).partitions[0].leader
    if is_written:
        return leader
    for number in range(100):
        producer = Producer(
            {
                "bootstrap.servers": cluster.bootstrap_servers,
                "compression.type": CODECS[number // 20],
                "log_level": 0,
            }
        )
        for _record in range(5):
            producer.produce(topic, os.urandom(300) + bytes(200), b"key", partition=0)
        assert producer.flush(30) == 0
    return leader


@pytest.fixture
def at_brokerd(live_cluster, settings):
    """(gateway, leader, topic, its directory) of a topic of brokerd with several segments."""
    cluster, topic = live_cluster.row(), "segments.of-files"
    leader = write_segments(cluster, topic)
    brokers = {each.id: each for each in live_cluster.brokerd.brokers}
    logs = brokers[leader].logs
    settings.AERIE_LOG_DIRS = {(cluster.slug, leader): [str(logs.parent), str(logs)]}
    with for_cluster(cluster) as gateway:
        yield gateway, leader, topic, Path(logs) / f"{topic}-0"


def without_pending(answer: dict) -> dict:
    """The answer without what brokerd has of its active segment in memory only."""
    *closed, active = answer["segments"]
    pending = {"index_entries": 0, "time_index_entries": 0, "files": []}
    return answer | {"segments": [*closed, active | pending]}


def without_time(look_up: dict) -> dict:
    assert look_up["took_us"] > 0
    return look_up | {"took_us": 0}


def test_the_files_of_brokerd_say_what_its_admin_port_says(at_brokerd):
    gateway, leader, topic, _directory = at_brokerd
    where = (leader, topic, 0)
    answers = [
        source.segments(*where, with_samples=True)
        for source in (gateway.brokerd_admin, gateway.log_directories)
    ]
    told, found = map(without_pending, answers)
    assert len(told["segments"]) > 3
    assert {codec for each in told["segments"] for codec in each["compression"]["codecs"]} == set(
        CODECS
    )
    assert found == told
    for segment in told["segments"][:-1]:
        base = segment["base_offset"]
        for kind in ("offset", "time"):
            pages = [
                source.index(*where, base, kind, start, 5)
                for source in (gateway.brokerd_admin, gateway.log_directories)
                for start in (0, 3)
            ]
            assert pages[:2] == pages[2:]
            assert pages[0]["total"] > 3
        first = gateway.brokerd_admin.batches(*where, base, 0, 3)
        assert gateway.log_directories.batches(*where, base, 0, 3) == first
        next_page = (base, first["next_position"], 3)
        assert gateway.log_directories.batches(*where, *next_page) == gateway.brokerd_admin.batches(
            *where, *next_page
        )


def test_a_look_up_in_the_files_of_brokerd_has_the_steps_of_its_admin_port(at_brokerd):
    gateway, leader, topic, _directory = at_brokerd
    last = gateway.brokerd_admin.segments(leader, topic, 0)["segments"][-1]
    times = gateway.brokerd_admin.index(leader, topic, 0, 0, "time", 0, 10)["entries"]
    sources = (gateway.brokerd_admin, gateway.log_directories)
    wanted = [{"offset": offset} for offset in range(0, last["base_offset"], 7)]
    wanted += [{"offset": each["offset"], "at_ms": each["timestamp_ms"]} for each in times]
    wanted.append({"offset": 0, "at_ms": 1})
    for each in wanted:
        told, found = (source.segments(leader, topic, 0, **each)["look_up"] for source in sources)
        assert without_time(found) == without_time(told), each
    end = last["next_offset"]
    for offset in (-1, end):
        looked_up = (source.segments(leader, topic, 0, offset=offset) for source in sources)
        assert [each["look_up"] for each in looked_up] == [None, None]


@pytest.fixture
def copied(at_brokerd, tmp_path, settings):
    """(gateway, leader, topic, directory): as `at_brokerd`, on a copy that a test may damage."""
    gateway, leader, topic, directory = at_brokerd
    shutil.copytree(directory, tmp_path / "data" / directory.name)
    [(key, _paths)] = settings.AERIE_LOG_DIRS.items()
    settings.AERIE_LOG_DIRS = {key: [str(tmp_path / "data")]}
    return gateway, leader, topic, tmp_path / "data" / directory.name


def test_the_log_start_is_the_later_one_of_the_checkpoint_and_of_the_cluster(copied, live_cluster):
    gateway, leader, topic, directory = copied

    def log_start() -> int:
        start: int = gateway.log_directories.segments(leader, topic, 0)["log_start_offset"]
        return start

    assert log_start() == 0
    checkpoint = directory.parent / "log-start-offset-checkpoint"
    checkpoint.write_text(f"0\n1\n{topic} 0 17\n")
    assert log_start() == 17
    checkpoint.write_text("damaged")
    assert log_start() == 0
    purged = f"purged-{uuid.uuid4().hex[:8]}"
    live_cluster.create_topic(purged, 1)
    live_cluster.produce(purged, {0: 20})
    directory.rename(directory.parent / f"{purged}-0")
    assert gateway.topics.delete_records(purged, {0: 12}) == {}
    assert gateway.log_directories.segments(leader, purged, 0)["log_start_offset"] == 12


def test_a_damaged_index_is_reported_by_its_name_and_the_other_figures_are_shown(copied):
    gateway, leader, topic, directory = copied
    for suffix, kind in (("index", "offset"), ("timeindex", "time")):
        name = f"{0:020d}.{suffix}"
        with (directory / name).open("ab") as file:
            file.write(b"\1")
        with pytest.raises(Unreadable, match=f"{name} is damaged: it ends within") as caught:
            gateway.log_directories.index(leader, topic, 0, 0, kind, 0, 10)
        assert str(directory.parent) not in str(caught.value)
    first, second, *_ = gateway.log_directories.segments(leader, topic, 0)["segments"]
    assert (first["index_entries"], first["time_index_entries"]) == (None, None)
    assert first["largest_timestamp_ms"] == -1
    assert second["index_entries"] > 0
    with pytest.raises(Unreadable, match="damaged"):
        gateway.log_directories.segments(leader, topic, 0, offset=3)


def test_an_index_that_points_behind_its_log_file_is_damaged(copied):
    gateway, leader, topic, directory = copied
    os.truncate(directory / f"{0:020d}.log", 1000)
    with pytest.raises(Unreadable, match="behind the end of the log file"):
        gateway.log_directories.index(leader, topic, 0, 0, "offset", 0, 10)


def test_an_index_that_is_missing_has_no_entries(copied):
    gateway, leader, topic, directory = copied
    (directory / f"{0:020d}.index").unlink()
    page = gateway.log_directories.index(leader, topic, 0, 0, "offset", 0, 10)
    assert page == {"total": 0, "entries": []}
    steps = gateway.log_directories.segments(leader, topic, 0, offset=11)["look_up"]
    assert (steps["entry"], steps["scan_from_bytes"]) == (None, 0)
    assert steps["batches"][-1]["last_offset"] >= 11


def test_a_damaged_batch_is_reported(copied):
    gateway, leader, topic, directory = copied
    with (directory / f"{0:020d}.log").open("r+b") as file:
        file.seek(70)
        file.write(b"\xff")
    first, second = gateway.log_directories.batches(leader, topic, 0, 0, 0, 2)["batches"]
    assert (first["crc_ok"], second["crc_ok"]) == (False, True)
    for position in (1, 10**9):
        with pytest.raises(Refused, match=f"no batch starts at byte {position}"):
            gateway.log_directories.batches(leader, topic, 0, 0, position, 2)


def test_what_is_not_there_is_reported_without_a_path(copied, settings, tmp_path):
    gateway, leader, topic, _directory = copied
    with pytest.raises(NotFound, match="no segment begins at offset 1"):
        gateway.log_directories.index(leader, topic, 0, 1, "offset", 0, 10)
    for partition in (1, -1):
        with pytest.raises(LogDirectoryUnusable, match="do not have partition") as caught:
            gateway.log_directories.segments(leader, topic, partition)
        assert str(tmp_path) not in str(caught.value)
    settings.AERIE_LOG_DIRS = {}
    assert not gateway.log_directories.has(leader)
    with pytest.raises(Unsupported, match="no log directory"):
        gateway.log_directories.segments(leader, topic, 0)


def test_a_log_directory_that_may_not_be_read_is_reported(copied):
    gateway, leader, topic, directory = copied
    directory.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # root may read every file
    try:
        with pytest.raises(LogDirectoryUnusable, match="may not read") as caught:
            gateway.log_directories.segments(leader, topic, 0)
        assert str(directory.parent) not in str(caught.value)
    finally:
        os.seteuid(user)
        directory.chmod(0o700)


@pytest.fixture(scope="module")
def kafka_topic(shared_kafka):
    """A topic of Apache Kafka with several segments."""
    topic = f"segments-{uuid.uuid4().hex[:8]}"
    cluster = Cluster(slug="kafka", name="Kafka", bootstrap_servers=shared_kafka.address)
    assert write_segments(cluster, topic) == shared_kafka.id
    return cluster, topic


@pytest.fixture
def at_kafka(kafka_topic, shared_kafka, settings):
    """(gateway, broker, topic, its directory)."""
    cluster, topic = kafka_topic
    settings.AERIE_LOG_DIRS = {("kafka", shared_kafka.id): [str(shared_kafka.logs)]}
    with for_cluster(cluster) as gateway:
        yield gateway, shared_kafka.id, topic, shared_kafka.logs / f"{topic}-0"


@pytest.mark.kafka
def test_the_segments_of_apache_kafka_are_described(at_kafka):
    gateway, broker, topic, directory = at_kafka
    found = gateway.log_directories.segments(broker, topic, 0, with_samples=True)
    segments = found["segments"]
    assert [each["base_offset"] for each in segments] == sorted(
        int(path.stem) for path in directory.glob("*.log")
    )
    assert [each["next_offset"] for each in segments] == [
        *(each["base_offset"] for each in segments[1:]), 500,
    ]  # fmt: skip
    bounds = ("log_start_offset", "last_stable_offset", "high_watermark", "log_end_offset")
    assert [found[name] for name in bounds] == [0, 500, 500, 500]
    assert [each["active"] for each in segments] == [False] * (len(segments) - 1) + [True]
    codecs = {codec for each in segments for codec in each["compression"]["codecs"]}
    assert codecs == set(CODECS)
    assert found["settings"]["cleanup.policy"] == "delete"
    assert found["settings"]["retention.ms"] == "604800000"
    for each in segments:
        assert each["first_timestamp_ms"] <= each["largest_timestamp_ms"]
    latest = [each["largest_timestamp_ms"] for each in segments]
    assert latest == sorted(latest)


@pytest.mark.kafka
def test_index_entries_and_batches_are_those_of_kafkas_own_tool(at_kafka):
    gateway, broker, topic, directory = at_kafka
    segments = gateway.log_directories.segments(broker, topic, 0)["segments"]
    active = directory / f"{segments[-1]['base_offset']:020d}.index"
    assert active.stat().st_size == 10 << 20, "it is allocated in advance"
    for segment in (segments[0], segments[-1]):
        base = segment["base_offset"]
        log = dump_of_files([directory / f"{base:020d}.log"])
        batches = gateway.log_directories.batches(broker, topic, 0, base, 0, 200)["batches"]
        told = [line for line in log.splitlines() if line.startswith("baseOffset:")]
        assert [
            f"baseOffset: {each['base_offset']} lastOffset: {each['last_offset']} "
            f"count: {each['count']}"
            for each in batches
        ] == [line[: line.index(" baseSequence")] for line in told]
        assert [f"position: {each['position_bytes']} " in line for each, line in zip(
            batches, told, strict=True
        )] == [True] * len(batches)  # fmt: skip
        assert all(each["crc_ok"] for each in batches)
        entries = gateway.log_directories.index(broker, topic, 0, base, "offset", 0, 10_000)
        assert entries["total"] == segment["index_entries"] > 0
        index = dump_of_files([directory / f"{base:020d}.index"])
        assert [
            f"offset: {each['offset']} position: {each['position_bytes']}"
            for each in entries["entries"]
        ] == [line for line in index.splitlines() if line.startswith("offset: ")]
        times = gateway.log_directories.index(broker, topic, 0, base, "time", 0, 10_000)
        time_index = dump_of_files([directory / f"{base:020d}.timeindex"])
        assert [
            f"timestamp: {each['timestamp_ms']} offset: {each['offset']}"
            for each in times["entries"]
        ] == [line for line in time_index.splitlines() if line.startswith("timestamp: ")]


@pytest.mark.kafka
def test_every_offset_of_apache_kafka_is_found_by_its_index_and_by_time(at_kafka):
    gateway, broker, topic, _directory = at_kafka
    for offset in range(0, 500, 17):
        steps = gateway.log_directories.segments(broker, topic, 0, offset=offset)["look_up"]
        batch = steps["batches"][-1]
        assert batch["base_offset"] <= offset <= batch["last_offset"]
        assert all(each["last_offset"] < offset for each in steps["batches"][:-1])
        entry = steps["entry"]
        assert steps["scan_from_bytes"] == (entry["position_bytes"] if entry else 0)
        at_ms = batch["max_timestamp_ms"]
        first = gateway.log_offsets.at_time([(topic, 0)], at_ms)[topic, 0]
        by_time = gateway.log_directories.segments(broker, topic, 0, offset=first, at_ms=at_ms)
        batch = by_time["look_up"]["batches"][-1]
        assert batch["base_offset"] <= first <= batch["last_offset"]
    assert gateway.log_directories.segments(broker, topic, 0, offset=500)["look_up"] is None
