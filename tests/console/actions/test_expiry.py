from console.actions.expiry import is_expired

MINUTES_15_MS = 15 * 60 * 1000


def test_a_plan_expires_after_15_minutes():
    assert not is_expired(1000, 1000 + MINUTES_15_MS)
    assert is_expired(1000, 1001 + MINUTES_15_MS)
