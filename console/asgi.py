"""What the web server runs: HTTP by Django, WebSockets by Channels.

A WebSocket is taken only from a page of this very site (console/live/origin.py) and with the
session of someone who is signed in; the consumer asks for the right to the cluster itself.
"""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
http = get_asgi_application()  # first: it loads the apps that the imports below need

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from console.live.origin import SameOrigin  # noqa: E402
from console.live.urls_ws import urlpatterns  # noqa: E402
from monitoring import memory  # noqa: E402

memory.prepare()

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(urlpatterns))),
    }
)
