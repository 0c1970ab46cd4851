"""Why something could not be read or done: a stable code, parameters, and English text.

A Reason is its English text, for logs; pages translate it by its code (translate_error_reason.py).
Ticks and history store it with `dumps`. Plain text that an older version stored stays text; a code
that only a newer version knows is shown as the stored English text.

This module does not use Django, since the worker processes of librdkafka load it.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from monitoring.error_reason_texts import TEXTS

Param = Any  # str, int, float, another Reason, or a list of Reasons


def add_texts(texts: Mapping[str, str]) -> None:
    """Add the texts of the console's codes, which do not occur in samples."""
    if clash := TEXTS.keys() & texts.keys():
        raise ValueError(f"codes that have a text already: {sorted(clash)}")
    TEXTS.update(texts)


class Reason(str):
    """The English text of `code` with `params`; raises KeyError for a code without a text."""

    __slots__ = ("code", "params")
    code: str
    params: Mapping[str, Param]

    def __new__(cls, code: str, **params: Param) -> "Reason":
        self = super().__new__(cls, filled(TEXTS[code], params, str))
        self.code, self.params = code, params
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.code, dict(self.params))


def _unpickle(code: str, params: dict[str, Param]) -> Reason:
    return Reason(code, **params)


def several(reasons: list[Reason]) -> Reason | str:
    """One Reason for all `reasons`; "" if there are none."""
    if len(reasons) > 1:
        return Reason("several", reasons=reasons)
    return reasons[0] if reasons else ""


def filled(template: str, params: Mapping[str, Param], write: Callable[[str], str]) -> str:
    """The template with its parameters; `write` makes the text of a parameter that is a Reason."""
    return template % {name: _parameter_text(value, write) for name, value in params.items()}


def _parameter_text(value: Param, write: Callable[[str], str]) -> Param:
    if isinstance(value, Reason):
        return write(value)
    if isinstance(value, list):
        return "; ".join(map(write, value))
    return value


def dumps(text: str) -> str:
    """The text to store: JSON for a Reason; any other text unchanged."""
    if not isinstance(text, Reason):
        return text
    return json.dumps(_to_json(text), separators=(",", ":"), ensure_ascii=False)


def loads(stored: str) -> str:
    """The Reason or text that `dumps` stored. Never raises."""
    if not stored.startswith('{"code"'):
        return stored
    try:
        reason: str = _from_json(json.loads(stored))
        return reason
    except (ValueError, TypeError, KeyError, AttributeError):
        return stored


def _to_json(value: Param) -> Param:
    if isinstance(value, Reason):
        params = {name: _to_json(param) for name, param in value.params.items()}
        return {"code": value.code, "params": params, "text": str(value)}
    return [_to_json(each) for each in value] if isinstance(value, list) else value


def _from_json(value: Param) -> Param:
    if isinstance(value, list):
        return [_from_json(each) for each in value]
    if not isinstance(value, dict):
        return value
    try:
        params = {name: _from_json(param) for name, param in value["params"].items()}
        return Reason(value["code"], **params)
    except (KeyError, TypeError, ValueError):  # stored by another version of Aerie
        return str(value["text"])
