"""The largest offset and partition of Kafka's protocol, for forms and URLs.

What a cluster may report is limited in monitoring/gateway/wire/response_limits.py.
"""

OFFSET_MAX = 2**63 - 1
PARTITION_MAX = 2**31 - 1
