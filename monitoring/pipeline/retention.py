"""How long a level is kept: the settings `AERIE_HISTORY_…` in console/settings.py."""

from django.conf import settings

from monitoring.history.levels import Level


def kept_from_ms(level: Level, now_ms: int) -> int:
    """The start of what the level keeps; 0 = it keeps everything."""
    retention_ms = getattr(settings, level.retention_setting) * level.retention_unit_ms
    return now_ms - retention_ms if retention_ms else 0
