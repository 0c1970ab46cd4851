"""The rates at which partitions are read and written. Pure."""

import numpy as np


def rates(at_ms: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The growth of each column per second since its first known value; NaN = not known."""
    known = values >= 0
    first = known.argmax(axis=0)
    seconds = (at_ms[-1] - at_ms[first]) / 1000
    grown = values[-1] - values[first, np.arange(values.shape[1])]
    is_known = known[-1] & (seconds > 0)
    return np.where(is_known, grown / np.where(seconds > 0, seconds, 1), np.nan)
