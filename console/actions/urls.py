from django.urls import path

from console.actions import views

urlpatterns = [
    path("c/<slug:cluster>/plans/<uuid:plan>", views.show, name="plan"),
    path("c/<slug:cluster>/plans/<uuid:plan>/apply", views.apply, name="plan-apply"),
]
