"""What the lines of the console's log leave out."""

import logging


class WithoutTracebackOfRefusals(logging.Filter):
    """A request that was refused (403, 404 …) is one line: where in the code it was is no news."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True
