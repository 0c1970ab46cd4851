"""Static files get names with a hash, also where stylesheets and scripts name one another."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.storage import storages
from django.templatetags.static import static
from django.utils.functional import empty

from console import static_files


@pytest.fixture
def source(tmp_path: Path, settings):
    folder = tmp_path / "source"
    folder.mkdir()
    settings.STATICFILES_DIRS = [folder]
    settings.STATIC_ROOT = tmp_path / "collected"
    _forget()
    yield folder
    _forget()


def _forget() -> None:
    finders.get_finder.cache_clear()
    storages._storages.pop("staticfiles", None)
    staticfiles_storage._wrapped = empty


def test_files_are_found_under_their_own_names_before_the_first_collecting(source: Path) -> None:
    assert static("a.js") == "/static/a.js"


def test_a_stylesheet_and_a_script_name_the_hashed_files(source: Path, settings) -> None:
    (source / "a.js").write_text('import { b } from "./b.js";\nb();\n')
    (source / "b.js").write_text("export const b = () => 1;\n")
    (source / "a.css").write_text('i { background: url("b.svg"); }\n')
    (source / "b.svg").write_text("<svg></svg>\n")
    assert static_files.collect()
    _forget()
    names = {path.name for path in settings.STATIC_ROOT.iterdir()}
    assert not names & {"a.js", "b.js", "a.css", "b.svg"}
    script = (settings.STATIC_ROOT / Path(static("a.js")).name).read_text()
    sheet = (settings.STATIC_ROOT / Path(static("a.css")).name).read_text()
    for text in (script, sheet):
        named = re.search(r'["(/](b\.[0-9a-f]{12}\.\w+)', text)
        assert named is not None
        assert named[1] in names
    assert oct((settings.STATIC_ROOT / named[1]).stat().st_mode)[-2:] == "00"


def test_only_what_changed_is_collected_again(source: Path) -> None:
    (source / "a.css").write_text("i {}\n")
    assert static_files.collect()
    assert not static_files.collect()
    (source / "a.css").write_text("b {}\n")
    assert static_files.collect()


@pytest.fixture
def collected(settings, tmp_path: Path):
    settings.STATIC_ROOT = tmp_path
    _forget()
    assert static_files.stylesheets() == static_files.STYLESHEETS
    assert static_files.collect()
    _forget()
    yield tmp_path
    _forget()


def test_all_static_files_can_be_collected(collected: Path) -> None:
    assert (collected / static_files.MANIFEST).exists()


def test_the_stylesheets_of_every_page_are_one_file_compressed(collected: Path) -> None:
    assert static_files.stylesheets() == (static_files.BUNDLE,)
    file = collected / static(static_files.BUNDLE).removeprefix("/static/")
    text = file.read_text()
    ends = [Path(finders.find(name)).read_text()[-60:] for name in static_files.STYLESHEETS]
    found = [text.index(end) for end in ends]
    assert found == sorted(found)
    [font] = set(re.findall(r"inter-latin\.[0-9a-f]{12}\.woff2", text))
    assert (collected / "vendor/fonts" / font).exists()
    assert file.with_name(f"{file.name}.br").exists()
    assert file.with_name(f"{file.name}.gz").exists()


def test_every_stylesheet_of_the_console_is_on_every_page() -> None:
    folder = Path(finders.find("css/base.css")).parent
    assert {f"css/{path.name}" for path in folder.glob("*.css")} < set(static_files.STYLESHEETS)
