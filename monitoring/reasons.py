"""Why something could not be read or done: a stable code, parameters, and English text.

A Reason is text, for logs; who shows it to a person translates it by its code
(console/ui/texts.py). `dumps` is how it is stored (in ticks, in the history): what an older Aerie
stored as mere text stays text, and a code that a newer one wrote is shown as the English beside it.

Nothing here needs Django: the process of librdkafka loads this module.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from monitoring.reason_catalog import TEXTS

Param = Any  # str, int, float, another Reason, or a list of Reasons


def add_texts(texts: Mapping[str, str]) -> None:
    """Make more codes known: those of the console, which no sample holds."""
    if clash := TEXTS.keys() & texts.keys():
        raise ValueError(f"codes with two texts: {sorted(clash)}")
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
        return _made, (self.code, dict(self.params))


def _made(code: str, params: dict[str, Param]) -> Reason:
    return Reason(code, **params)


def several(reasons: list[Reason]) -> Reason | str:
    """One for all of them; "" for none."""
    if len(reasons) > 1:
        return Reason("several", reasons=reasons)
    return reasons[0] if reasons else ""


def filled(template: str, params: Mapping[str, Param], write: Callable[[str], str]) -> str:
    """The template with its parameters, reasons among them written by `write`."""
    return template % {name: _written(value, write) for name, value in params.items()}


def _written(value: Param, write: Callable[[str], str]) -> Param:
    if isinstance(value, Reason):
        return write(value)
    if isinstance(value, list):
        return "; ".join(map(write, value))
    return value


def dumps(text: str) -> str:
    """As it is stored: JSON of a Reason, and any other text as it is."""
    if not isinstance(text, Reason):
        return text
    return json.dumps(_plain(text), separators=(",", ":"), ensure_ascii=False)


def loads(stored: str) -> str:
    """What `dumps` was given: a Reason, or text. Never raises."""
    if not stored.startswith('{"code"'):
        return stored
    try:
        reason: str = _reason(json.loads(stored))
        return reason
    except (ValueError, TypeError, KeyError, AttributeError):
        return stored


def _plain(value: Param) -> Param:
    if isinstance(value, Reason):
        params = {name: _plain(param) for name, param in value.params.items()}
        return {"code": value.code, "params": params, "text": str(value)}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _reason(plain: Param) -> Param:
    if isinstance(plain, list):
        return [_reason(each) for each in plain]
    if not isinstance(plain, dict):
        return plain
    try:
        return Reason(plain["code"], **{name: _reason(v) for name, v in plain["params"].items()})
    except (KeyError, TypeError, ValueError):  # of another version of Aerie
        return str(plain["text"])
