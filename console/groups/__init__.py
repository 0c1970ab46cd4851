"""The pages of consumer groups, and the actions on them.

group_list, group_page        the list and the page of a group, from the snapshot
action_views                  the forms of the actions: forms, reset_preview
offset_plans                  proposes a reset: read_partitions_to_reset reads the cluster, and
                              compute_reset_offsets decides on the new offsets
actions/                      the action types: reset_offsets, delete
"""
