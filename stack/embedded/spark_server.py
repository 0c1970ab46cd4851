"""`python -m stack.embedded.spark_server`: prepares and executes the Spark Connect server.

The process creates Spark's folder, its properties file and a clean environment, then replaces
itself (exec) with Spark's launcher, which replaces itself with Java. So the process id stays the
same and the supervisor's signals reach the JVM.

Spark runs queries of users, so it gets no secrets: only the variables in `KEPT_VARIABLES` are
passed on, and its token comes from a file of mode 0600, not from an argument that `ps` shows.

Besides the port of Spark Connect, Spark listens on two more: the driver's RPC and its block
manager. With a local master both are on 127.0.0.1, else on an address that the executors reach.
Both require a secret (`spark.authenticate`, by SASL); with a local master Spark generates it in
memory. `spark.network.crypto` stays off: with it, queries through Connect hung.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import pyspark
from django.core.exceptions import ImproperlyConfigured

from monitoring import secret_files
from monitoring.spark.server_config import SparkConfig, from_settings, token
from monitoring.tcp_ports import bind_error
from stack.embedded.system_java import find_java_home

SERVER_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME")
# Before a client is authenticated, Spark buffers a message of up to 2 GiB and has no setting that
# limits it. This limits all direct buffers; Netty's default is the size of the heap.
_DIRECT_MAX = "256m"
# Hash tables and sorts are off-heap: the collector does not copy them.
_OFF_HEAP = "384m"
# glibc gives blocks from this size back when they are freed; its own limit grows up to 32 MiB.
_MALLOC = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_ARENA_MAX": "2"}
# A full collection shrinks an idle heap at once. The ratios are measured: after five roll-ups of 10
# million rows the process has 600 MB, with 30 and 50 it has 650; with 10 and 20, full collections
# took 17 % of the time of a roll-up.
_SMALL_HEAP = (
    "-XX:+UseSerialGC -Xms64m -XX:MinHeapFreeRatio=20 -XX:MaxHeapFreeRatio=30"
    " -XX:-ShrinkHeapInSteps"
)
_LOCAL_MASTER = re.compile(r"local(\[.*\])?")


def environment(environ: Mapping[str, str], java_home: Path) -> dict[str, str]:
    """The environment variables of the server."""
    clean = {name: environ[name] for name in KEPT_VARIABLES if name in environ}
    return (
        clean
        | _MALLOC
        | {
            "JAVA_HOME": str(java_home),
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "SPARK_CONF_DIR": str(Path(__file__).parent / "spark_conf"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        }
    )


def properties(config: SparkConfig, secret: str) -> dict[str, str]:
    """The content of Spark's properties file."""
    temporary, address = config.home / "tmp", driver_address(config.master)
    return {
        "spark.app.name": "aerie",
        "spark.master": config.master,
        "spark.driver.memory": config.memory,
        "spark.memory.offHeap.enabled": "true",
        "spark.memory.offHeap.size": _OFF_HEAP,
        "spark.driver.bindAddress": address,
        "spark.driver.host": address,
        "spark.driver.extraJavaOptions": (
            f'{_SMALL_HEAP} -XX:MaxDirectMemorySize={_DIRECT_MAX} "-Djava.io.tmpdir={temporary}"'
        ),
        # Each small relation that is joined takes a page. With Spark's own size, 16 MiB, the pages
        # of one roll-up filled the heap: a third of its time went into full collections.
        "spark.buffer.pageSize": "1m",
        # Spark asks for a full collection; its default is 30 minutes.
        "spark.cleaner.periodicGC.interval": "5min",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(config.port),
        "spark.connect.authenticate.token": secret,
        # Each browser's reports have a session of their own; idle sessions end after 15 minutes.
        "spark.connect.session.manager.defaultSessionTimeout": "15m",
        # The default of 2 s is longer than most reports take.
        "spark.connect.progress.reportInterval": "200ms",
        "spark.local.dir": str(temporary),
        "spark.sql.warehouse.dir": (config.home / "warehouse").as_uri(),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        # One machine has a few cores; the default is 200 partitions.
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    } | _authentication(config)


def driver_address(master: str) -> str:
    """The address at which executors reach the driver: 127.0.0.1 with a local master, the address
    from which this machine reaches HOST with `spark://HOST:PORT`, else that of its host name.

    Raises LookupError if a name has no address.
    """
    if _LOCAL_MASTER.fullmatch(master):
        return "127.0.0.1"
    parts = urlsplit(master.split(",")[0])
    host, port = (parts.hostname, parts.port) if parts.scheme == "spark" else (None, None)
    try:
        if host is None:
            return socket.gethostbyname(socket.gethostname())
        family, kind, _, _, target = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(target)  # sends nothing, since it is UDP
            return str(probe.getsockname()[0])
    except OSError as error:
        raise LookupError(f"SPARK_MASTER {master} cannot be reached: {error}") from error


def _authentication(config: SparkConfig) -> dict[str, str]:
    """Settings of the authentication between Spark's processes. On an external Spark cluster the
    operator provides the secret in a file; without that file, authentication is off."""
    if _LOCAL_MASTER.fullmatch(config.master):
        return {"spark.authenticate": "true"}
    if not config.cluster_secret_file.exists():
        return {}
    secret = config.cluster_secret_file.read_text().strip()
    return {"spark.authenticate": "true", "spark.authenticate.secret": secret}


def write_properties(path: Path, values: Mapping[str, str], overrides: Path) -> None:
    """Write a Java properties file that only its owner may read. It ends with the lines of the file
    `overrides`, if that exists: Java takes the last value of a name."""
    text = "".join(f"{key} {value}\n" for key, value in values.items())
    secret_files.write_config(path, text + (overrides.read_text() if overrides.exists() else ""))


def exit_if_port_taken(port: int) -> None:
    if error := bind_error(port):
        sys.exit(f"Spark: port {port} (SPARK_CONNECT_PORT) cannot be used: {error.strerror}.")


def prepare(config: SparkConfig) -> list[str]:
    """Create the folders and the properties file; returns the command to execute."""
    # A JVM that was killed leaves temporary files; they are never used again.
    shutil.rmtree(config.home / "tmp", ignore_errors=True)
    for name in ("tmp", "warehouse"):
        (config.home / name).mkdir(parents=True, exist_ok=True)
    file = config.home / "server.properties"
    write_properties(file, properties(config, token(config.token_file)), config.settings_file)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    return [
        str(submit),
        "--properties-file",
        str(file),
        "--class",
        SERVER_CLASS,
        "spark-internal",
    ]


def main() -> NoReturn:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    try:
        config = from_settings()
        java_home = find_java_home(os.environ)
        exit_if_port_taken(config.port)
        command = prepare(config)
    except (ImproperlyConfigured, LookupError) as error:
        sys.exit(f"Spark: {error}")
    clean = environment(os.environ, java_home)
    os.chdir(config.home)  # Connect creates its folder `artifacts` in the working directory
    os.execve(command[0], command, clean)


if __name__ == "__main__":
    main()
