"""Runs the scripts of bench/in_checkout/ with this checkout's Python and code."""

import os
import subprocess
import sys

from bench.servers import ROOT


def output_of(name: str, *arguments: object, timeout_s: float) -> bytes:
    """What the script wrote to standard output.

    Raises RuntimeError if it fails, and subprocess.TimeoutExpired.
    """
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "in_checkout" / name), *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        timeout=timeout_s,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"bench/in_checkout/{name} ended with {done.returncode}")
    return done.stdout
