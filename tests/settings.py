"""Settings of the test suite: the product's own, on a folder and ports of their own.

The environment is set before the product's settings are read, so that processes which a test
starts see the same and nothing ever touches `data/`.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from cryptography.fernet import Fernet

from tests.support.ports import free_port

# With a space, as in the home folders of many people.
_data = Path(tempfile.mkdtemp(prefix="aerie tests-"))
_owner = os.getpid()


def _remove() -> None:
    if os.getpid() == _owner:  # not in a forked child
        shutil.rmtree(_data, ignore_errors=True)


atexit.register(_remove)
(_data / "static").mkdir()  # nothing is collected
(_data / "secret.key").write_bytes(Fernet.generate_key())
for _name in (
    "ZOOKEEPER_CONNECT", "DATABASE_URL", "SPARK_REMOTE", "SPARK_MASTER", "HISTORY_URL",
    "AERIE_EGRESS_ALLOW", "AERIE_ALLOWED_HOSTS", "AERIE_ADMIN_PASSWORD", "AERIE_LOG_DIRS",
):  # fmt: skip
    os.environ.pop(_name, None)
os.environ["AERIE_DATA"] = str(_data)
os.environ["AERIE_SECRET_KEY_FILE"] = str(_data / "secret.key")
# The fixture `redis_server` of tests/conftest.py starts a Redis here when a test asks for it.
os.environ["REDIS_URL"] = f"redis://127.0.0.1:{free_port()}/0"

from console.settings import *  # noqa: E402, F403
from console.settings import DATABASES  # noqa: E402

DATABASES["default"]["TEST"] = {"NAME": str(_data / "test.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # speed only
# Each client of a test builds the middleware anew, which would list all static files: a sixth of
# the time of most pages. The web servers that tests start have the product's setting.
WHITENOISE_AUTOREFRESH = True
