"""What happened in a cluster: rebalances of groups, and brokers that left or came back.

sampling.sample_cluster       calls `store_events.store` with each tick and the last ok one before
rebalances, broker_changes    find the events between the two ticks
models                        the rows, of which pages show those of a time (console/dashboard/)
tasks                         deletes old rows
"""
