from django.urls import path

from console.records import masking_views, panel_view, search_views, views

urlpatterns = [
    path("c/<slug:cluster>/topics/<str:topic>/messages", views.browse, name="messages"),
    path(
        "c/<slug:cluster>/topics/<str:topic>/messages/search",
        search_views.search,
        name="messages-search",
    ),
    path(
        "c/<slug:cluster>/topics/<str:topic>/messages/search/check",
        search_views.check_expression,
        name="messages-search-check",
    ),
    path(
        "c/<slug:cluster>/topics/<str:topic>/messages/export",
        search_views.export,
        name="messages-export",
    ),
    path(
        "c/<slug:cluster>/topics/<str:topic>/messages/search/results",
        search_views.search_results,
        name="messages-search-results",
    ),
    path(
        "c/<slug:cluster>/topics/<str:topic>/messages/<int:partition>/<int:offset>",
        panel_view.panel,
        name="message-panel",
    ),
    path(
        "c/<slug:cluster>/topics/<str:topic>/messages/<int:partition>/<int:offset>/<slug:part>",
        views.download,
        name="message-download",
    ),
    path("c/<slug:cluster>/masking", masking_views.index, name="masking"),
    path(
        "c/<slug:cluster>/masking/<int:rule_id>/remove", masking_views.remove, name="masking-remove"
    ),
]
