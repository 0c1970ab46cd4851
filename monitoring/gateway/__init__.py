"""All requests to clusters, for reads and changes: `gateway.for_cluster(cluster)`.

Most properties of a Gateway are clients of the cluster, each in the module of its name; `topics`,
`groups`, `quotas`, `reassignments` and `wire` are in topic_admin.py, group_admin.py,
quota_requests.py, reassignment_requests.py and wire/sync_client.py. `kafka_client_settings` and
`registry` are settings. wire/ is the project's own Kafka client: a module for each API.
librdkafka/ has the calls of confluent-kafka (`…_calls.py`, copying.py), which run in processes of
their own: some malformed responses abort the process.
"""
