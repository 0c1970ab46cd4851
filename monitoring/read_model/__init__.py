"""A tick (monitoring/ticks/) prepared for pages, alerts and /metrics. A group and a topic that it
reads are a *pair*.

tick_columns      the tick as NumPy columns, the same for all users; made of
                  partition_columns, group_columns and recent_offsets
scope_masks       which rows a user sees
snapshot          rows and totals for one scope: row_types has the rows
"""
