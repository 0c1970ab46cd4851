import socket

import pytest

from monitoring.egress.addresses import AllowedTarget
from monitoring.egress.url_checks import EgressRefused, EgressUnresolved, check_url


@pytest.fixture
def resolves_to(monkeypatch):
    """Names answer what the test says: the check must judge it, whatever DNS would say."""

    def answer(*addresses):
        calls = []

        def getaddrinfo(host, port, **_):
            calls.append(host)
            return [(0, 0, 0, "", (address, port)) for address in addresses]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        return calls

    return answer


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://0.0.0.0/",
        "http://10.1.2.3/hook",
        "http://192.168.0.1:8080/",
        "http://[fd00::1]/",
        "http://100.64.0.1/",
        "http://224.0.0.1/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:a00:1::]/",
        "http://[64:ff9b:1::7f00:1]/",
        "http://[::7f00:1]/",
        "http://[fec0::1]/",
        "http://[::ffff:0:7f00:1]/",
        "http://[::ffff:0:5db8:d822]/",
        "http://[5f00::1]/",
        "http://[3fff::1]/",
        "http://[3fff:fff::1]/",
        "http://[2001:20::1]/",
        "http://[1000::1]/",
        "http://[200::1]/",
        "http://[100:0:0:1::1]/",
        "http://[4000::1]/",
        "http://[e000::1]/",
        "http://192.0.0.9/",
        "http://192.0.0.10/",
        "http://192.88.99.1/",
        "http://[::ffff:192.88.99.1]/",
        "http://[64:ff9b::c000:9]/",
    ],
)
def test_an_address_that_is_not_public_is_refused(url):
    with pytest.raises(EgressRefused, match="AERIE_EGRESS_ALLOW"):
        check_url(url)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("file:///etc/passwd", "url_scheme"),
        ("ftp://example.com/", "url_scheme"),
        ("http:///path", "url_without_host"),
        ("http://user:pw@example.com/", "url_with_login"),
        ("http://example.com:99999/", "url_unparsable"),
        ("http://[::1/", "url_unparsable"),
        ("http://example.com:0/", "url_port_0"),
        ("http://exam\nple.com/", "url_control_character"),
        ("http://example.com/a\x00b", "url_control_character"),
        ("http://exam ple.com/", "url_host"),
        ("http://b\udcffcher.example/", "url_host"),
        ("http://a..b/", "url_host"),
        ("http://example.com/" + "a" * 3000, "url_too_long"),
    ],
)
def test_an_invalid_url_is_refused_with_the_reason(url, code):
    with pytest.raises(EgressRefused) as caught:
        check_url(url)
    assert caught.value.reason.code == code


def test_a_request_goes_to_the_address_that_was_checked(resolves_to):
    calls = resolves_to("93.184.216.34")
    target = check_url("https://hooks.example.com:8443/a?b=c#d")
    assert target.url == "https://93.184.216.34:8443/a?b=c"
    assert target.headers == {"Host": "hooks.example.com:8443"}
    assert target.extensions == {"sni_hostname": "hooks.example.com"}
    assert calls == ["hooks.example.com"]


def test_an_international_host_name_is_resolved_in_idna_encoding(resolves_to):
    calls = resolves_to("93.184.216.34")
    assert check_url("https://BÜCHER.example/").headers == {"Host": "xn--bcher-kva.example"}
    assert calls == ["xn--bcher-kva.example"]


def test_a_public_ipv6_address_is_allowed():
    assert check_url("http://[2606:4700::1]/").url == "http://[2606:4700::1]/"


def test_a_nat64_address_of_a_public_address_is_allowed():
    assert check_url("http://[64:ff9b::5db8:d822]/").url == "http://[64:ff9b::5db8:d822]/"


def test_one_private_address_among_public_ones_is_refused(resolves_to):
    resolves_to("93.184.216.34", "10.0.0.1")
    with pytest.raises(EgressRefused) as caught:
        check_url("http://rebind.example.com/")
    assert caught.value.address == "10.0.0.1"
    assert "10.0.0.1" not in str(caught.value)


def test_the_setting_allows_addresses_networks_and_hosts(settings, resolves_to):
    resolves_to("10.9.8.7")
    for allowed in ("10.9.8.7", "10.0.0.0/8", "hooks.internal", "Hooks.Internal"):
        settings.AERIE_EGRESS_ALLOW = (allowed,)
        assert check_url("http://hooks.internal/").url == "http://10.9.8.7/"


def test_the_setting_allows_ipv6_addresses(settings):
    settings.AERIE_EGRESS_ALLOW = ("::1",)
    assert check_url("http://[::1]:8080/").url == "http://[::1]:8080/"


def test_a_caller_may_allow_more_than_the_setting():
    assert check_url("http://127.0.0.1:9192/", [AllowedTarget("127.0.0.1")]).host_header == (
        "127.0.0.1:9192"
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://2852039166/latest/meta-data",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://169.254.170.2/",
        "http://[fe80::1]/",
        "http://[fe80::a9fe:a9fe]/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://192.0.0.192/",
    ],
)
def test_addresses_of_cloud_metadata_are_refused_whatever_is_allowed(settings, url):
    settings.AERIE_EGRESS_ALLOW = ("0.0.0.0/0", "::/0", url.split("/")[2].strip("[]"))
    with pytest.raises(EgressRefused) as caught:
        check_url(url)
    assert caught.value.reason.code == "address_of_metadata"


def test_an_allowed_name_that_resolves_to_cloud_metadata_is_refused(settings, resolves_to):
    settings.AERIE_EGRESS_ALLOW = ("hooks.internal",)
    resolves_to("10.0.0.1", "169.254.169.254")
    with pytest.raises(EgressRefused) as caught:
        check_url("http://hooks.internal/")
    assert caught.value.reason.code == "address_of_metadata"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.0/8"])
def test_a_target_with_a_port_allows_this_port_alone(host):
    assert check_url("http://127.0.0.1:8080/", [AllowedTarget(host, 8080)])
    with pytest.raises(EgressRefused):
        check_url("http://127.0.0.1:8081/", [AllowedTarget(host, 8080)])


def test_a_name_with_a_port_allows_this_port_alone(resolves_to):
    resolves_to("10.0.0.1")
    assert check_url("https://hooks.internal/", [AllowedTarget("hooks.internal", 443)])
    with pytest.raises(EgressRefused):
        check_url("http://hooks.internal/", [AllowedTarget("hooks.internal", 443)])


def test_the_refusal_does_not_show_the_path(resolves_to):
    resolves_to("10.0.0.1")
    with pytest.raises(EgressRefused) as caught:
        check_url("http://hooks.internal/T0KEN")
    assert "T0KEN" not in str(caught.value)


def test_a_name_that_does_not_resolve_may_be_tried_again(monkeypatch):
    def fail(*_, **__):
        raise socket.gaierror("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(EgressUnresolved) as caught:
        check_url("http://nowhere.example/")
    assert caught.value.retriable
