"""`python -m brokerd`."""

import sys

from brokerd.cli.main import main

sys.exit(main())
