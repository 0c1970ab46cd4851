"""How messages of other parts are written on a page."""


def sentence(text: str) -> str:
    """A message as a sentence: with a capital and a full stop."""
    text = text.strip()
    if not text:
        return ""
    ended = text if text[-1] in ".!?…:”" else text + "."
    return ended[0].upper() + ended[1:]
