"""Signals about accounts; console/audit/sign_in_and_account_entries.py writes the audit entries.

Receivers run in the transaction of the sender.
"""

from django.dispatch import Signal

signed_in = Signal()  # user, address
sign_in_refused = Signal()  # username: as typed; address
locked_out = Signal()  # username: as typed; address; minutes: how long
account_changed = Signal()  # user, cluster: the slug or ""; changes: a dict
