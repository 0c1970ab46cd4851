"""Writes the rules of Tabler that the pages use: static/derived/tabler.css.

A rule stays if each class in its selector is named in a template, a script or a module of the
console: in `class`, or as a text in quotes. A class that is put together, `alert-{{ colour }}`,
stands for all that match. Custom properties and animations stay if something uses them.
tests/browser/test_pages.py compares the look of every page with that of all of Tabler.

    .venv/bin/python tools/used_css.py           # writes the file
    .venv/bin/python tools/used_css.py --check   # says whether it is as it would be written
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "static/vendor/tabler/tabler.min.css"
TARGET = ROOT / "static/derived/tabler.css"
_WORD = re.compile(r"[A-Za-z][\w-]*")
# A name with a variable part: alert-{{ colour }}, f"is-{state}", `bg-${tone}-lt`.
_VARIABLE = r"(?:\{\{[^{}]*\}\}|\{%[^%]*%\}|\$?\{[^{}]*\})"
_PUT_TOGETHER = re.compile(rf"(?:[A-Za-z][\w-]*-{_VARIABLE}(?:-[\w-]+)?)|(?:{_VARIABLE}-[\w-]+)")
_ONLY_NAMES = re.compile(r"[a-z0-9{}_ -]+")
_CLASS = re.compile(r"\.((?:\\.|[\w-])+)")
_DEFINITION = re.compile(r"(?<=[{;])(--[\w-]+):(?:[^;{}\"']|\"[^\"]*\"|'[^']*')*;?")
_PROPERTY = re.compile(r"--[\w-]+")


@dataclass(frozen=True, slots=True)
class Used:
    """The names that occur in the sources."""

    words: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]

    def has(self, name: str) -> bool:
        return name in self.words or any(pattern.fullmatch(name) for pattern in self.patterns)


def used_in(texts: list[str]) -> Used:
    """The names in the texts where a class may be named, as `named_in_…` returns them."""
    words: set[str] = set()
    patterns: set[str] = set()
    for text in texts:
        words.update(_WORD.findall(text))
        for found in _PUT_TOGETHER.findall(text):
            fixed = re.split(_VARIABLE, found)
            if any(re.search(r"[A-Za-z]{2}", part) for part in fixed):
                patterns.add(r"[\w-]+".join(map(re.escape, fixed)))
    return Used(frozenset(words), tuple(map(re.compile, sorted(patterns))))


def named_in_template(text: str) -> list[str]:
    """The values of `class`, and the texts in quotes within tags."""
    tags = re.findall(r"\{[%{].*?[%}]\}", text, re.S)
    quoted = [found for tag in tags for found in re.findall(r"\"([^\"]*)\"", tag)]
    return re.findall(r"\bclass=\"((?:\{[%{].*?[%}]\}|[^\"])*)\"", text, re.S) + list(
        filter(_ONLY_NAMES.fullmatch, quoted)
    )


def named_in_module(text: str) -> list[str]:
    """The texts of a module that are only names, such as "btn btn-sm" or f"is-{state}"."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)  # also the fixed parts of an f-string
        elif isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            found.append("".join(map(str, parts)))
    names = [each for each in found if _ONLY_NAMES.fullmatch(each)]
    # HTML that a module writes names its classes as a template does.
    return names + [name for each in found if "class=" in each for name in named_in_template(each)]


def named_in_script(text: str) -> list[str]:
    """The texts in quotes."""
    quoted = re.findall(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`]*)`", text)
    return ["".join(each) for each in quoted]


def reduced(css: str, used: Used, other_css: str) -> str:
    """The rules of `css` that are used, one a line. `other_css` uses properties, too."""
    head = re.search(r"/\*!.*?\*/", css, re.S)
    rules = list(_kept(_blocks(re.sub(r"/\*.*?\*/|@charset[^;]*;", "", css, flags=re.S)), used))
    rules = _without_unused_properties(rules, other_css)
    text = "\n".join(rules)
    names = {*re.findall(r"animation(?:-name)?:[^;}]*", text + other_css)}
    animated = {word for name in names for word in _WORD.findall(name)}
    kept = [rule for rule in rules if _is_played(rule, animated)]
    return "\n".join([head[0] if head else "", *kept, ""])


def _blocks(css: str) -> Iterator[tuple[str, str]]:
    """(selector or at-rule, content) of each block at the top."""
    start = 0
    while (opening := css.find("{", start)) >= 0:
        depth, end = 1, opening + 1
        while depth:
            depth += {"{": 1, "}": -1}.get(css[end], 0)
            end += 1
        yield css[start:opening].strip(), css[opening + 1 : end - 1]
        start = end


def _kept(blocks: Iterator[tuple[str, str]], used: Used) -> Iterator[str]:
    for selector, content in blocks:
        if selector.startswith(("@media", "@supports")):
            inner = list(_kept(_blocks(content), used))
            if inner:
                yield f"{selector}{{{''.join(inner)}}}"
        elif selector.startswith("@"):
            yield f"{selector}{{{content}}}"
        elif parts := [part for part in _selectors(selector) if _is_used(part, used)]:
            yield f"{','.join(parts)}{{{content}}}"


def _selectors(text: str) -> list[str]:
    """The selectors of a list; commas within parentheses separate none."""
    found, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and not depth:
            found.append(text[start:at])
            start = at + 1
    return [*found, text[start:]]


def _is_used(selector: str, used: Used) -> bool:
    """Whether all classes occur; those of :not(), :is() and :where() do not count."""
    while (inner := re.sub(r"\([^()]*\)", "", selector)) != selector:
        selector = inner
    return all(used.has(name.replace("\\", "")) for name in _CLASS.findall(selector))


def _without_unused_properties(rules: list[str], other_css: str) -> list[str]:
    """Without definitions of custom properties that nothing reads, until none is left."""
    read_elsewhere = set(_PROPERTY.findall(other_css))
    while True:
        read = read_elsewhere | set(re.findall(r"var\(\s*(--[\w-]+)", "".join(rules)))

        def if_read(found: re.Match[str], read: set[str] = read) -> str:
            return found[0] if found[1] in read else ""

        fewer = [_DEFINITION.sub(if_read, rule) for rule in rules]
        fewer = [re.sub(r"[^{};]+\{\}", "", rule.replace(";}", "}")) for rule in fewer]
        fewer = [rule for rule in fewer if rule and not rule.endswith("{}")]
        if fewer == rules:
            return rules
        rules = fewer


def _is_played(rule: str, animated: set[str]) -> bool:
    found = re.match(r"@keyframes ([\w-]+)", rule)
    return found is None or found[1] in animated


def written() -> str:
    """The text of the file, from the sources as they are."""
    texts = [
        name
        for folder, files, named_in in (
            ("templates", "*.html", named_in_template),
            ("console", "*.py", named_in_module),
            ("static/app", "*.js", named_in_script),
        )
        for path in sorted((ROOT / folder).rglob(files))
        for name in named_in(path.read_text())
    ]
    used = used_in(texts)
    sheets = sorted((ROOT / "static/css").glob("*.css"))
    scripts = sorted((ROOT / "static/app").glob("*.js"))
    other = "".join(path.read_text() for path in [*sheets, *scripts])
    return reduced(SOURCE.read_text(), used, other)


def is_current() -> bool:
    return TARGET.exists() and TARGET.read_text() == written()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare, write nothing")
    if not parser.parse_args().check:
        TARGET.write_text(written())
    if is_current():
        return 0
    print(
        "static/derived/tabler.css differs from what pages use: run tools/used_css.py",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
