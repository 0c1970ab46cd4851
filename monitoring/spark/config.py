"""Where Spark is, as the settings say, and the token that opens our own server.

`SPARK_REMOTE` names a Connect server that somebody else runs (`sc://host:15002/;token=…`).
Without it we run our own on 127.0.0.1, guarded by a token that lives in a file of mode 0600 and
in no environment: whoever needs it first, the server or a client, writes the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from monitoring import secretfiles


@dataclass(frozen=True, slots=True)
class SparkConfig:
    """`remote` is '' when the server is ours; then the rest says where and how it runs."""

    home: Path  # the server's own folder: token, properties, warehouse, temporary files
    port: int
    master: str = "local[2]"
    remote: str = ""
    memory: str = "768m"

    @property
    def token_file(self) -> Path:
        return self.home / "connect.token"

    @property
    def cluster_secret_file(self) -> Path:
        """`spark.authenticate.secret` of the cluster that SPARK_MASTER names, if it has one."""
        return self.home / "cluster.secret"


def from_settings() -> SparkConfig:
    return SparkConfig(
        home=Path(settings.AERIE_DATA) / "spark",
        port=settings.SPARK_CONNECT_PORT,
        master=settings.SPARK_MASTER,
        remote=settings.SPARK_REMOTE,
    )


def token(path: Path) -> str:
    """The token of our own server, made on first use."""
    return secretfiles.ensure(path, secretfiles.token)
