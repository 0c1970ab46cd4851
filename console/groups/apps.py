"""The Django app `console.groups`."""

from django.apps import AppConfig


class GroupsConfig(AppConfig):
    name = "console.groups"
