import re
from pathlib import Path

import pytest

from console.ui.error_status import http_status_of
from monitoring.gateway import errors


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.ClusterUnavailable("away"), 503),
        (errors.Unreadable("garbled"), 503),
        (errors.GatewayError("not the controller any more", retriable=True), 503),
        (errors.NotFound("no such topic"), 404),
        (errors.OffsetOutOfRange("deleted"), 422),
        (errors.Unsupported("too old"), 422),
        (errors.OverLimit("too large"), 422),
        (errors.Refused("no"), 422),
    ],
)
def test_the_status_follows_from_the_cause(error, status):
    assert http_status_of(error) == status


def test_no_other_module_chooses_a_status_by_the_cause():
    console = Path(__file__).parents[3] / "console"
    chooses = re.compile(r"\b502\b|error\.retriable else")
    others = [path for path in console.rglob("*.py") if path.name != "error_status.py"]
    assert [str(path) for path in others if chooses.search(path.read_text())] == []
