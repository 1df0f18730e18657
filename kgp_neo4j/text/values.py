"""Reads numbers, dates and conditions on them: in cells, in names of entities, in questions."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₩": "KRW", "₹": "INR"}
_CODES = frozenset("USD EUR GBP JPY KRW INR CHF CAD AUD CNY SEK NOK DKK".split())
_GROUPED = r"\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d\d)+,\d{3}|[1-9]\d{0,2}(?:[ '’]\d{3})+"
_NUMBER = rf"(?:(?:{_GROUPED}|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]\d{{1,2}})?"
_SCALES = {"thousand": 1e3, "million": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12}
_PLAIN = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[-+−–])?\s*(?P<before>(?:US|[AC])?\$|[€£¥₩₹]|(?:[A-Z]{{3}}(?=\s)))?\s*"
    rf"(?P<sign2>[-−–])?(?P<number>{_NUMBER})(?:\s*(?P<scale>{'|'.join(_SCALES)}))?"
    rf"\s*(?P<after>%|[€£¥₩₹$]|[A-Z]{{3}}\b)?\s*(?P<close>\))?"
)
#: A time or a duration, 3:02.57 or 1:39:00: its number is in seconds.
_TIME = re.compile(r"(?:(?P<h>\d{1,3}):)?(?P<m>\d{1,3}):(?P<s>[0-5]\d(?:\.\d+)?)")
_UNITS = re.compile(
    r"st|nd|rd|th|pts?|points?|x|°[CF]?|[cmk]?m[²³]?|km/h|mph|ft|feet|in|inch(?:es)?|mi|miles?|yds?|"
    r"yards?|sq ?(?:mi|km|m|ft)|ha|acres?|[kmµ]?g|lbs?|tons?|tonnes?|t|ms|s|secs?|seconds?|mins?|"
    r"minutes?|h|hrs?|hours?|days?|weeks?|months?|years?|yrs?|[kKMGT]i?B|[kMG]?Hz|[kMG]?W|[kMG]?Wh|hp|V"
)
#: Numbers that only a decimal comma explains, only a point, or either. Four parts below 300 are an
#: address in a network.
_ADDRESS = r"(?![12]?\d?\d(?:\.[12]\d\d){3}$)"
_COMMA = re.compile(
    rf"\d{{1,3}}(?:[.\s'’]\d{{3}})+,\d+|{_ADDRESS}\d{{1,3}}(?:\.\d{{3}}){{2,}}"
    r"|\d+,(?!\d{3}\b)\d+|0,\d+"
)
_POINT = re.compile(
    r"\d{1,3}(?:[,\s'’]\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}|\d+\.(?!\d{3}\b)\d+|0\.\d+"
)
_WITH_COMMA = re.compile(rf"{_ADDRESS}(?:\d{{1,3}}(?:[.\s'’]\d{{3}})+|\d+)(?:,\d+)?")
_EITHER = re.compile(r"[1-9]\d{0,2}\.\d{3}")
#: So much less must a column's greatest number be of its least one in the notation that is chosen.
_CLEARLY = 10
_FIRST_NUMBER = re.compile(
    r"\W*?[-+−–]?(?P<number>\d(?:[\d.,]|[\s'’](?=\d{3}))*(?<=\d))(?=\D{0,9}$)"
)
#: Characters of a value at most; a longer text is prose.
_LONGEST = 200
#: Marks of footnotes after a number: 48,278[1], 12*.
_NOTES = re.compile(r"(?<=[\d%)])(?:\s*\[\w{1,3}\]|\s?[*†‡§])+$")
_LEADING = re.compile(rf"[#~≈<>]?\s*(?P<sign>[-−–])?(?P<number>{_NUMBER})(?P<unit>\D.*)?", re.S)
#: English names of months, short and long, in lower case.
MONTHS = {
    name: at
    for at, names in enumerate(
        "jan january|feb february|mar march|apr april|may|jun june|jul july|aug august|"
        "sep sept september|oct october|nov november|dec december".split("|"),
        1,
    )
    for name in names.split()
}
_MONTH = r"(?P<month>[A-Za-z]{3,9})\.?"
_CLOCK = r"(?:[ T]\d\d?:\d\d(?::[\d.]+)?(?:Z| ?[AP]M)?)?"
_DATES = (
    re.compile(rf"(?P<y>\d{{4}})-(?P<m>\d{{1,2}})(?:-(?P<d>\d{{1,2}}){_CLOCK})?"),
    re.compile(rf"(?P<m>\d{{1,2}})/(?P<d>\d{{1,2}})/(?P<y>\d{{2}}(?:\d{{2}})?){_CLOCK}"),
    re.compile(rf"(?P<d>\d{{1,2}})\.(?P<m>\d{{1,2}})\.(?P<y>\d{{4}}){_CLOCK}"),
    re.compile(
        rf"(?:[A-Za-z]+,?\s+)?{_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})"
    ),
    re.compile(rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+{_MONTH}[\s,-]+(?P<y>\d{{4}})"),
    re.compile(rf"(?P<d>\d{{1,2}})-{_MONTH}-(?P<y>\d{{2}})"),
    re.compile(rf"{_MONTH},?\s+(?P<y>\d{{4}})"),
    re.compile(rf"(?:[A-Za-z]+,?\s+)?{_MONTH}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"),
    re.compile(rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+{_MONTH}"),
)
#: Dates whose first part can only be the day, and only the month.
_DAY_FIRST = re.compile(r"\s*(?:1[3-9]|[23]\d)/(?:0?\d|1[0-2])/\d\d")
_MONTH_FIRST = re.compile(r"\s*(?:0?\d|1[0-2])/(?:1[3-9]|[23]\d)/\d\d")
#: The second part of a span of years: 1887-1905, 1982/83, 1998 – present.
_SPAN = re.compile(r"(1\d{3}|20\d{2})\s?[-–—/]\s?(?:\d{2}|\d{4}|present|)", re.I)


@dataclass(frozen=True, slots=True)
class Value:
    """The type and value of a text: number, date, percentage, currency or text.

    `number` is set for every text that is or begins with a number (12.5 for "12.5%"; seconds for a
    time). `date` is ISO, as far as it is known (`1998-05`, `--05-12` where the year is unknown), so
    that dates sort as text. `unit` is a currency's code, `%`, or the text after the number.
    """

    type: str
    number: float | None = None
    date: str | None = None
    unit: str = ""


def notations(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return how each column of a table writes its numbers: "." or "," before decimals, or "?".

    A column without a telling number is read as the rest of its table, else so that its numbers are
    alike in size; "?" where that is unclear. A "/" follows where days stand before months.
    """
    columns = [[text for text in texts if len(text) <= _LONGEST] for texts in columns]
    held = [[m["number"] for t in texts if (m := _FIRST_NUMBER.match(t))] for texts in columns]
    told = [
        {mark for mark, form in ((",", _COMMA), (".", _POINT)) if any(map(form.fullmatch, numbers))}
        for numbers in held
    ]
    table: set[str] = set().union(*told)
    marks = [
        next(iter(own or table)) if len(own or table) == 1 else "." if own else _alike(numbers)
        for numbers, own in zip(held, told, strict=True)
    ]
    orders = [
        {form for form in (_DAY_FIRST, _MONTH_FIRST) if any(map(form.match, texts))}
        for texts in columns
    ]
    order: set[re.Pattern[str]] = set().union(*orders)
    return [
        mark + "/" if (own or order) == {_DAY_FIRST} else mark
        for mark, own in zip(marks, orders, strict=True)
    ]


