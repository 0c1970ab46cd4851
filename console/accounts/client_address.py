"""The address of the client that sent a request, for the audit log and the lockout.

uvicorn sets it: the address of the peer, or the one in the headers of a proxy. PROXY_HEADERS
(stack/preparation.py, used in the Procfile) decides which.
"""

from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address; "" if the server does not know it."""
    address: str = request.META.get("REMOTE_ADDR", "")
    return address
