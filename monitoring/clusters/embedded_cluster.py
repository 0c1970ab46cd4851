"""Creates or updates the row of the embedded cluster at each start of the stack."""

from collections.abc import Mapping

from monitoring.clusters.models import Cluster

EMBEDDED_SLUG = "local"


def save_embedded_cluster(
    bootstrap_servers: str,
    zookeeper_connect: str,
    admin_urls: Mapping[str, str],
    admin_token: str,
) -> Cluster:
    """Create or update the row; the name that users gave it is kept.

    `admin_urls` maps broker ids (as text) to base URLs; `admin_token` is stored encrypted.
    """
    cluster, _ = Cluster.objects.get_or_create(
        slug=EMBEDDED_SLUG,
        defaults={"name": "Local cluster", "bootstrap_servers": bootstrap_servers},
    )
    cluster.bootstrap_servers = bootstrap_servers
    cluster.zookeeper_connect = zookeeper_connect
    cluster.admin_urls = dict(admin_urls)
    cluster.set_admin_token(admin_token)
    cluster.holds_own_topics = True
    cluster.save()
    return cluster
