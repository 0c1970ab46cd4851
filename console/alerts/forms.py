"""The form of an alert rule. URL and secret are write-only: never shown, and kept if left empty."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.accounts import outgoing_connection_rate_limit
from console.accounts.rights import Rights, may
from console.egress.services import query_to_allow
from monitoring.egress.models import EgressTarget, allowed_for
from monitoring.egress.url_checks import (
    URL_LENGTH_MAX,
    EgressRefused,
    EgressUnresolved,
    check_url,
    origins,
)
from monitoring.encryption import SecretUnreadable, missing_key_problem
from monitoring.models import AlertRule
from monitoring.translate_error_reason import translated

_PATTERN = re.compile(r"^[^\s\x00-\x1f]+$")


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form of a consumer-lag rule; `rights` are those of `user` on its cluster."""

    url = forms.CharField(
        label=_("Webhook"),
        required=False,
        max_length=URL_LENGTH_MAX,
        widget=forms.URLInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    secret = forms.CharField(
        label=_("Webhook secret"),
        required=False,
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_(
            "Signs every message (X-Aerie-Signature). Stored encrypted and never shown again. "
            "Leave it empty to keep the current one."
        ),
    )
    no_webhook = forms.BooleanField(label=_("Remove the webhook"), required=False)

    class Meta:
        model = AlertRule
        fields = [
            "name",
            "group_pattern",
            "topic_pattern",
            "threshold",
            "for_seconds",
            "enabled",
        ]
        labels = {
            "name": _("Name"),
            "group_pattern": _("Consumer groups"),
            "topic_pattern": _("Topics"),
            "threshold": _("Fire when the lag exceeds"),
            "for_seconds": _("For at least (seconds)"),
            "enabled": _("Enabled"),
        }
        help_texts = {
            "group_pattern": _("A name, or a pattern with * and ?, like billing-*."),
            "topic_pattern": _(
                "Empty: the lag of a group over all its topics. A name or a pattern: its lag on "
                "each matching topic."
            ),
            "threshold": _("In messages: end offset minus committed offset."),
            "for_seconds": _("0: fire at the first sample above the threshold."),
        }

    def __init__(self, *args: Any, user: Any, rights: Rights, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user, self._rights = user, rights
        # For admins: the query string of the page that can allow the refused target.
        self.allow_query = ""
        self.fields["url"].help_text = (
            _("The current one is at %(host)s. Leave this empty to keep it.")
            % {"host": self.instance.webhook_host}
            if self.instance.webhook_url
            else _("Gets a JSON message when the alert fires and when it resolves.")
        )
        if not self.instance.webhook_url:
            del self.fields["no_webhook"]
        self.order_fields([*self.Meta.fields[:-1], "url", "secret", "no_webhook", "enabled"])

    def clean_name(self) -> str:
        """Checks here that the name is unique in its cluster, to show the error at the field."""
        name = str(self.cleaned_data["name"]).strip()
        same = AlertRule.objects.filter(cluster=self.instance.cluster, name=name)
        if same.exclude(pk=self.instance.pk).exists():
            raise ValidationError(_("Another rule has this name."))
        return name

    def clean_group_pattern(self) -> str:
        pattern = self._pattern("group_pattern")
        if not self._rights.scope.shows_groups_of(pattern):
            raise ValidationError(_("Your role does not include these groups."))
        return pattern

    def clean_topic_pattern(self) -> str:
        pattern = self._pattern("topic_pattern")
        if pattern and not self._rights.scope.shows_topics_of(pattern):
            raise ValidationError(_("Your role does not include these topics."))
        return pattern

    def _pattern(self, name: str) -> str:
        pattern = str(self.cleaned_data[name]).strip()
        if pattern and not _PATTERN.match(pattern):
            raise ValidationError(_("A pattern must not contain spaces or control characters."))
        return pattern

    def clean_url(self) -> str:
        """Checks the URL now, to show errors in the form; it is checked again for every message.

        Only admins see the addresses of host names, and the check is rate-limited.
        """
        url = str(self.cleaned_data["url"]).strip()
        if not url:
            return url
        if not outgoing_connection_rate_limit.allows("webhook-url", self._user):
            raise ValidationError(_("Too many URLs were checked. Wait a minute and try again."))
        try:
            check_url(url, allowed_for(EgressTarget.Purpose.WEBHOOK))
        except EgressRefused as error:
            if may(self._user, "egress.edit"):
                self.allow_query = query_to_allow(error.reason)
            params = {"reason": translated(error.reason), "address": error.address}
            text = _("This URL cannot be used: %(reason)s.") % params
            if error.address and may(self._user, "cluster.edit"):
                text += " " + _("Its address is %(address)s.") % params
            raise ValidationError(text) from error
        except EgressUnresolved as error:
            params = {"reason": translated(error.reason)}
            raise ValidationError(_("This URL cannot be used: %(reason)s.") % params) from error
        return url

    def clean(self) -> dict[str, Any]:
        """If scheme, host or port of the URL change, the secret must be entered again."""
        data = super().clean() or self.cleaned_data
        url, secret = data.get("url"), data.get("secret")
        if (url or secret) and missing_key_problem():
            text = _(
                "The file with the encryption key is missing. An administrator of "
                "Aerie must restore it."
            )
            raise ValidationError(text)
        stored_url, stored_secret = self._stored_webhook()
        if secret and not url and not stored_url and "url" not in self.errors:
            self.add_error(
                "url", _("Enter the URL, too: none is stored, or it cannot be decrypted.")
            )
        is_secret_kept = stored_secret and not secret
        if url and is_secret_kept and origins([url]) - origins([stored_url]):
            text = _(
                "Enter the secret again, because the address of the webhook changed. Or tick "
                "“Remove the webhook”."
            )
            self.add_error("secret", text)
        return data

    def save(self, commit: bool = True) -> AlertRule:
        """A webhook that was not changed stays as it is, even if its key is missing."""
        data = self.cleaned_data
        if data["url"] or data["secret"] or data.get("no_webhook"):
            url, secret = self._stored_webhook()
            self.instance.set_webhook(data["url"] or url, data["secret"] or secret)
        saved: AlertRule = super().save(commit)
        return saved

    def _stored_webhook(self) -> tuple[str, str]:
        """The current URL and secret; empty if they are to be removed or cannot be decrypted."""
        if self.cleaned_data.get("no_webhook"):
            return "", ""
        try:
            decrypted: tuple[str, str] = self.instance.decrypt_webhook()
        except SecretUnreadable:
            return "", ""
        return decrypted
