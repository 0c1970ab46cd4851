"""The live parts of pages. How a page is opened, and how a new tick reaches it:

page_renderer        renders the whole page, with the URL of a socket that names its fragment and
                     its version
websocket_consumer   the page's socket: gets the number of each new tick from monitoring/sampling/,
                     and calls the next three
access_checks        checks the session and the rights of the page's user
snapshot_cache       reads the tick from Redis, once for all pages (monitoring/read_model/)
fragment_renderer    renders the page's fragment, once for all who see the same; the socket sends
                     the HTML, and static/app/live.js acknowledges it

The registry has the fragments: each app registers a template, and the function that makes its
context for the whole page and the fragment, in its apps.py.
"""
