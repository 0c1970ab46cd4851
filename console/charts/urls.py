from django.urls import path

from console.charts import views

urlpatterns = [path("c/<slug:cluster>/chart", views.chart, name="chart")]
