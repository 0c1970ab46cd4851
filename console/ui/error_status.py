"""The HTTP status of a page whose cluster or schema registry could not be read or changed.

    503  it did not answer, or its answer could not be decoded: the same request may succeed later
    404  what the URL or the form names is not there
    422  it answered, and refuses the request, does not support it, or its answer is not valid

Never 502: proxies answer so if they do not reach the console, and some replace such a page by their
own. The text that says why is on the page in each case.
"""

from monitoring.gateway.errors import GatewayError, NotFound


def http_status_of(error: GatewayError) -> int:
    if error.retriable:
        return 503
    return 404 if isinstance(error, NotFound) else 422
