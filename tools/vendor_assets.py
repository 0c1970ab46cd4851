"""Vendors the few files of other projects that pages and tests load, and checks them.

    python tools/vendor_assets.py            take the files out of npm's tarballs (needs npm)
    python tools/vendor_assets.py --check    re-hash what is committed (needs nothing)

The browser loads nothing from elsewhere, so the files are committed with their licences: what
pages load under static/vendor/, what only tests need under tests/browser/vendor/. `assets.toml` in
both folders is the record: package, version, sha512 of the tarball as npm publishes it
("integrity"), and a sha512 for each file. Two files are derived, not copied:

- `icons/icons.svg`, a sprite of just the icons named in ICONS;
- `plotly/plotly.css`, the rules that Plotly would insert with script; the Content-Security-Policy
  forbids inline styles, and Plotly leaves its own out when it finds this sheet linked as
  `id="plotly.js-style-global" class="no-inline-styles"`.
"""

import argparse
import base64
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = "assets.toml"

ICONS = re.findall(
    r"\S+",
    """
    activity alert-triangle arrow-back-up arrow-down arrow-left arrow-right arrow-up bell
    bell-ringing chart-line chevron-down chevron-left chevron-right chevron-up circle-check circle-x
    clock columns copy database dots download eye eye-off help-circle history home hourglass
    info-circle key layout-dashboard lock logout menu-2 message-2 moon pencil player-pause
    player-play player-stop plug-connected-x plus refresh report-analytics search selector send
    server-2 settings stack-2 sun sun-moon table test-pipe topology-star-3 trash trending-down
    trending-up user user-circle users users-group x
    """,
)

# package -> (version, licence, {file in the tarball: file in the folder})
Packages = dict[str, tuple[str, str, dict[str, str]]]
OF_PAGES: Packages = {
    "@tabler/core": ("1.6.1", "MIT", {"dist/css/tabler.min.css": "tabler/tabler.min.css"}),
    "@tabler/icons": ("3.51.0", "MIT", {"LICENSE": "icons/LICENSE"}),
    "@fontsource-variable/inter": (
        "5.3.0",
        "OFL-1.1",
        {
            "files/inter-latin-wght-normal.woff2": "fonts/inter-latin.woff2",
            "LICENSE": "fonts/INTER-LICENSE",
        },
    ),
    "@fontsource-variable/jetbrains-mono": (
        "5.3.0",
        "OFL-1.1",
        {
            "files/jetbrains-mono-latin-wght-normal.woff2": "fonts/jetbrains-mono-latin.woff2",
            "LICENSE": "fonts/JETBRAINS-MONO-LICENSE",
        },
    ),
    "plotly.js-basic-dist-min": (  # lines, bars and pies; pages draw lines
        "4.1.1",
        "MIT",
        {
            "plotly-basic.min.js": "plotly/plotly-basic.min.js",
            "LICENSE": "plotly/LICENSE",
        },
    ),
}
OF_TESTS: Packages = {
    "axe-core": ("4.14.1", "MPL-2.0", {"axe.min.js": "axe/axe.min.js", "LICENSE": "axe/LICENSE"}),
}
FOLDERS = {"static/vendor": OF_PAGES, "tests/browser/vendor": OF_TESTS}


