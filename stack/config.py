"""The supervisor's configuration, read from Django's settings into one frozen dataclass."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from console import stack_ports
from monitoring.tcp_ports import ADMIN_PORT_ABOVE


@dataclass(frozen=True, slots=True)
class StackConfig:
    """Folders, ports, and which embedded services to run."""

    root: Path  # of the repository
    data: Path
    web_port: int
    broker_ports: tuple[int, ...]
    zookeeper_port: int
    redis_port: int
    spark_port: int
    zookeeper_heap: str
    zookeeper_connect: str
    external_redis_url: str  # empty: the embedded Redis
    embedded_zookeeper: bool
    embedded_spark: bool
    secret_key_file: Path
    redis_password_file: Path
    admin_token_file: Path
    admin_password_file: Path
    admin_password_is_given: bool
    is_behind_proxy: bool

    @classmethod
    def from_settings(cls, settings: Any) -> "StackConfig":
        """Reads `django.conf.settings`."""
        first = settings.BROKERD_PORT_BASE
        return cls(
            root=settings.BASE_DIR,
            data=settings.AERIE_DATA,
            web_port=settings.AERIE_PORT,
            broker_ports=tuple(range(first, first + settings.BROKERD_COUNT)),
            zookeeper_port=settings.ZOOKEEPER_PORT,
            redis_port=settings.REDIS_PORT,
            spark_port=settings.SPARK_CONNECT_PORT,
            zookeeper_heap=settings.ZOOKEEPER_HEAP,
            zookeeper_connect=settings.ZOOKEEPER_CONNECT,
            external_redis_url="" if settings.AERIE_EMBEDDED_REDIS else settings.REDIS_URL,
            embedded_zookeeper=settings.AERIE_EMBEDDED_ZOOKEEPER,
            embedded_spark=settings.AERIE_EMBEDDED_SPARK,
            secret_key_file=settings.AERIE_SECRET_KEY_FILE,
            redis_password_file=settings.REDIS_PASSWORD_FILE,
            admin_token_file=settings.BROKERD_ADMIN_TOKEN_FILE,
            admin_password_file=settings.AERIE_ADMIN_PASSWORD_FILE,
            admin_password_is_given=bool(settings.AERIE_ADMIN_PASSWORD),
            is_behind_proxy=settings.AERIE_IS_BEHIND_PROXY,
        )

    @property
    def url(self) -> str:
        """The console's URL."""
        return f"http://127.0.0.1:{self.web_port}"

    @property
    def bootstrap_servers(self) -> str:
        """`bootstrap.servers` of the embedded brokers."""
        return ",".join(f"127.0.0.1:{port}" for port in self.broker_ports)

    @property
    def admin_urls(self) -> dict[str, str]:
        """Broker id → URL of its admin port."""
        return {
            str(number): f"http://127.0.0.1:{port + ADMIN_PORT_ABOVE}"
            for number, port in enumerate(self.broker_ports, start=1)
        }

    @property
    def external(self) -> set[str]:
        """Procfile names that are not started, since settings name external services instead."""
        parts = {
            "zookeeper": self.embedded_zookeeper,
            "redis": not self.external_redis_url,
            "spark": self.embedded_spark,
        }
        return {name for name, is_embedded in parts.items() if not is_embedded}

    def redis_url(self, password: str) -> str:
        """The URL of the Redis in use. `password` is used for the embedded Redis only."""
        if self.external_redis_url:
            return self.external_redis_url
        return f"redis://:{password}@127.0.0.1:{self.redis_port}/0"

    def ports(self, names: set[str]) -> list[stack_ports.Port]:
        """Every port on which the processes with these names listen."""
        all_ports = stack_ports.of_stack(
            self.web_port,
            self.broker_ports[0],
            len(self.broker_ports),
            self.zookeeper_port,
            self.redis_port,
            self.spark_port,
        )
        return [port for name, listed in all_ports.items() if name in names for port in listed]
