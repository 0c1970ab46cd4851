"""A sample of a cluster, from the message of Celery beat to the number that pages are sent.

tasks.sample                  gets the number of the tick; a thread for each cluster
sample_cluster                takes the cluster's lock, and calls what follows
reader_pool                   keeps a reader of each cluster between ticks
sample_reader                 reads the cluster: first groups with their committed offsets
                              (gateway/wire/offset_fetch.py), later the log start and end offsets
                              (ClusterClient.read_offsets in gateway/wire/cluster_client.py)
time_limits                   has the times of its steps
last_record_choice            chooses the partitions whose last record is read
assemble                      makes the tables: group_validation, group_tables
carry_over                    adds what is known from the previous tick
ticks.tick_stream.put_tick    stores the tick in Redis
store_events.store            stores what happened since the last tick (monitoring/cluster_events/)
sample_cluster.notify         sends the tick's number to the web processes (console/live/)
alerts.evaluate               evaluates the alert rules (monitoring/alerts/); if an alert changed,
                              pages are notified again
"""
