"""Reads settings from environment variables: typed, bounded, all mistakes reported together.

Pure: takes a mapping, reads no file. `console/settings.py` is its only caller, so that every
setting is read once and in one place.
"""

from collections.abc import Mapping
from pathlib import Path


class Environment:
    """Typed access to a mapping of variables; mistakes gather in `problems`."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.problems: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        """The variable as it is; an empty variable counts as not set."""
        return self._variables.get(name, "").strip() or default

    def words(self, name: str, default: str = "") -> list[str]:
        """A comma-separated list without empty entries."""
        return [word.strip() for word in self.text(name, default).split(",") if word.strip()]

    def flag(self, name: str) -> bool:
        """True for 1, true, yes, on; False for 0, false, no, off and for nothing."""
        value = self.text(name, "0").lower()
        if value in ("1", "true", "yes", "on"):
            return True
        if value not in ("0", "false", "no", "off"):
            self.problems.append(f"{name}={value!r} is neither true nor false: use 1 or 0")
        return False

    def integer(self, name: str, default: int, lowest: int, highest: int) -> int:
        """A whole number from `lowest` to `highest`; the default stands in for a wrong one."""
        value = self.text(name, str(default))
        try:
            number = int(value)
        except ValueError:
            self.problems.append(f"{name}={value!r} is not a whole number")
            return default
        if not lowest <= number <= highest:
            self.problems.append(f"{name}={number} is not between {lowest} and {highest}")
            return default
        return number

    def port(self, name: str, default: int, count: int = 1) -> int:
        """The first of `count` TCP ports in a row."""
        return self.integer(name, default, 1, 65536 - count)

    def path(self, name: str, default: Path) -> Path:
        """An absolute path; `~` is the home folder."""
        return Path(self.text(name, str(default))).expanduser().resolve()
