"""The entities of `configs`, as in Kafka's ConfigCommand: given by --entity-type with --entity-name
or --entity-default, in order, or by a short option such as --topic or --broker-defaults. Pure."""

from dataclasses import dataclass

from brokerd.cli.options import CliError, OptionParser, Options, int32

TOPICS, BROKERS, LOGGERS = "topics", "brokers", "broker-loggers"
USERS, CLIENTS, IPS = "users", "clients", "ips"
TYPES = (TOPICS, CLIENTS, USERS, BROKERS, IPS, LOGGERS)
NAMED = (("topic", TOPICS), ("client", CLIENTS), ("user", USERS), ("broker", BROKERS),
         ("broker-logger", LOGGERS), ("ip", IPS))  # fmt: skip
DEFAULTS = (("client-defaults", CLIENTS), ("user-defaults", USERS), ("broker-defaults", BROKERS),
            ("ip-defaults", IPS))  # fmt: skip
QUOTA_TYPES = {USERS: "user", CLIENTS: "client-id", IPS: "ip"}
_WITH_DEFAULT = (USERS, CLIENTS, BROKERS, IPS)


@dataclass(frozen=True, slots=True)
class Entities:
    """Types and their names, in the order of the command line. The name '' is the default of its
    type; a type without a name means all entities of that type."""

    types: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def kind(self) -> str:
        return self.types[0]

    @property
    def name(self) -> str | None:
        """The name that was given first, None where there is none."""
        return self.names[0] if self.names else None

    def check_alterable(self) -> None:
        """Raises CliError unless an entity, or the default of a type, is named."""
        may_be_default = self.kind in _WITH_DEFAULT
        if not self.names or not (self.name or may_be_default):
            what = "entity-name or default entity" if may_be_default else "entity name"
            raise CliError(f"an {what} must be specified with --alter of {','.join(self.types)}")

    def check_describable(self) -> None:
        """Raises CliError for loggers without a broker."""
        if self.kind == LOGGERS and not self.name:
            raise CliError(f"an entity name must be specified with --describe of {LOGGERS}")


def add_options(parser: OptionParser) -> None:
    kinds = "topics, brokers, broker-loggers, users, clients or ips."
    parser.option("entity-type", kinds, "TYPE", many=True, into="entity_types")
    names = "The topic, the broker's id, the user, client id or address."
    parser.option("entity-name", names, "NAME", many=True, into="entity_names")
    parser.flag("entity-default", "The default of all of a type.", empty_in="entity_names")
    for short, kind in NAMED:
        parser.option(short, f"One of the {kind}.", "NAME")
    for short, kind in DEFAULTS:
        parser.flag(short, f"The default of all {kind}.")


def read_entities(options: Options) -> Entities:
    """The entities that the options name. Raises CliError with Kafka's messages."""
    types = list(options.entity_types or ())
    names = list(options.entity_names or ())
    are_long = bool(types or names)
    for flag, kind in NAMED:
        if options.has(flag):
            types.append(kind)
            names.append(getattr(options, flag.replace("-", "_")))
    for flag, kind in DEFAULTS:
        if options.has(flag):
            types.append(kind)
            names.append("")
    _check_types(types)
    if are_long and any(options.has(flag) for flag, _ in (*NAMED, *DEFAULTS)):
        raise CliError(
            "--entity-{type,name,default} should not be used in conjunction with specific entity"
            " flags"
        )
    entities = Entities(tuple(types), tuple(names))
    if entities.kind in (BROKERS, LOGGERS):
        for name in filter(None, names):
            _check_id(entities.kind, name)
    return entities


def _check_types(types: list[str]) -> None:
    if len(set(types)) < len(types):
        raise CliError(f"Duplicate entity type(s) specified: {','.join(types)}")
    for kind in set(types) - set(TYPES):
        known = ", ".join(TYPES)
        raise CliError(f"Invalid entity type {kind}, the entity type must be one of {known}")
    if not types:
        raise CliError("At least one entity type must be specified")
    if len(types) > 1 and set(types) != {USERS, CLIENTS}:
        raise CliError(f"Only '{USERS}' and '{CLIENTS}' entity types may be specified together")


def _check_id(kind: str, name: str) -> None:
    try:
        int32(name)
    except ValueError:
        raise CliError(
            f"The entity name for {kind} must be a valid integer broker id, but it is: {name}"
        ) from None
