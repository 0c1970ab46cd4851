from django.urls import path

from console.pipeline import views

urlpatterns = [
    path("c/<slug:cluster>/pipeline", views.index, name="pipeline"),
    path("c/<slug:cluster>/pipeline/stop", views.stop, name="pipeline-stop"),
    path("c/<slug:cluster>/pipeline/resume", views.resume, name="pipeline-resume"),
]
