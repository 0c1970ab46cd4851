"""Where brokerd's admin ports are, with the token they demand."""

from dataclasses import dataclass, field

from django.conf import settings

from monitoring.clusters import Cluster
from monitoring.egress import EgressRefused, split_url


@dataclass(frozen=True, slots=True)
class AdminUrls:
    """Broker id (as text) → base URL. The token never appears in a repr."""

    by_broker: dict[str, str]
    token: str = field(repr=False)
    also_allowed: tuple[str, ...] = ()  # what the egress check lets through for these URLs

    @classmethod
    def of(cls, cluster: Cluster) -> "AdminUrls":
        """Raises SecretUnreadable when the token cannot be opened."""
        urls = dict(cluster.admin_urls)
        allowed = ("127.0.0.1",) if urls and all(map(_is_embedded, urls.values())) else ()
        return cls(urls, cluster.open_admin_token() if urls else "", allowed)


def _is_embedded(url: str) -> bool:
    """Whether `url` is an admin port of the brokers that this installation itself starts."""
    try:
        _scheme, host, port = split_url(url)
    except EgressRefused:
        return False  # who asks there is told why
    first = settings.BROKERD_PORT_BASE + 100
    return host == "127.0.0.1" and port in range(first, first + settings.BROKERD_COUNT)
