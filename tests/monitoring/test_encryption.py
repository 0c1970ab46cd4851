import stat

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command

from monitoring.encryption import (
    SecretUnreadable,
    decrypt,
    encrypt,
    missing_key_problem,
    secret_count,
)
from monitoring.models import AlertRule, Cluster

pytestmark = pytest.mark.django_db


@pytest.fixture
def key_file(tmp_path, settings):
    settings.AERIE_SECRET_KEY_FILE = tmp_path / "keys" / "secret.key"
    return settings.AERIE_SECRET_KEY_FILE


def test_the_key_is_made_at_first_use_for_the_owner_only(key_file):
    assert decrypt(encrypt("hush")) == "hush"
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600


def test_an_existing_key_is_never_replaced(key_file):
    sealed = encrypt("hush")
    made = key_file.read_bytes()
    assert decrypt(sealed) == "hush"
    assert key_file.read_bytes() == made


def test_an_empty_key_file_gets_its_key(key_file):
    key_file.parent.mkdir(parents=True)
    key_file.touch()
    assert decrypt(encrypt("hush")) == "hush"


def test_encrypted_text_does_not_contain_the_secret(key_file):
    assert "hush" not in encrypt("hush")


def test_the_empty_secret_stays_empty(key_file):
    assert encrypt("") == ""
    assert decrypt("") == ""


def test_after_rotation_old_secrets_open_and_new_ones_use_the_new_key(key_file):
    old = encrypt("old")
    new_key = Fernet.generate_key()
    key_file.write_bytes(new_key + b"\n" + key_file.read_bytes())
    assert decrypt(old) == "old"
    assert Fernet(new_key).decrypt(encrypt("new").encode()) == b"new"


def test_a_lost_key_is_reported_with_what_to_do(key_file):
    sealed = encrypt("hush")
    key_file.write_bytes(Fernet.generate_key())
    with pytest.raises(SecretUnreadable, match="AERIE_SECRET_KEY_FILE"):
        decrypt(sealed)


def test_no_new_key_is_made_if_the_key_is_missing_and_secrets_are_stored(key_file):
    sealed = encrypt("hush")
    Cluster.objects.create(slug="local", bootstrap_servers="127.0.0.1:1", admin_token=sealed)
    key_file.unlink()
    for attempt in (lambda: encrypt("new"), lambda: decrypt(sealed)):
        with pytest.raises(SecretUnreadable, match="AERIE_SECRET_KEY_FILE"):
            attempt()
    assert not key_file.exists()
    assert str(key_file) in missing_key_problem()
    assert "encrypted with it (1)" in missing_key_problem()


def test_an_empty_key_file_counts_as_missing_if_secrets_are_stored(key_file):
    Cluster.objects.create(slug="x", bootstrap_servers="127.0.0.1:1", admin_token=encrypt("hush"))
    key_file.write_bytes(b"")
    assert "is missing" in missing_key_problem()


def test_every_stored_secret_counts(key_file):
    assert secret_count() == 0
    cluster = Cluster.objects.create(slug="x", bootstrap_servers="h:1", admin_token=encrypt("a"))
    rule = AlertRule(cluster=cluster, name="late", group_pattern="*", threshold=1)
    rule.set_webhook("https://example.com/", "secret")
    rule.save()
    assert secret_count() == 3
    assert missing_key_problem() is None


def test_a_rotated_key_decrypts_all_secrets_without_the_old_one(key_file):
    Cluster.objects.create(
        slug="far", bootstrap_servers="127.0.0.1:1", admin_token=encrypt("t0ken"),
        sasl_password=encrypt("p4ss"),
    )  # fmt: skip
    old = key_file.read_text()
    call_command("rotate_key")
    assert key_file.read_text().endswith(old)
    call_command("rotate_key", "--drop-old")
    assert len(key_file.read_text().split()) == 1
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    cluster = Cluster.objects.get()
    assert (decrypt(cluster.admin_token), decrypt(cluster.sasl_password)) == ("t0ken", "p4ss")


def test_a_secret_that_cannot_be_decrypted_stops_the_rotation_and_no_key_is_dropped(key_file):
    sealed = encrypt("t0ken")
    Cluster.objects.create(slug="far", bootstrap_servers="127.0.0.1:1", admin_token=sealed)
    key_file.write_text(Fernet.generate_key().decode())
    kept = key_file.read_text()
    with pytest.raises(SystemExit, match="cannot be decrypted"):
        call_command("rotate_key", "--drop-old")
    assert kept in key_file.read_text()
    assert Cluster.objects.get().admin_token == sealed
