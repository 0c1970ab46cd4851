from pathlib import Path

import pytest

from stack.process_table import ROLES, roles_for
from stack.procfile_parser import ProcfileError, expand, parse

PROCFILE = Path(__file__).parents[2] / "Procfile"


def test_commands_keep_the_order_of_the_file() -> None:
    assert list(parse("# a comment\n\nb: run it\na: x --y\n").items()) == [
        ("b", "run it"),
        ("a", "x --y"),
    ]


@pytest.mark.parametrize("text", ["no colon here", ": nameless", "name:", "a b: c"])
def test_the_error_for_an_invalid_line_has_its_number(text: str) -> None:
    with pytest.raises(ProcfileError, match="line 2"):
        parse("ok: fine\n" + text)


def test_a_duplicate_name_is_refused() -> None:
    with pytest.raises(ProcfileError, match="web occurs twice"):
        parse("web: a\nweb: b")


def test_a_path_with_blanks_stays_one_word() -> None:
    words = expand("run $DATA/x --y=${DATA}", {"DATA": "/a folder"}, "py")
    assert words == ["run", "/a folder/x", "--y=/a folder"]


def test_python_is_the_interpreter_in_use() -> None:
    assert expand("python -m brokerd", {}, "/venv/bin/python")[0] == "/venv/bin/python"


def test_the_error_for_an_unknown_variable_has_its_name() -> None:
    with pytest.raises(ProcfileError, match=r"\$NOWHERE"):
        expand("run $NOWHERE", {}, "py")


def test_the_procfile_and_the_process_table_have_the_same_names() -> None:
    assert set(parse(PROCFILE.read_text())) == set(ROLES)


def test_no_process_waits_for_one_that_does_not_run() -> None:
    roles = roles_for(["web", "prepare", "broker-1"])
    assert roles["web"].after == ("prepare",)
    assert roles["broker-1"].after == ()


def test_a_process_that_is_not_in_the_table_starts_at_once() -> None:
    assert roles_for(["mine"])["mine"].after == ()


def test_a_process_stops_before_the_processes_it_depends_on() -> None:
    for name, role in ROLES.items():
        # Spark starts last only to leave the CPU to the others; it depends on none of them.
        for other in role.after if name != "spark" else ():
            assert role.stage >= ROLES[other].stage
    assert ROLES["spark"].stage < ROLES["spark-jobs"].stage, "who uses it stops before it"
