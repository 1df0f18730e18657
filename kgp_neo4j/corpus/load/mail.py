"""Read a mail (.eml): its heading and body as a page, and the files attached to it."""

import re
from codecs import BOM_UTF8
from dataclasses import replace
from email import message_from_bytes, policy
from email.headerregistry import HeaderRegistry, UnstructuredHeader
from email.message import MIMEPart
from html import escape
from mimetypes import guess_extension
from typing import Any

from kgp_neo4j.corpus.load.contents import named
from kgp_neo4j.corpus.load.encodings import decoded
from kgp_neo4j.corpus.load.html import read_page
from kgp_neo4j.corpus.load.quoted import parts_of, quoted_page, written_by
from kgp_neo4j.text.safe import plain
from kgp_neo4j.text.visible import is_visible
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

_SHOWN = ("From", "To", "Cc", "Date")
#: Addresses are taken as they stand: a parser of them drops what follows a semicolon.
_HEADERS = HeaderRegistry()
_HEADERS.registry |= dict.fromkeys(("from", "to", "cc"), UnstructuredHeader)
#: Characters of a header that are read, of one with names more: Python reads them in their square.
_LONGEST_HEADER, _MOST_NAMES = 2_000, 20_000


def _header(name: str, value: str) -> Any:
    longest = _MOST_NAMES if name.lower() in ("from", "to", "cc") else _LONGEST_HEADER
    return _HEADERS(name, value[:longest])


_POLICY = policy.default.clone(header_factory=_header)
_NEEDLESS = re.compile(r'"([\w ]+)"')
_BOUNDARY = re.compile(rb"^--([\w'()+,./:=?-]{1,70})[ \t]*\r?\n(?=content-)", re.MULTILINE | re.I)


def read_mail(data: bytes, where: str) -> tuple[SourceDocument, list[tuple[str, bytes]]]:
    """Return a mail, and name and bytes of each file attached to it, mails too.

    Its subject is the title; sender, recipients, date come first; parts that are quoted stand below
    who wrote them. Raises InputError for no mail.
    """
    if not data.strip():
        raise InputError("the file holds no text", where=where)
    above, *below = re.split(rb"(?<=\n)(?=\r?\n)", data.removeprefix(BOM_UTF8).lstrip(), maxsplit=1)
    heading, notes = decoded(above, where)
    mail = message_from_bytes(b"".join([heading.encode(), *below]), policy=_POLICY)
    if not any(mail[name] for name in (*_SHOWN, "Subject", "Received", "Message-ID")):
        raise InputError("this is no mail", where=where, hint="Rename it to what it is.")
    subject = plain(str(mail["Subject"] or ""))
    told = (plain(f"{name}: {mail[name]}") for name in _SHOWN if mail[name])
    lines = [escape(_NEEDLESS.sub(r"\1", line)) for line in told]
    head = f"<h1>{escape(subject)}</h1><p>{'<br>'.join(lines)}</p>"
    own = written_by(plain(str(mail["From"] or "")), plain(str(mail["Date"] or "")))
    text, more, parts = _contents(mail, where, own)
    files: dict[str, bytes] = {}
    for number, part in enumerate(parts, 1):
        is_inline = part["Content-ID"] and part.get_content_disposition() != "attachment"
        if not (is_inline and part.get_content_maintype() == "image"):
            name, content = _file(part, number)
            files[f"{number} {name}" if name in files else name] = content
    page = replace(read_page(head + text, where), title=named(subject))
    return replace(page, notes=tuple(dict.fromkeys(notes + more))), list(files.items())


def _payload(part: MIMEPart) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _contents(part: MIMEPart, where: str, own: str) -> tuple[str, tuple[str, ...], list[MIMEPart]]:
    """Return the text of a part as a page, what was assumed about it, and the files in it.

    `own` is the heading of what the sender wrote, where parts are quoted.
    """
    kind = part.get_content_type()
    if kind == "message/rfc822" and not part.get_content().keys():  # a text in a digest
        return _contents(part.get_content(), where, own)
    if part.get_content_maintype() == "multipart" and not part.is_multipart():
        # Its parts are marked by another boundary than it names, or it has none.
        found = _BOUNDARY.search(data := _payload(part))
        kind = f'{kind}; boundary="{found[1].decode()}"' if found else "text/plain"
        whole = f"Content-Type: {kind}\n\n".encode() + data
        return _contents(message_from_bytes(whole, policy=_POLICY), where, own)
    if kind in ("text/plain", "text/html") and not (part.is_attachment() or part.get_filename()):
        text, notes = decoded(_payload(part), where, part.get_content_charset())
        if kind == "text/html":
            return parts_of(text, own), notes, []
        return parts_of(quoted_page(text), own, "A quoted part, of somebody else"), notes, []
    if part.get_content_maintype() != "multipart":
        return "", (), [part]
    forms = [_contents(each, where, own) for each in part.iter_parts()]
    files = [file for form in forms for file in form[2]]
    if kind == "multipart/alternative":  # the last one that shows something, as in mail programs
        shown = (form for form in reversed(forms) if is_visible(read_page(form[0], where).text))
        forms = [next(shown, ("", (), []))]
        files = [f for f in files if f.get_content_maintype() != "text" or f.get_filename()]
    return "".join(form[0] for form in forms), sum((form[1] for form in forms), ()), files


def _file(part: MIMEPart, number: int) -> tuple[str, bytes]:
    """Return name and bytes of a part; one without a name has its subject, or its number."""
    name, data = f"part {number}{guess_extension(part.get_content_type()) or ''}", _payload(part)
    if part.get_content_type() == "message/rfc822":
        inner = part.get_content()
        name = plain(str(inner["Subject"] or f"part {number}")) + ".eml"
        data = inner.as_bytes()
    return plain(part.get_filename() or name).replace("\\", "/").rpartition("/")[2] or name, data
