from django.urls import path

from console.produce import views

_TOPIC = "c/<slug:cluster>/topics/<str:topic>"

urlpatterns = [
    path(f"{_TOPIC}/write", views.write_one, name="record-write"),
    path(f"{_TOPIC}/write/lines", views.write_lines, name="record-write-lines"),
    path(f"{_TOPIC}/write/mock", views.write_mock, name="record-mock"),
    path(f"{_TOPIC}/copy", views.copy, name="record-copy"),
]
