"""A change of a cluster, from the form to the audit log. Each app has its action types in actions/.

redirect_to_plan            an app's view calls it with a valid form and a function that calls
                            services.propose
services.propose            reads the facts from the cluster, and stores them as a plan with the
                            draft that its action type makes of them
models.Plan                 the row of the plan, with its state from the proposal to the result
views.detail                the page of the plan, which the user is redirected to and reviews
views.confirm               the user clicks Apply: services.confirm queues the plan (plan_queue)
tasks.apply_plan            the Celery task: calls plan_worker.apply_queued
plan_worker.apply_queued    reads the facts again; if they are the same, calls ActionType.apply
finish_plan.finish          stores the result, and writes the audit entry
views.undo                  services.propose_undo proposes the plan that undoes this one
"""
