"""The controls are those that Django's templates make, to the byte."""

import pytest
from django import forms
from django.forms.renderers import DjangoTemplates

from console.ui.form_renderer import FormRenderer

CHOICES = [("", "—"), ("1", "<One>"), ("Group", [("2", "Two"), ("3", "Three & four")])]


class Controls(forms.Form):
    text = forms.CharField(initial="x\"<&'y", help_text="help")
    number = forms.IntegerField(required=False, min_value=0)
    choice = forms.ChoiceField(choices=CHOICES)
    several = forms.MultipleChoiceField(choices=CHOICES)
    check = forms.BooleanField(required=False)
    area = forms.CharField(widget=forms.Textarea, initial="a\n<b>")
    time = forms.DateTimeField()
    day = forms.DateField()
    url = forms.URLField(assume_scheme="https")
    password = forms.CharField(widget=forms.PasswordInput)
    hidden = forms.CharField(widget=forms.HiddenInput, initial=0)
    file = forms.FileField()


@pytest.mark.parametrize("name", Controls.base_fields)
@pytest.mark.parametrize(
    "data", [None, {"text": "q'", "choice": "3", "check": "on", "number": "x"}]
)
def test_a_control_is_rendered_as_by_django(name, data):
    attrs = {"class": "form-control", "data-encoding": True, "hidden": False}
    by_django, ours = (
        Controls(data, renderer=renderer)[name].as_widget(attrs=attrs)
        for renderer in (DjangoTemplates(), FormRenderer())
    )
    assert ours == by_django
