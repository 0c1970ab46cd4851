"""kio comes without what a broker has no use for."""

import subprocess
import sys

IMPORTED = """
import sys
import brokerd.cli.main
from brokerd.protocol.messages import request_type
assert request_type(3, 9) is not None
print(sorted(name for name in sys.modules if name.partition(".")[0] == "hypothesis"))
"""


def test_a_broker_does_not_load_hypothesis_though_it_is_installed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
