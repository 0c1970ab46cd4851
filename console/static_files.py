"""Static files, with a hash of the content in their names, so that browsers can cache them forever.

`manage.py prepare` collects them into the data folder at each start of the stack, since a checkout
may be read-only. Without collected files (tests, development), pages use the names without hash.
"""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.utils.functional import cached_property
from whitenoise.storage import CompressedManifestStaticFilesStorage

MANIFEST = "staticfiles.json"
IGNORED = ["*-2.js", "*-2.min.js"]  # htmx 2; django-htmx contains it besides htmx 4
_SOURCES = "sources.sha512"  # the fingerprint of the collected files


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Hashed names in templates, stylesheets and imports of scripts."""

    support_js_module_import_aggregation = True
    manifest_strict = False

    def stored_name(self, name: str) -> str:
        return str(super().stored_name(name)) if self.hashed_files else name

    @cached_property
    def url(self) -> Callable[..., str]:
        """The URL of a file, cached: a page has 40, and computing one takes 60 µs."""
        return lru_cache(maxsize=1000)(super().url)


def collect() -> bool:
    """Collect the files if they changed; returns whether they did."""
    root = Path(settings.STATIC_ROOT)
    fingerprint_file, fingerprint = root / _SOURCES, _fingerprint()
    is_collected = (root / MANIFEST).exists() and fingerprint_file.exists()
    if is_collected and fingerprint_file.read_text() == fingerprint:
        return False
    call_command(
        "collectstatic", verbosity=0, interactive=False, clear=True, ignore_patterns=IGNORED
    )
    fingerprint_file.write_text(fingerprint)
    return True


def _fingerprint() -> str:
    """A hash of the names and contents of all files."""
    digest = hashlib.sha512()
    for finder in finders.get_finders():
        for name, storage in sorted(finder.list(IGNORED), key=lambda item: str(item[0])):
            digest.update(f"{name}\0".encode())
            digest.update(Path(storage.path(name)).read_bytes())
    return digest.hexdigest()
