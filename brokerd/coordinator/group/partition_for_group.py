"""Which partition of `__consumer_offsets` keeps a group: abs(Java String.hashCode(group)) % count.

Java hashes UTF-16 code units, so a character outside the basic plane counts as its two surrogates.
Kafka's `Utils.abs` maps the smallest int32 to 0, since it has no positive counterpart.
"""

OFFSETS_TOPIC = "__consumer_offsets"

_INT32_MIN = -(1 << 31)


def java_string_hash(text: str) -> int:
    """Java's `String.hashCode` of `text`, as a signed 32-bit number."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


def partition_for(group_id: str, partition_count: int) -> int:
    """Index of the partition whose leader coordinates `group_id`."""
    value = java_string_hash(group_id)
    return 0 if value == _INT32_MIN else abs(value) % partition_count
