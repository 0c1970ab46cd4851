"""How long requests to a cluster may take, in seconds.

A sample has the time of its tick instead (monitoring/sampling/cluster_readers.py). librdkafka's
processes load this module: no Django.
"""

READ_S = 5  # of a page, which a user waits for
GROUP_READ_S = 10  # a coordinator may still be loading the group's offsets
SEARCH_READ_S = 10
CHANGE_S = 15  # of topics, groups, brokers, quotas; acknowledgements of records
# Added for librdkafka, which connects and closes in each call.
CONSUMER_GRACE_S, ADMIN_GRACE_S, PRODUCER_GRACE_S = 5, 10, 15
