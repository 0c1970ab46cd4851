"""The part of a cluster's form about TLS and SASL. Secrets are write-only: kept if left empty."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from monitoring.clusters.sasl_mechanisms import OAUTHBEARER
from monitoring.clusters.security_columns import (
    PEM_LENGTH_MAX,
    SECRETS,
    check_certificates,
    check_key,
)
from monitoring.models import Cluster

COLUMNS = (
    "security_protocol", "ca_pem", "check_host_name", "certificate_pem", "sasl_mechanism",
    "sasl_username", "token_url", "token_scope",
)  # fmt: skip
LABELS = {
    "security_protocol": _("Security protocol"),
    "ca_pem": _("CA certificates"),
    "check_host_name": _("Check that the certificate is of the broker's host name"),
    "certificate_pem": _("Client certificate"),
    "sasl_mechanism": _("SASL mechanism"),
    "sasl_username": _("User name, or client ID for OAUTHBEARER"),
    "token_url": _("Token endpoint"),
    "token_scope": _("Scope"),
}
HELP_TEXTS = {
    "security_protocol": _("As security.protocol of Kafka's clients."),
    "ca_pem": _("PEM. Leave it empty to trust the CAs that this machine trusts."),
    "certificate_pem": _("PEM. Only if the brokers require client certificates (mutual TLS)."),
    "token_url": _("The URL that answers with access tokens (client-credentials grant)."),
    "token_scope": _("Leave it empty unless the token endpoint requires one."),
}
# If one of these changes, the password must be entered again: otherwise it could be sent to another
# server, or with less protection.
_PASSWORD_BOUND_TO = (
    "bootstrap_servers", "security_protocol", "ca_pem", "check_host_name", "sasl_mechanism",
    "sasl_username", "token_url",
)  # fmt: skip
SECRET_HELP_TEXT = _(
    "Stored encrypted and never shown again. Leave it empty to keep the current one."
)


def pem_area() -> forms.Textarea:
    return forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "autocomplete": "off"})


def _untranslated_select() -> forms.Select:
    """A select whose choices are Kafka's names: browsers must not translate them."""
    return forms.Select(attrs={"translate": "no"})


def password_input() -> forms.PasswordInput:
    return forms.PasswordInput(attrs={"autocomplete": "new-password"})


class SecurityForm(forms.ModelForm):  # type: ignore[type-arg]
    """The fields of TLS and SASL. ClusterForm (forms.py) inherits them."""

    new_private_key = forms.CharField(
        label=_("Private key"),
        required=False,
        max_length=PEM_LENGTH_MAX,
        widget=pem_area(),
        help_text=SECRET_HELP_TEXT,
    )
    new_private_key_password = forms.CharField(
        label=_("Password of the private key"),
        required=False,
        max_length=500,
        widget=password_input(),
        help_text=_("Only if the key is encrypted."),
    )
    new_sasl_password = forms.CharField(
        label=_("Password, or client secret for OAUTHBEARER"),
        required=False,
        max_length=2000,
        strip=False,
        widget=password_input(),
        help_text=SECRET_HELP_TEXT,
    )

    class Meta:
        model = Cluster
        fields: tuple[str, ...] = COLUMNS
        labels: Any = LABELS
        help_texts: Any = HELP_TEXTS
        widgets: Any = {
            "ca_pem": pem_area(),
            "certificate_pem": pem_area(),
            "security_protocol": _untranslated_select(),
            "sasl_mechanism": _untranslated_select(),
        }

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        before: Cluster = self.instance  # has the old values: Django sets new ones after clean()
        protocol = data.get("security_protocol", "")
        if protocol.endswith("SSL"):
            self._check_client_certificate(data, before)
        if protocol.startswith("SASL_"):
            self._check_login(data, before)
        return data

    def _check_client_certificate(self, data: dict[str, Any], before: Cluster) -> None:
        certificate, key = data.get("certificate_pem", ""), data.get("new_private_key", "")
        if not certificate:
            if key:
                self.add_error("certificate_pem", _("Enter the certificate of this private key."))
            return
        if key:
            try:
                check_certificates(certificate)
            except ValidationError:
                return  # reported by the field
            try:
                check_key(certificate, key, data.get("new_private_key_password", ""))
            except ValidationError as error:
                self.add_error("new_private_key", error)
        elif not before.private_key:
            self.add_error("new_private_key", _("Enter the private key of this certificate."))
        elif certificate != before.certificate_pem:
            text = _("Enter the private key again, because the certificate changed.")
            self.add_error("new_private_key", text)

    def _check_login(self, data: dict[str, Any], before: Cluster) -> None:
        if not data.get("sasl_mechanism"):
            self.add_error("sasl_mechanism", _("Choose the mechanism of the login."))
        if not data.get("sasl_username"):
            self.add_error("sasl_username", _("Enter the user name of the login."))
        is_oauth = data.get("sasl_mechanism") == OAUTHBEARER
        if is_oauth and not data.get("token_url") and "token_url" not in self.errors:
            self.add_error("token_url", _("OAUTHBEARER needs the URL of the token endpoint."))
        if data.get("new_sasl_password"):
            return
        if not before.sasl_password:
            self.add_error("new_sasl_password", _("Enter the password of the login."))
        elif any(data.get(name) != getattr(before, name) for name in _PASSWORD_BOUND_TO):
            text = _("Enter the password again, because the connection or the login changed.")
            self.add_error("new_sasl_password", text)

    def entered_secrets(self) -> list[str]:
        """The columns whose secret was entered."""
        return [name for name in SECRETS if self.cleaned_data.get(f"new_{name}")]

    def fill_instance(self) -> None:
        """Set what Django does not: encrypt the entered secrets, delete unused ones."""
        cluster: Cluster = self.instance
        for name in self.entered_secrets():
            cluster.set_secret(name, self.cleaned_data[f"new_{name}"])
        if "private_key" in self.entered_secrets():
            cluster.set_secret(
                "private_key_password", self.cleaned_data["new_private_key_password"]
            )
        if not (cluster.uses_tls and cluster.certificate_pem):
            cluster.private_key = cluster.private_key_password = ""
        if not cluster.uses_sasl:
            cluster.sasl_password = ""
