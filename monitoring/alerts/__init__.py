"""Alerts, from the lags of a tick to a message at a webhook. Users make the rules in
console/alerts/.

evaluate                  is called after each tick (monitoring/sampling/sample_cluster.py)
lags_for_rules            the lags of the tick, by group and topic (lag_condition.RuleInput)
lag_condition             decides which subjects are over the threshold of a rule
state_machine             decides which alerts fire and which resolve
stored_pending_subjects   stores the subjects whose alert may fire in a later tick
webhook_message           the message; it is stored as an AlertDelivery (models.py)
delivery_queue.enqueue    queues the task `deliver` with its id
tasks.deliver             sends the message to the webhook: post_webhook.post
delivery_retries          whether and when it is sent again, if that failed
"""
