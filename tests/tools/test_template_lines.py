"""The check for long lines in templates."""

from pathlib import Path

from tools.template_lines import LENGTH_MAX, find


def test_only_lines_that_are_too_long_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "page.html").write_text("é" * LENGTH_MAX + "\n" + "x" * (LENGTH_MAX + 1) + "\n")
    assert list(find(folder)) == ["templates/page.html:2: 121 characters"]
