"""What happens to accounts, for whoever keeps a record of it (console/audit/receivers.py).

Receivers run in the transaction of the sender.
"""

from django.dispatch import Signal

signed_in = Signal()  # user, address
sign_in_refused = Signal()  # username: as typed; address
account_changed = Signal()  # user, cluster: the slug or ""; changes: a dict
