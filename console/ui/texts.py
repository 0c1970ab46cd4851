"""Messages of monitoring and gateways as sentences of a page."""

from monitoring.reason_texts import translated


def sentence(text: str) -> str:
    """A message, translated, as a sentence: with a capital and a full stop."""
    text = translated(text).strip()
    if not text:
        return ""
    with_stop = text if text[-1] in ".!?…:”" else text + "."
    return with_stop[0].upper() + with_stop[1:]
