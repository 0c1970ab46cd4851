"""The tone (colour) and the icon of each state.

Tones are named as in Tabler: success, warning, danger, info; secondary is neutral or unknown.
"""

TONES = {
    "ok": "success", "good": "success", "Stable": "secondary", "running": "info",
    "warn": "warning", "stale": "warning", "queued": "secondary", "Empty": "secondary",
    "bad": "danger", "down": "danger", "failed": "danger", "Dead": "danger", "firing": "danger",
    "info": "info", "done": "success", "resolved": "success", "waiting": "warning",
    "PreparingRebalance": "warning", "CompletingRebalance": "warning", "refused": "warning",
    "caught-up": "success", "draining": "info", "growing": "warning", "stalled": "danger",
    "rewound": "info", "no-members": "warning", "not-committed": "warning",
    "error": "danger", "debug": "info", "unknown": "secondary", "stopped": "warning",
}  # fmt: skip

_ICONS = {
    "success": "circle-check", "warning": "alert-triangle", "danger": "circle-x",
    "info": "info-circle", "running": "player-play", "queued": "clock", "waiting": "hourglass",
    "firing": "bell-ringing", "PreparingRebalance": "refresh", "CompletingRebalance": "refresh",
    "unknown": "help-circle", "growing": "trending-up", "draining": "trending-down",
    "stalled": "player-pause", "caught-up": "circle-check", "rewound": "history",
    "no-members": "users", "not-committed": "help-circle",
}  # fmt: skip


def tone_of(state: str) -> str:
    """The tone of a state or a short name (ok, warn, bad, info)."""
    return TONES.get(state, state or "secondary")


def icon_of(state: str, tone: str) -> str:
    """The icon of a state, else of its tone; none for neutral states."""
    return _ICONS.get(state) or _ICONS.get(tone, "")
