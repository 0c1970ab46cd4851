"""What is counted as one account and one address, and how many attempts are let through."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from console.accounts import sign_in_lockout

HOME = "192.0.2.7"

pytestmark = pytest.mark.usefixtures("redis_server")


def let_through(*attempts: tuple[str, str]) -> int:
    return sum(not sign_in_lockout.refused_attempts(name, address) for name, address in attempts)


def test_parallel_attempts_get_no_more_password_checks_than_sequential_ones():
    with ThreadPoolExecutor(40) as pool:
        answers = list(
            pool.map(lambda _: not sign_in_lockout.refused_attempts("eve", HOME), range(40))
        )
    assert sum(answers) == sign_in_lockout.MAX_PER_ACCOUNT


@pytest.mark.parametrize(
    "equivalent",
    [" eve", "eve\u00a0", "EVE", "\uff45\uff56\uff45", " \uff25ve ", " " * 200 + "eve"],
)  # fmt: skip
def test_spellings_of_a_name_count_as_one_account(equivalent):
    assert (
        let_through(*[("eve", HOME)] * sign_in_lockout.MAX_PER_ACCOUNT)
        == sign_in_lockout.MAX_PER_ACCOUNT
    )
    assert sign_in_lockout.refused_attempts(equivalent, HOME)
    assert not sign_in_lockout.refused_attempts("eva", HOME)


@pytest.mark.parametrize(
    ("address", "equivalent", "another"),
    [
        ("127.0.0.1", "127.9.8.7", "128.0.0.1"),
        ("127.0.0.1", "::1", "::2"),
        ("::1", "::ffff:127.0.0.2", "::ffff:192.0.2.1"),
        ("192.0.2.7", "::ffff:192.0.2.7", "192.0.2.8"),
        ("2001:db8::1", "2001:db8:0:0:ffff::", "2001:db8:0:1::1"),
        ("", "", "192.0.2.7"),
    ],
)
def test_loopback_addresses_and_an_ipv6_network_count_as_one_address(address, equivalent, another):
    let_through(*[("eve", address)] * sign_in_lockout.MAX_PER_ACCOUNT)
    assert sign_in_lockout.refused_attempts("eve", equivalent)
    assert not sign_in_lockout.refused_attempts("eve", another)


def test_an_address_is_locked_after_failures_for_many_accounts():
    names = [(f"name-{number}", HOME) for number in range(2 * sign_in_lockout.MAX_PER_ADDRESS)]
    assert let_through(*names) == sign_in_lockout.MAX_PER_ADDRESS
    assert not sign_in_lockout.refused_attempts("eve", "192.0.2.8")


def test_successful_sign_ins_do_not_lock_an_account():
    for _ in range(2 * sign_in_lockout.MAX_PER_ADDRESS):
        assert not sign_in_lockout.refused_attempts("eve", HOME)
        sign_in_lockout.reset_after_success("eve", HOME)


def test_a_refused_attempt_counts_for_no_other_account():
    let_through(*[("eve", HOME)] * (2 * sign_in_lockout.MAX_PER_ADDRESS))
    assert not sign_in_lockout.refused_attempts("eva", HOME)


@pytest.mark.parametrize("name", ["", "\x00", "\ud800", "e" * 100_000])
def test_any_name_can_be_counted(name):
    assert (
        let_through(*[(name, HOME)] * (sign_in_lockout.MAX_PER_ACCOUNT + 1))
        == sign_in_lockout.MAX_PER_ACCOUNT
    )
