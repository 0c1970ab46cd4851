"""The filters of the audit log: days, user, action, resource. Sign-ins have their own tab."""

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy

from console.audit.models import SIGN_IN, AuditEntry
from console.ui.day_range import DayRangeForm

SIGN_INS = "sign-ins"


class AuditFilter(DayRangeForm):
    """An empty field does not filter. Invalid values are reported and do not filter."""

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

    def select(self, entries: QuerySet[AuditEntry]) -> QuerySet[AuditEntry]:
        """Those of `entries` that match the filters."""
        if self.shows_sign_ins:
            entries = entries.filter(action=SIGN_IN)
        else:
            entries = entries.exclude(action=SIGN_IN)
        if start := self.start():
            entries = entries.filter(at__gte=start)
        if end := self.end():
            entries = entries.filter(at__lt=end)
        data = self.cleaned_data
        if user := data.get("user"):
            entries = entries.filter(actor_name__icontains=user)
        if action := data.get("action"):
            entries = entries.filter(action=action)
        if resource := data.get("resource"):
            entries = entries.filter(resource__icontains=resource)
        return entries
