"""Which names of groups the database can store: clients choose them freely. Pure."""

NAME_LENGTH_MAX = 255  # of the columns


def is_storable(name: str) -> bool:
    """Whether the name fits; PostgreSQL also refuses NUL characters."""
    return len(name) <= NAME_LENGTH_MAX and "\x00" not in name
