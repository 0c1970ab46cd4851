"""The Django app `console.accounts`."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "console.accounts"
