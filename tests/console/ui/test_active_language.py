"""The active language is that of a thread or a task, and needs no lock."""

import asyncio
import threading

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.utils import translation
from django.utils.translation import trans_real

from console.ui.active_language import ActiveTranslation


@pytest.fixture(autouse=True)
def language_before():
    # Django's test support puts its own back when a test changes a setting of languages.
    apps.get_app_config("ui").ready()
    with translation.override(translation.get_language()):
        yield


def test_django_uses_it():
    assert isinstance(trans_real._active, ActiveTranslation)


def test_a_language_is_activated_overridden_and_deactivated():
    translation.activate("de")
    with translation.override("fr"):
        assert translation.get_language() == "fr"
    assert translation.get_language() == "de"
    translation.deactivate()
    assert translation.get_language() == "en"
    with translation.override(None):
        assert translation.get_language() is None


def test_a_thread_does_not_see_the_language_of_another():
    translation.activate("de")
    found = []
    thread = threading.Thread(target=lambda: found.append(translation.get_language()))
    thread.start()
    thread.join()
    assert found == ["en"]


async def test_a_view_in_a_thread_has_the_language_of_its_task():
    async def language_of(code):
        translation.activate(code)
        await asyncio.sleep(0)
        return await sync_to_async(translation.get_language)()

    assert await asyncio.gather(language_of("de"), language_of("fr")) == ["de", "fr"]
