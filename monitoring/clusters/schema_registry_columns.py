"""The columns of a cluster for its schema registry."""

from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.clusters.security_columns import PEM_LENGTH_MAX, check_certificates
from monitoring.egress.models import EgressTarget, allowed_for
from monitoring.egress.url_checks import EgressRefused, setting_targets, split_url
from monitoring.encryption import EncryptedField, decrypt
from monitoring.translate_error_reason import translated


def check_registry_url(url: str) -> None:
    """Raises ValidationError unless this is a URL to which paths can be added."""
    try:
        split_url(url)
    except EgressRefused as error:
        why = translated(error.reason)
    else:
        parts = urlsplit(url)
        if not parts.query and not parts.fragment:
            return
        why = str(_("it must have no ? and no #"))
    raise ValidationError(_("This URL cannot be used: %(why)s."), params={"why": why})


class ClusterSchemaRegistry(models.Model):
    """An abstract model: where the schemas of the cluster's records are."""

    # The base URL of Confluent's REST API. Empty = the cluster has no registry.
    registry_url = models.CharField(
        max_length=1000, blank=True, default="", validators=[check_registry_url]
    )
    registry_username = models.CharField(max_length=500, blank=True, default="")
    registry_password = EncryptedField()
    # PEM. Empty = the CAs that this machine trusts.
    registry_ca_pem = models.TextField(
        blank=True, default="", max_length=PEM_LENGTH_MAX, validators=[check_certificates]
    )

    class Meta:
        abstract = True

    def registry(self) -> RegistrySettings | None:
        """The settings of the registry; None = there is none. Raises SecretUnreadable."""
        if not self.registry_url:
            return None
        return RegistrySettings(
            self.registry_url,
            self.registry_username,
            decrypt(self.registry_password),
            self.registry_ca_pem,
            (*setting_targets(), *allowed_for(EgressTarget.Purpose.REGISTRY)),
        )
