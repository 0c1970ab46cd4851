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


@pytest.mark.parametrize(
    ("username", "password"),
    [
        ("admin", "adminadmin"),
        ("admin", "Admin-2026-Admin"),
        ("admin", "@dmin1234"),
        ("admin", "ad-min.ad_min"),
        ("admin", "admin@@@@@@@"),
        ("bob", "bobbobbob"),
        ("bob", "bob-bob-1"),
        ("bob7", "7-b0b-b0b"),
        ("margarete", "margarete margarete"),
        ("margarete", "m4rg4r3t3"),
        ("m4rg4r3t3", "margarete"),
        ("william", "W1ll14m-2026"),
        ("anna.meier@example.com", "anna.meier"),
        ("anna.meier@example.com", "Meier-Anna-26"),
        ("anna.meier@example.com", "example.com"),
    ],
)  # fmt: skip
def test_a_password_with_little_besides_the_name_is_refused(django_user_model, username, password):
    with pytest.raises(ValidationError, match="similar to the user name"):
        validate_password(password, django_user_model(username=username))


@pytest.mark.parametrize(
    ("username", "password"),
    [
        ("admin", "admin-green-horse"),
        ("bob", "bobsled-in-winter"),
        ("a", "banana-and-apple"),
        ("bob", "--------1"),
        ("+.+", "--------1"),
        ("al.bo@example.com", "albatross-boat"),
    ],
)
def test_a_password_with_much_besides_the_name_is_accepted(django_user_model, username, password):
    validate_password(password, django_user_model(username=username))


@pytest.mark.parametrize("password", ["a-long-password", "margaret-rides-a-green-horse"])
def test_an_unrelated_password_is_accepted(django_user_model, password):
    validate_password(password, django_user_model(username="margaret"))
    validate_password(password)
