"""The largest offset and partition that Kafka's protocol can express, for forms and URLs."""

OFFSET_MAX = 2**63 - 1
PARTITION_MAX = 2**31 - 1
