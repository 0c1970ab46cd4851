"""The registry of action types; apps register theirs in `AppConfig.ready()`."""

from console.actions.action_type import ActionType

_types: dict[str, ActionType] = {}


def register(action_type: ActionType) -> None:
    """Register an action type."""
    _types[action_type.action] = action_type


def find(action: str) -> ActionType:
    """The type of this action. Raises KeyError."""
    return _types[action]


def actions() -> list[str]:
    """The actions of all types, sorted."""
    return sorted(_types)
