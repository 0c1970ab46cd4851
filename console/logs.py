"""What the lines of the console's and the workers' logs leave out."""

import logging

from django.db import OperationalError


class WithoutTracebackOfTheExpected(logging.Filter):
    """One line where the place in the code is no news: a refusal, or a store that is away.

    Refusals are answers with 403, 404 …; stores that are away raise OperationalError (the database)
    or an error that says that it is `retriable` (Redis, brokers).
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
