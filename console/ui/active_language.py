"""Django's active language without a lock.

Django keeps it in an `asgiref.local.Local`: each read takes a lock that all threads share. A page
reads it some hundred times, and a thread that loses the GIL while it has the lock stops the others.
With 20 users and 50 open pages, 27 % of what the threads did was to wait for this lock (py-spy). A
ContextVar has the same scope (a thread, or a task and what it starts), and needs no lock.
"""

from contextvars import ContextVar
from typing import Any

from django.utils.translation import trans_real


class ActiveTranslation:
    """Has `value`, the translation that is active, as Django reads, sets and deletes it."""

    def __init__(self) -> None:
        self._value: ContextVar[Any] = ContextVar("active_translation", default=None)

    @property
    def value(self) -> Any:
        """Raises AttributeError if no language is active."""
        found = self._value.get()
        if found is None:
            raise AttributeError("value")
        return found

    @value.setter
    def value(self, translation: Any) -> None:
        self._value.set(translation)

    @value.deleter
    def value(self) -> None:
        self._value.set(None)


def use_no_lock() -> None:
    """Replace Django's `Local`. Call it before the first request of a process."""
    trans_real._active = ActiveTranslation()  # type: ignore[attr-defined]
