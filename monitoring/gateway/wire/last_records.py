"""ListOffsets v7 with the timestamp −3: the time of the last record of some partitions.

Brokers answer with the largest timestamp of the partition's records. Kafka knows it from 3.0 on. It
is asked for few partitions, so the code reads item by item.

    request v7  = replica i32 (-1), isolation i8, topics[name s, partitions[index i32,
                  epoch i32, timestamp i64]], flexible
    response v7 = throttle i32, topics[name s, partitions[index i32, error i16,
                  timestamp i64, offset i64, epoch i32]], flexible
"""

from itertools import groupby

import numpy as np

from brokerd.protocol import messages
from monitoring.gateway.wire import list_offsets
from monitoring.gateway.wire.connection import CLIENT_ID
from monitoring.gateway.wire.cursor import AFTER_CORRELATION_ID, Cursor
from monitoring.gateway.wire.list_offsets import UNKNOWN
from monitoring.gateway.wire.metadata import Longs, Metadata
from monitoring.gateway.wire.response_limits import TIME_MS_MAX

API_KEY, VERSION = list_offsets.API_KEY, 7
NO_RECORD = -2  # in the arrays of this module: there is no record with a timestamp
_MAX_TIMESTAMP = -3
_PARTITION_BYTES_MIN = 27


def request(metadata: Metadata, rows: Longs, correlation_id: int) -> bytes:
    """The request frame for these rows (sorted) of one leader."""
    topic, partition = metadata.topic_of_row()[rows], metadata.partition_of_row()[rows]
    pairs = zip(topic.tolist(), partition.tolist(), strict=True)
    topics = [
        {
            "name": metadata.topics[code],
            "partitions": [
                {
                    "partition_index": index,
                    "current_leader_epoch": -1,
                    "timestamp": _MAX_TIMESTAMP,
                }
                for _, index in found
            ],
        }
        for code, found in groupby(pairs, key=lambda pair: pair[0])
    ]
    fields = {"replica_id": -1, "isolation_level": 0, "topics": topics}
    return messages.encode_request(API_KEY, VERSION, fields, correlation_id, CLIENT_ID)


def decode_into(times_ms: Longs, metadata: Metadata, rows: Longs, answer: bytes) -> None:
    """Put the times of `rows` into `times_ms` (by row); those with an error do not change.

    Partitions that were not asked for are ignored. A time beyond TIME_MS_MAX becomes TIME_MS_MAX:
    producers choose it. Raises struct.error or ValueError if the response is malformed, OverLimit
    if it is too large.
    """
    cursor = Cursor(answer, AFTER_CORRELATION_ID, flexible=True)
    cursor.skip_tags()
    cursor.skip(4)  # throttle time
    found = np.full(len(times_ms), UNKNOWN, dtype=np.int64)
    for _ in range(cursor.array_length(item_bytes_min=3)):
        rows_of_topic = metadata.rows_by_topic.get(cursor.text() or "", range(0))
        for _ in range(cursor.array_length(item_bytes_min=_PARTITION_BYTES_MIN)):
            index, error = cursor.i32(), cursor.i16()
            time_ms, offset = cursor.i64(), cursor.i64()
            cursor.skip(4)  # leader epoch
            cursor.skip_tags()
            if error == 0 and 0 <= index < len(rows_of_topic):
                has_time = time_ms >= 0 and offset >= 0
                found[rows_of_topic[index]] = min(time_ms, TIME_MS_MAX) if has_time else NO_RECORD
        cursor.skip_tags()
    answered = rows[found[rows] != UNKNOWN]
    times_ms[answered] = found[answered]
