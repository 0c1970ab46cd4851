from django.urls import path

from console.alerts import rule_views, views

urlpatterns = [
    path("c/<slug:cluster>/alerts", views.index, name="alerts"),
    path("c/<slug:cluster>/alerts/deliveries", views.deliveries, name="alert-deliveries"),
    path("c/<slug:cluster>/alerts/rules", rule_views.index, name="alert-rules"),
    path("c/<slug:cluster>/alerts/rules/add", rule_views.add, name="alert-rule-add"),
    path("c/<slug:cluster>/alerts/rules/<int:rule>", rule_views.edit, name="alert-rule"),
    path("c/<slug:cluster>/alerts/rules/<int:rule>/switch", rule_views.switch, name="alert-switch"),
    path("c/<slug:cluster>/alerts/rules/<int:rule>/test", rule_views.test, name="alert-test"),
    path("c/<slug:cluster>/alerts/rules/<int:rule>/delete", rule_views.delete, name="alert-delete"),
]
