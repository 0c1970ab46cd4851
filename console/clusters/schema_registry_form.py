"""The part of a cluster's form about its schema registry. The password is write-only."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from console.clusters.security_form import SECRET_HELP_TEXT, SecurityForm, password_input, pem_area

COLUMNS = ("registry_url", "registry_username", "registry_ca_pem")
LABELS = {
    "registry_url": _("URL of the registry"),
    "registry_username": _("User name"),
    "registry_ca_pem": _("CA certificates of the registry"),
}
HELP_TEXTS = {
    "registry_url": _(
        "Records in Avro, Protobuf and JSON Schema are decoded with it. Any registry with "
        "Confluent's REST API, such as https://registry.example:8081. Leave it empty if there is "
        "none."
    ),
    "registry_username": _("Only if the registry requires a login (HTTP Basic)."),
    "registry_ca_pem": _("PEM. Leave it empty to trust the CAs that this machine trusts."),
}
WIDGETS: dict[str, forms.Widget] = {
    "registry_url": forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false"}),
    "registry_username": forms.TextInput(attrs={"autocomplete": "off"}),
    "registry_ca_pem": pem_area(),
}


class RegistryForm(SecurityForm):
    """The fields of the schema registry. ClusterForm (forms.py) inherits them."""

    new_registry_password = forms.CharField(
        label=_("Password"),
        required=False,
        max_length=2000,
        strip=False,
        widget=password_input(),
        help_text=SECRET_HELP_TEXT,
    )

    def clean(self) -> dict[str, Any]:
        """If the registry or the login changes, its password must be entered again."""
        data = super().clean()
        before = self.instance
        if data.get("new_registry_password"):
            for name, text in (
                ("registry_url", _("Enter the URL of the registry.")),
                ("registry_username", _("Enter the user name of this password.")),
            ):
                if not data.get(name) and name not in self.errors:
                    self.add_error(name, text)
        elif data.get("registry_url") and data.get("registry_username"):
            is_changed = any(data.get(name) != getattr(before, name) for name in COLUMNS)
            if before.registry_password and is_changed:
                text = _("Enter the password again, because the registry or its login changed.")
                self.add_error("new_registry_password", text)
        return data

    def entered_secrets(self) -> list[str]:
        entered = super().entered_secrets()
        if self.cleaned_data.get("new_registry_password"):
            entered.append("registry_password")
        return entered

    def fill_instance(self) -> None:
        super().fill_instance()
        cluster = self.instance
        if not (cluster.registry_url and cluster.registry_username):
            cluster.registry_password = ""
