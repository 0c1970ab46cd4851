"""Which names the database can store. Clients choose the names of groups freely. Pure."""

NAME_LENGTH_MAX = 255  # of the columns


def is_storable(name: str) -> bool:
    """Whether the name fits; PostgreSQL also refuses NUL characters."""
    return len(name) <= NAME_LENGTH_MAX and "\x00" not in name
