from pathlib import Path

import pytest

from stack.embedded.system_java import find_java_home, major_version, system_java


@pytest.mark.parametrize(
    ("text", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("command not found", 0),
    ],
)
def test_the_feature_release_is_read_from_what_java_prints(text: str, major: int) -> None:
    assert major_version(text) == major


def fake_java(folder: Path, version: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return java


def test_java_home_is_preferred_to_path(tmp_path: Path) -> None:
    home, other = fake_java(tmp_path / "home", "21.0.1"), fake_java(tmp_path / "other", "17.0.1")
    environment = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(other.parent)}
    assert system_java(environment) == home


def test_a_java_that_is_too_old_is_ignored(tmp_path: Path) -> None:
    fake_java(tmp_path / "home", "11.0.2")
    other = fake_java(tmp_path / "other", "17.0.1")
    environment = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(other.parent)}
    assert system_java(environment) == other


def test_without_java_the_result_is_none(tmp_path: Path) -> None:
    assert system_java({"PATH": str(tmp_path)}) is None


def test_the_error_says_which_java_spark_needs(tmp_path: Path) -> None:
    java = fake_java(tmp_path, "11.0.2")
    with pytest.raises(LookupError, match="Java 17 or newer"):
        find_java_home({"JAVA_HOME": str(tmp_path), "PATH": str(java.parent)})


def test_a_wrapper_folder_is_a_java_home(tmp_path: Path) -> None:
    fake_java(tmp_path, "25")
    assert find_java_home({"JAVA_HOME": str(tmp_path), "PATH": ""}) == tmp_path


def test_a_link_on_path_is_resolved_to_its_java_home(tmp_path: Path) -> None:
    java = fake_java(tmp_path / "jdk", "17.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(java)
    assert find_java_home({"PATH": str(tmp_path / "bin")}) == tmp_path / "jdk"
