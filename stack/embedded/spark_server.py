"""`python -m stack.embedded.spark_server`: become the Spark Connect server.

The process prepares a folder, a properties file and a clean environment, and then replaces
itself with Spark's own launcher (which in turn replaces itself with Java): one process id from
the supervisor's view, and a signal reaches the JVM.

Spark runs what people ask of it, so nothing it could leak is within its reach: of our
environment only the names in `KEPT` are passed on, and its token comes by a file of mode 0600,
not by an argument that `ps` shows.

Besides Connect's port Spark listens on two for its own parts (the driver's RPC and its blocks).
Who calls there must know a secret (`spark.authenticate`, by SASL): with a local master Spark makes
one that never leaves its memory. `spark.network.crypto` is left off: beside Connect, queries hung
with it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pyspark
from django.core.exceptions import ImproperlyConfigured

from monitoring import secretfiles
from monitoring.ports import bind_error
from monitoring.spark.config import SparkConfig, from_settings, token
from stack.embedded.system_java import find_java_home

SERVER_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME")
# Before a caller has proved itself Spark gathers the message that it announces, of up to 2 GiB, and
# has no setting for that. Without this limit on buffers Netty's is the heap's size.
_BUFFERS = "256m"
_LOCAL_MASTER = re.compile(r"local(\[.*\])?")


def environment(environ: Mapping[str, str], java_home: Path) -> dict[str, str]:
    """What the server gets to see of the world."""
    clean = {name: environ[name] for name in KEPT if name in environ}
    return clean | {
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_CONF_DIR": str(Path(__file__).parent / "spark_conf"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def properties(config: SparkConfig, secret: str) -> dict[str, str]:
    """Spark's own settings."""
    temporary = config.home / "tmp"
    return {
        "spark.app.name": "aerie",
        "spark.master": config.master,
        "spark.driver.memory": config.memory,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": (
            f'-XX:+UseSerialGC -XX:MaxDirectMemorySize={_BUFFERS} "-Djava.io.tmpdir={temporary}"'
        ),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(config.port),
        "spark.connect.authenticate.token": secret,
        # Two browsers' worth of reports, each with its own session, kept for a quarter hour.
        "spark.connect.session.manager.defaultSessionTimeout": "15m",
        # How often the client hears of progress; the default of 2 s is longer than a report.
        "spark.connect.progress.reportInterval": "200ms",
        "spark.local.dir": str(temporary),
        "spark.sql.warehouse.dir": (config.home / "warehouse").as_uri(),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        # One machine: as many partitions as a few cores can use, not 200.
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    } | _authentication(config)


def _authentication(config: SparkConfig) -> dict[str, str]:
    """What makes Spark's parts prove themselves to each other. The secret of a cluster is its
    operator's: without the file that holds it we do as a cluster without one does."""
    if _LOCAL_MASTER.fullmatch(config.master):
        return {"spark.authenticate": "true"}
    if not config.cluster_secret_file.exists():
        return {}
    secret = config.cluster_secret_file.read_text().strip()
    return {"spark.authenticate": "true", "spark.authenticate.secret": secret}


def write_properties(path: Path, values: Mapping[str, str]) -> None:
    """A Java properties file that only its owner may read."""
    text = "".join(f"{key} {value}\n" for key, value in values.items())
    secretfiles.write(path, text)


def refuse_a_taken_port(port: int) -> None:
    if error := bind_error(port):
        sys.exit(f"Spark: port {port} (SPARK_CONNECT_PORT) cannot be used: {error.strerror}.")


def prepare(config: SparkConfig) -> list[str]:
    """Makes the folders and the properties file; returns the command to become."""
    # What a JVM that was killed left behind; nothing of it is used again.
    shutil.rmtree(config.home / "tmp", ignore_errors=True)
    for name in ("tmp", "warehouse"):
        (config.home / name).mkdir(parents=True, exist_ok=True)
    file = config.home / "server.properties"
    write_properties(file, properties(config, token(config.token_file)))
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
    except (ImproperlyConfigured, LookupError) as error:
        sys.exit(f"Spark: {error}")
    refuse_a_taken_port(config.port)
    command = prepare(config)
    clean = environment(os.environ, java_home)
    os.chdir(config.home)  # Connect puts its `artifacts` folder where it stands
    os.execve(command[0], command, clean)


if __name__ == "__main__":
    main()
