"""The colour and the icon of a state's word: each state has all three.

Tones are Tabler's names, which the stylesheets set to the console's own colours: success, warning,
danger, info, and secondary for what is neither good nor bad or not known.
"""

TONES = {
    "ok": "success", "good": "success", "Stable": "success", "running": "info",
    "warn": "warning", "stale": "warning", "queued": "secondary", "Empty": "secondary",
    "bad": "danger", "down": "danger", "failed": "danger", "Dead": "danger", "firing": "danger",
    "info": "info", "done": "success", "resolved": "success", "pending": "warning",
    "PreparingRebalance": "warning", "CompletingRebalance": "warning", "refused": "warning",
    "error": "danger", "debug": "info", "unknown": "secondary",
}  # fmt: skip

_ICONS = {
    "success": "circle-check", "warning": "alert-triangle", "danger": "circle-x",
    "info": "info-circle", "running": "player-play", "queued": "clock", "pending": "hourglass",
    "firing": "bell-ringing", "PreparingRebalance": "refresh", "CompletingRebalance": "refresh",
    "unknown": "help-circle", "growing": "trending-up", "draining": "trending-down",
    "stalled": "player-pause",
}  # fmt: skip


def tone_of(state: str) -> str:
    """The tone of a state or of one of our short names (ok, warn, bad, info)."""
    return TONES.get(state, state or "secondary")


def icon_of(state: str, tone: str) -> str:
    """The icon of a state, else of its tone; none for what is neither good nor bad."""
    return _ICONS.get(state) or _ICONS.get(tone, "")
