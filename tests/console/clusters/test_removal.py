"""What a removed cluster leaves: nothing that another of its name would show."""

from django.urls import reverse

from console.accounts.services import grant
from console.audit.models import AuditEntry
from monitoring.models import Cluster
from monitoring.ticks import tick_stream


def test_removing_a_cluster_deletes_its_samples(sampled, client_of, admin):
    assert tick_stream.last_ok_tick("local") is not None
    client = client_of(admin)
    client.post(reverse("cluster-remove", args=["local"]), {"typed": "local"})
    assert tick_stream.last_ok_tick("local") is None
    Cluster.objects.create(slug="local", name="Another", bootstrap_servers="127.0.0.1:1")
    assert "orders" not in client.get("/c/local/topics").content.decode()


def test_removing_a_cluster_revokes_its_roles_and_audits_them(sampled, client_of, admin, outsider):
    grant(outsider, "operator", "staging")
    grant(outsider, "viewer", "local")
    client_of(admin).post(reverse("cluster-remove", args=["staging"]), {"typed": "staging"})
    Cluster.objects.create(slug="staging", name="Another", bootstrap_servers="127.0.0.1:1")
    assert client_of(outsider).get("/c/staging/").status_code == 404
    assert client_of(outsider).get("/c/local/").status_code == 200
    assert client_of(admin).get("/c/staging/").status_code == 200
    entry = AuditEntry.objects.get(action="cluster.remove")
    assert entry.before["roles"] == {"outsider": "operator"}
