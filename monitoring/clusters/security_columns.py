"""The columns of a cluster for TLS and SASL, after `security.protocol` and `sasl.mechanism`."""

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from monitoring.clusters.kafka_client_settings import PLAINTEXT, PROTOCOLS, SSL, Sasl, Tls
from monitoring.clusters.sasl_mechanisms import OAUTHBEARER, SASL_MECHANISMS
from monitoring.egress.models import EgressTarget, allowed_for
from monitoring.egress.url_checks import EgressRefused, split_url
from monitoring.encryption import EncryptedField, decrypt, encrypt
from monitoring.translate_error_reason import translated

PEM_LENGTH_MAX = 200_000
# The columns that only the gateway decrypts.
SECRETS = ("private_key", "private_key_password", "sasl_password")


def check_certificates(text: str) -> None:
    """Raises ValidationError if `text` is not one or several certificates in PEM format."""
    try:
        x509.load_pem_x509_certificates(text.encode())
    except ValueError as error:
        raise ValidationError(
            _("This is no certificate in PEM format (-----BEGIN CERTIFICATE----- …).")
        ) from error


def check_key(certificate_pem: str, key_pem: str, password: str) -> None:
    """Raises ValidationError if the key cannot be read or does not belong to the certificate, which
    must be valid."""
    try:
        secret = password.encode() if password else None
        key = serialization.load_pem_private_key(key_pem.encode(), secret)
    except (ValueError, TypeError) as error:
        raise ValidationError(
            _("This is no private key in PEM format, or its password is missing or wrong.")
        ) from error
    certificate = x509.load_pem_x509_certificates(certificate_pem.encode())[0]
    if certificate.public_key() != key.public_key():
        raise ValidationError(_("The private key does not belong to the first certificate."))


def _check_token_url(url: str) -> None:
    try:
        split_url(url)
    except EgressRefused as error:
        raise ValidationError(
            _("This URL cannot be used: %(why)s."), params={"why": translated(error.reason)}
        ) from error


class ClusterSecurity(models.Model):
    """An abstract model: how clients of the cluster authenticate it and themselves."""

    security_protocol = models.CharField(
        max_length=20,
        default=PLAINTEXT,
        choices=[(name, name) for name in PROTOCOLS],
    )
    # PEM texts. Empty = the CAs that this machine trusts.
    ca_pem = models.TextField(
        blank=True, default="", max_length=PEM_LENGTH_MAX, validators=[check_certificates]
    )
    check_host_name = models.BooleanField(default=True)
    certificate_pem = models.TextField(
        blank=True, default="", max_length=PEM_LENGTH_MAX, validators=[check_certificates]
    )
    private_key = EncryptedField()
    private_key_password = EncryptedField()
    sasl_mechanism = models.CharField(
        max_length=20,
        blank=True,
        default="",
        choices=[(name, name) for name in SASL_MECHANISMS],
    )
    # With OAUTHBEARER: the client's id and secret.
    sasl_username = models.CharField(max_length=500, blank=True, default="")
    sasl_password = EncryptedField()
    token_url = models.CharField(
        max_length=1000, blank=True, default="", validators=[_check_token_url]
    )
    token_scope = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        abstract = True

    @property
    def uses_tls(self) -> bool:
        return self.security_protocol.endswith(SSL)

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol.startswith("SASL_")

    def set_secret(self, column: str, secret: str) -> None:
        """Store a secret in its column, encrypted; users can set it but not read it."""
        setattr(self, column, encrypt(secret))

    def tls(self) -> Tls | None:
        """The settings of TLS; None = without TLS. Raises SecretUnreadable."""
        if not self.uses_tls:
            return None
        return Tls(
            self.ca_pem,
            self.certificate_pem,
            decrypt(self.private_key),
            decrypt(self.private_key_password),
            self.check_host_name,
        )

    def sasl(self) -> Sasl | None:
        """The settings of the login; None = without SASL. Raises SecretUnreadable."""
        if not self.uses_sasl:
            return None
        is_oauth = self.sasl_mechanism == OAUTHBEARER
        return Sasl(
            self.sasl_mechanism,
            self.sasl_username,
            decrypt(self.sasl_password),
            self.token_url if is_oauth else "",
            self.token_scope if is_oauth else "",
            allowed_for(EgressTarget.Purpose.TOKEN) if is_oauth else (),
        )
