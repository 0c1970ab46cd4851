"""docs/protocol.md says what brokerd's own list says."""

from brokerd.protocol.api_keys import ADVERTISED, ApiKey
from tests.support.protocol_page import rows


def test_every_offered_api_stands_in_the_table_with_its_versions() -> None:
    told = {row.key: row.brokerd for row in rows() if row.brokerd is not None}
    assert told == {int(key): versions for key, versions in ADVERTISED.items()}


def test_each_api_stands_there_once_in_order_under_its_name() -> None:
    offered = [row for row in rows() if row.brokerd is not None]
    assert [row.key for row in offered] == sorted(ADVERTISED)
    for row in offered:
        assert row.name.upper() == ApiKey(row.key).name.replace("_", "")
    keys = [row.key for row in rows()]
    assert len(keys) == len(set(keys))


def test_where_versions_differ_or_nothing_is_known_there_are_words_for_it() -> None:
    for row in rows():
        assert row.words.endswith("."), row.name
