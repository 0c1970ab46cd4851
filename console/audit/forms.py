"""The filters of the audit log: days, user, action, resource. Sign-ins have their own tab."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.audit.models import SIGN_IN, AuditEntry

SIGN_INS = "sign-ins"
_INPUT = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})


class AuditFilter(forms.Form):
    """An empty field does not filter. Invalid values are reported and do not filter."""

    first = forms.DateField(label=gettext_lazy("First day (UTC)"), required=False, widget=_INPUT)
    last = forms.DateField(label=gettext_lazy("Last day (UTC)"), required=False, widget=_INPUT)
    user = forms.CharField(label=gettext_lazy("User"), required=False, max_length=150)
    action = forms.ChoiceField(
        label=gettext_lazy("Action"),
        required=False,
        widget=forms.Select(attrs={"translate": "no"}),
    )
    resource = forms.CharField(label=gettext_lazy("Resource"), required=False, max_length=300)

    def __init__(self, data: QueryDict, entries: QuerySet[AuditEntry]) -> None:
        """`entries`: their actions are the choices of the field."""
        if "verb" in data:  # what older links call `action`
            data = data.copy()
            data.setdefault("action", data.get("verb", ""))
        super().__init__(data)
        self.shows_sign_ins = data.get("show") == SIGN_INS
        others = entries.exclude(action=SIGN_IN).order_by("action")
        field = self.fields["action"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            ("", "—"),
            *((each, each) for each in others.values_list("action", flat=True).distinct()),
        ]
        if self.shows_sign_ins:
            del self.fields["action"], self.fields["resource"]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        first, last = data.get("first"), data.get("last")
        if first and last and last < first:
            self.add_error("last", _("The last day is before the first one."))
        return data

    @property
    def is_used(self) -> bool:
        return self.is_valid() and any(self.cleaned_data.values())

    def select(self, entries: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        """Those of `entries` that match the filters."""
        if self.shows_sign_ins:
            entries = entries.filter(action=SIGN_IN)
        else:
            entries = entries.exclude(action=SIGN_IN)
        self.is_valid()  # fills cleaned_data
        data = self.cleaned_data
        if first := data.get("first"):
            entries = entries.filter(at__gte=datetime.combine(first, time(), UTC))
        if last := data.get("last"):
            end = datetime.combine(last, time(), UTC) + timedelta(days=1)
            entries = entries.filter(at__lt=end)
        if user := data.get("user"):
            entries = entries.filter(actor_name__icontains=user)
        if action := data.get("action"):
            entries = entries.filter(action=action)
        if resource := data.get("resource"):
            entries = entries.filter(resource__icontains=resource)
        return entries
