"""Offsets by key in a fixed amount of memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.log.cleaner.offset_map import SLOT_BYTES, Ints, KeyHash, OffsetMap, Words

SEED = b"s" * 32


def hashes(keys: list[bytes], seed: bytes = SEED) -> tuple[Words, Words]:
    lengths = np.array([len(key) for key in keys], np.int64)
    starts = np.cumsum(lengths) - lengths
    data = np.frombuffer(b"".join(keys) + bytes(128), np.uint8)
    return KeyHash(seed).of(data, starts, lengths)


def offsets(*values: int) -> Ints:
    return np.array(values, np.int64)


@given(st.lists(st.binary(max_size=200), min_size=1), st.integers(1, 9))
def test_it_answers_as_a_dictionary_does(keys: list[bytes], piece: int) -> None:
    table = OffsetMap(SLOT_BYTES * 2 * (len(keys) + 3), 0.9)
    expected: dict[bytes, int] = {}
    for start in range(0, len(keys), piece):
        some = keys[start : start + piece]
        numbers = range(start, start + len(some))
        table.put(*hashes(some), offsets(*numbers))
        expected.update(zip(some, numbers, strict=True))
    assert len(table) == len(expected)
    strangers = [key + b"?" for key in keys]
    assert table.get(*hashes(keys)).tolist() == [expected[key] for key in keys]
    known = [expected.get(key, -1) for key in strangers]
    assert table.get(*hashes(strangers)).tolist() == known


def test_a_full_map_still_finds_everything() -> None:
    keys = [b"%d" % number for number in range(5000)]
    table = OffsetMap(SLOT_BYTES * 5600, 0.9)
    table.put(*hashes(keys), np.arange(5000))
    assert table.capacity - len(table) == table.room < 100
    assert (table.get(*hashes(keys)) == np.arange(5000)).all()
    assert (table.get(*hashes([b"x%d" % number for number in range(500)])) == -1).all()


def test_more_keys_than_there_is_room_for_are_refused() -> None:
    table = OffsetMap(SLOT_BYTES * 5, 0.5)
    assert table.room == 2
    with pytest.raises(ValueError, match="room for 2"):
        table.put(*hashes([b"a", b"b", b"c"]), offsets(0, 1, 2))


def test_memory_too_small_for_a_key_is_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        OffsetMap(SLOT_BYTES, 0.9)


def test_keys_that_differ_in_zeros_at_the_end_alone_differ() -> None:
    keys = [bytes(length) for length in range(150)]
    first, second = hashes(keys)
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == len(keys)


def test_other_seeds_give_other_hashes() -> None:
    one, other = hashes([b"key"]), hashes([b"key"], b"t" * 32)
    assert one[0] != other[0]
    assert one[1] != other[1]


def test_a_hash_does_not_depend_on_what_lies_around_the_key() -> None:
    alone, among = hashes([b"key"]), hashes([b"before", b"key", b"behind"])
    assert (alone[0][0], alone[1][0]) == (among[0][1], among[1][1])
