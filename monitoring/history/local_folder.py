"""Whether HISTORY_URL is a local folder. Imports nothing, since the supervisor calls it first."""


def local_folder(url: str) -> str | None:
    """The path of a local folder; None if the URL names another file system."""
    if "://" in url and not url.startswith("file://"):
        return None
    return url.removeprefix("file://")
