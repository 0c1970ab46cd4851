"""The ASGI application: HTTP by Django, WebSockets by Channels.

A WebSocket is accepted only from a page of the same origin (console/live/websocket_origin.py) and
with the session of a signed-in user. The consumer checks the right to the cluster.
"""

import gc
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
django.setup()  # first, since the imports below need the apps

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from console.http_handler import SyncHandler  # noqa: E402
from console.live.websocket_origin import SameOrigin  # noqa: E402
from console.live.websocket_urls import urlpatterns  # noqa: E402
from monitoring import process_memory  # noqa: E402

process_memory.prepare()

application = ProtocolTypeRouter(
    {
        # Not get_asgi_application(): SyncHandler runs middleware and view in one thread.
        "http": SyncHandler(),
        "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(urlpatterns))),
    }
)
# What was imported lives as long as the process: collections skip it from here on. With 40,000
# partitions a full collection then stops all threads for 80 ms, instead of 150. In a fork of
# stack/fork_server.py most of it is frozen already: this call adds what the fork imported itself.
gc.freeze()
