import pytest

from monitoring.models import Cluster


@pytest.fixture
def local(sampled) -> Cluster:
    return Cluster.objects.get(slug="local")
