"""The part of a cluster's form about admin ports and metrics of its brokers: a line for each
broker. The tokens are write-only."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from console.clusters.schema_registry_form import RegistryForm
from console.clusters.security_form import SECRET_HELP_TEXT
from monitoring.clusters.metrics_columns import check_admin_urls, check_metrics_urls
from monitoring.egress.url_checks import origins

_CHECKS = {"admin_urls": check_admin_urls, "metrics_urls": check_metrics_urls}


def _textarea() -> forms.Textarea:
    return forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})


def _token_input() -> forms.PasswordInput:
    return forms.PasswordInput(attrs={"autocomplete": "off"})


class MetricsForm(RegistryForm):
    """The fields of admin ports and metrics. ClusterForm (forms.py) inherits them."""

    admin_urls_text = forms.CharField(
        label=_("brokerd admin ports"),
        required=False,
        widget=_textarea(),
        help_text=_(
            "Only for brokerd: one broker per line, such as “1 http://10.0.0.1:9192”. Without "
            "it, byte rates, CPU and segments are unknown."
        ),
    )
    token = forms.CharField(
        label=_("Admin port token"),
        required=False,
        max_length=500,
        widget=_token_input(),
        help_text=SECRET_HELP_TEXT,
    )
    metrics_urls_text = forms.CharField(
        label=_("Metrics addresses"),
        required=False,
        widget=_textarea(),
        help_text=_(
            "For other brokers than brokerd: one broker per line, such as “1 "
            "http://10.0.0.1:7071/metrics”, in Prometheus’ text format, as of a JMX exporter. "
            "Without it, requests and latencies are unknown."
        ),
    )
    new_metrics_token = forms.CharField(
        label=_("Metrics token"),
        required=False,
        max_length=2000,
        widget=_token_input(),
        help_text=_(
            "Only if the addresses require a bearer token. Stored encrypted and never shown again. "
            "Leave it empty to keep the current one."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("admin_urls", "metrics_urls"):
            urls: dict[str, str] = getattr(self.instance, name)
            lines = [f"{broker} {url}" for broker, url in urls.items()]
            self.initial[f"{name}_text"] = "\n".join(lines)

    def clean_admin_urls_text(self) -> dict[str, str]:
        return self._urls("admin_urls")

    def clean_metrics_urls_text(self) -> dict[str, str]:
        return self._urls("metrics_urls")

    def _urls(self, name: str) -> dict[str, str]:
        """The lines of a field as {broker id: URL}, checked as by the model."""
        urls = {}
        for line in self.cleaned_data[f"{name}_text"].splitlines():
            if line.strip():
                broker, _space, url = line.strip().partition(" ")
                urls[broker] = url.strip()
        _CHECKS[name](urls)
        return urls

    def clean(self) -> dict[str, Any]:
        """If scheme, host or port of a URL change, its token must be entered again."""
        data = super().clean()
        before = self.instance
        is_token_kept = before.admin_token and not data.get("token")
        if is_token_kept and _has_new_origin(data.get("admin_urls_text"), before.admin_urls):
            text = _("Enter the token again, because the address of an admin port changed.")
            self.add_error("token", text)
        is_token_kept = before.metrics_token and not data.get("new_metrics_token")
        if is_token_kept and _has_new_origin(data.get("metrics_urls_text"), before.metrics_urls):
            text = _("Enter the token again, because a metrics address changed.")
            self.add_error("new_metrics_token", text)
        return data

    def entered_secrets(self) -> list[str]:
        entered = super().entered_secrets()
        if self.cleaned_data.get("new_metrics_token"):
            entered.append("metrics_token")
        return entered

    def fill_instance(self) -> None:
        super().fill_instance()
        cluster = self.instance
        cluster.admin_urls = self.cleaned_data["admin_urls_text"]
        cluster.metrics_urls = self.cleaned_data["metrics_urls_text"]
        if self.cleaned_data["token"]:
            cluster.set_admin_token(self.cleaned_data["token"])
        if not cluster.metrics_urls:
            cluster.metrics_token = ""


def _has_new_origin(urls: Mapping[str, str] | None, before: Mapping[str, str]) -> bool:
    """Whether a URL has an origin that none had before."""
    return bool(origins((urls or {}).values()) - origins(before.values()))
