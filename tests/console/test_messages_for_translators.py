"""`manage.py makemessages` finds every text, and no text is half a sentence."""

import re
import shutil
from pathlib import Path

import pytest
from django.core.management import call_command

from monitoring.error_reason_texts import TEXTS

ROOT = Path(__file__).parents[2]
SOURCES = ("console", "monitoring", "stack", "templates")
# What only means something together with what a template writes beside it.
HALVES = re.compile(r"(since|of|by|at|in|on|to|from|and|or|about|with|for)( cluster)?")
PARAM = re.compile(r"%\(\w+\)[sd]")

pytestmark = pytest.mark.skipif(
    shutil.which("xgettext") is None, reason="xgettext (gettext) is not installed"
)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory) -> str:
    """What makemessages writes for a new language, in a copy: it writes beside the templates."""
    tree = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        shutil.copytree(ROOT / name, tree / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tree)
        patch.setattr("django.conf.settings.LOCALE_PATHS", [str(tree / "locale")])
        said: list[str] = []
        patch.setattr("sys.stderr.write", said.append, raising=False)
        call_command("makemessages", locale=["eo"], verbosity=1)
    assert not [line for line in said if "warning" in line.lower()]
    return (tree / "locale/eo/LC_MESSAGES/django.po").read_text()


def msgids(catalog: str) -> set[str]:
    found = re.findall(r'^msgid(?:_plural)? ((?:".*"\n?)+)', catalog, re.M)
    return {"".join(re.findall(r'"(.*)"', each)).replace(r"\"", '"') for each in found}


def test_texts_of_python_templates_and_reasons_are_found(catalog):
    found = msgids(catalog)
    assert {"Consumer groups", "Waiting for leaders"} <= found
    # One of parameters alone has nothing to translate.
    assert {text for text in TEXTS.values() if re.search("[a-z]", PARAM.sub("", text))} <= found


def test_no_message_is_a_sentence_fragment(catalog):
    halves = {text for text in msgids(catalog) if HALVES.fullmatch(text.strip(" :·,"))}
    assert halves == set()
