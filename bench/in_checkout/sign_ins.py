"""Run beside a running stack, in its environment: new users, and a session for each.

    python bench/in_checkout/sign_ins.py DATA USERS

Writes {"cookie": name, "sessions": [key, …]}: the first is an admin's, the others' roles alternate.
"""

import json
import os
import sys


def main() -> None:
    """See the module."""
    os.environ["AERIE_DATA"] = sys.argv[1]
    os.environ["DJANGO_SETTINGS_MODULE"] = "console.settings"
    import django

    django.setup()
    from prepare import sign_ins

    print(json.dumps(sign_ins(int(sys.argv[2]))))


if __name__ == "__main__":
    main()