def _alike(numbers: list[str]) -> str:
    """Return the notation in which numbers such as 2.350 are clearly more like the whole ones."""
    grouped = [float(number) for number in numbers if _EITHER.fullmatch(number)]
    whole = [float(number) for number in numbers if number.isdecimal() and 0 < int(number) < 1000]
    if not grouped or not whole:
        return "."

    def spread(read: list[float]) -> float:
        return max(*read, *whole) / min(*read, *whole)

    more = spread(grouped) / spread([1000 * number for number in grouped])
    return "," if more >= _CLEARLY else "." if more <= 1 / _CLEARLY else "?"


def typed(text: str, notation: str = ".") -> Value:
    """Return a cell's type and value; `text` where none fits, as for unclear `notation`s."""
    text = _NOTES.sub("", " ".join(text.split()))
    if not text or len(text) > _LONGEST:
        return Value("text")
    if "/" in notation:
        text = re.sub(r"^(\d{1,2})/(\d{1,2})/", r"\2/\1/", text)
    if notation[0] != "." and (found := _FIRST_NUMBER.match(text)):
        if notation[0] == "?":
            return Value("text")
        if _WITH_COMMA.fullmatch(found["number"]):
            plain = found["number"].replace(".", "").replace(",", ".")
            text = text[: found.start("number")] + plain + text[found.end("number") :]
    if found := _PLAIN.fullmatch(text):
        number = _number(found["number"]) * _SCALES.get(found["scale"] or "", 1.0)
        if found["sign"] in ("-", "−", "–") or found["sign2"] or (found["open"] and found["close"]):
            number = -number
        marks = {found["before"] or "", found["after"] or ""} - {""}
        if "%" in marks:
            return Value("percentage", number, unit="%")
        for mark in marks:
            if mark[-1] in _CURRENCIES or mark in _CODES:
                return Value("currency", number, unit=_CURRENCIES.get(mark[-1], mark))
        if not marks:
            year = re.fullmatch(r"1\d{3}|20\d{2}", text)
            return Value("number", number, date=text if year else None)
    if date := _date(text):
        return Value("date", float(date[:4]) if date[0] != "-" else None, date)
    if found := _TIME.fullmatch(text):
        seconds = int(found["h"] or 0) * 3600 + int(found["m"]) * 60 + float(found["s"])
        return Value("number", seconds, unit="s")
    if found := _SPAN.fullmatch(text):
        return Value("text", float(found[1]), found[1], text[4:].strip())
    if found := _LEADING.fullmatch(text):
        number = _number(found["number"])
        unit = (found["unit"] or "").strip()
        type_ = "number" if _UNITS.fullmatch(unit) else "text"
        return Value(type_, -number if found["sign"] else number, unit=unit)
    return Value("text")


