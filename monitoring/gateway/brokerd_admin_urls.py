"""The URLs of brokerd's admin ports, and their token."""

from dataclasses import dataclass, field

from django.conf import settings

from monitoring.clusters.models import Cluster
from monitoring.egress.addresses import AllowedTarget
from monitoring.egress.models import EgressTarget, allowed_for
from monitoring.egress.url_checks import EgressRefused, split_url
from monitoring.tcp_ports import ADMIN_PORT_ABOVE

LOOPBACK = AllowedTarget("127.0.0.1")


@dataclass(frozen=True, slots=True)
class AdminUrls:
    """Broker id (as text) → base URL. The token never appears in a repr."""

    by_broker: dict[str, str]
    token: str = field(repr=False)
    allowed: tuple[AllowedTarget, ...] = ()  # targets that the egress check allows for these URLs

    @classmethod
    def of(cls, cluster: Cluster) -> "AdminUrls":
        """The URLs of a cluster. Raises SecretUnreadable if the token cannot be decrypted."""
        urls = dict(cluster.admin_urls)
        if not urls:
            return cls(urls, "")
        is_embedded = all(map(_is_embedded, urls.values()))
        allowed = (LOOPBACK,) if is_embedded else allowed_for(EgressTarget.Purpose.ADMIN_PORT)
        return cls(urls, cluster.decrypt_admin_token(), allowed)


def _is_embedded(url: str) -> bool:
    """Whether `url` is an admin port of an embedded broker."""
    try:
        _scheme, host, port = split_url(url)
    except EgressRefused:
        return False  # the request reports the reason
    first = settings.BROKERD_PORT_BASE + ADMIN_PORT_ABOVE
    return host == "127.0.0.1" and port in range(first, first + settings.BROKERD_COUNT)
