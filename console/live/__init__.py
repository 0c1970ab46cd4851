"""The live parts of pages, from the number of a new tick to HTML in the browser.

websocket_consumer   a page's socket gets the number of the tick (monitoring/sampling/)
access_checks        checks the session and the rights of each open page
snapshot_cache       reads the tick from Redis, once for all pages (monitoring/read_model/)
fragment_renderer    renders the page's fragment, once for all who see the same
registry             knows the fragments: each app registers a template and the function that
                     makes its context, in its apps.py
pages                renders the whole page from the same context, when it is opened
"""
