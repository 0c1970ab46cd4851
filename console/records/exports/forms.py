"""The form of an export: a search, the format, and where to continue."""

from dataclasses import replace

from django import forms
from django.utils.translation import gettext_lazy as _

from console.records.exports.run_export import parse_positions
from console.records.forms import SearchForm
from console.records.start_search import SearchQuery


class ExportForm(SearchForm):
    """The page of the search has its fields."""

    file_format = forms.ChoiceField(
        label=_("Format"),
        choices=[("jsonl", _("JSON Lines")), ("csv", _("CSV")), ("parquet", _("Parquet"))],
        required=False,
    )
    continue_at = forms.CharField(
        label=_("Continue at"),
        max_length=20_000,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "0:1200, 1:1187", "spellcheck": "false"}),
        help_text=_("From the end of an export that was not complete: partition:offset, …"),
    )

    def clean_continue_at(self) -> str:
        text: str = self.cleaned_data["continue_at"]
        try:
            self._positions = parse_positions(text)
        except ValueError as error:
            raise forms.ValidationError(
                _("Enter partition:offset, separated by commas, for example 0:1200, 1:1187.")
            ) from error
        return text

    def export_query(self, topic: str) -> SearchQuery:
        return replace(self.query(topic), positions=self._positions)
