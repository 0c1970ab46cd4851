"""Services are for any way in: they know no request and no answer of HTTP."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "console"
SERVICES = sorted(ROOT.glob("*/services.py"))


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.parent.name)
def test_a_service_imports_nothing_of_http(path):
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    of_http = ("django.http", "django.shortcuts", "console.accounts.request_types")
    assert not [name for name in imported if name.startswith(of_http)]


def test_every_app_with_services_is_checked():
    assert {path.parent.name for path in SERVICES} >= {"actions", "alerts", "records", "reports"}
