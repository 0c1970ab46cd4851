import pytest

from monitoring.egress.addresses import InvalidTarget, normal_form


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (" Hooks.Internal ", "hooks.internal"),
        ("BÜCHER.lan", "xn--bcher-kva.lan"),
        ("localhost", "localhost"),
        ("10.1.2.3", "10.1.2.3"),
        ("10.1.2.3/32", "10.1.2.3"),
        ("10.1.2.3/16", "10.1.0.0/16"),
        ("127.0.0.1", "127.0.0.1"),
        ("[FD00::0001]", "fd00::1"),
        ("fd00::1/64", "fd00::/64"),
        ("fc00::/7", "fc00::/7"),
    ],
)
def test_a_target_has_one_normal_form(text, stored):
    assert normal_form(text) == stored
    assert normal_form(stored) == stored


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "target_invalid"),
        ("http://hooks.internal/", "target_invalid"),
        ("hooks.internal:8080", "target_invalid"),
        ("two names", "target_invalid"),
        ("10.0.0.0/40", "target_invalid"),
        ("10.1", "target_invalid"),
        ("2130706433", "target_invalid"),
        ("0x7f000001", "target_invalid"),
        ("0.0.0.0/0", "target_too_wide"),
        ("::/0", "target_too_wide"),
        ("8.8.8.8", "target_public"),
        ("2606:4700::/32", "target_public"),
        ("169.254.169.254", "address_of_metadata"),
        ("169.254.0.0/16", "address_of_metadata"),
        ("::ffff:169.254.169.254", "address_of_metadata"),
        ("fe80::1", "address_of_metadata"),
        ("fd00:ec2::254", "address_of_metadata"),
        ("168.63.129.16", "address_of_metadata"),
    ],
)
def test_what_cannot_be_a_target_is_refused_with_the_reason(text, code):
    with pytest.raises(InvalidTarget) as caught:
        normal_form(text)
    assert caught.value.reason.code == code
