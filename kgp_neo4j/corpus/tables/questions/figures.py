"""Read a question as a figure over rows: a count, a sum, an average or an extreme, also by group.

Each word must be accounted for, by the table or by the form of the question: one that is not may
narrow down what is asked. So what is `sure` here needs no learned ranker.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from kgp_neo4j.corpus.tables.outline import Grid
from kgp_neo4j.corpus.tables.questions.cell_links import Links
from kgp_neo4j.corpus.tables.questions.plans import Condition, Pick, Plan, Rows
from kgp_neo4j.text.words import FUNCTION_WORDS, PAST_FORMS, STOP_WORDS, same_start, stem

_CUES = {
    name: re.compile(rf"\b(?:{words})\b")
    for name, words in {
        "count": "how many|(?:^|(?<=the )|(?<=what ))(?:total )?number of|how often|count(?: of)?",
        "average": "(?:on )?(?:average|mean|avg)(?: number of)?",
        "sum": "in total|total|sum|(?:al|all )?together|in all|combined|how much",
        "often": "(?:most|least) (?:often|frequently|common|frequent)",
        "high": "most(?: expensive)?|highest|largest|biggest|greatest|maximum|max|longest",
        "low": "least(?: expensive)?|cheapest|fewest|lowest|smallest|minimum|min|shortest",
        "distinct": "different|distinct|unique",
    }.items()
}
_PER = re.compile(r"\b(?:per|(?:for |in |by |of )?(?:each|every)|by) (?:the )?(?=\w)")
_PER_EACH = re.compile(r"\b(?:per|each|every)\b")
_WHICH = re.compile(r"\b(?:(?:which|what)(?: (?:is|was|are|were) the)?|who|whose) ?")
#: Parts of dates by which rows are grouped.
_PARTS = ("month", "year", "quarter", "day", "date")
_QUARTER = re.compile(r"\b(?:q([1-4])|(?:the )?(first|second|third|fourth|last) quarter)\b")
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}
_NEVER, _BETWEEN = "(?!)", r"between \S+(?: \S+){0,2} and"
#: Comparisons: the words before a number, those behind it, and what they ask for.
_MOST = rf"at most|no more than|up to|maximum of|{_BETWEEN}"
_COMPARED = (
    ("at least|no less than|minimum of|between", "(?:or|and) (?:more|above|higher|over)", ">="),
    (_MOST, "(?:or|and) (?:less|fewer|below|lower)", "<="),
    ("(?:less|fewer|lower|smaller|shorter|cheaper|lighter|younger) than|under|below", _NEVER, "<"),
    (r"(?:more|\w+er) than|over|above|exceed\w*|beyond", _NEVER, ">"),
)
_DATED = (
    ("before", _NEVER, "<"),
    ("after", _NEVER, ">"),
    ("since|from|between", _NEVER, ">="),
    (rf"until|through|to|{_BETWEEN}", _NEVER, "<="),
)
#: Words that say nothing of which rows are meant: rows as such, and verbs that say that they are.
_PLAIN = frozenset(
    "whats row rows record records entry entries item items line lines time times value values "
    "amount amounts number numbers figure list listed give gave given tell show table data there "
    "please receive receives received make made get got go went gone come came take took taken "
    "place happen happened occur occurred exist belong contain contains include includes recorded "
    "overall whole entire work works worked live lives lived have total sum mean average count eur "
    "euro euros usd dollar dollars gbp pound pounds".split()
)
#: Words that narrow down what is meant, though they stand in every text.
_TELLING = frozenset(
    "not no t never without except other than only same more less over under above below before "
    "after since until between first last next once twice again both neither nor few fewer such "
    "she he it they her his him their them its second third later others another else besides "
    "against".split()
)
_NOT = re.compile(
    r"\b(?:not|n t|t|non|never|except(?: for)?|excluding|other than|without)(?: (?:the|by|in|to))?$"
)
_AUXILIARY = frozenset("is are was were be been has have had do does did there".split())
_TRUE = frozenset("true yes y x ja oui si sí wahr".split())
_FALSE = frozenset("false no n nein non falsch".split())
#: Texts of a column, at most, that a word in another form can stand for; letters that words share.
_FEW, _SHARED = 40, 4
#: Shares of different texts in a column from which it tells rows apart, and may if it is the first.
_KEY, _FIRST_KEY = 0.9, 0.6
_PRICED = re.compile(r"\b(?:cheapest|expensive)\b")
_PRICES = frozenset(map(stem, ("price", "cost", "fee", "fare", "rate", "charge", "rent")))
_IDS = frozenset("id no nr number num key index code position rank".split())


class Figure(NamedTuple):
    """A plan for a figure, and how well it accounts for the question.

    `why` says what is not clear, and is empty where there is but one way to read the question;
    `near` is true where that is one word which may be left open, `fits` where words of the question
    are those of the table.
    """

    plan: Plan
    why: str
    near: bool
    fits: bool


def asks_for_figure(question: str) -> bool:
    """Return whether a question has words that ask for a count, a sum, an average or an extreme."""
    text = " ".join(re.findall(r"\w+", question.casefold()))
    return any(cue.search(text) for cue in (*_CUES.values(), _PER_EACH))


def read_figure(links: Links, grid: Grid, names: Iterable[str]) -> Figure | None:
    """Return the figure that a question asks for, if any; `names` are stems of a table's names."""
    reader = _Reader(links, grid, frozenset(names))
    plan = reader.read() if grid.rows else None
    if plan is None:
        return None
    left, told = sorted(reader.left), bool(plan.rows != Rows() or plan.group)
    unread = f"“{' '.join(links.words[at] for at in left)}” is not accounted for" if left else ""
    near = told and len(left) == 1 and left[0] in reader.open and not reader.doubt
    fits = told or bool(plan.column) or reader.is_named
    return Figure(plan, reader.doubt or unread, near, fits)


