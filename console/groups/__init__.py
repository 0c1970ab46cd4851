"""The pages of consumer groups, and the actions on them.

group_list, group_page        the list and the page of a group, from the snapshot
action_views                  the forms of the actions: forms, reset_preview
offset_plans                  proposes a reset: reset_resolution asks the cluster, and
                              reset_rules computes the new offsets
actions/                      the action types: reset_offsets, delete
"""
