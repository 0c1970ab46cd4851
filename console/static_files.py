"""Static files, with a hash of the content in their names, so that browsers can cache them forever.

`manage.py prepare` collects them into the data folder at each start of the stack, since a checkout
may be read-only. Collecting also joins the stylesheets that all pages have to one file: a browser
waits for all of them before it paints. Without collected files (tests, development), pages use the
single stylesheets, and the names without hash.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.utils.functional import cached_property
from whitenoise.storage import CompressedManifestStaticFilesStorage

MANIFEST = "staticfiles.json"
# In the order in which they apply. The bundle is in css/, like the sheets that have relative URLs.
STYLESHEETS = (
    "derived/tabler.css", "css/tokens.css", "css/base.css", "css/shell.css", "css/parts.css",
    "css/tables.css", "css/forms.css", "css/review.css", "css/pages.css", "css/search.css",
)  # fmt: skip
BUNDLE = "css/bundle.css"
IGNORED = ["*-2.js", "*-2.min.js"]  # htmx 2; django-htmx contains it besides htmx 4
_FINGERPRINT_FILE = "sources.sha512"  # of the files that were collected


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Hashed names in templates, stylesheets and imports of scripts."""

    support_js_module_import_aggregation = True
    manifest_strict = False

    def stored_name(self, name: str) -> str:
        return str(super().stored_name(name)) if self.hashed_files else name

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        """Hash and compress the files; the bundle is one of them."""
        if not dry_run and paths.keys() >= set(STYLESHEETS):
            sheets = []
            for name in STYLESHEETS:
                storage, path = paths[name]
                with storage.open(path) as file:
                    sheets.append(file.read())
            self.delete(BUNDLE)
            self._save(BUNDLE, ContentFile(b"\n".join(sheets)))
            paths = {**paths, BUNDLE: (self, BUNDLE)}
        yield from super().post_process(paths, dry_run=dry_run, **options)

    @cached_property
    def url(self) -> Callable[..., str]:
        """The URL of a file, cached: a page has 40, and computing one takes 60 µs."""
        return lru_cache(maxsize=1000)(super().url)


def stylesheets() -> tuple[str, ...]:
    """The names of the stylesheets that all pages have."""
    collected = getattr(staticfiles_storage, "hashed_files", {})  # Django's own storage has none
    return (BUNDLE,) if BUNDLE in collected else STYLESHEETS


def collect() -> bool:
    """Collect the files if they changed; returns whether they did."""
    root = Path(settings.STATIC_ROOT)
    fingerprint_file, fingerprint = root / _FINGERPRINT_FILE, _fingerprint()
    is_collected = (root / MANIFEST).exists() and fingerprint_file.exists()
    if is_collected and fingerprint_file.read_text() == fingerprint:
        return False
    call_command(
        "collectstatic", verbosity=0, interactive=False, clear=True, ignore_patterns=IGNORED
    )
    fingerprint_file.write_text(fingerprint)
    return True


def _fingerprint() -> str:
    """A hash of the names and contents of all files, and of the list of stylesheets."""
    digest = hashlib.sha512("\0".join(STYLESHEETS).encode())
    for finder in finders.get_finders():
        for name, storage in sorted(finder.list(IGNORED), key=lambda item: str(item[0])):
            digest.update(f"{name}\0".encode())
            digest.update(Path(storage.path(name)).read_bytes())
    return digest.hexdigest()
