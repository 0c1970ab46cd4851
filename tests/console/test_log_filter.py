import logging
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import OperationalError

from console.log_filter import ExpectedErrorFilter
from monitoring.redis_client import RedisDown

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def filtered(caplog: pytest.LogCaptureFixture):
    with caplog.at_level("WARNING"), caplog.filtering(ExpectedErrorFilter()):
        yield caplog


@pytest.mark.parametrize("name", ["django.request", "uvicorn.error", "celery.app.trace", "asyncio"])
def test_text_from_clients_cannot_start_a_log_line(name: str) -> None:
    """Of the web process and of workers, whose libraries bring handlers of their own."""
    program = f"""
import logging, django
from uvicorn.config import Config
Config("console.asgi:application", log_level="warning", access_log=False)
django.setup()
from monitoring.celery import app
app.log.setup(loglevel="INFO")
try:
    raise ValueError("a\\nERROR forged\\x1b[31m")
except ValueError:
    logging.getLogger({name!r}).exception("of %s", "b\\nERROR forged\\x9b31m\\u202e")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    lines = (done.stdout + done.stderr).splitlines()
    assert f"ERROR {name}: of b\\nERROR forged\\u009b31m\\u202e" in lines
    assert "ValueError: a\\nERROR forged\\u001b[31m" in lines
    assert all(line.isprintable() for line in lines)
    assert not [line for line in lines if line.startswith("ERROR forged")]


def test_the_web_server_logs_no_requests() -> None:
    program = """
import logging, django
from uvicorn.config import Config
Config("console.asgi:application", log_level="warning", access_log=False)
django.setup()
logging.getLogger("uvicorn.access").info("a request")
logging.getLogger("uvicorn.error").info("a start")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.stdout + done.stderr == ""


def record_of(error: Exception, text: str) -> logging.LogRecord:
    try:
        raise error
    except Exception:
        record = logging.LogRecord("a", logging.ERROR, "", 1, text, None, sys.exc_info())
    ExpectedErrorFilter().filter(record)
    return record


def test_a_refused_request_is_one_log_line(client, viewer, clusters, filtered) -> None:
    client.force_login(viewer)
    client.get("/audit")
    [record] = filtered.records
    assert record.getMessage() == "Forbidden (Permission denied): /audit"
    assert record.exc_info is None


@pytest.mark.parametrize("error", [OperationalError("refused\n  there?"), RedisDown("refused")])
def test_an_unavailable_service_is_one_log_line_with_the_reason(error: Exception) -> None:
    record = record_of(error, "Internal Server Error: /topics")
    name = type(error).__name__
    assert record.getMessage() == f"Internal Server Error: /topics ({name}: refused)"
    assert record.exc_info is None
    told = record_of(error, f"Task a raised unexpected: {error!r}\nand more")
    assert told.getMessage() == f"Task a raised unexpected: {error!r}"


def test_a_failure_keeps_its_traceback() -> None:
    record = record_of(RuntimeError("broken"), "Internal Server Error: /topics")
    assert record.exc_info is not None
