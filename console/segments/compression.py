"""How the segments of a log are compressed, from the samples of its leader's admin port. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.ui.numbers import UNKNOWN


@dataclass(frozen=True, slots=True)
class Compression:
    """Of the first batches of a segment; `ratio`: size without compression ÷ size.

    `batches`: how many the ratio is of. None: it is not known, or not shown, since how well records
    are compressed tells about what is masked in them.
    """

    codecs: tuple[str, ...] = ()
    ratio: float | None = None
    batches: int = 0

    def __str__(self) -> str:
        is_compressed = set(self.codecs) - {"none"}
        name = self.name or UNKNOWN
        return f"{name} {self.ratio:.1f}×" if self.ratio and is_compressed else name

    @property
    def name(self) -> str:
        """The codecs; empty if they are not known."""
        return " + ".join(self.codecs)


def compressions(answer: Mapping[str, Any], is_masked: bool) -> dict[int, Compression]:
    """By base offset; segments that were not sampled have none."""
    found = {}
    for sample in answer["segments"]:
        size_bytes, is_known = sample["size_bytes"], not is_masked
        ratio = sample["uncompressed_bytes"] / size_bytes if is_known and size_bytes else None
        compression = Compression(tuple(sample["codecs"]), ratio, sample["batches"])
        found[sample["base_offset"]] = compression
    return found
