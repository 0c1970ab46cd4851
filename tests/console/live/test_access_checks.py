"""The checks of live pages share jobs, and none is answered from before."""

import asyncio
from typing import Any

import pytest

from console.live.access_checks import CHECKS_PER_JOB, AccessChecks, Key


def run(checks: AccessChecks, keys: list[Key]) -> list[Any]:
    async def ask() -> list[Any]:
        return await asyncio.gather(*(checks.access(*key) for key in keys), return_exceptions=True)

    return asyncio.run(ask())


@pytest.mark.django_db(transaction=True)
def test_each_page_gets_what_its_session_may_and_equal_ones_are_checked_once():
    asked: list[Key] = []

    def find(key: Key) -> Any:
        asked.append(key)
        return key

    keys = [(f"session-{n % 7}", f"cluster-{n % 5}") for n in range(4 * CHECKS_PER_JOB)]
    assert run(AccessChecks(find), keys) == keys
    assert len(asked) == len(set(keys))


@pytest.mark.django_db(transaction=True)
def test_a_check_that_fails_fails_for_its_page_alone():
    def find(key: Key) -> Any:
        if key[0] == "bad":
            raise ValueError("no such session")
        return key

    good, bad = run(AccessChecks(find), [("good", "local"), ("bad", "local")])
    assert good == ("good", "local")
    assert isinstance(bad, ValueError)


@pytest.mark.django_db(transaction=True)
def test_a_right_that_was_taken_away_is_gone_at_the_next_check():
    answers = iter([("cluster", "rights"), None])
    checks = AccessChecks(lambda key: next(answers))  # type: ignore[arg-type, return-value]

    async def ask_twice() -> list[Any]:
        return [await checks.access("session", "local") for _ in range(2)]

    assert asyncio.run(ask_twice()) == [("cluster", "rights"), None]
