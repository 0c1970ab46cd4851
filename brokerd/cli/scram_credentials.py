"""SCRAM credentials of users in `configs`, as in Kafka's ConfigCommand. Pure. Instead of the
password the broker gets its `SaltedPassword` (RFC 5802), computed here."""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from brokerd.cli.config_entities import USERS, Entities
from brokerd.cli.options import CliError

MECHANISMS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
"""Kafka's names, and their numbers in requests (ScramMechanism)."""
ITERATIONS_MIN, ITERATIONS_MAX = 4096, 16384
"""What Kafka's brokers accept. The default is the least."""
_CREDENTIAL = re.compile(r"(?:iterations=(-1|[0-9]{1,9}),)?password=(.*)")


def are_credentials(entities: Entities, names: Collection[str]) -> bool:
    """Whether these are SCRAM credentials. CliError for a mixture, or not of one user."""
    kinds = {name in MECHANISMS for name in names}
    if len(kinds) > 1:
        raise CliError("Cannot alter both quota and SCRAM credential configs simultaneously.")
    if True in kinds and (entities.types != (USERS,) or not entities.name):
        raise CliError("SCRAM credentials are those of one user: name it by --user alone.")
    return True in kinds


def alter_request(
    user: str, added: Mapping[str, str], dropped: Iterable[str], salt: bytes
) -> dict[str, Any]:
    """The request that sets and deletes credentials of a user. Raises CliError."""
    return {
        "deletions": [{"name": user, "mechanism": MECHANISMS[each]} for each in dropped],
        "upsertions": [_upsertion(user, each, text, salt) for each, text in added.items()],
    }


def _upsertion(user: str, mechanism: str, text: str, salt: bytes) -> dict[str, Any]:
    found = _CREDENTIAL.fullmatch(text)
    if found is None:
        raise CliError(f"Invalid credential property {mechanism}={text}")
    iterations = ITERATIONS_MIN if found[1] in (None, "-1") else int(found[1])
    if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
        raise CliError(
            f"Iterations {iterations} is not between {ITERATIONS_MIN} and {ITERATIONS_MAX}, which"
            " brokers take"
        )
    return {
        "name": user,
        "mechanism": MECHANISMS[mechanism],
        "iterations": iterations,
        "salt": salt,
        "salted_password": _salted(mechanism, found[2], salt, iterations),
    }


def _salted(mechanism: str, password: str, salt: bytes, iterations: int) -> bytes:
    digest = mechanism.removeprefix("SCRAM-").replace("-", "").lower()
    return hashlib.pbkdf2_hmac(digest, password.encode(), salt, iterations)


def credentials_line(result: Any) -> str:
    """A user's credentials, a result of DescribeUserScramCredentials."""
    names = {number: name for name, number in MECHANISMS.items()}
    credentials_text = ", ".join(
        f"{names.get(each.mechanism, 'UNKNOWN')}=iterations={each.iterations}"
        for each in result.credential_infos
    )
    return f"SCRAM credential configs for user-principal '{result.user}' are {credentials_text}"
