"""Everything that Aerie asks a cluster or changes in it: `gateway.for_cluster(cluster)`.

The properties of a Gateway are the clients of the cluster, each in the module of its name; those
for `topics` and `groups` are topic_admin.py and group_admin.py. wire/ is the project's own Kafka
client. librdkafka/ has the functions of confluent-kafka, which run in processes of their own: some
malformed responses abort the process.
"""
