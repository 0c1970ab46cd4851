"""The forms of saved queries; services.py checks the values."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from console.saved_queries.models import NAME_LENGTH_MAX


class NameForm(forms.Form):
    """Name and sharing. Without the right to share there is no such field."""

    name = forms.CharField(label=_("Name"), max_length=NAME_LENGTH_MAX)
    is_shared = forms.BooleanField(
        label=_(
            "Shared with all users who may see this page and all topics and groups of the cluster"
        ),
        required=False,
    )

    def __init__(self, *args: Any, may_share: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_share:
            del self.fields["is_shared"]


class SaveForm(NameForm):
    """A new query: the page fills the hidden fields."""

    page = forms.CharField(widget=forms.HiddenInput, max_length=40)
    topic = forms.CharField(widget=forms.HiddenInput, max_length=249, required=False)
    query = forms.CharField(widget=forms.HiddenInput, required=False)
