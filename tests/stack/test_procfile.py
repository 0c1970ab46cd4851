from pathlib import Path

import pytest

from stack.plan import ROLES, roles_for
from stack.procfile import ProcfileError, expand, parse

PROCFILE = Path(__file__).parents[2] / "Procfile"


def test_names_and_commands_keep_their_order() -> None:
    assert list(parse("# a comment\n\nb: run it\na: x --y\n").items()) == [
        ("b", "run it"),
        ("a", "x --y"),
    ]


@pytest.mark.parametrize("text", ["no colon here", ": nameless", "name:", "a b: c"])
def test_a_line_that_is_no_process_is_refused_with_its_number(text: str) -> None:
    with pytest.raises(ProcfileError, match="line 2"):
        parse("ok: fine\n" + text)


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(ProcfileError, match="web is there twice"):
        parse("web: a\nweb: b")


def test_a_path_with_blanks_stays_one_word() -> None:
    words = expand("run $DATA/x --y=${DATA}", {"DATA": "/a folder"}, "py")
    assert words == ["run", "/a folder/x", "--y=/a folder"]


def test_python_is_the_interpreter_in_use() -> None:
    assert expand("python -m brokerd", {}, "/venv/bin/python")[0] == "/venv/bin/python"


def test_an_unknown_variable_is_named() -> None:
    with pytest.raises(ProcfileError, match=r"\$NOWHERE"):
        expand("run $NOWHERE", {}, "py")


def test_the_procfile_and_the_table_of_roles_know_the_same_processes() -> None:
    assert set(parse(PROCFILE.read_text())) == set(ROLES)


def test_nothing_waits_for_a_process_that_is_left_out() -> None:
    roles = roles_for(["web", "prepare", "broker-1"])
    assert roles["web"].after == ("prepare",)
    assert roles["broker-1"].after == ()


def test_a_process_unknown_to_the_table_starts_at_once() -> None:
    assert roles_for(["mine"])["mine"].after == ()


def test_a_process_stops_no_later_than_what_it_needs() -> None:
    for name, role in ROLES.items():
        # Spark starts after others only to leave them the processor: it needs none of them.
        for other in role.after if name != "spark" else ():
            assert role.stage >= ROLES[other].stage
    assert ROLES["spark"].stage < ROLES["spark-jobs"].stage, "who uses it stops before it"
