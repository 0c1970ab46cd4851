"""The URLs of plans."""

from django.urls import path

from console.actions import views

urlpatterns = [
    path("c/<slug:cluster>/plans/<uuid:plan>", views.detail, name="plan"),
    path("c/<slug:cluster>/plans/<uuid:plan>/apply", views.confirm, name="plan-apply"),
    path("c/<slug:cluster>/plans/<uuid:plan>/undo", views.undo, name="plan-undo"),
    path("c/<slug:cluster>/plans/<uuid:plan>/stop", views.stop, name="plan-stop"),
    path("c/<slug:cluster>/plans/<uuid:plan>/resume", views.resume, name="plan-resume"),
]
