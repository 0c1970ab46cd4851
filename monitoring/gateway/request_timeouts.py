"""How long requests to a cluster may take, in seconds unless the name says milliseconds.

A sample has the time of its tick instead (monitoring/sampling/time_limits.py). librdkafka's
processes load this module: no Django.
"""

READ_S = 5  # of a page, which a user waits for
GROUP_READ_S = 10  # a coordinator may still be loading the group's offsets
LOG_OFFSETS_READ_S = 10
SEARCH_READ_S = 10
FETCH_WAIT_MS = 500  # a leader answers a Fetch after this time, also without records
METRICS_READ_S = 10.0  # as Prometheus': a JMX exporter takes seconds for thousands of partitions
ZOOKEEPER_READ_S = 1.0
TOKEN_S = 5.0  # from the token endpoint of OAUTHBEARER
CHANGE_S = 15  # of topics, groups, brokers, quotas; acknowledgements of records
CONTROLLER_S = 2 * CHANGE_S  # to find the controller, and to send it a request
CONTROLLER_WAIT_MS = 10_000  # a controller answers a request within this time
RETRY_S = 0.5  # of the first request after one that failed

# With librdkafka:
TOPIC_METADATA_S = 8.0  # of the topic that records are written to
SILENT_LEADER_S = 8.0  # a copy ends when the leader has sent no record for so long
PURGE_S = 2.0  # to give up records without an acknowledgement
# Added for librdkafka, which connects and closes in each call.
ADMIN_GRACE_S, PRODUCER_GRACE_S = 10, 15
