"""Read a mail (.eml) as a page, each part below who wrote it, and the files attached to it."""

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import replace
from email import message_from_bytes, policy
from email.headerregistry import HeaderRegistry, UnstructuredHeader
from email.message import MIMEPart
from html import escape
from itertools import compress, islice
from mimetypes import guess_extension
from typing import Any

from bs4.element import Tag

from kgp_neo4j.corpus.load.contents import named
from kgp_neo4j.corpus.load.html import read_page
from kgp_neo4j.corpus.load.page_tree import page_tree
from kgp_neo4j.corpus.load.texts import decoded
from kgp_neo4j.text.safe import is_visible, plain
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

_LINE_END = re.compile(r"\r\n?|\n")
_MARKS = re.compile(r"^>\s?(?:[>|]\s?)*")
_TIME = (
    r"(?:[,\s]*(?:at|um|à|kl\.?|às|om|alle|a las|o)?\s*"
    r"\d{1,2}[:.h]\d{2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?)?"
)
#: A date as mails write it, with its day of the week and its time.
_DATE = re.compile(
    r"(?:[^\W\d_]{2,10}\.?,? (?:den )?)?"
    r"(?:\d{1,2}\.? (?:de )?[^\W\d_]{3,10}\.?,? (?:de )?\d{4}|[^\W\d_]{3,10}\.? \d{1,2},? \d{4}"
    rf"|\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}}){_TIME}(?:\s*Uhr)?(?:\s*[+-]\d{{4}})?(?:\s*\([A-Z]+\))?",
    re.IGNORECASE,
)
#: What is said of a quote's writer in the languages of mail programs, and what comes before a date.
_WROTE = re.compile(
    r"\b(?:wrote|writes|schrieb|a écrit|escribió|escreveu|ha scritto|schreef|skrev|napisała?|"
    r"kirjoitti|пишет|написала?)\b(?:\s+(?:on|am|le)\b)?",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"^(?:on|am|le|el|il|em|op|den|på|w dniu|dnia)\b", re.IGNORECASE)
_ADDRESS = re.compile(
    r"[<\[(]?(?:mailto:)?(?<![\w.+-])[\w.+-]++@[\w.-]++[>\])]?|<[^<>]*+>|\[mailto:[^\[\]]*+\]"
)
_EMPTY = re.compile(r"[(\[]\s*[)\]]")
_LABEL = re.compile(r"\W{0,3}([^\W\d_][\w .-]{0,20}?)\W{0,2}[:：]\W{0,2}\s(.*)")
#: How programs name the sender in a message's heading.
_FROM = frozenset("from von de da van fra från od lähettäjä от 发件人 寄件者 差出人".split())
_LONGEST = 300
_BLOCKS = ["div", "p", "pre", "td"]
#: Texts in a label such as "From:", tags and texts between a quote and what introduces it, and
#: quotes in one another, each at most.
_LABEL_PARTS, _NEAR, _DEEPEST = 8, 50, 50


def _written_by(sender: str, date: str) -> str:
    """Return how a part is headed: who wrote it, and when."""
    name = " ".join(_ADDRESS.sub("", sender).split()).strip("\"'*,;: ") or sender.strip(" <>[]*")
    return f"{name} wrote" + (f" on {date.strip()}" if date.strip() else "")


def _introduced(line: str) -> str:
    """Return the heading that a line before a quote gives it, empty where it gives none."""
    line = " ".join(line.replace("*", "").split())
    if not line.endswith((":", "：")) or len(line) > _LONGEST:
        return ""
    line = _BEFORE.sub("", line)
    date, rest = _DATE.search(line), _DATE.sub(" ", line, count=1)
    verb, address = _WROTE.search(rest), _ADDRESS.search(rest)
    if not (verb or (date and address)):
        return ""
    rest = _EMPTY.sub(" ", _WROTE.sub(" ", _ADDRESS.sub(" ", rest)))
    sender = rest.strip(" ,:;<>") or (address[0] if address else "")
    return _written_by(sender, date[0] if date else "") if sender else ""


def _headed(lines: Sequence[str]) -> str:
    """Return the heading of a message that these lines begin (From:, Sent:, To:), or nothing."""
    first = _LABEL.match(lines[0]) if lines else None
    if not first or first[1].casefold() not in _FROM:
        return ""
    below = [found for line in lines[1:8] if line.strip() and (found := _LABEL.match(line))]
    dates = (date[0] for found in below if (date := _DATE.search(found[2])))
    sent = next(dates, "")
    return _written_by(first[2], sent) if len(below) > 1 and sent else ""


