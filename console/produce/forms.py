"""The forms that write records: one record, or a file of JSON Lines."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.produce import data_formats, json_lines, records_as_text
from console.produce.data_formats import SCHEMA, InvalidData
from console.produce.schema_data import FormEncoder, form_encoder, subject_of
from console.produce.write_plans import RecordsToWrite
from console.ui.datetime_input import DateTimeInput, milliseconds_of
from console.ui.kafka_number_limits import OFFSET_MAX, PARTITION_MAX
from monitoring.clusters.schema_registry_settings import RegistrySettings
from monitoring.gateway.producing import COMPRESSIONS, NewRecord
from monitoring.gateway.record_row import Headers, RecordRow

AS_IN_FILE = "file"
_TEXT_MAX = 3 * records_as_text.BYTES_MAX  # hex and spaces
_FORMATS = [
    (data_formats.TEXT, _("Text")),
    (data_formats.JSON, _("JSON, checked")),
    (data_formats.BASE64, _("Base64")),
    (data_formats.HEX, _("Hex")),
    (data_formats.EMPTY, _("Empty (0 bytes)")),
]
_WITH_SCHEMA = (SCHEMA, _("With a schema"))
KEY, VALUE = "key", "value"
_CODE = {"spellcheck": "false", "autocomplete": "off", "autocapitalize": "none"}


class _CodeArea(forms.Textarea):
    def __init__(self, rows: int) -> None:
        super().__init__(attrs={"rows": rows, **_CODE})


def data_field(label: Any, rows: int, help_text: Any = "") -> forms.CharField:
    return forms.CharField(
        label=label, required=False, strip=False, max_length=_TEXT_MAX, widget=_CodeArea(rows),
        help_text=help_text,
    )  # fmt: skip


_SCHEMA_HELP = _(
    "Of Avro, Protobuf or JSON Schema: a subject (its latest version) or an id; nothing: the "
    "subject that is shown. “#Name” after it chooses a message of a .proto file."
)


def schema_field(label: Any, help_text: Any = _SCHEMA_HELP) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=False,
        max_length=600,
        widget=forms.TextInput(attrs=_CODE),
        help_text=help_text,
    )


class WriteForm(forms.Form):
    """The fields of all forms that write: partition, compression and, if the cluster has a schema
    registry, the names of schemas.

    Attributes:
        other_partitions: choices of the field `partition` besides the numbers.
        encoders: "key" or "value" → what encodes it with a schema; of a valid form.
    """

    partition = forms.CharField(label=_("Partition"), required=False, max_length=10)
    compression = forms.ChoiceField(
        label=_("Compression"),
        choices=[(name, _("none") if name == "none" else name) for name in COMPRESSIONS],
        required=False,
        help_text=_("The topic may set its own."),
    )
    other_partitions: tuple[tuple[str, Any], ...] = ()

    def __init__(
        self,
        *args: Any,
        partitions: list[int],
        topic: str,
        registry: RegistrySettings | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.registry, self.encoders = registry, dict[str, FormEncoder]()
        self.topic = topic
        for part in (KEY, VALUE):
            self._offer_schema(f"{part}_schema", f"{part}_format", _WITH_SCHEMA, part)
        numbers = [(str(number), str(number)) for number in partitions]
        choices = [("", _("By key")), *self.other_partitions, *numbers]
        self.fields["partition"].widget.attrs["placeholder"] = _("By key")
        if partitions:
            self.fields["partition"].widget = forms.Select(choices=choices)
        self._partitions = partitions

    def _offer_schema(
        self, schema_name: str, format_name: str, choice: tuple[str, Any], part: str
    ) -> None:
        """Add `choice` (with a schema) to the field `format_name`; the field `schema_name` says
        which schema. Without a registry, remove the latter."""
        if schema_name not in self.fields:
            return
        if self.registry is None:
            del self.fields[schema_name]
            return
        self.fields[schema_name].widget.attrs["placeholder"] = subject_of(self.topic, part)
        field: Any = self.fields[format_name]
        field.choices = [*field.choices, choice]

    def _read_encoder(self, part: str) -> FormEncoder | None:
        """The encoder of a part with a schema; None if it has no schema, or an error."""
        data = self.cleaned_data
        if data.get(f"{part}_format") != SCHEMA or self.registry is None:
            return None
        named, subject = data.get(f"{part}_schema", ""), subject_of(self.topic, part)
        try:
            self.encoders[part] = form_encoder(self.registry, named, subject)
        except InvalidData as error:
            self.add_error(f"{part}_schema", ValidationError(str(error)))
        return self.encoders.get(part)

    def _schema_titles(self) -> dict[str, str]:
        return {part: found.title for part, found in self.encoders.items()}

    def clean_partition(self) -> int | str | None:
        text = self.cleaned_data["partition"].strip()
        if not text or text in dict(self.other_partitions):
            return text or None
        if not (text.isascii() and text.isdigit()) or int(text) > PARTITION_MAX:
            raise ValidationError(_("Enter the number of a partition, or nothing."))
        if self._partitions and int(text) not in self._partitions:
            last = {"last": self._partitions[-1]}
            raise ValidationError(_("This topic has partitions 0 to %(last)d."), params=last)
        return int(text)

    def clean_compression(self) -> str:
        return self.cleaned_data["compression"] or "none"


class RecordForm(WriteForm):
    """One record, written once or several times."""

    key = data_field(_("Key"), 1, _("Nothing: the record has no key (null)."))
    key_format = forms.ChoiceField(label=_("Format of the key"), choices=_FORMATS, required=False)
    key_schema = schema_field(_("Schema of the key"))
    value = data_field(_("Value"), 10)
    value_format = forms.ChoiceField(
        label=_("Format of the value"),
        choices=[*_FORMATS, (data_formats.NULL, _("Null (tombstone)"))],
        required=False,
    )
    value_schema = schema_field(_("Schema of the value"))
    headers = data_field(
        _("Headers"),
        2,
        _("One per line, “name: value”; “name: base64:AAE=”, “name: hex:0001”, “name: null:”."),
    )
    at = forms.DateTimeField(
        label=_("Timestamp (UTC)"),
        required=False,
        widget=DateTimeInput(milliseconds=True),
        help_text=_("Nothing: the time of writing."),
    )
    times = forms.IntegerField(
        label=_("Copies"),
        min_value=1,
        max_value=records_as_text.RECORDS_MAX,
        initial=1,
        required=False,
    )
    field_order = (
        "key", "key_format", "key_schema", "value", "value_format", "value_schema", "headers",
        "partition", "compression", "at", "times",
    )  # fmt: skip

    def clean(self) -> None:
        data = self.cleaned_data
        has_value = data.get("value") or data.get("value_format") in ("empty", "null")
        if "value" in data and not has_value:
            text = _("Enter a value, or choose the format “Empty” or “Null (tombstone)”.")
            self.add_error("value", ValidationError(text))
        for name in ("key", "value"):
            self._parse(name, data.get(f"{name}_format") or data_formats.TEXT)
        if "headers" in data:
            self._set_cleaned("headers", lambda: data_formats.parse_headers(data["headers"]))

    def _parse(self, name: str, data_format: str) -> None:
        text = self.cleaned_data.get(name)
        if text is None:
            return
        if text and data_format in (data_formats.EMPTY, data_formats.NULL):
            self.add_error(name, ValidationError(_("Delete this text, or choose another format.")))
        elif name == "key" and not text and data_format != data_formats.EMPTY:
            self.cleaned_data[name] = None
        elif data_format == SCHEMA:
            if found := self._read_encoder(name):
                self._set_cleaned(name, lambda: found.encode_text(text))
        else:
            self._set_cleaned(name, lambda: data_formats.parse(text, data_format))

    def _set_cleaned(self, name: str, parse: Any) -> None:
        try:
            self.cleaned_data[name] = parse()
        except InvalidData as error:
            self.add_error(name, ValidationError(str(error)))

    def records_to_write(self, topic: str) -> RecordsToWrite:
        data = self.cleaned_data
        at_ms = milliseconds_of(data["at"])
        record = NewRecord(data["key"], data["value"], data["headers"], data["partition"], at_ms)
        return RecordsToWrite(
            topic, [record], data["times"] or 1, data["compression"], schemas=self._schema_titles()
        )


_AS_WRITTEN = [("", _("as the lines say"))]


class LinesForm(WriteForm):
    """Records of a file, or of pasted lines."""

    file = forms.FileField(label=_("File of JSON Lines"), required=False, max_length=300)
    lines = data_field(_("Or the lines themselves"), 8)
    key_format = forms.ChoiceField(label=_("Keys"), choices=_AS_WRITTEN, required=False)
    key_schema = schema_field(_("Schema of the keys"))
    value_format = forms.ChoiceField(label=_("Values"), choices=_AS_WRITTEN, required=False)
    value_schema = schema_field(_("Schema of the values"))
    keeps_times = forms.BooleanField(
        label=_("Keep the timestamps of the file"), required=False, initial=True
    )
    other_partitions = ((AS_IN_FILE, _("As in the file, else by key")),)
    field_order = (
        "file", "lines", "key_format", "key_schema", "value_format", "value_schema", "partition",
        "compression", "keeps_times",
    )  # fmt: skip

    def clean(self) -> None:
        data = self.cleaned_data
        file, lines = data.get("file"), data.get("lines")
        if "file" not in data or "partition" not in data:
            return
        if bool(file) == bool(lines):
            both, none = _("Choose a file or enter lines, not both."), _("Choose a file.")
            self.add_error("file", ValidationError(both if file else none))
            return
        name = "file" if file else "lines"
        if file and file.size > _TEXT_MAX:
            self.add_error(name, ValidationError(_("The file is too large.")))
            return
        content = (
            file.read() if file else str(lines).replace("\r\n", "\n").encode("utf-8", "replace")
        )
        for part in (KEY, VALUE):
            self._read_encoder(part)
        if self.errors:
            return
        try:
            data["records"] = self._records(content)
        except InvalidData as error:
            self.add_error(name, ValidationError(str(error)))
        data["content"] = content

    def _records(self, content: bytes) -> list[NewRecord]:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidData(_("The file is not UTF-8 text.")) from error
        return json_lines.records(
            text,
            records_as_text.RECORDS_MAX,
            keeps_partitions=self.cleaned_data["partition"] == AS_IN_FILE,
            keeps_times=self.cleaned_data.get("keeps_times", False),
            encoders={part: found.encode_value for part, found in self.encoders.items()},
        )

    def records_to_write(self, topic: str) -> RecordsToWrite:
        data = self.cleaned_data
        records, partition = data["records"], data["partition"]
        if isinstance(partition, int):
            records = [
                NewRecord(each.key, each.value, each.headers, partition, each.timestamp_ms)
                for each in records
            ]
        return RecordsToWrite(
            topic,
            records,
            compression=data["compression"],
            file=data["content"],
            schemas=self._schema_titles(),
        )


class SendAgainForm(forms.Form):
    """Which record to send again."""

    partition = forms.IntegerField(min_value=0, max_value=PARTITION_MAX)
    offset = forms.IntegerField(min_value=0, max_value=OFFSET_MAX)


def initial_of(record: RecordRow) -> Mapping[str, Any]:
    """The initial values of a RecordForm for a record; headers that it cannot hold are left out."""
    value, value_format = data_formats.as_text(record.raw_value)
    key, key_format = data_formats.as_text(record.raw_key)
    return {
        "key": key,
        "key_format": data_formats.TEXT if record.key is None else key_format,
        "value": value,
        "value_format": value_format,
        "headers": data_formats.headers_as_text(fitting_headers(record)),
        "partition": str(record.partition),
        "times": 1,
    }


def fitting_headers(record: RecordRow) -> Headers:
    """The headers that a form can hold unchanged."""
    return tuple(each for each in record.headers if data_formats.form_can_hold_headers((each,)))
