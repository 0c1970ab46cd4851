"""Reads settings from environment variables, with types and limits; collects all errors.

Only `console/settings.py` uses it, so that every setting is read once and in one place.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from console.environment_checks import without_secrets


class Environment:
    """Typed access to a mapping of variables; errors are collected in `problems`."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.problems: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        """The variable as text; an empty one counts as not set."""
        return self._variables.get(name, "").strip() or default

    def checked(self, name: str, rule: Callable[[str], str], default: str = "") -> str:
        """The variable, checked by `rule` (console/environment_checks.py)."""
        value = self.text(name, default)
        problem = rule(value) if value else ""
        if problem:
            self.problems.append(f"{name}={without_secrets(value)} {problem}")
        return default if problem else value

    def secret(self, name: str, rule: Callable[[str], str]) -> str:
        """The variable, checked by `rule`; messages do not contain its value."""
        value = self.text(name)
        problem = rule(value) if value else ""
        if problem:
            self.problems.append(f"{name} {problem}")
        return "" if problem else value

    def words(
        self, name: str, rule: Callable[[str], str], separator: str | None = ","
    ) -> list[str]:
        """A list without empty entries, each checked by `rule`; separator None = white space."""
        words = [word.strip() for word in self.text(name).split(separator) if word.strip()]
        for word in words:
            if problem := rule(word):
                self.problems.append(f"{name}: {word!r} {problem}")
        return words

    def flag(self, name: str) -> bool:
        """True for 1, true, yes, on; False for 0, false, no, off and if not set."""
        value = self.text(name, "0").lower()
        if value in ("1", "true", "yes", "on"):
            return True
        if value not in ("0", "false", "no", "off"):
            self.problems.append(f"{name}={value} is neither true nor false: write 1 or 0")
        return False

    def integer(self, name: str, default: int, lowest: int, highest: int) -> int:
        """An integer from `lowest` to `highest`; the default if it is invalid."""
        value = self.text(name, str(default))
        hint = f"write a whole number from {lowest} to {highest} (unset, it is {default})"
        try:
            number = int(value)
        except ValueError:
            self.problems.append(f"{name}={value} is not a whole number: {hint}")
            return default
        if not lowest <= number <= highest:
            self.problems.append(f"{name}={number} is out of range: {hint}")
            return default
        return number

    def port(self, name: str, default: int, count: int = 1) -> int:
        """The first of `count` TCP ports in a row."""
        return self.integer(name, default, lowest=1, highest=65536 - count)

    def path(self, name: str, default: Path, rule: Callable[[str], str] | None = None) -> Path:
        """An absolute path; `~` is the home folder."""
        value = self.text(name, str(default))
        try:
            path = Path(value).expanduser().resolve()
        except (OSError, RuntimeError, ValueError) as error:
            self.problems.append(f"{name}={value!r} is no path: {error}")
            return default
        if rule is not None and (problem := rule(str(path))):
            self.problems.append(f"{name}={value} {problem}")
        return path

    def content(self, name: str, path: Path, rule: Callable[[str], str] | None = None) -> str:
        """The content of the file that a variable names; empty if it is missing or invalid."""
        try:
            text = path.read_text()
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            self.problems.append(f"{name}: the file {path} cannot be read: {reason}")
            return ""
        if rule is not None and (problem := rule(text)):
            self.problems.append(f"{name}: the file {path} {problem}")
            return ""
        return text
