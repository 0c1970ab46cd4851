"""Runs a supervisor with small real programs: `small_stack.py FOLDER`.

The folder holds `programs.json`: name → {"command", "stage", "after", "probe", "target",
"is_required", "memory_max_mb"}. The test kills what it likes and looks at what is left.
"""

import asyncio
import json
import sys
from pathlib import Path

import django

from stack import data_folder_lock, idle_memory
from stack.preparation import make_folder
from stack.probes import Prober
from stack.process_table import Probe, ProbeKind, Role
from stack.supervisor import Program, Supervisor


def main() -> None:
    django.setup()
    from stack.launch import end_leftovers  # needs the models

    idle_memory.IDLE_S, idle_memory.CHECK_EVERY_S = 0.3, 0.05
    data = Path(sys.argv[1])
    make_folder(data, print)
    programs = {
        name: Program(
            entry["command"],
            Role(
                entry.get("stage", 0),
                tuple(entry.get("after", ())),
                Probe(ProbeKind(entry.get("probe", "none")), entry.get("target", "")),
                entry.get("is_required", True),
                entry.get("memory_max_mb"),
            ),
        )
        for name, entry in json.loads((data / "programs.json").read_text()).items()
    }
    variables = {"PYTHONPATH": str(Path(__file__).parents[2])}
    prober = Prober("redis://127.0.0.1:1/0", "local")
    try:
        with data_folder_lock.acquire(data):
            end_leftovers(data)
            supervisor = Supervisor(programs, variables, data, prober, "", lambda: "Small is ready")
            asyncio.run(supervisor.run())
    except data_folder_lock.AlreadyRunning as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
