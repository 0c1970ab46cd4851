"""Removes exact sizes and positions from segments, for users who see masked records."""

from typing import Any

from monitoring.records.mask_record import rounded_size


def with_rounded_sizes(segment: dict[str, Any]) -> dict[str, Any]:
    """A segment for users who see masked records: exact sizes could reveal masked data."""
    files = [file | {"size_bytes": rounded_size(file["size_bytes"])} for file in segment["files"]]
    return segment | {"size_bytes": rounded_size(segment["size_bytes"]), "files": files}


def without_positions(found: dict[str, Any]) -> dict[str, Any]:
    """A page of entries for users who see masked records: positions reveal the sizes of batches."""
    hidden = {"position_bytes": None}
    return found | {
        "entries": [each | hidden for each in found.get("entries", ())],
        "batches": [
            each | hidden | {"size_bytes": rounded_size(each["size_bytes"])}
            for each in found.get("batches", ())
        ],
    }