def _quoted_page(text: str) -> str:
    """Return a mail's plain text as a page, its quoted parts without their marks in quotations."""
    lines: list[tuple[int, str]] = []
    for line in _LINE_END.split(text):
        own = _MARKS.sub("", line)
        lines.append((min(line.removesuffix(own).count(">"), _DEEPEST), own))
    parts: list[tuple[str, list[str]]] = [("", [])]
    before = 0
    for at, (depth, line) in enumerate(lines):
        if not line.strip() and depth < before:
            continue  # an empty line between two quotes
        change = "<blockquote>" * (depth - before) or "</blockquote>" * (before - depth)
        if change or _headed([each for level, each in lines[at : at + 8] if level == depth]):
            parts.append((change, []))
        parts[-1][1].append(line)
        before = depth
    return "".join(f"{change}<pre>" + escape("\n".join(own)) + "</pre>" for change, own in parts)


def _parts_of(markup: str, own: str, usual: str = "") -> str:
    """Return a mail's page with a heading before each quoted part, and before what follows it.

    `own` is the heading of what is not quoted, `usual` of quotes that do not say whose they are.
    """
    page = page_tree(markup)
    heads: dict[int, str] = {}
    made: dict[int, Tag] = {}

    def heading(text: str) -> Tag:
        tag = page.new_tag("h2")
        tag.string = text
        made[id(tag)] = tag
        return tag

    bold = page.find_all(["b", "strong"])
    texts = ("".join(islice(tag.strings, _LABEL_PARTS)) for tag in bold)
    are_labels = (text.strip(" :*").casefold() in _FROM for text in texts)
    blocks = [label.find_parent(_BLOCKS) for label in compress(bold, are_labels)]
    blocks += [tag for tag in page.find_all("pre") if all(p.name != "pre" for p in tag.parents)]
    for block in {id(each): each for each in blocks}.values():
        if block and (head := _headed(_lines(block))):
            block.insert_before(heading(head))
    lines_of: dict[int, list[str]] = {}
    behind: dict[int, str] = {}
    for quote in page.find_all("blockquote"):
        above = _above(quote) or _above(quote.parent or page)
        if above and id(above) not in lines_of:
            lines_of[id(above)] = _lines(above)
        lines = lines_of[id(above)] if above else []
        told = (_introduced(" ".join(lines[n:])) for n in (-1, -2))
        if head := next(filter(None, told), usual):
            beside = quote.find_previous_sibling(lambda tag: id(tag) in made or id(tag) in behind)
            outer = heads.get(id(quote.find_parent("blockquote")), own)
            heads[id(quote)] = head
            # Within the quote: a place beside it would be sought among all that are there.
            quote.insert(0, heading(head))
            behind[id(quote)] = behind.get(id(beside), beside.get_text()) if beside else outer
            quote.append(heading(behind[id(quote)]))
    if not made:
        return markup
    page.insert(0, heading(own))
    for one in made.values():  # one that has no text of its own heads nothing
        below = one.find_all_next(string=lambda text: is_visible(text or ""), limit=2)
        if len(below) < 2 or id(below[1].parent) in made:
            one.extract()
    return str(page)


def _above(tag: Tag) -> Tag | None:
    """Return the block before a tag that is near."""
    near = islice(tag.previous_siblings, _NEAR)
    return next((each for each in near if isinstance(each, Tag) and each.name in _BLOCKS), None)


def _lines(block: Tag) -> list[str]:
    """Return the lines of a part of a page that are not empty."""
    for line_end in block.find_all("br"):
        line_end.append("\0")
    ends = "[\0\n]" if block.name == "pre" else "\0"
    lines = (" ".join(line.split()) for line in re.split(ends, block.get_text()))
    return [line for line in lines if line]


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
    own = _written_by(plain(str(mail["From"] or "")), plain(str(mail["Date"] or "")))
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
    """Return the text of a part as a page, what was assumed about it, and the files in it."""
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
            return _parts_of(text, own), notes, []
        return _parts_of(_quoted_page(text), own, "A quoted part, of somebody else"), notes, []
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
