"""How the segments of a log are compressed, from the samples of its leader's admin port. Pure."""

from dataclasses import dataclass
from typing import Any

from console.ui.numbers import UNKNOWN


@dataclass(frozen=True, slots=True)
class Compression:
    """The compression of the first batches of a segment.

    `ratio`: size without compression ÷ size, of `batches` batches. None = not known, or not shown
    because it could reveal masked data.
    """

    codecs: tuple[str, ...] = ()
    ratio: float | None = None
    batches: int = 0

    def __str__(self) -> str:
        is_compressed = any(codec != "none" for codec in self.codecs)
        name = self.name or UNKNOWN
        return f"{name} {self.ratio:.1f}×" if self.ratio and is_compressed else name

    @property
    def name(self) -> str:
        """The codecs; empty if they are not known."""
        return " + ".join(self.codecs)


def compression_of(sample: dict[str, Any] | None, *, is_masked: bool) -> Compression:
    """The compression in the sample of a segment; None = it was not sampled."""
    if sample is None:
        return Compression()
    size_bytes = sample["size_bytes"]
    ratio = sample["uncompressed_bytes"] / size_bytes if size_bytes and not is_masked else None
    return Compression(tuple(sorted(sample["codecs"])), ratio, sample["batches"])
