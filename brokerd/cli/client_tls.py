"""TLS settings of Kafka's Java clients: as a context for our own client, and with librdkafka's
names."""

import ssl
from collections.abc import Mapping

from brokerd.cli.options import CliError
from brokerd.config.ssl_configs import SslConfigs, is_tls_key, ssl_configs
from brokerd.security.ssl_engine_factory import TlsError, client_context, pem

_IDENTIFICATION = "ssl.endpoint.identification.algorithm"
_TLS = "ssl."
_SAME_IN_LIBRDKAFKA = ("ssl.cipher.suites", "ssl.key.password")


def security_protocol(properties: Mapping[str, str]) -> str:
    """PLAINTEXT or SSL. Raises CliError for others."""
    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in ("PLAINTEXT", "SSL"):
        raise CliError(f"security.protocol={protocol} is not supported: PLAINTEXT and SSL are")
    return protocol


def context(properties: Mapping[str, str]) -> ssl.SSLContext | None:
    """The context for our own client; None for PLAINTEXT. Raises CliError."""
    if security_protocol(properties) == "PLAINTEXT":
        return None
    try:
        check_hostname = properties.get(_IDENTIFICATION, "https") != ""
        return client_context(_settings(properties), check_hostname=check_hostname)
    except TlsError as error:
        raise CliError(str(error)) from None


def _settings(properties: Mapping[str, str]) -> SslConfigs:
    problems: list[str] = []
    settings = ssl_configs(properties, "", problems, needs_key=False)
    if problems:
        raise CliError("; ".join(problems))
    return settings


def for_librdkafka(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with librdkafka's names of the TLS settings. Raises CliError."""
    if properties.get("security.protocol", "").upper() not in ("SSL", "SASL_SSL"):
        return {key: value for key, value in properties.items() if not key.startswith(_TLS)}
    settings = _settings(properties)
    given = {key: value for key, value in properties.items() if not is_tls_key(key)}
    given |= {key: properties[key] for key in _SAME_IN_LIBRDKAFKA if key in properties}
    if _IDENTIFICATION in given:
        given[_IDENTIFICATION] = given[_IDENTIFICATION] or "none"
    given_settings = {
        "ssl.ca.location": settings.truststore.location,
        "ssl.ca.pem": pem(settings.truststore.certificates),
        "ssl.certificate.location": settings.keystore.location,
        "ssl.key.location": settings.keystore.location,
        "ssl.certificate.pem": pem(settings.keystore.certificates),
        "ssl.key.pem": pem(settings.keystore.key),
    }
    return given | {key: value for key, value in given_settings.items() if value}
