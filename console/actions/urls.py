"""The URLs of plans."""

from django.urls import path

from console.actions import views

urlpatterns = [
    path("c/<slug:cluster>/plans/<uuid:plan_id>", views.detail, name="plan"),
    path("c/<slug:cluster>/plans/<uuid:plan_id>/apply", views.confirm, name="plan-confirm"),
    path("c/<slug:cluster>/plans/<uuid:plan_id>/undo", views.undo, name="plan-undo"),
    path("c/<slug:cluster>/plans/<uuid:plan_id>/stop", views.stop, name="plan-stop"),
    path("c/<slug:cluster>/plans/<uuid:plan_id>/resume", views.resume, name="plan-resume"),
]
