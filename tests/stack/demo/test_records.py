import json

from stack.demo.records import broker_event, cpu_sample, load_record, log_line, process_sample


def test_a_process_sample_has_name_id_cpu_and_memory_only() -> None:
    record = process_sample("host.processes", 1_000, "java", 42, 12.3456, 4096)
    assert record.key == b"java"
    assert json.loads(record.value) == {
        "at_ms": 1_000, "name": "java", "pid": 42, "cpu_percent": 12.35, "rss_bytes": 4096,
    }  # fmt: skip


def test_the_first_sample_of_a_process_has_no_cpu_usage() -> None:
    record = process_sample("host.processes", 1_000, "java", 42, None, 4096)
    assert json.loads(record.value)["cpu_percent"] is None


def test_a_cpu_sample_is_keyed_by_its_cpu() -> None:
    record = cpu_sample("host.cpu", 5, "cpu1", {"user": 1.5})
    assert record.key == b"cpu1"
    assert json.loads(record.value) == {"at_ms": 5, "cpu": "cpu1", "user": 1.5}


def test_a_log_line_is_sent_unchanged() -> None:
    line = b'{"path":"/login","status":200}'
    record = log_line("console.access", "path", line)
    assert (record.key, record.value) == (b"/login", line)


def test_a_line_that_is_not_an_object_has_no_key() -> None:
    for line in (b"garbage", b"[1]", b'{"other":1}'):
        assert log_line("console.access", "path", line).key is None


def test_the_key_of_an_event_is_its_partition_or_its_broker() -> None:
    about = broker_event("brokerd.events", "2", {"id": 1, "topic": "t", "partition": 3})
    assert about.key == b"t-3"
    assert json.loads(about.value)["broker_id"] == 2
    assert broker_event("brokerd.events", "2", {"id": 1, "topic": None}).key == b"broker-2"


def test_a_load_record_has_a_counter_and_a_time() -> None:
    assert json.loads(load_record("load.sequence", 7, 9).value) == {"sequence": 7, "sent_at_ms": 9}
