"""Reads subjects for their pages: only those within the user's scope."""

from collections.abc import Sequence
from dataclasses import dataclass

from console.accounts.principal import Principal
from console.accounts.rights import Rights
from console.live import snapshot_cache
from console.schemas.registry_error_mapping import raising_gateway_errors
from console.schemas.schema_diff import Line, comparison, formatted_text
from monitoring.error_reason import Reason
from monitoring.gateway.errors import NotFound
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from monitoring.schema_registry import subjects
from monitoring.schema_registry.read_schemas import Reference
from monitoring.schema_registry.subjects import Subject, SubjectRow, Version
from monitoring.scope import topic_of_subject


@dataclass(frozen=True, slots=True)
class SubjectList:
    """The subjects of a list. `default`: the compatibility of the registry, "" = not known."""

    rows: list[SubjectRow]
    default: str

    @property
    def unknown_count(self) -> int:
        """The number of subjects of which only the name is known."""
        return sum(row.version is None for row in self.rows)


@dataclass(frozen=True, slots=True)
class ShownSubject:
    """A subject with one of its versions, and the differences to another one.

    Attributes:
        text: the formatted schema of `version`.
        references: pairs of a reference and whether the user may see its subject.
        other: the number of the version that it is compared with; None = no comparison.
        lines: the comparison.
        topic: the topic to which the subject belongs by its name; "" = none in the newest sample.
    """

    subject: Subject
    version: Version
    text: str
    references: list[tuple[Reference, bool]]
    other: int | None
    lines: list[Line]
    topic: str


def list_subjects(principal: Principal, cluster: Cluster) -> SubjectList:
    """The subjects that the user may see. Raises GatewayError."""
    scope = principal.rights(cluster).scope
    with for_cluster(cluster) as gateway, raising_gateway_errors():
        names = list(filter(scope.shows_subject, subjects.list_names(gateway.registry)))
        return SubjectList(*subjects.list_subjects(gateway.registry, names))


def read_subject(
    principal: Principal, cluster: Cluster, name: str, number: int | None, other: int | None
) -> ShownSubject:
    """The version `number` of a subject, compared with the version `other`. Raises GatewayError.

    No `number`: the latest version. No `other`: it is not compared.
    """
    rights = principal.rights(cluster)
    with for_cluster(cluster) as gateway, raising_gateway_errors():
        subject = subjects.read_subject(gateway.registry, name)
        if number is None:
            number = subject.versions[-1] if subject.versions else 0  # no version has number 0
        wanted = [number] if other is None else [number, other]
        _check_known(subject, wanted)
        version, *others = subjects.read_versions(gateway.registry, name, wanted)
    return ShownSubject(
        subject,
        version,
        formatted_text(version.schema),
        [(each, rights.may("schema.view", each.subject)) for each in version.schema.references],
        other,
        comparison(others[0].schema, version.schema) if others else [],
        _sampled_topic(rights, cluster, name),
    )


def _check_known(subject: Subject, numbers: Sequence[int]) -> None:
    for number in numbers:
        if number not in subject.versions:
            raise NotFound(Reason("version_missing", subject=subject.name, version=str(number)))


def _sampled_topic(rights: Rights, cluster: Cluster, subject: str) -> str:
    topic = topic_of_subject(subject)
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    return topic if topic and snapshot and snapshot.topic(topic) else ""