def _number(text: str) -> float:
    return float(re.sub("[, '’]", "", text))


def column_type(texts: Iterable[str], notation: str = ".") -> str:
    """Return the type of at least four fifths of a column's non-empty cells, else `text`."""
    counts = Counter(typed(text, notation).type for text in texts if text.strip())
    return next((type_ for type_, n in counts.items() if n >= 0.8 * counts.total()), "text")


def _date(text: str) -> str | None:
    for pattern in _DATES:
        if not (found := pattern.fullmatch(text)):
            continue
        parts: dict[str, str | None] = found.groupdict()
        name = parts.get("month")
        month = MONTHS.get(name.lower()) if name else int(parts["m"] or 0)
        day = int(parts.get("d") or 0)
        if not (written := parts.get("y")):
            if month and 1 <= day <= 31:
                return f"--{month:02}-{day:02}"
            continue
        year = int(written)
        year += (2000 if year < 50 else 1900) if year < 100 else 0
        if month is None or not 1 <= month <= 12 or day > 31:
            continue
        return f"{year:04}-{month:02}" + (f"-{day:02}" if day else "")
    return None


# --- Values in running text ---

_NAMED = "|".join(sorted(MONTHS, key=len, reverse=True))
_WRITTEN = re.compile(
    rf"\b(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<m1>{_NAMED})\.?,?\s+(?P<y1>\d{{3,4}})"
    rf"|(?P<m2>{_NAMED})\.?\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\s*+,)?+\s++(?P<y2>\d{{3,4}})"
    rf"|(?P<m3>{_NAMED})\.?,?\s+(?P<y3>\d{{4}})"
    r"|(?P<y4>1\d{3}|20\d{2})(?:-(?P<m4>\d{2})-(?P<d4>\d{2}))?)(?!\d)",
    re.IGNORECASE,
)
_BEFORE_OUR_ERA = re.compile(r"\bB\.?\s?C\b", re.IGNORECASE)