def sha512(data: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def fetch(name: str, version: str, folder: Path) -> bytes:
    """The tarball of one published version, by npm's own client."""
    done = subprocess.run(
        ["npm", "pack", "--json", f"{name}@{version}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    described = json.loads(done.stdout)
    entry = next(iter(described.values())) if isinstance(described, dict) else described[0]
    data = (folder / entry["filename"]).read_bytes()
    if sha512(data) != entry["integrity"]:
        raise SystemExit(f"{name} {version}: the tarball does not match its published integrity")
    return data


def sprite(tarball: tarfile.TarFile) -> bytes:
    """One SVG with a <symbol> for each icon; the page refers to them with <use href>."""
    symbols = []
    for icon in ICONS:
        member = tarball.extractfile(f"package/icons/outline/{icon}.svg")
        assert member is not None
        text = re.sub(r"<!--.*?-->", "", member.read().decode(), flags=re.S)
        body = re.sub(r"^.*?<svg[^>]*>|</svg>\s*$", "", text, flags=re.S)
        body = re.sub(r"\s*<path stroke=\"none\" d=\"M0 0h24v24H0z\" fill=\"none\"\s*/>", "", body)
        body = re.sub(r"\s*\n\s*", "", body)
        symbols.append(f'<symbol id="{icon}" viewBox="0 0 24 24">{body}</symbol>')
    head = '<svg xmlns="http://www.w3.org/2000/svg">'
    return (head + "\n" + "\n".join(symbols) + "\n</svg>\n").encode()


def plotly_css(script: str) -> bytes:
    """The rules of the script's style table, written out as it would insert them."""
    start = script.index('{"X,X div":')
    table = script[start : script.index("}", script.index('"Y .notifier-close:hover"')) + 1]
    table = re.sub(r"([,{])Y:", r'\1"Y":', table)
    table = re.sub(r":'([^']*)'", lambda m: ":" + json.dumps(m.group(1)), table)
    rules = json.loads(table)
    lines = []
    for key, body in rules.items():
        selector = re.sub(r"^,", " ,", key).replace("X", ".js-plotly-plot .plotly")
        lines.append(f"{selector.replace('Y', '.plotly-notifier')} {{{body}}}")
    return ("\n".join(lines) + "\n").encode()


TABLER_LICENCE = """The MIT License (MIT)

Copyright (c) 2018-2026 The Tabler Authors, codecalm.net Paweł Kuna

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.
"""


def derived(name: str, tarball: tarfile.TarFile, outputs: dict[str, bytes]) -> dict[str, bytes]:
    if name == "@tabler/core":  # the tarball names its licence but does not carry the text
        return {"tabler/LICENSE": TABLER_LICENCE.encode()}
    if name == "@tabler/icons":
        return {"icons/icons.svg": sprite(tarball)}
    if name.startswith("plotly.js-"):
        return {"plotly/plotly.css": plotly_css(outputs["plotly/plotly-basic.min.js"].decode())}
    return {}


def vendor(vendored: Path, packages: Packages) -> None:
    lines = ["# Written by tools/vendor_assets.py; `--check` compares the files with it.", ""]
    vendored.mkdir(parents=True, exist_ok=True)
    for name, (version, licence, wanted) in packages.items():
        with tempfile.TemporaryDirectory() as folder:
            data = fetch(name, version, Path(folder))
            (Path(folder) / "package.tgz").write_bytes(data)
            with tarfile.open(Path(folder) / "package.tgz") as tarball:
                outputs = {}
                for source, target in wanted.items():
                    member = tarball.extractfile(f"package/{source}")
                    assert member is not None
                    # The maps are not shipped: a comment naming one is a 404 in the console.
                    text = re.sub(rb"/[*/]# sourceMappingURL=\S+( \*/)?\s*", b"", member.read())
                    outputs[target] = text
                outputs |= derived(name, tarball, outputs)
        lines += ["[[package]]", f'name = "{name}"', f'version = "{version}"']
        lines += [f'licence = "{licence}"', f'sha512 = "{sha512(data)}"']
        lines += ["[package.files]"]
        for target, content in sorted(outputs.items()):
            (vendored / target).parent.mkdir(exist_ok=True)
            (vendored / target).write_bytes(content)
            lines.append(f'"{target}" = "{sha512(content)}"')
        lines.append("")
    (vendored / MANIFEST).write_text("\n".join(lines))


def check(folder: str) -> list[str]:
    """What differs from assets.toml: missing, changed, or present without being named there."""
    named: dict[str, str] = {}
    vendored = ROOT / folder
    for package in tomllib.loads((vendored / MANIFEST).read_text())["package"]:
        named |= package["files"]
    problems = []
    for name, recorded in named.items():
        path = vendored / name
        if not path.exists():
            problems.append(f"{folder}/{name} is missing")
        elif sha512(path.read_bytes()) != recorded:
            problems.append(f"{folder}/{name} is not the file that assets.toml records")
    present = {str(p.relative_to(vendored)) for p in vendored.rglob("*") if p.is_file()}
    problems += [f"{folder}/{name} is not in assets.toml" for name in present - {*named, MANIFEST}]
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare with assets.toml")
    if not parser.parse_args().check:
        for folder, packages in FOLDERS.items():
            vendor(ROOT / folder, packages)
    problems = [problem for folder in FOLDERS for problem in check(folder)]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
