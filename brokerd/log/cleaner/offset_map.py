"""The last offset of each key, in a table of fixed size (Kafka's SkimpyOffsetMap).

A key is known by a 128-bit hash, in a table of 24 bytes a slot (as Kafka's): two halves of the hash
and the offset, open addressing with double hashing. All operations take arrays of many keys.

Keys up to 128 bytes are hashed multilinearly (four sums over their 32-bit words with random 64-bit
factors, the upper halves kept): two different keys agree with probability 2^-128, for the factors
are drawn anew for each cleaning. Longer ones are hashed by BLAKE2.
"""

from hashlib import blake2b
from math import isqrt
from typing import Final

import numpy as np
import numpy.typing as npt

SLOT_BYTES: Final = 24
SLOTS_MIN: Final = 3
SEED_BYTES: Final = 32
_WORD_CLASSES: Final = (1, 2, 4, 8, 16)  # words of eight bytes
_VECTOR_KEY_BYTES_MAX: Final = 8 * _WORD_CLASSES[-1]
_MASKS: Final = np.array([(1 << (8 * count)) - 1 for count in range(9)], np.uint64)
_LOW: Final = np.uint64(0xFFFF_FFFF)
_HIGH: Final = np.uint64(0xFFFF_FFFF_0000_0000)
_32: Final = np.uint64(32)

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]


class KeyHash:
    """Hashes of keys that lie in one buffer."""

    def __init__(self, seed: bytes) -> None:
        """`seed` has SEED_BYTES random bytes."""
        count = (2 * _WORD_CLASSES[-1] + 2) * 4
        material = b"".join(blake2b(bytes([i]), key=seed).digest() for i in range(count // 8 + 1))
        factors = np.frombuffer(material, np.uint64)[:count].reshape(-1, 4)
        self._start, self._length, self._factors = factors[0], factors[1], factors[2:]
        self._seed = seed

    def of(self, data: Bytes, starts: Ints, lengths: Ints) -> tuple[Words, Words]:
        """Both halves of the hash of each key; the buffer goes on for 128 bytes behind them."""
        first = np.empty(len(starts), np.uint64)
        second = np.empty(len(starts), np.uint64)
        above = -1
        for words in _WORD_CLASSES:
            chosen = np.flatnonzero((lengths > above) & (lengths <= 8 * words))
            above = 8 * words
            if chosen.size:
                sums = self._sums(data, starts[chosen], lengths[chosen], words)
                first[chosen] = (sums[0] & _HIGH) | (sums[1] >> _32)
                second[chosen] = (sums[2] & _HIGH) | (sums[3] >> _32)
        for each in np.flatnonzero(lengths > _VECTOR_KEY_BYTES_MAX):
            key = data[starts[each] : starts[each] + lengths[each]].tobytes()
            digest = blake2b(key, digest_size=16, key=self._seed).digest()
            first[each], second[each] = np.frombuffer(digest, np.uint64)
        return first, second

    def _sums(self, data: Bytes, starts: Ints, lengths: Ints, words: int) -> list[Words]:
        eights = np.ndarray((len(data) - 7,), "<u8", data.data, strides=(1,))  # at every byte
        counts = lengths.astype(np.uint64)
        sums = [
            start + counts * factor for start, factor in zip(self._start, self._length, strict=True)
        ]
        for number in range(words):
            word = eights[starts + 8 * number] & _MASKS[np.clip(lengths - 8 * number, 0, 8)]
            low, high = word & _LOW, word >> _32
            for total, one, other in zip(
                sums, self._factors[2 * number], self._factors[2 * number + 1], strict=True
            ):
                total += low * one
                total += high * other
        return sums


class OffsetMap:
    """See the module. Offsets must be put in rising order: of equal keys the last one counts."""

    def __init__(self, memory_bytes: int, load_factor: float) -> None:
        """Raises ValueError where the memory is too little for a single key."""
        slots = memory_bytes // SLOT_BYTES
        if slots < SLOTS_MIN:
            raise ValueError(f"{memory_bytes} bytes are too few for an offset map")
        self._slots = _prime_at_most(slots)
        self.capacity = max(min(int(self._slots * load_factor), self._slots - 1), 1)
        self._size = 0
        table = np.zeros((self._slots, 3), np.int64)  # a slot lies in one cache line or two
        self._first = table[:, 0].view(np.uint64)
        self._second = table[:, 1].view(np.uint64)
        self._held = table[:, 2]  # offset + 1; 0 = free

    def __len__(self) -> int:
        return self._size

    @property
    def used(self) -> float:
        """The share of the slots that hold a key."""
        return self._size / self._slots

    @property
    def room(self) -> int:
        """How many more keys are sure to fit."""
        return self.capacity - self._size

    def put(self, first: Words, second: Words, offsets: Ints) -> None:
        """Puts the offsets of keys, in rising order, at most `room` of them."""
        if len(offsets) > self.room:
            raise ValueError(f"{len(offsets)} keys for a map with room for {self.room}")
        slots, steps = self._probes(first, second)
        pending = np.arange(len(offsets))
        held = offsets + 1
        while pending.size:
            at = slots[pending]
            free = self._held[at] == 0
            if free.any():
                claims, claimed = pending[free], at[free]
                # Of two that claim one slot the later assignment stands, in all three arrays.
                self._first[claimed] = first[claims]
                self._second[claimed] = second[claims]
                self._held[claimed] = held[claims]
                self._size += int(np.count_nonzero(self._held[claimed] == held[claims]))
            same = (self._first[at] == first[pending]) & (self._second[at] == second[pending])
            self._held[at[same]] = held[pending[same]]
            pending = pending[~same]
            slots[pending] = (slots[pending] + steps[pending]) % self._slots

    def get(self, first: Words, second: Words) -> Ints:
        """The offset of each key; -1 for those that are not in it."""
        found = np.full(len(first), -1, np.int64)
        slots, steps = self._probes(first, second)
        pending = np.arange(len(first))
        while pending.size:
            at = slots[pending]
            held = self._held[at]
            same = (
                (held != 0)
                & (self._first[at] == first[pending])
                & (self._second[at] == second[pending])
            )
            found[pending[same]] = held[same] - 1
            pending = pending[(held != 0) & ~same]
            slots[pending] = (slots[pending] + steps[pending]) % self._slots
        return found

    def _probes(self, first: Words, second: Words) -> tuple[Ints, Ints]:
        slots = (first % np.uint64(self._slots)).astype(np.int64)
        steps = (second % np.uint64(self._slots - 1)).astype(np.int64) + 1
        return slots, steps


def _prime_at_most(number: int) -> int:
    """With a prime number of slots every step visits all of them."""
    while any(number % divisor == 0 for divisor in range(2, isqrt(number) + 1)):
        number -= 1
    return number
