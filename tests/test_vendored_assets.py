"""The vendored files are those that assets.toml records, and a changed file is noticed."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("vendor_assets", ROOT / "tools/vendor_assets.py")
assert spec is not None
assert spec.loader is not None
vendor_assets = importlib.util.module_from_spec(spec)
spec.loader.exec_module(vendor_assets)


@pytest.mark.parametrize("folder", vendor_assets.FOLDERS)
def test_the_committed_files_are_those_recorded(folder):
    assert vendor_assets.check(folder) == []


def test_a_changed_missing_or_unnamed_file_is_reported(tmp_path):
    recorded = vendor_assets.sha512(b"good")
    (tmp_path / "assets.toml").write_text(
        f'[[package]]\nname = "x"\n[package.files]\n"a.js" = "{recorded}"\n"b.js" = "{recorded}"\n'
    )
    (tmp_path / "a.js").write_bytes(b"bad")
    (tmp_path / "c.js").write_bytes(b"")
    said = " ".join(vendor_assets.check(str(tmp_path)))
    assert "a.js is not the file" in said
    assert "b.js is missing" in said
    assert "c.js is not in assets.toml" in said
