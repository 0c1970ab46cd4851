"""Texts of 404 and 403 errors: a resource that does not exist, a missing right."""

from django.utils.translation import gettext as _

from console.accounts.rights import GROUP, RESOURCES, SUBJECT, TOPIC, Rights, only_admins_read
from monitoring.topic_names import is_topic_name


def resource_not_found(verb: str, name: str) -> str:
    """The text for a resource that does not exist, or that the user may not see."""
    kind = RESOURCES.get(verb.partition(".")[0])
    if kind == TOPIC:
        return topic_not_found(name)
    if kind == GROUP:
        return group_not_found(name)
    if kind == SUBJECT:
        return subject_not_found(name)
    return _("It does not exist, or you may not see it.")


def topic_not_found(name: str) -> str:
    """The text for a topic that does not exist, or that the user may not see."""
    if not is_topic_name(name):  # not a valid name; do not repeat it
        return _("There is no such topic.")
    return _("There is no topic “%(name)s”.") % {"name": name}


def group_not_found(name: str) -> str:
    """The text for a group that the last sample does not have, or that the user may not see."""
    return _("The last sample has no group “%(name)s”.") % {"name": name}


def subject_not_found(name: str) -> str:
    """The text for a subject of the registry that does not exist, or that the user may not see."""
    return _("There is no subject “%(name)s”.") % {"name": name[:200]}


def right_missing(rights: Rights, verb: str, name: str | None) -> str:
    """The text for a user without the right `verb`. `name`: the resource; None = no single one."""
    refused = {"role": rights.role or _("none"), "verb": verb, "name": name}
    if name is not None and only_admins_read(verb, name):
        return (
            _(
                "Your role (%(role)s) does not include reading the records of “%(name)s”: they "
                "contain names that only admins may see."
            )
            % refused
        )
    return _("Your role (%(role)s) does not include “%(verb)s”. Ask an admin.") % refused
