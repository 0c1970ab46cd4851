from django.urls import path

from console.brokers import views

urlpatterns = [path("c/<slug:cluster>/brokers", views.index, name="brokers")]
