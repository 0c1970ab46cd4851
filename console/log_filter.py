"""A log filter for console and workers."""

import logging

from django.db import OperationalError


class ExpectedErrorFilter(logging.Filter):
    """Removes tracebacks of expected errors: refused requests, and unavailable services.

    Refused requests are responses with 403, 404 …; unavailable services raise OperationalError
    (database) or an exception with `retriable` (Redis, brokers).
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, OperationalError) or getattr(error, "retriable", False):
            reason = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
            text = record.getMessage().splitlines()[0]
            record.msg = text if type(error).__name__ in text else f"{text} ({reason})"
            record.args = None
        elif getattr(record, "status_code", 500) >= 500:
            return True
        record.exc_info = record.exc_text = None
        return True
