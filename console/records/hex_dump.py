"""Bytes as a hex dump: offset, 16 bytes in hex, and their ASCII characters. Pure."""

DUMPED_BYTES_MAX = 4096
_WIDTH = 16


def hex_dump(data: bytes) -> str:
    """The first DUMPED_BYTES_MAX bytes, a line for each 16."""
    shown = data[:DUMPED_BYTES_MAX]
    return "\n".join(_line(shown, at) for at in range(0, len(shown), _WIDTH))


def _line(data: bytes, at: int) -> str:
    chunk = data[at : at + _WIDTH]
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in chunk)
    return f"{at:08x}  {chunk.hex(' '):<{3 * _WIDTH - 1}}  {text}"
