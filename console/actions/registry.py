"""Every kind of change, registered by the app that owns it in `AppConfig.ready()`."""

from console.actions.action_type import ActionType

_types: dict[str, ActionType] = {}


def register(action_type: ActionType) -> None:
    """Make this kind of change known, by its name."""
    _types[action_type.name] = action_type


def find(name: str) -> ActionType:
    """The kind of change of this name. Raises KeyError."""
    return _types[name]


def names() -> list[str]:
    """The names of all kinds, sorted."""
    return sorted(_types)
