"""A change of a cluster, from the form to the audit log. Each app has its action types in actions/.

services.propose           reads the facts and stores a plan; an app's view calls it
views                      the page on which the user reviews the plan
services.confirm           queues the plan: plan_queue.send
tasks.apply_plan           the Celery task; it calls apply_plan.apply_queued
apply_plan.apply_queued    reads the facts again, and calls ActionType.apply of the action
finish.finish              stores the result, and writes the audit entry
"""
