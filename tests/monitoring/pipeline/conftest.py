import pytest

from monitoring.history import append_ticks
from monitoring.history.root_folder import current


@pytest.fixture
def root(tmp_path, settings):
    """A history of its own."""
    settings.HISTORY_URL = f"file://{tmp_path}/history"
    append_ticks._changes_by_cluster.clear()
    return current()
