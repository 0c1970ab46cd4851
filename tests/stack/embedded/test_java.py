import subprocess
from pathlib import Path

from stack.embedded.java import java_home, write_wrapper


def test_the_wrapper_drops_one_argument_and_keeps_the_others(tmp_path: Path) -> None:
    echo = tmp_path / "a folder" / "echo"
    echo.parent.mkdir()
    echo.write_text('#!/bin/sh\nfor word do echo "[$word]"; done\n')
    echo.chmod(0o755)
    home = write_wrapper(tmp_path / "home", echo)
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b/*", "Main", ""]
    answer = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True)
    assert answer.stdout.splitlines() == ["[-Xmx1g]", "[-cp]", "[a b/*]", "[Main]", "[]"]


def test_an_existing_wrapper_is_used_as_java_home(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    java.chmod(0o755)
    home = write_wrapper(tmp_path / "home", java)
    assert java_home({"JAVA_HOME": str(home), "PATH": ""}, tmp_path / "another") == home
