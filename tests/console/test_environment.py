from pathlib import Path

from console import environment_checks as rules
from console.environment import Environment


def test_unset_and_empty_variables_have_defaults() -> None:
    env = Environment({"PORT": "", "HEAP": " ", "RATE": "", "FLAG": "", "FOLDER": ""})
    assert env.port("PORT", 8000) == 8000
    assert env.checked("HEAP", rules.heap, "128m") == "128m"
    assert env.checked("OTHER", rules.redis_url) == ""
    assert env.integer("RATE", 50, 10, 2000) == 50
    assert env.flag("FLAG") is False
    assert env.words("NETWORKS", rules.network) == []
    assert env.path("FOLDER", Path("/srv")) == Path("/srv")
    assert env.problems == []


def test_all_errors_are_collected_with_setting_and_expected_format() -> None:
    env = Environment({"RATE": "abc", "PORT": "99999", "HEAP": "12x", "FLAG": "maybe",
                       "NETWORKS": "10.0.0.0/8, 10.0.0.0/99"})  # fmt: skip
    assert env.integer("RATE", 50, 10, 2000) == 50
    assert env.port("PORT", 8000) == 8000
    assert env.checked("HEAP", rules.heap, "128m") == "128m"
    env.flag("FLAG")
    env.words("NETWORKS", rules.network)
    rate, port, heap, flag, network = env.problems
    assert rate.startswith("RATE=abc is not a whole number: write a whole number from 10 to 2000")
    assert port.startswith("PORT=99999 is out of range")
    assert heap.startswith("HEAP=12x is not a size")
    assert flag == "FLAG=maybe is neither true nor false: write 1 or 0"
    assert network.startswith("NETWORKS: '10.0.0.0/99' is neither")


def test_a_wrong_value_is_shown_without_its_password() -> None:
    env = Environment({"REDIS_URL": "redis://:hunter2@h:6379/first"})
    env.checked("REDIS_URL", rules.redis_url)
    assert "hunter2" not in env.problems[0]


def test_a_missing_file_is_no_error_and_an_invalid_one_is(tmp_path: Path) -> None:
    env = Environment({})
    assert env.content("KEYS", tmp_path / "none", rules.secret_keys) == ""
    assert env.problems == []
    (tmp_path / "keys").write_text("not a key")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("keys", "binary", "."):
        assert env.content("KEYS", tmp_path / name, rules.secret_keys) == ""
    keys, binary, folder = env.problems
    assert "contains something that is not a key" in keys
    assert "it is not text" in binary
    assert "Is a directory" in folder
