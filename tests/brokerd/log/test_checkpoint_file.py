"""Checkpoint files."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.checkpoint_file import offset_entries, read_offsets, write_entries
from brokerd.topic_partition import TopicPartition

topics = st.from_regex(r"[a-zA-Z0-9._-]{1,20}", fullmatch=True)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    offsets=st.dictionaries(
        st.tuples(topics, st.integers(0, 10_000)), st.integers(0, 2**62), max_size=20
    )
)
def test_offsets_come_back(tmp_path: Path, offsets: dict[TopicPartition, int]) -> None:
    write_entries(tmp_path / "c", offset_entries(offsets), sync=False)
    assert read_offsets(tmp_path / "c") == offsets


def test_the_format_is_kafkas(tmp_path: Path) -> None:
    write_entries(tmp_path / "c", offset_entries({("a-b", 3): 7}))
    assert (tmp_path / "c").read_text() == "0\n1\na-b 3 7\n"
    assert not (tmp_path / "c.tmp").exists()


def test_a_missing_or_empty_file_has_no_entries(tmp_path: Path) -> None:
    assert read_offsets(tmp_path / "c") == {}
    (tmp_path / "c").touch()
    assert read_offsets(tmp_path / "c") == {}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\n", 1), ("0\n", 2), ("1\n0\n", 1), ("0\n²\n", 2), ("0\n2\na 0 1\n", 2),
        ("0\n1\na 0\n", 3), ("0\n2\na 0 1\na b c\n", 4), ("0\n1\na 0 -1\n", 3),
        ("0\n1\na 0 9223372036854775808\n", 3),
    ],
)  # fmt: skip
def test_a_damaged_file_and_its_line_are_named(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "c").write_text(text)
    with pytest.raises(KafkaError, match=f"is not a checkpoint file: line {line}: ") as caught:
        read_offsets(tmp_path / "c")
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
