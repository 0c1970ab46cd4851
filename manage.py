#!/usr/bin/env python3
"""Django's entry: `manage.py up` starts the whole product, `manage.py help` lists the rest."""

import os
import sys


def main() -> None:
    """Run one management command; a wrong setting is said in a line, not in a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Aerie cannot start: {error}")


if __name__ == "__main__":
    main()
