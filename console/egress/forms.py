"""The form of a target that outgoing requests may reach."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.egress import services
from console.ui.texts import sentence
from monitoring.egress.addresses import InvalidTarget, normal_form
from monitoring.egress.models import TARGETS_MAX, EgressTarget


class EgressTargetForm(forms.ModelForm):  # type: ignore[type-arg]
    port = forms.IntegerField(
        label=_("Port"),
        required=False,
        min_value=1,
        max_value=65535,
        help_text=_("Empty: every port."),
    )

    class Meta:
        model = EgressTarget
        fields = ("host", "port", "purpose", "note")
        labels = {
            "host": _("Host or network"),
            "purpose": _("Requests"),
            "note": _("Note"),
        }
        help_texts = {
            "host": _("A host name, an address, or a network like 10.1.0.0/16."),
            "purpose": _("The requests that may reach it."),
            "note": _("Why it is allowed."),
        }
        widgets = {
            "host": forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
        }

    def clean_host(self) -> str:
        try:
            return normal_form(self.cleaned_data["host"])
        except InvalidTarget as error:
            raise ValidationError(sentence(error.reason)) from error

    def clean_port(self) -> int:
        return self.cleaned_data["port"] or 0

    def clean(self) -> dict[str, Any]:
        if services.is_full():
            raise ValidationError(
                _("At most %(n)d targets can be allowed. Remove one, or allow a network."),
                params={"n": TARGETS_MAX},
            )
        return super().clean() or self.cleaned_data