def date_places(text: str) -> list[tuple[tuple[int, int, int], int, int]]:
    """Return the dates of a text with their offsets: year, month, day, 0 for a missing part."""
    dates = []
    for found in _WRITTEN.finditer(text):
        parts = {name[0]: value for name, value in found.groupdict().items() if value}
        month = parts.get("m", "0").lower()
        date = (int(parts["y"]), MONTHS.get(month) or int(month), int(parts.get("d", 0)))
        dates.append((date, *found.span()))
    return dates


def compare(operation: str, one: str, other: str) -> int | None:
    """Return which of two values is the `min` (earliest), `max`, `longer` or `shorter` one.

    0 is the first, 1 the second; None where they are equal, or that is unknown.
    """
    if _BEFORE_OUR_ERA.search(one) or _BEFORE_OUR_ERA.search(other):
        return None
    a, b = ([date for date, _, _ in date_places(text)] for text in (one, other))
    least = operation in ("min", "shorter")
    lasting = operation in ("longer", "shorter")
    if lasting and len(a) > 1 and len(b) > 1:
        lasted = [12 * (d[-1][0] - d[0][0]) + (d[-1][1] or 6) - (d[0][1] or 6) for d in (a, b)]
        return _first(*lasted, least=least)
    # 1500 may be a year or a number, 1500 m is no year.
    first, second = typed(one), typed(other)
    measured = {value.unit for value in (first, second) if value.type != "text"} - {""}
    if (
        first.number is not None
        and second.number is not None
        and first.unit == second.unit
        and "date" not in (first.type, second.type)
        and (measured or not lasting)
    ):
        return _first(first.number, second.number, least=least)
    if a and b and not (lasting or measured):
        for x, y in zip(a[0], b[0], strict=True):
            if x != y or not x:  # the first part that differs tells, unless one of them lacks it
                return _first(x, y, least=least) if x and y else None
    return None


def _first(one: float, other: float, *, least: bool) -> int | None:
    return None if one == other else int((one < other) != least)


# --- Words that count and compare ---

UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
NUMBERS = {name: at for at, name in enumerate(UNITS)} | {
    "once": 1, "twice": 2, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "thousand": 1000,
}  # fmt: skip
_FIRST = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
ORDINALS = {name: at for at, name in enumerate(_FIRST, 1)} | {
    f"{n}{'th' if n % 100 in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}": n
    for n in range(1, 101)
}

_MORE = r"(?:more|higher|greater|larger|longer|later|bigger|older|over|above|after)"
_LESS = r"(?:less|fewer|lower|smaller|shorter|earlier|younger|under|below|before)"
#: Patterns of the words before a number, or after it, for each comparison.
COMPARING = {
    ">=": (
        rf"at least|no {_LESS}|minimum|since|from|starting|between",
        rf"(?:or|and) {_MORE}|(?:or|and) up",
    ),
    "<=": (
        rf"at most|no {_MORE}|maximum|up to|until|through|by|between|to",
        rf"(?:or|and) {_LESS}",
    ),
    ">": (rf"(?<!no ){_MORE}|exceed(?:s|ed|ing)?|beyond|past|heavier|taller|farther|between", ""),
    "<": (rf"(?<!no ){_LESS}|prior|within|faster|lighter|between", ""),
}
