"""All requests to clusters, for reads and changes: `gateway.for_cluster(cluster)`.

Most properties of a Gateway are clients of the cluster, each in the module of its name; `topics`,
`groups` and `wire` are in topic_admin.py, group_admin.py and wire/sync_client.py.
`kafka_client_settings` and `registry` are settings. wire/ is the project's own Kafka
client. librdkafka/ has the functions of confluent-kafka, which run in processes of their own: some
malformed responses abort the process.
"""
