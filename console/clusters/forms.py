"""The form of a cluster."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from console.clusters import schema_registry_form, security_form
from console.clusters.metrics_form import MetricsForm
from monitoring.clusters.security_columns import SECRETS
from monitoring.encryption import missing_key_problem
from monitoring.models import Cluster
from monitoring.translate_error_reason import translated

# Slugs that would be ambiguous in URLs or Redis keys.
RESERVED = {"add", "all", "none"}
_SECRET_FIELDS = (
    "token", "new_metrics_token", "new_registry_password", *(f"new_{name}" for name in SECRETS)
)  # fmt: skip


class ClusterForm(MetricsForm):
    """The whole form. Each part is a class that inherits the one before it: SecurityForm,
    RegistryForm, MetricsForm."""

    class Meta(MetricsForm.Meta):
        fields = (
            "name", "slug", "bootstrap_servers", "zookeeper_connect", "read_only",
            *security_form.COLUMNS, *schema_registry_form.COLUMNS,
        )  # fmt: skip
        labels = (
            security_form.LABELS
            | schema_registry_form.LABELS
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
            | schema_registry_form.HELP_TEXTS
            | {
                "slug": _("Used in URLs and in the stored history. It cannot be changed later."),
                "bootstrap_servers": _("One or more brokers as host:port, separated by commas."),
                "zookeeper_connect": _("host:port/path. Leave it empty if the cluster has none."),
            }
        )
        widgets = MetricsForm.Meta.widgets | schema_registry_form.WIDGETS

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

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"])
        if slug != slugify(slug) or slug in RESERVED:
            raise ValidationError(_("Use lowercase letters, digits and hyphens only."))
        return slug

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        secret_fields = [field for field in _SECRET_FIELDS if data.get(field)]
        if secret_fields and (problem := missing_key_problem()):
            for field in secret_fields:
                self.add_error(
                    field, _("It cannot be stored: %(why)s.") % {"why": translated(problem)}
                )
        return data

    def save(self, commit: bool = True) -> Cluster:
        self.fill_instance()
        saved: Cluster = super().save(commit)
        return saved
