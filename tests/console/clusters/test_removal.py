"""What a removed cluster leaves: nothing that another of its name would show."""

from django.urls import reverse

from monitoring.models import Cluster
from monitoring.sampling import live


def test_the_samples_of_a_removed_cluster_go_with_it(sampled, client_of, admin):
    assert live.last_ok_tick("local") is not None
    client = client_of(admin)
    client.post(reverse("cluster-remove", args=["local"]), {"typed": "local"})
    assert live.last_ok_tick("local") is None
    Cluster.objects.create(slug="local", name="Another", bootstrap_servers="127.0.0.1:1")
    assert "orders" not in client.get("/c/local/topics").content.decode()
