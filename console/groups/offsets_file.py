"""Reads the CSV file of an offset reset, as `kafka-consumer-groups --export` writes it. Pure."""

import csv
from collections.abc import Iterator

from django.utils.translation import gettext as _

from console.groups.compute_reset_offsets import PARTITIONS_MAX, InvalidInput
from console.ui.kafka_number_limits import OFFSET_MAX
from monitoring.gateway.topic_partition import TopicPartition


def offsets_of_file(file_text: str, group: str) -> dict[TopicPartition, int]:
    """The offsets of the group in the text of a file.

    Its lines are topic,partition,offset, or group,topic,partition,offset if it has several groups;
    lines of other groups are left out. Raises InvalidInput with the number of the line.
    """
    offsets: dict[TopicPartition, int] = {}
    for number, row in enumerate(_rows(file_text), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) == 4:
            of_group, *cells = cells
            if of_group != group:
                continue
        if len(cells) != 3 or not (_is_number(cells[1]) and _is_number(cells[2])):
            raise InvalidInput(_("Line %(n)d is not topic,partition,offset.") % {"n": number})
        key = (cells[0], int(cells[1]))
        if key in offsets:
            names = {"n": number, "topic": key[0], "partition": key[1]}
            text = _("Line %(n)d repeats partition %(partition)d of “%(topic)s”.")
            raise InvalidInput(text % names)
        if len(offsets) >= PARTITIONS_MAX:
            text = _("The file has more than %(n)d partitions.")
            raise InvalidInput(text % {"n": PARTITIONS_MAX})
        offsets[key] = int(cells[2])
    if not offsets:
        raise InvalidInput(_("The file has no offsets of this group."))
    return offsets


def _rows(text: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(text.splitlines())
    except csv.Error as error:
        raise InvalidInput(_("The file is not CSV: %(why)s") % {"why": error}) from error


def _is_number(text: str) -> bool:
    return len(text) < 20 and text.isascii() and text.isdigit() and int(text) <= OFFSET_MAX
