"""The path converter of URLs with names that can be any text; console/urls.py registers it."""

import re


class AnyNameConverter:
    """`<any_name:…>`, for names of groups and subjects, which can be any text, even empty.

    Characters that are not safe in a path are written as "~" and two hex digits: slashes and
    control characters, which proxies may change or refuse, and the dots of "." and "..", which
    browsers treat as folders. "~" alone is the empty name. A literal slash is accepted.
    """

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        if value == "~":
            return ""
        return re.sub("~([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), value)

    def to_url(self, value: str) -> str:
        unsafe = r"\." if value in (".", "..") else r"[~/\\\x00-\x1f\x7f]"
        return re.sub(unsafe, lambda found: f"~{ord(found[0]):02X}", value) or "~"
