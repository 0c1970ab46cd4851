"""How the schema registry of a cluster is reached. No Django settings: search processes load
this."""

from dataclasses import dataclass, field

from monitoring.egress.addresses import AllowedTarget


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    """`url` is the base of all paths. `allowed`: what `url` may name besides public
    addresses."""

    url: str
    username: str = ""
    password: str = field(default="", repr=False)
    ca_pem: str = ""  # empty = the CAs that this machine trusts
    allowed: tuple[AllowedTarget, ...] = ()
