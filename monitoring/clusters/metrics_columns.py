"""The columns of a cluster for the metrics of its brokers, and checks of URLs by broker."""

from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from monitoring.egress.url_checks import EgressRefused, split_url
from monitoring.encryption import EncryptedField, decrypt
from monitoring.translate_error_reason import translated

ADMIN_EXAMPLE = "http://10.0.0.1:9192"
METRICS_EXAMPLE = "http://10.0.0.1:7071/metrics"


def check_admin_urls(urls: object) -> None:
    """Raises ValidationError unless this maps broker ids to URLs without a path."""
    for broker, url in _urls_of(urls, ADMIN_EXAMPLE):
        parts = urlsplit(url)
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise _unusable(broker, str(_("it must end after the port")), ADMIN_EXAMPLE)


def check_metrics_urls(urls: object) -> None:
    """Raises ValidationError unless this maps broker ids to URLs."""
    for broker, url in _urls_of(urls, METRICS_EXAMPLE):
        if urlsplit(url).fragment:
            raise _unusable(broker, str(_("it must have no #")), METRICS_EXAMPLE)


def _urls_of(urls: object, example: str) -> list[tuple[str, str]]:
    if not isinstance(urls, dict) or not all(
        key.isdecimal() and isinstance(url, str) for key, url in urls.items()
    ):
        raise ValidationError(
            _("Write one line for each broker, its id and a URL, like “1 %(example)s”."),
            params={"example": example},
        )
    for broker, url in urls.items():
        try:
            split_url(url)
        except EgressRefused as error:
            raise _unusable(broker, translated(error.reason), example) from error
    return list(urls.items())


def _unusable(broker: str, why: str, example: str) -> ValidationError:
    return ValidationError(
        _("The URL of broker %(broker)s cannot be used: %(why)s. Write it like %(example)s."),
        params={"broker": broker, "why": why, "example": example},
    )


class ClusterMetrics(models.Model):
    """An abstract model: where the brokers report metrics in Prometheus' text format."""

    # Broker id → URL; brokerd needs none, as it has an admin port.
    metrics_urls = models.JSONField(blank=True, default=dict, validators=[check_metrics_urls])
    metrics_token = EncryptedField()

    class Meta:
        abstract = True

    def decrypt_metrics_token(self) -> str:
        """The decrypted token, for the gateway only. Raises SecretUnreadable."""
        return decrypt(self.metrics_token)
