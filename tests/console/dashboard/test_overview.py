"""The figures of the overview."""

import pytest

from console.accounts.rights import rights_of
from console.dashboard import overview
from console.live import snapshot_cache
from monitoring.models import Cluster
from tests.console.conftest import PARTITIONS, sample_next


@pytest.fixture
def local(sampled):
    return Cluster.objects.get(slug="local")


def test_idle_topics_stay_in_the_list(local, admin):
    rights = rights_of(admin, local)
    before = overview.context(local, rights)["busiest_topics"]
    busy = [row | {"log_end_offset": 900} for row in PARTITIONS if row["topic"] == "orders"]
    sample_next(partitions=[*PARTITIONS[len(busy) :], *busy])
    snapshot_cache.refresh("local", at_once=True)
    after = overview.context(local, rights)["busiest_topics"]
    assert len(before) == len(after) == 3
    assert after[0].name == "orders"
