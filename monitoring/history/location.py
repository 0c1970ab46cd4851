"""What kind of place HISTORY_URL names. Imports nothing: the supervisor asks before all else."""


def local_folder(url: str) -> str | None:
    """The path of a folder on this machine; None where the URL names another file system."""
    if "://" in url and not url.startswith("file://"):
        return None
    return url.removeprefix("file://")
