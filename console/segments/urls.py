from django.urls import path

from console.segments import views

_PARTITION = "c/<slug:cluster>/topics/<str:topic>/partitions/<int:partition>/segments"

urlpatterns = [
    path(_PARTITION, views.partition_segments, name="segments"),
    path(f"{_PARTITION}/estimate", views.estimate, name="segments-estimate"),
    path(f"{_PARTITION}/<int:base_offset>", views.segment, name="segment"),
]
