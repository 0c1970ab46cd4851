"""Static files: under names with a hash of their content, which browsers may keep for good.

`manage.py prepare` collects them into the data folder at each start of the stack, since a checkout
may be read-only. Where none were collected (tests, development) pages name the files as they are.
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
IGNORED = ["*-2.js", "*-2.min.js"]  # htmx 2, which django-htmx brings beside the 4 that is used
_SOURCES = "sources.sha512"  # what was collected, so that a start collects only what changed


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Hashed names in templates, in stylesheets and in the imports of scripts alike."""

    support_js_module_import_aggregation = True
    manifest_strict = False

    def stored_name(self, name: str) -> str:
        return str(super().stored_name(name)) if self.hashed_files else name

    @cached_property
    def url(self) -> Callable[..., str]:
        """The URL of a file, looked up once: a page names 40 files, at 60 µs each."""
        return lru_cache(maxsize=1000)(super().url)


def collect() -> bool:
    """Collects the files, unless these very ones are collected already. Whether it did."""
    root = Path(settings.STATIC_ROOT)
    note, sources = root / _SOURCES, _fingerprint()
    if (root / MANIFEST).exists() and note.exists() and note.read_text() == sources:
        return False
    call_command(
        "collectstatic", verbosity=0, interactive=False, clear=True, ignore_patterns=IGNORED
    )
    note.write_text(sources)
    return True


def _fingerprint() -> str:
    """Changes with the name or the content of any file."""
    digest = hashlib.sha512()
    for finder in finders.get_finders():
        for name, storage in sorted(finder.list(IGNORED), key=lambda found: str(found[0])):
            digest.update(f"{name}\0".encode())
            digest.update(Path(storage.path(name)).read_bytes())
    return digest.hexdigest()
