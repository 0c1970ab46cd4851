"""The form of a cluster."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from console.clusters import registry_form, security_form
from console.clusters.registry_form import RegistryForm
from monitoring.cluster_security import SECRETS
from monitoring.egress import origins
from monitoring.models import Cluster
from monitoring.reason_texts import translated
from monitoring.secrets import missing_key_problem

# Slugs that would be ambiguous in URLs or Redis keys.
RESERVED = {"add", "all", "none"}
_SECRET_FIELDS = ("token", "new_registry_password", *(f"new_{name}" for name in SECRETS))


class ClusterForm(RegistryForm):
    """The admin token is write-only: it is never shown, and kept if left empty."""

    admin_urls_text = forms.CharField(
        label=_("brokerd admin ports"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=_(
            "Only for brokerd: one broker per line, such as “1 http://10.0.0.1:9192”. Without "
            "it, byte rates, CPU and segments are unknown."
        ),
    )
    token = forms.CharField(
        label=_("Admin port token"),
        required=False,
        max_length=500,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=_(
            "Stored encrypted and never shown again. Leave it empty to keep the current one."
        ),
    )

    class Meta(RegistryForm.Meta):
        fields = (
            "name", "slug", "bootstrap_servers", "zookeeper_connect", "read_only",
            *security_form.COLUMNS, *registry_form.COLUMNS,
        )  # fmt: skip
        labels = (
            security_form.LABELS
            | registry_form.LABELS
            | {
                "name": _("Name"),
                "slug": _("Short name"),
                "bootstrap_servers": _("Bootstrap servers"),
                "zookeeper_connect": _("ZooKeeper"),
                "read_only": _("Read-only: refuse every change to this cluster"),
            }
        )
        help_texts = (
            security_form.HELP_TEXTS
            | registry_form.HELP_TEXTS
            | {
                "slug": _("Used in URLs and in the stored history. It cannot be changed later."),
                "bootstrap_servers": _("One or more brokers as host:port, separated by commas."),
                "zookeeper_connect": _("host:port/path. Leave it empty if the cluster has none."),
            }
        )
        widgets = RegistryForm.Meta.widgets | registry_form.WIDGETS

        error_messages = {
            "slug": {
                "invalid": _("Use lowercase letters, digits and hyphens only."),
                "unique": _("Another cluster has this short name already."),
            }
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["slug"].disabled = True
            lines = [f"{broker} {url}" for broker, url in self.instance.admin_urls.items()]
            self.initial["admin_urls_text"] = "\n".join(lines)

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"])
        if slug != slugify(slug) or slug in RESERVED:
            raise ValidationError(_("Use lowercase letters, digits and hyphens only."))
        return slug

    def clean_admin_urls_text(self) -> dict[str, str]:
        """{"1": "http://…"}; the model's own validator checks the parts."""
        urls = {}
        for line in self.cleaned_data["admin_urls_text"].splitlines():
            if line.strip():
                broker, _space, url = line.strip().partition(" ")
                urls[broker] = url.strip()
        Cluster._meta.get_field("admin_urls").run_validators(urls)
        return urls

    def clean(self) -> dict[str, Any]:
        """If scheme, host or port of an admin URL change, the token must be entered again."""
        data = super().clean() or self.cleaned_data
        urls = data.get("admin_urls_text")
        secret_fields = [field for field in _SECRET_FIELDS if data.get(field)]
        if secret_fields and (problem := missing_key_problem()):
            for field in secret_fields:
                self.add_error(
                    field, _("It cannot be stored: %(why)s.") % {"why": translated(problem)}
                )
        is_kept = self.instance.admin_token and not data.get("token")
        if urls and is_kept and origins(urls.values()) - origins(self.instance.admin_urls.values()):
            text = _("Enter the token again, because the address of an admin port changed.")
            self.add_error("token", text)
        return data

    def save(self, commit: bool = True) -> Cluster:
        self.set_secrets()
        self.instance.admin_urls = self.cleaned_data["admin_urls_text"]
        if self.cleaned_data["token"]:
            self.instance.set_admin_token(self.cleaned_data["token"])
        saved: Cluster = super().save(commit)
        return saved
