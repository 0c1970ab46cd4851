"""The registry of action types; apps register theirs in `AppConfig.ready()`."""

from console.actions.action_type import ActionType

_types: dict[str, ActionType] = {}


def register(action_type: ActionType) -> None:
    """Register an action type."""
    _types[action_type.name] = action_type


def find(name: str) -> ActionType:
    """The action type with this name. Raises KeyError."""
    return _types[name]


def names() -> list[str]:
    """The names of all action types, sorted."""
    return sorted(_types)
