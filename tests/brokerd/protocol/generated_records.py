"""Records and codecs as hypothesis generates them."""

from hypothesis import strategies as st

from brokerd.protocol.compression import Codec
from brokerd.protocol.records import Record

some_bytes = st.none() | st.binary(max_size=200)
longer_bytes = st.none() | st.binary(max_size=300)
some_records = st.lists(
    st.builds(
        Record,
        offset=st.just(0),
        timestamp_ms=st.integers(0, 2**41),
        key=some_bytes,
        value=some_bytes,
        headers=st.lists(st.tuples(st.text(max_size=8), some_bytes), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=20,
)
records_of_many_sizes = st.lists(
    st.builds(
        Record,
        offset=st.just(0),
        timestamp_ms=st.integers(-1, 2**41),
        key=longer_bytes,
        value=longer_bytes | st.just(bytes(9_000)),
        headers=st.lists(st.tuples(st.text(max_size=8), longer_bytes), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=80,
)
codecs = st.sampled_from(list(Codec))
