"""A change of a cluster, from the form to the audit log. Each app has its action types in actions/.

services.propose            an app's view calls it, by redirect_to_plan: reads the facts, and stores
                            a plan
views.detail                the page on which the user reviews the plan
services.confirm            queues the plan: plan_queue.send
tasks.apply_plan            the Celery task, which calls the next one
plan_worker.apply_queued    reads the facts again, and calls ActionType.apply of the action
finish_plan.finish          stores the result, and writes the audit entry
services.propose_undo       stores a plan that undoes this one; it takes the same way
"""
