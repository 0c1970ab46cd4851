import json
import os
import shutil
import subprocess
from pathlib import Path

import psutil

from stack.demo.host_metrics import Cpus, Processes


def test_processes_are_sampled_round_robin() -> None:
    processes = Processes("host.processes")
    alive = len(psutil.pids())
    seen = {json.loads(record.value)["pid"] for record in processes.take(alive, 1_000)}
    assert os.getpid() in seen
    assert len(seen) > alive // 2


def test_the_second_sample_has_the_cpu_usage() -> None:
    processes = Processes("host.processes")
    count = len(psutil.pids())
    processes.take(count, 1_000)
    sum(range(2_000_000))
    records = [json.loads(record.value) for record in processes.take(count, 2_000)]
    own = next(record for record in records if record["pid"] == os.getpid())
    assert own["cpu_percent"] > 0
    assert own["rss_bytes"] > 0


def test_no_more_processes_are_sampled_than_requested() -> None:
    assert len(Processes("host.processes").take(3, 1_000)) == 3
    assert Processes("host.processes").take(-1, 1_000) == []


def test_each_cpu_is_sampled_once_per_interval() -> None:
    cpus = Cpus("host.cpu", every_s=1.0)
    assert len(cpus.take(1_000)) == psutil.cpu_count()
    assert cpus.take(1_001) == []


def test_a_process_name_never_contains_the_arguments(
    tmp_path: Path,
) -> None:
    program = tmp_path / "sleeping-very-long-name"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    title = "sleeping-very-long-name --password=hunter2"
    with subprocess.Popen([title, "60"], executable=program) as child:
        try:
            records = Processes("host.processes").take(len(psutil.pids()) + 50, 1_000)
        finally:
            child.kill()
    named = {json.loads(each.value)["pid"]: each for each in records}
    assert json.loads(named[child.pid].value)["name"] == "sleeping-very-l"
    assert not any(b"hunter2" in (each.value + each.key) for each in records)
