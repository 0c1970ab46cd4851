import json

from stack.demo.shapes import broker_event, cpu_sample, journal_line, load_record, process_sample


def test_a_process_sample_says_name_id_cpu_and_memory_and_nothing_else() -> None:
    record = process_sample("host.processes", 1_000, "java", 42, 12.3456, 4096)
    assert record.key == b"java"
    assert json.loads(record.value) == {
        "at_ms": 1_000, "name": "java", "pid": 42, "cpu_percent": 12.35, "rss_bytes": 4096,
    }  # fmt: skip


def test_the_first_look_at_a_process_knows_no_cpu_yet() -> None:
    record = process_sample("host.processes", 1_000, "java", 42, None, 4096)
    assert json.loads(record.value)["cpu_percent"] is None


def test_a_cpu_sample_is_keyed_by_its_cpu() -> None:
    record = cpu_sample("host.cpu", 5, "cpu1", {"user": 1.5})
    assert record.key == b"cpu1"
    assert json.loads(record.value) == {"at_ms": 5, "cpu": "cpu1", "user": 1.5}


def test_a_journal_line_stays_as_it_is() -> None:
    line = b'{"path":"/login","status":200}'
    record = journal_line("console.access", "path", line)
    assert (record.key, record.value) == (b"/login", line)


def test_a_line_that_is_no_object_has_no_key() -> None:
    for line in (b"garbage", b"[1]", b'{"other":1}'):
        assert journal_line("console.access", "path", line).key is None


def test_an_event_is_keyed_by_its_partition_or_its_broker() -> None:
    about = broker_event("brokerd.events", "2", {"id": 1, "topic": "t", "partition": 3})
    assert about.key == b"t-3"
    assert json.loads(about.value)["broker_id"] == 2
    assert broker_event("brokerd.events", "2", {"id": 1, "topic": None}).key == b"broker-2"


def test_a_load_record_is_a_counter_and_a_time() -> None:
    assert json.loads(load_record("load.sequence", 7, 9).value) == {"sequence": 7, "sent_at_ms": 9}
