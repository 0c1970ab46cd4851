import logging
import sys

import pytest
from django.db import OperationalError

from console.logs import WithoutTracebackOfTheExpected
from monitoring.store import StoreDown


@pytest.fixture
def filtered(caplog: pytest.LogCaptureFixture):
    with caplog.at_level("WARNING"), caplog.filtering(WithoutTracebackOfTheExpected()):
        yield caplog


def record_of(error: Exception, text: str) -> logging.LogRecord:
    try:
        raise error
    except Exception:
        record = logging.LogRecord("a", logging.ERROR, "", 1, text, None, sys.exc_info())
    WithoutTracebackOfTheExpected().filter(record)
    return record


def test_a_refusal_is_one_line(client, viewer, clusters, filtered) -> None:
    client.force_login(viewer)
    client.get("/audit")
    [record] = filtered.records
    assert record.getMessage() == "Forbidden (Permission denied): /audit"
    assert record.exc_info is None


@pytest.mark.parametrize("error", [OperationalError("refused\n  there?"), StoreDown("refused")])
def test_a_store_that_is_away_is_one_line_with_the_reason(error: Exception) -> None:
    record = record_of(error, "Internal Server Error: /topics")
    name = type(error).__name__
    assert record.getMessage() == f"Internal Server Error: /topics ({name}: refused)"
    assert record.exc_info is None
    told = record_of(error, f"Task a raised unexpected: {error!r}\nand more")
    assert told.getMessage() == f"Task a raised unexpected: {error!r}"


def test_a_failure_keeps_its_traceback() -> None:
    record = record_of(RuntimeError("broken"), "Internal Server Error: /topics")
    assert record.exc_info is not None
