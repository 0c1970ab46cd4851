"""What is offered is what is served."""

from collections.abc import Iterator

from brokerd.protocol.api_keys import ADVERTISED, ApiKey, is_flexible, is_served, known_flexible
from brokerd.protocol.messages import request_is_flexible, request_type


def test_every_served_version_has_a_codec() -> None:
    assert all(request_type(key, version) is not None for key, version in every_served_version())


def test_produce_is_offered_from_0_and_served_from_3() -> None:
    assert ADVERTISED[ApiKey.PRODUCE][0] == 0
    assert not is_served(ApiKey.PRODUCE, 2)
    assert is_served(ApiKey.PRODUCE, 3)


def test_versions_that_are_not_offered_are_not_served() -> None:
    assert not is_served(ApiKey.FETCH, 18)
    assert not is_served(4711, 0)


def test_the_hand_written_codecs_know_which_versions_are_flexible() -> None:
    for key, version in every_served_version():
        entity_type = request_type(key, version)
        assert entity_type is not None
        assert request_is_flexible(key, version) == entity_type.__flexible__
        if known_flexible(key, version) is not None:
            assert is_flexible(key, version) == entity_type.__flexible__


def every_served_version() -> Iterator[tuple[ApiKey, int]]:
    """But ListOffsets v0, which kio does not know."""
    for key, (low, high) in ADVERTISED.items():
        if key == ApiKey.LIST_OFFSETS:
            low += 1
        yield from ((key, each) for each in range(low, high + 1) if is_served(key, each))
