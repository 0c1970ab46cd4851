from django.urls import path

from console.reports import views

_ONE = "c/<slug:cluster>/reports/<uuid:report>"

urlpatterns = [
    path("c/<slug:cluster>/reports", views.index, name="reports"),
    path("c/<slug:cluster>/reports/new", views.new, name="report-new"),
    path(_ONE, views.detail, name="report"),
    path(f"{_ONE}/state", views.state, name="report-state"),
    path(f"{_ONE}/cancel", views.cancel, name="report-cancel"),
    path(f"{_ONE}/delete", views.delete, name="report-delete"),
    path(f"{_ONE}/<slug:table>.<slug:extension>", views.download, name="report-download"),
]
