"""The conversion of a value with a unit, which pages ask for while it is typed."""

import pytest


@pytest.mark.parametrize(
    ("query", "text", "error"),
    [
        ("unit=ms&value=7d", "7 days = 604 800 000 ms", ""),
        ("name=segment.bytes&value=1 GiB", "1 GiB = 1 073 741 824 bytes", ""),
        ("name=cleanup.policy&value=1 GiB", "", ""),
        ("unit=ms&value=604800000", "", ""),
        ("unit=ms&value=7x", "", "“7x” is no duration."),
        ("value=segment.ms=10 min%0Asegment.bytes=64MiB%0Aa=b",
         "segment.ms: 10 min = 600 000 ms · segment.bytes: 64 MiB = 67 108 864 bytes", ""),
        ("value=segment.ms=1y", "", "segment.ms: “1y” is no duration."),
        ("", "", ""),
        ("unit=nonsense&name=&value=7d", "", ""),
    ],
)  # fmt: skip
def test_a_value_with_a_unit_is_converted_while_it_is_typed(
    sampled, client_of, viewer, query, text, error
):
    answer = client_of(viewer).get(f"/units?{query}").json()
    assert answer["text"].replace("\u202f", " ") == text
    assert answer["error"].startswith(error)
    assert bool(answer["error"]) == bool(error)
