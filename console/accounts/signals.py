"""Signals about accounts; console/audit/receivers.py writes them to the audit log.

Receivers run in the transaction of the sender.
"""

from django.dispatch import Signal

signed_in = Signal()  # user, address
sign_in_refused = Signal()  # username: as typed; address
locked_out = Signal()  # username: as typed; address; minutes: how long
account_changed = Signal()  # user, cluster: the slug or ""; changes: a dict
