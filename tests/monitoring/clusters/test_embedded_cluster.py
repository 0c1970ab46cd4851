import pytest

from monitoring.clusters.embedded_cluster import save_embedded_cluster
from monitoring.models import Cluster

pytestmark = pytest.mark.django_db


def test_the_embedded_cluster_is_made_once_and_kept_up_to_date():
    save_embedded_cluster("a:1", "z:1/aerie", {"1": "http://127.0.0.1:9192"}, "old")
    Cluster.objects.update(name="Mine", read_only=True)
    save_embedded_cluster("b:2", "z:1/aerie", {"1": "http://127.0.0.1:9292"}, "new")
    cluster = Cluster.objects.get()
    assert (cluster.slug, cluster.name, cluster.read_only) == ("local", "Mine", True)
    assert cluster.bootstrap_servers == "b:2"
    assert cluster.decrypt_admin_token() == "new"
    assert cluster.holds_own_topics, "the demo traffic sends the console's logs there"
