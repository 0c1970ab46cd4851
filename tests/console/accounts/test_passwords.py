"""Which passwords are refused for being the user's name."""

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError


@pytest.mark.parametrize(
    "password",
    [
        "margaret", "MARGARET", "margaret1", "Margaret2026!", "1margaret1", " margaret ",
        "\uff4dargaret", "margarit", "tegragram", "2026-margaret-2026",
    ],
)  # fmt: skip
def test_a_password_that_is_the_name_or_close_to_it_is_refused(django_user_model, password):
    user = django_user_model(username="\uff2dargaret")
    with pytest.raises(ValidationError, match="similar to the user name"):
        validate_password(password, user)


@pytest.mark.parametrize("password", ["a-long-password", "margaret-rides-a-green-horse"])
def test_another_is_taken(django_user_model, password):
    validate_password(password, django_user_model(username="margaret"))
    validate_password(password)
