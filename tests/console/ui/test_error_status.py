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
