from django.urls import path

from console.reassignments import views

_PAGE = "c/<slug:cluster>/reassignments"

urlpatterns = [
    path(_PAGE, views.index, name="reassignments"),
    path(f"{_PAGE}/cancel", views.cancel, name="reassignments-cancel"),
    path("c/<slug:cluster>/elect-leaders", views.elect, name="elect-leaders"),
    path("c/<slug:cluster>/reassign", views.plan_reassign, name="reassign"),
]
