"""The Django app `console.layout`: what is around every page, and the pages without an app."""

from django.apps import AppConfig


class LayoutConfig(AppConfig):
    name = "console.layout"
