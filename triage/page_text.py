"""From the bytes of an answer to text, by mark, header or the page's own word."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.probe_client import Fetched

__all__ = ["decoded"]

_META = re.compile(
    rb"<meta[^>]{0,400}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([a-z0-9_:.-]{1,40})", re.I
)
# The encodings browsers know. Python has more (punycode, idna …), some of them slow.
_WEB = re.compile(
    r"utf-8|utf-16(?:-[lb]e)?|ascii|latin-?1|iso8859-\d{1,2}|cp(?:125\d|866|874|932|949)|koi8-[ru]"
    r"|gb18030|gbk|gb2312|big5(?:hkscs)?|euc_jp|euc_kr|shift_jis|iso2022_jp|mac-(?:roman|cyrillic)"
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decoded(fetched: Fetched) -> str:
    """Return the body as text; what can't be decoded becomes U+FFFD, an unknown charset UTF-8."""
    body = fetched.body
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    meta = None if fetched.charset else _META.search(body, 0, 4096)
    name = fetched.charset or (meta[1].decode("ascii") if meta else "utf-8")
    try:
        encoding = codecs.lookup(name).name
    except (LookupError, ValueError):
        encoding = "utf-8"
    if not _WEB.fullmatch(encoding):
        encoding = "utf-8"
    return body.decode(encoding, "replace")
