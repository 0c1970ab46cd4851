"""The form of a reassignment: brokers and factor, or the replicas of each partition."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from monitoring.gateway.topic_partition import TopicPartition

_LINE = re.compile(r"(?:(?P<topic>\S+)-)?(?P<partition>\d{1,6})\s*:\s*(?P<ids>[\d,\s]+)")
_MIB = 2**20


class ReassignForm(forms.Form):
    brokers = forms.CharField(
        label=_("Brokers"),
        required=False,
        max_length=5000,
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
        help_text=_(
            "Their ids. Replicas are spread evenly over these brokers and their racks; as few as "
            "possible move."
        ),
    )
    factor = forms.IntegerField(
        label=_("Replication factor"),
        min_value=1,
        max_value=100,
        required=False,
        help_text=_("Empty: each topic keeps its own."),
    )
    assignment = forms.CharField(
        label=_("Replicas of each partition"),
        required=False,
        max_length=200_000,
        widget=forms.Textarea(attrs={"class": "mono", "rows": 6, "spellcheck": "false"}),
        help_text=_(
            "One partition per line, the preferred leader first, for example 0: 1, 2, 3. Of "
            "several topics: orders-0: 1, 2, 3. Partitions without a line stay. Empty: Aerie "
            "proposes replicas."
        ),
    )
    throttle = forms.IntegerField(
        label=_("Limit of copying (MiB per second)"),
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text=_("Of each broker, while the partitions move. Empty: no limit."),
    )

    def __init__(self, data: Any, topics: list[str], racks: Mapping[int, str | None]) -> None:
        super().__init__(data)
        self._topics, self._racks = topics, racks
        self.initial["brokers"] = ", ".join(map(str, racks))

    def clean_brokers(self) -> list[int]:
        parts = [part.strip() for part in self.cleaned_data["brokers"].split(",") if part.strip()]
        for part in parts:
            if not _is_id(part) or int(part) not in self._racks:
                raise ValidationError(gettext("Broker “%(id)s” is not up.") % {"id": part[:20]})
        return sorted(set(map(int, parts)))

    def clean_assignment(self) -> dict[TopicPartition, tuple[int, ...]]:
        found: dict[TopicPartition, tuple[int, ...]] = {}
        for number, line in enumerate(self.cleaned_data["assignment"].splitlines(), 1):
            if line.strip():
                key, ids = self._line(number, line.strip())
                found[key] = ids
        return found

    def _line(self, number: int, line: str) -> tuple[TopicPartition, tuple[int, ...]]:
        match = _LINE.fullmatch(line)
        named = match and (match["topic"] or (self._topics[0] if len(self._topics) == 1 else ""))
        if match is None or not named:
            raise ValidationError(
                gettext("Line %(n)d is not like orders-0: 1, 2, 3.") % {"n": number}
            )
        if named not in self._topics:
            text = gettext("Line %(n)d names the topic “%(name)s”, which is not selected.")
            raise ValidationError(text % {"n": number, "name": named})
        parts = [part.strip() for part in match["ids"].split(",")]
        ids = tuple(int(part) for part in parts if _is_id(part))
        if len(ids) != len(parts) or len(set(ids)) != len(ids):
            text = gettext("Line %(n)d needs broker ids with commas, each once.")
            raise ValidationError(text % {"n": number})
        for id in ids:
            if id not in self._racks:
                text = gettext("Line %(n)d: broker %(id)d is not up.")
                raise ValidationError(text % {"n": number, "id": id})
        return (named, int(match["partition"])), ids

    def clean(self) -> None:
        data = self.cleaned_data
        brokers, factor = data.get("brokers") or [], data.get("factor")
        if not data.get("assignment") and "assignment" in data:
            if not brokers:
                self.add_error("brokers", _("Choose at least one broker."))
            elif factor and factor > len(brokers):
                text = gettext("%(factor)d replicas need at least as many brokers.")
                self.add_error("factor", text % {"factor": factor})

    @property
    def throttle_bytes(self) -> int | None:
        mib: int | None = self.cleaned_data["throttle"]
        return mib * _MIB if mib else None


def _is_id(text: str) -> bool:
    return text.isdecimal() and len(text) < 10
