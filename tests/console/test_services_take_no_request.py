"""Services are for any way in: they know no request and no answer of HTTP.

A service is a module `services.py`, or one with a function whose first parameter is a principal;
and the one that makes charts.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "console"


def is_service(path: Path) -> bool:
    functions = [
        node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)
    ]
    first = {function.args.args[0].arg for function in functions if function.args.args}
    return path.name in ("services.py", "make_chart.py") or "principal" in first


SERVICES = sorted(path for path in ROOT.rglob("*.py") if is_service(path))


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: str(path.relative_to(ROOT)))
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
    apps = {
        "actions", "alerts", "egress", "produce", "records", "reports", "saved_queries",
        "segments", "topics",
    }  # fmt: skip
    assert {path.relative_to(ROOT).parts[0] for path in SERVICES} >= apps
    files = {"produce/copy_plans.py", "records/exports/run_export.py", "segments/read_segments.py"}
    assert {str(path.relative_to(ROOT)) for path in SERVICES} >= files