class _Reader:
    """A question while it is read: `left` are the places of words that are not accounted for."""

    def __init__(self, links: Links, grid: Grid, names: frozenset[str]) -> None:
        self.links, self.grid, self.words = links, grid, links.words
        self.names = {name for name in names if name not in STOP_WORDS}
        self.text = " ".join(self.words)
        self.starts = [len(" ".join(self.words[:at])) + bool(at) for at in range(len(self.words))]
        self.headers = {word for header in grid.stems for word in header}
        named = {word for word in self.words if stem(word) in self.headers}
        telling = _TELLING.union(set(self.words) - _PLAIN, named) - (STOP_WORDS - _TELLING)
        counted = {at for at in links.number_places if self.words[at] != "one"}
        self.left = {at for at, word in enumerate(self.words) if word in telling} | counted
        #: Words that a doubt may be left open about: what rows are called, and what they did.
        self.open: set[int] = set()
        self.taken: set[int] = set()
        self.doubt = ""
        self.is_named = any(stem(word) in self.names for word in self.words)
        self.every = range(1, len(grid.columns) + 1)
        self.texts = [c for c in self.every if grid.columns[c - 1].type == "text"]
        self.dates = [c for c in self.every if grid.dated[c - 1] > 0.5]
        self.quantities = [c for c in self.every if self._is_quantity(c)]
        self.conditions: dict[int, list[Condition]] = {}

    def _is_quantity(self, column: int) -> bool:
        each = self.grid.columns[column - 1]
        is_id = not each.norm or not _IDS.isdisjoint(each.norm.split()[-1:])
        is_value = each.type in ("number", "currency", "percentage") and column not in self.dates
        return is_value and not (is_id or self.grid.counted[column - 1])

    def _is_key(self, column: int) -> bool:
        share = self.grid.distinct[column - 1] / len(self.grid.rows)
        return share >= (_FIRST_KEY if self.texts[:1] == [column] else _KEY)

    def _take(self, match: re.Match[str] | None) -> bool:
        """Account for the words of a match; return whether there is one."""
        start, end = match.span() if match else (0, 0)
        self._account(at for at, place in enumerate(self.starts) if start <= place < end)
        return match is not None

    def _account(self, places: Iterable[int]) -> None:
        places = set(places)
        self.left -= places
        self.taken |= places

    def _at(self, offset: int) -> int:
        """Return the first word at or behind an offset that is no article or the like."""
        at = sum(start < offset for start in self.starts)
        passed = {each for each, word in enumerate(self.words) if word in STOP_WORDS} | self.taken
        while at in passed - self.left:
            at += 1
        return at

    def _before(self, at: int) -> str:
        return self.text[: self.starts[at]].rstrip()

    def _like(self, at: int, header: Iterable[str]) -> bool:
        """Return whether a word has the stem of one of a header, or begins like it."""
        word = _base(self.words[at])
        return any(
            word in (own, _base(own)) or same_start(word, own) >= max(_SHARED, len(own) - 3)
            for own in header
        )

    def _mentioned(self, column: int) -> set[int]:
        """Return the places of words that name a column."""
        header = self.grid.stems[column - 1]
        return {at for at in self.left if self._like(at, header)}

    def _column(self, at: int) -> tuple[int, int, bool]:
        """Return the column that the words from a place on name, their number, and if it is all."""
        found = []
        for column, header in enumerate(self.grid.stems, 1):
            places = range(at, at + len(header))
            named = [x in self.left and stem(self.words[x]) in header for x in places]
            if size := [*named, False].index(False):
                found.append((size == len(header), size, "name" in header, column))
        found.sort(reverse=True)
        if not found or (len(found) > 1 and found[0][:3] == found[1][:3]):
            return 0, 0, False
        return found[0][3], found[0][1], found[0][0]

    def _grouping(self, at: int) -> tuple[int, str] | None:
        """Return the column, and the part of its dates, that the words from a place on name."""
        if at >= len(self.words):
            return None
        column, size, _ = self._column(at)
        part = self.words[at].removesuffix("s")
        if part in _PARTS and column in (0, *self.dates):
            column, size = self._date_column(), 1
        elif column in (*self.texts, *self.dates):
            part = ""
        else:
            return None
        self._account(range(at, at + size) if column else ())
        return (column, "day" if part == "date" else part) if column else None

    def _date_column(self) -> int:
        """Return the column of dates that is meant: the only one, or the one that is mentioned."""
        named = [column for column in self.dates if self._mentioned(column)]
        if len(self.dates) > 1 and len(named) != 1:
            self.doubt = "there are several columns of dates"
        return next(iter(named or self.dates), 0)

    def read(self) -> Plan | None:
        """Return the plan for the figure that is asked for, None where none is."""
        cues = {name: match for name, cue in _CUES.items() if (match := cue.search(self.text))}
        group, part = 0, ""
        for match in _PER.finditer(self.text):
            if found := self._grouping(self._at(match.end())):
                group, part = found
            self._take(match if found else None)
        is_per = bool(group)
        end = "high" if "high" in cues else "low" if "low" in cues else ""
        if not is_per and end and (match := _WHICH.search(self.text)):
            group, part = self._grouping(self._at(match.end())) or (0, "")
            if not group and match[0].startswith("who"):
                group = next((c for c in self.texts[:1] if self._is_key(c)), 0)
            if not group and not match[0].startswith("what"):
                return None
        if not (is_per or end or "count" in cues or "average" in cues or "sum" in cues):
            return None
        for name in cues:
            for match in _CUES[name].finditer(self.text):
                if any(stem(word) in self.headers for word in match[0].split()):
                    self.doubt = f"“{match[0]}” may name a column"
                self._take(match)
        kind = next((kind for kind in ("average", "count", "sum") if kind in cues), "")
        column, is_rows = 0, kind == "count" or "often" in cues
        if kind == "count":
            behind = self.text[cues["count"].end() :].split()[:1]
            if _AUXILIARY.isdisjoint(behind):
                noun = self._at(cues["count"].end())
                kind, column = self._counted(noun, distinct="distinct" in cues)
        elif end and "often" not in cues and not kind:
            noun = self._at(cues[end].end())
            is_rows = self._is_row_noun(noun) and not _PRICED.search(self.text)
            column = 0 if is_rows else self._reckoned(named=True)
        self._find_dates()
        self._find_comparisons()
        self._find_cells()
        self._account(at for at in self.left.copy() if stem(self.words[at]) in self.names)
        if kind == "distinct" and column in self.conditions:
            kind, column = "count", 0
        for each in {*self.conditions, column, group} - {0}:
            self._account(self._mentioned(each))
        if kind in ("average", "sum") and not column:
            column = self._reckoned()
        # What all rows have does not narrow them down.
        if kind != "distinct" and (self.conditions or group or column):
            for each in self.texts + self.dates + self.quantities * (kind != "count"):
                if all(cell.norm for cell in self.grid.cells[each - 1]):
                    self._account(self._mentioned(each))
        rows = Rows(tuple(chain.from_iterable(self.conditions.values())))
        is_own = bool(group) and not part and self._is_key(group)
        if end and is_rows and kind not in ("sum", "average"):
            kind, column = "count", 0
            self.doubt = "each row is one of its own" if is_own else self.doubt
        elif end and not kind and not group and column:
            return Plan("max" if end == "high" else "min", rows, column)
        elif end and not kind and is_own and column:
            if group in self.conditions:
                self.doubt = "the highest is asked of what is named"
            return Plan("select", replace(rows, pick=Pick(column, "value", end == "high")), group)
        elif end and not kind:
            kind = "sum"
            if not re.search(r"\b(?:most|least|fewest)\b", self.text):
                self.doubt = "the highest of one row or of all rows together may be meant"
        if not kind or (kind != "count" and not column) or (end and not group):
            return None
        if kind == "sum" and self.grid.columns[column - 1].type == "percentage":
            self.doubt = "shares are not summed up"
        return Plan(kind, rows, column, group=group, part=part, end=end)

    def _is_row_noun(self, at: int) -> bool:
        """Return whether the word at a place, if there is one, is what the rows are called."""
        column, _, whole = self._column(at)
        if at >= len(self.words) or (whole and column in self.quantities):
            return False
        named = stem(self.words[at]) in self.names or (whole and self._is_key(column))
        self._account([at] if named else ())
        return named

    def _counted(self, at: int, *, distinct: bool) -> tuple[str, int]:
        """Return what is counted from a place on: rows, different texts, or a column's numbers."""
        if at >= len(self.words):
            return "count", 0
        column, size, whole = self._column(at)
        before = {x.condition.column for x in self.links.cells if x.exact and x.end == at}
        is_named = (stem(self.words[at]) in self.names or column in before) and not distinct
        if column and not (column in before or (is_named and not whole)):
            self._account(range(at, at + size))
            self.is_named = True
            if column in self.quantities:
                return "sum", column
            share = self.grid.distinct[column - 1] / len(self.grid.rows)
            is_key, is_first = self._is_key(column), column == next(iter(self.texts), 0)
            told = {stem(word) for word in self.words[at : at + size]}
            header = self.grid.columns[column - 1].header
            is_head = self.grid.stems[column - 1][-1] in told and not header.endswith(")")
            is_named = whole or (is_first if is_key and not distinct else is_head)
            if not is_named or (share > 0.5 and not (is_key or distinct)):
                self.doubt = self.doubt or f"rows or what differs in “{header}” may be counted"
            if column not in self.dates and (distinct or not is_key):
                return "distinct", column
        elif not is_named and at in self.left:
            self.open.add(at)
        return "count", 0

    def _reckoned(self, *, named: bool = False) -> int:
        """Return the column of numbers that is `named`, or else the only one (of prices)."""
        if _PRICED.search(self.text):
            priced = [c for c in self.quantities if _PRICES & {*self.grid.stems[c - 1]}]
            money = [c for c in self.quantities if self.grid.columns[c - 1].type == "currency"]
            if len(priced or money) == 1:
                return (priced or money)[0]
        told = {c: len(self._mentioned(c)) / len(self.grid.stems[c - 1]) for c in self.quantities}
        best = max(told.values(), default=0.0)
        columns = [c for c in told if told[c] == best and (best or not named)]
        if len(columns) > 1:
            self.doubt = "several columns of numbers may be meant"
        column = max(columns, default=0)
        self._account(self._mentioned(column) if column else ())
        return column

    def _add(self, condition: Condition, places: Iterable[int]) -> None:
        """Add a condition; further texts of a column are other ones that may stand there."""
        self._account(places)
        held = self.conditions.setdefault(condition.column, [])
        for at, other in enumerate(held):
            if (other.by, other.op) == (condition.by, condition.op) and condition.op == "=":
                if condition.by == "date":
                    self.doubt = "two dates are named"
                held[at] = other.or_(condition)
                return
        held.append(condition)

    def _find_dates(self) -> None:
        if not self.dates:
            return
        for match in _QUARTER.finditer(self.text):
            if column := self._date_column():
                last = 3 * int(match[1] or _QUARTERS[match[2]])
                months = tuple(f"{at:02}" for at in range(last - 2, last + 1))
                self._add(Condition(column, "=", "month", months, wording=match[0]), ())
                self._take(match)
        years = [x for x in self.links.numbers if (x.condition.date or "").isdigit()]
        dated = [*years, *self.links.dates]
        for (start, end), found in sorted({(x.start, x.end): x.condition for x in dated}.items()):
            if start in self.taken or not (column := self._date_column()):
                continue
            date, op = found.date or "", self._comparison(start, _DATED) or "="
            if date.startswith("--"):
                if op != "=" or len(date) > 4:
                    self.doubt = f"the year of {found.wording} is not given"
                wanted = Condition(column, "=", "month", (date[2:4],), wording=found.wording)
            else:
                wanted = replace(found, column=column, op=op)
            self._add(wanted, range(start, end))
            self._account(x for x in self.left.copy() if self.words[x] in _PARTS)

    def _find_comparisons(self) -> None:
        """Find the numbers that are compared with, each with the column of numbers near to it."""
        for at, value in self.links.number_places.items():
            op = self._comparison(at, _COMPARED) if at in self.left else ""
            named = {c: self._mentioned(c) for c in self.quantities}
            near = [c for c in named if any(abs(place - at) <= 4 for place in named[c])]
            if op and len(near) != 1 and len(named) != 1:
                self.doubt = f"it is not told with what {self.words[at]} is compared"
            elif op:
                column = (near or self.quantities)[0]
                self._account(named[column])
                self._add(Condition(column, op, "value", (), value, None, self.words[at]), [at])

    def _comparison(self, at: int, wordings: Iterable[tuple[str, str, str]]) -> str:
        """Return how a number or date is compared, by the words around it; account for them."""
        behind = self.starts[at] + len(self.words[at])
        for before, after, op in wordings:
            ahead = re.search(rf"\b(?:{before})$", self._before(at))
            next_ = re.compile(rf" (?:\w+ )?(?:{after})\b").match(self.text, behind)
            if self._take(ahead) | self._take(next_):
                return op
        return ""

    def _find_cells(self) -> None:
        """Find the cells that words name: whole ones, in another form, or a part of only one."""
        spans: dict[tuple[int, int], list[tuple[int, int, tuple[str, ...]]]] = {}
        for link in self.links.cells:
            wanted = link.condition
            if wanted.by == "text" and wanted.texts != ("",) and link.share > 0.6:
                rank, texts = (0, wanted.texts) if link.exact else (2, self._only(wanted))
                spans.setdefault((link.start, link.end), []).append((rank, wanted.column, texts))
        for at in self.left:
            forms = [(1, column, self._other_forms(at, column)) for column in self.texts]
            spans.setdefault((at, at + 1), []).extend(forms)
        ranked = [
            (found[0][0] > 1, start - end, start, found)
            for (start, end), every in spans.items()
            if (found := sorted(one for one in every if one[2]))
        ]
        for _, size, start, found in sorted(ranked):
            end = start - size
            said = self.words[start:end]
            if FUNCTION_WORDS.issuperset(said) or self.taken & {*range(start, end)}:
                continue
            best = [one for one in found if one[0] == found[0][0]]
            best = [one for one in best if self._mentioned(one[1])] or best
            if len({column for _, column, _ in best}) > 1:
                self.doubt = f"“{' '.join(said)}” stands in several columns"
            rank, column, texts = best[0]
            longer = [f" {text} " for text in self.grid.folded[column - 1] if text not in texts]
            if rank < 2 and any(f" {own} " in text for text in longer for own in texts if own):
                self.doubt = f"“{' '.join(said)}” stands within longer texts too"
            denied = _NOT.search(self._before(start))
            self._take(denied)
            self._account(self._mentioned(column))
            op, wording = "!=" if denied else "=", " ".join(said)
            self._add(Condition(column, op, "text", texts, wording=wording), range(start, end))

    def _only(self, wanted: Condition) -> tuple[str, ...]:
        """Return the only text of a column that has words, none where several have them."""
        texts = self.grid.folded[wanted.column - 1].items()
        held = [norms for text, norms in texts if any(p in f" {text} " for p in wanted.texts)]
        is_one = len(held) == 1 < len(self.grid.rows) and wanted.column in self.texts
        return held[0] if is_one else ()

    def _other_forms(self, at: int, column: int) -> tuple[str, ...]:
        """Return the texts of a column that are forms of a word; of yes and no, what it affirms."""
        texts, base = self.grid.folded[column - 1], _base(self.words[at])
        if len(texts) > _FEW:
            return ()
        told = {text for text in texts if _base(text) == base}
        if set(texts) <= _TRUE | _FALSE:
            told = {*_TRUE} if self._like(at, self.grid.stems[column - 1]) else set()
        return tuple(norm for text, norms in texts.items() if text in told for norm in norms)


def _base(word: str) -> str:
    return stem(PAST_FORMS.get(word, word))
