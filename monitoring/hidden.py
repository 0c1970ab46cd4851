"""The topics that only admins know of: what people did in the console stands in their records.

Who is an admin the console decides (console/accounts/rights.py). What goes out without a person
asking for it, as webhooks do, leaves these names out unless somebody named them.
"""

ADMIN_ONLY_TOPICS = ("console.",)
