"""The access log: one JSON line per HTTP request, without query string, headers or bodies."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from console.accounts.rights import rights_of
from console.audit.rotating_json_log import RotatingJsonLog
from monitoring.clock import now_ms

PATH_LENGTH_MAX = 300

_lines = RotatingJsonLog(settings.AERIE_LOGS / "access.jsonl")
# Class of status ("2xx") → number of responses of this process; for /metrics.
responses_by_status: Counter[str] = Counter()


class AccessLogMiddleware:
    """Writes the access log. Runs outside the session middleware, so it sees all responses."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = self._get_response(request)
        responses_by_status[f"{response.status_code // 100}xx"] += 1
        _lines.append(
            {
                "at_ms": now_ms(),
                "method": request.method,
                "path": request.path[:PATH_LENGTH_MAX],
                "status": response.status_code,
                "duration_ms": round((time.perf_counter() - started) * 1000, 1),
                "role": _role(request),
            }
        )
        return response


def _role(request: HttpRequest) -> str:
    """The user's role in this request; empty if unknown. Makes no database query."""
    rights: Any = getattr(request, "rights", None)
    if rights is not None:
        return str(rights.role)
    user = getattr(request, "user", None)
    if user is None:
        return ""
    # `request.user` is lazy: it is used only if its grants are cached (rights.py).
    evaluated = getattr(user, "_wrapped", user)
    has_cached_grants = "_aerie_grants" in getattr(evaluated, "__dict__", {})
    return rights_of(user).role if has_cached_grants else ""
