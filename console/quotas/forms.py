"""The form of the quotas of an entity."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.quotas.entities import ADDRESS_QUOTAS, CLIENT_QUOTAS, TYPES, entity_of, quotas_for
from monitoring.gateway.wire.quotas import Entity

_NUMBER_MAX = 1e15


def _name_field(label: Any, help_text: Any = "") -> forms.CharField:
    widget = forms.TextInput(attrs={"class": "mono", "spellcheck": "false"})
    return forms.CharField(
        label=label, required=False, max_length=300, widget=widget, help_text=help_text
    )


def _quota_field(label: Any, help_text: Any) -> forms.FloatField:
    return forms.FloatField(
        label=label,
        required=False,
        min_value=1e-9,
        max_value=_NUMBER_MAX,
        help_text=help_text,
    )


class QuotaForm(forms.Form):
    user = _name_field(_("User"), _("<default> stands for all users without a quota of their own."))
    client_id = _name_field(_("Client id"), _("Alone, or of the user; or <default>."))
    ip = _name_field(_("Address"), _("An IP address or <default>, without a user or client id."))
    producer_byte_rate = _quota_field(
        _("Produce"), _("Bytes per second and broker. Empty: no quota.")
    )
    consumer_byte_rate = _quota_field(_("Consume"), _("Bytes per second and broker."))
    request_percentage = _quota_field(
        _("Requests"), _("Percent of the time of one thread per broker.")
    )
    controller_mutation_rate = _quota_field(
        _("Changes of topics"), _("Created and deleted partitions per second.")
    )
    connection_creation_rate = _quota_field(
        _("Connections"), _("Per second and broker; of addresses.")
    )

    def names(self) -> dict[str, str]:
        return {kind: self.cleaned_data[kind.replace("-", "_")] for kind in TYPES}

    @property
    def entity(self) -> Entity:
        return entity_of(self.names())

    def clean(self) -> None:
        data = self.cleaned_data
        if not all(kind.replace("-", "_") in data for kind in TYPES):
            return
        if not self.entity:
            raise ValidationError(_("Enter a user, a client id or an address."))
        if data["ip"] and len(self.entity) > 1:
            self.add_error("ip", _("An address has quotas of its own, without user and client id."))
            return
        wrong = set(CLIENT_QUOTAS + ADDRESS_QUOTAS) - set(quotas_for(self.entity))
        for key in wrong:
            if data.get(key) is not None:
                self.add_error(key, _("This entity does not have this quota."))

    def changed_values(self, now: Mapping[str, float]) -> dict[str, float | None]:
        """Quota → new value, of those that differ from `now`; None = remove."""
        wanted = {key: self.cleaned_data[key] for key in quotas_for(self.entity)}
        return {key: value for key, value in wanted.items() if value != now.get(key)}
