"""The largest values of the integers on Kafka's wire and disk, which are Java's."""

from typing import Final

INT16_MAX: Final = 2**15 - 1
INT32_MAX: Final = 2**31 - 1
INT64_MAX: Final = 2**63 - 1
