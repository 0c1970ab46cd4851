"""Configuration of the Spark Connect server, and the token of the embedded one.

`SPARK_REMOTE` names an external Spark Connect server (`sc://host:15002/;token=…`). Without it the
stack runs its own on 127.0.0.1. Its token is in a file of mode 0600 and in no environment variable;
the first process that needs it, server or client, creates the file. SPARK_REMOTE, SPARK_MASTER and
SPARK_CONNECT_PORT are settings with their defaults in console/settings.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from monitoring import secret_files


@dataclass(frozen=True, slots=True)
class SparkConfig:
    """`remote` is the external server's URL; '' = the embedded server, described by the rest."""

    home: Path  # the server's folder: token, properties, warehouse, temporary files
    port: int
    master: str = "local[2]"
    remote: str = ""
    memory: str = "768m"

    @property
    def server_url(self) -> str:
        """The server's URL, without the token of the embedded one.

        The host is `localhost`: only to this name the client sends a token without TLS.
        """
        return self.remote or f"sc://localhost:{self.port}"

    @property
    def token_file(self) -> Path:
        return self.home / "connect.token"

    @property
    def cluster_secret_file(self) -> Path:
        """`spark.authenticate.secret` of the cluster that SPARK_MASTER names, if it has one."""
        return self.home / "cluster.secret"

    @property
    def settings_file(self) -> Path:
        """The operator's own lines of the properties file, if there is such a file."""
        return self.home / "spark.conf"


def from_settings() -> SparkConfig:
    return SparkConfig(
        home=Path(settings.AERIE_DATA) / "spark",
        port=settings.SPARK_CONNECT_PORT,
        master=settings.SPARK_MASTER,
        remote=settings.SPARK_REMOTE,
    )


def token(path: Path) -> str:
    """The embedded server's token; created on first use."""
    return secret_files.ensure(path, secret_files.new_token)
