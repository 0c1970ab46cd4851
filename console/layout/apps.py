"""The Django app `console.layout`: the layout of all pages, error pages, and the home page."""

from django.apps import AppConfig


class LayoutConfig(AppConfig):
    name = "console.layout"
