"""Tell who wrote which part of a mail: replies with quotes, forwarded and Outlook's messages."""

import re
from collections.abc import Sequence
from html import escape

from bs4 import BeautifulSoup
from bs4.element import Tag

from kgp_neo4j.text.visible import is_visible

_MARKS = re.compile(r"(?:[>|]\s?)+")
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
_ADDRESS = re.compile(r"[<\[(]?(?:mailto:)?[\w.+-]+@[\w.-]+[>\])]?|<[^>]*>|\[mailto:[^\]]*\]")
_EMPTY = re.compile(r"[(\[]\s*[)\]]")
_LABEL = re.compile(r"\W{0,3}([^\W\d_][\w .-]{0,20}?)\W{0,2}[:：]\W{0,2}\s(.*)")
#: How programs name the sender in a message's heading.
_FROM = frozenset("from von de da van fra från od lähettäjä от 发件人 寄件者 差出人".split())
_LONGEST = 300
_BLOCKS = ["div", "p", "td"]


def written_by(sender: str, date: str) -> str:
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
    return written_by(sender, date[0] if date else "") if sender else ""


def _headed(lines: Sequence[str]) -> str:
    """Return the heading of a message that these lines begin (From:, Sent:, To:), or nothing."""
    first = _LABEL.match(lines[0]) if lines else None
    if not first or first[1].casefold() not in _FROM:
        return ""
    below = [found for line in lines[1:8] if line.strip() and (found := _LABEL.match(line))]
    dates = (date[0] for found in below if (date := _DATE.search(found[2])))
    sent = next(dates, "")
    return written_by(first[2], sent) if len(below) > 1 and sent else ""


def parts_of_text(text: str, own: str) -> str:
    """Return a mail's plain text as a page, quoted parts without their marks under their writers.

    `own` is the heading of what is not quoted; without quotes the text is one part without it.
    """
    lines: list[tuple[int, str]] = []
    for line in text.splitlines():
        marks = _MARKS.match(line)
        is_quoted = marks is not None and line.startswith(">")
        depth = marks[0].count(">") if is_quoted and marks else 0
        lines.append((depth, line[marks.end() :] if is_quoted and marks else line))
    heads = {0: own}
    parts: list[tuple[str, list[str]]] = [(own, [])]
    before = 0
    for at, (depth, line) in enumerate(lines):
        if not line.strip() and depth < before:
            continue  # an empty line between two quotes
        head = ""
        if depth > before:
            above = [each for each in parts[-1][1] if each.strip()][-2:]
            head = next(filter(None, (_introduced(" ".join(above[n:])) for n in (1, 0))), "")
            heads[depth] = head = head or "A quoted part, of somebody else"
        elif found := _headed([each for level, each in lines[at : at + 8] if level == depth]):
            heads[depth] = head = found
        elif depth < before:
            head = heads.get(depth, own)
        if head:
            parts.append((head, []))
        parts[-1][1].append(line)
        before = depth
    shown = [(head, "\n".join(own_lines)) for head, own_lines in parts]
    if len(shown) == 1:
        return f"<pre>{escape(text)}</pre>"
    return "".join(f"<h2>{escape(h)}</h2><pre>{escape(t)}</pre>" for h, t in shown if t.strip())


def parts_of_page(markup: str, own: str) -> str:
    """Return a mail's page with a heading before each quoted part, and before what follows it."""
    page = BeautifulSoup(markup, "html.parser")
    heads: dict[int, str] = {}
    made: list[Tag] = []

    def heading(text: str) -> Tag:
        made.append(page.new_tag("h2"))
        made[-1].string = text
        return made[-1]

    for quote in page.find_all("blockquote"):
        around = quote.parent or page
        above = quote.find_previous_sibling(_BLOCKS) or around.find_previous_sibling(_BLOCKS)
        lines = _lines(above) if above else []
        if head := next(filter(None, (_introduced(" ".join(lines[n:])) for n in (-1, -2))), ""):
            heads[id(quote)] = head
            quote.insert_before(heading(head))
            quote.insert_after(heading(heads.get(id(quote.find_parent("blockquote")), own)))
    for label in page.find_all(["b", "strong"]):
        block = label.find_parent(_BLOCKS)
        is_sender = label.get_text().strip(" :*").casefold() in _FROM
        if block and is_sender and (head := _headed(_lines(block))):
            block.insert_before(heading(head))
    for one in made:  # one that has no text of its own heads nothing
        below = one.find_all_next(string=lambda text: is_visible(text or ""), limit=2)
        if len(below) < 2 or any(below[1].parent is other for other in made):
            one.extract()
    return str(page) if made else markup


def _lines(block: Tag) -> list[str]:
    """Return the lines of a part of a page that are not empty."""
    for line_end in block.find_all("br"):
        line_end.insert_before("\0")
    lines = (" ".join(line.split()) for line in block.get_text().split("\0"))
    return [line for line in lines if line]
