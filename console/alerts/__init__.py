"""The pages of alerts: firing and past alerts, deliveries, and the rules.

rule_views, forms, services   users make, change and delete rules; monitoring/alerts/ evaluates them
alert_lists, views            the lists; visible_alerts has those that a user may see
"""
