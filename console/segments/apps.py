"""The Django app `console.segments`."""

from django.apps import AppConfig


class SegmentsConfig(AppConfig):
    name = "console.segments"
