"""Read a mail (.eml): its heading and body as a page, and the files attached to it."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import MIMEPart
from html import escape
from mimetypes import guess_extension

from kgp_neo4j.corpus.load.encodings import decoded
from kgp_neo4j.corpus.load.html import read_page
from kgp_neo4j.text.safe import plain
from kgp_neo4j.text.visible import is_visible
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

_SHOWN = ("From", "To", "Cc", "Date")


def read_mail(data: bytes, where: str) -> tuple[SourceDocument, list[tuple[str, bytes]]]:
    """Return a mail, and name and bytes of each file attached to it, mails too.

    The subject is the title; sender, recipients and date are the first lines. Of a body in two
    forms it is the page that is read, as mail programs show it. Raises InputError for what is none.
    """
    mail = message_from_bytes(data.removeprefix(BOM_UTF8).lstrip(), policy=policy.default)
    if not data.strip():
        raise InputError("the file holds no text", where=where)
    if not any(mail[name] for name in (*_SHOWN, "Subject", "Received", "Message-ID")):
        raise InputError("this is no mail", where=where, hint="Rename it to what it is.")
    subject = plain(str(mail["Subject"] or ""))
    lines = [f"{name}: {plain(str(mail[name]))}" for name in _SHOWN if mail[name]]
    head = f"<h1>{escape(subject)}</h1><p>{'<br>'.join(map(escape, lines))}</p>"
    notes: tuple[str, ...] = ()
    page = start = read_page(head, where)
    for body in filter(None, (mail.get_body((kind,)) for kind in ("html", "plain"))):
        text, notes = decoded(_payload(body), where, body.get_content_charset())
        if body.get_content_subtype() == "plain":
            text = f"<pre>{escape(text)}</pre>"
        page = read_page(head + text, where)
        if is_visible(page.text[len(start.text) :]):
            break
    files = [] if mail.is_multipart() or mail.get_content_maintype() == "text" else [_file(mail, 1)]
    for number, part in enumerate(mail.iter_attachments(), len(files) + 1):
        is_inline = part["Content-ID"] and part.get_content_disposition() != "attachment"
        if not (is_inline and part.get_content_maintype() == "image"):
            files += [_file(each, number) for each in _leaves(part)]
    return replace(page, title=subject, notes=notes), files


def _payload(part: MIMEPart) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _leaves(part: MIMEPart) -> Iterator[MIMEPart]:
    """Yield a part, or those in it; a mail is one part."""
    if part.get_content_maintype() == "multipart":
        for each in part.iter_parts():
            yield from _leaves(each)
    else:
        yield part


def _file(part: MIMEPart, number: int) -> tuple[str, bytes]:
    """Return name and bytes of a part; one without a name has its subject, or its number."""
    if part.get_content_type() == "message/rfc822":
        inner = part.get_content()
        name = plain(str(inner["Subject"] or f"part {number}")) + ".eml"
        data = inner.as_bytes()
    else:
        name = f"part {number}{guess_extension(part.get_content_type()) or ''}"
        data = _payload(part)
    return plain(part.get_filename() or name).replace("\\", "/").rpartition("/")[2] or name, data
