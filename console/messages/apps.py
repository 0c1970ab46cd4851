"""The Django app `console.messages`."""

from django.apps import AppConfig


class MessagesConfig(AppConfig):
    name = "console.messages"
    label = "console_messages"  # "messages" is django.contrib.messages
