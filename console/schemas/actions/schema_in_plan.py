"""A schema in a plan: as its parameters, and its changed lines."""

from typing import Any

from console.actions.action_type import Params
from console.actions.draft import Change
from console.schemas.schema_diff import ADDED, REMOVED, comparison
from monitoring.schema_registry.read_schemas import Reference
from monitoring.schema_registry.subjects import SchemaText

_CHANGES_MAX = 200


def schema_of(params: Params) -> SchemaText:
    references = tuple(Reference(*each) for each in params["references"])
    return SchemaText(params["schema"], params["type"], references)


def params_of(schema: SchemaText) -> dict[str, Any]:
    """The inverse of `schema_of`."""
    references = [list(each) for each in schema.references]
    return {"schema": schema.text, "type": schema.type, "references": references}


def changed_lines(before: SchemaText, after: SchemaText) -> list[Change]:
    """The lines that are removed or added, as changes of a draft."""
    changes = []
    for kind, text in comparison(before, after):
        if kind == REMOVED:
            changes.append(Change("−", before=text[1:], after=""))
        elif kind == ADDED:
            changes.append(Change("+", before="", after=text[1:]))
    return changes[:_CHANGES_MAX]
