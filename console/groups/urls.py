from django.urls import path

from console.groups import views

urlpatterns = [
    path("c/<slug:cluster>/groups", views.index, name="groups"),
    path("c/<slug:cluster>/group-lag", views.lag, name="group-lag"),
    # A group's name may hold a slash.
    path("c/<slug:cluster>/groups/<path:group>", views.detail, name="group"),
]
