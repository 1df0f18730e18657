"""Answer a question from one table of the graph: fetch, link, read, judge, run."""

from calendar import month_name
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import PurePath

from kgp_neo4j.corpus.load.grid import normal
from kgp_neo4j.corpus.tables.outline import (
    Library,
    TableOutline,
    TableRow,
    cite_cell,
    cite_table,
)
from kgp_neo4j.corpus.tables.questions.candidates import Candidate, candidates
from kgp_neo4j.corpus.tables.questions.cell_links import Links, link
from kgp_neo4j.corpus.tables.questions.features import example
from kgp_neo4j.corpus.tables.questions.figures import Figure, figure_in_words, read_figure
from kgp_neo4j.corpus.tables.questions.plans import (
    Pick,
    Plan,
    Rows,
    columns_of,
    denotation,
    in_words,
    shown,
)
from kgp_neo4j.corpus.tables.questions.ranker import load_ranker
from kgp_neo4j.corpus.tables.questions.table_grid import STOP, Cell, Grid
from kgp_neo4j.text.words import stem
from kgp_neo4j.types.tables import StructuralAnswer

#: Rows of a long table that are enough to read a question, and cells that an answer cites at most.
_READ, _CITED = 500, 50
#: Probability of a figure that every word leads to, and where one word more or less may be meant;
#: most of a figure that a word of the question may narrow down.
_SURE, _NEAR, _UNCLEAR = 0.95, 0.7, 0.45
#: From which probability on another reading makes a figure that every word leads to unsure.
_OTHERWISE = 0.6


def answer_from_table(
    library: Library, table: TableOutline, question: str, *, strict: bool = False
) -> StructuralAnswer:
    """Answer a question from one table.

    A figure over rows that each word of the question leads to is reckoned in the database. Others
    are read as a plan, which is run on the rows that a read-only query returns. Where the reading
    is uncertain, `values` has the result, but `text` claims nothing unless it is probable, and
    `doubt` is the reason. A `strict` reading of a figure gives nothing where a word is left over.
    """
    # Of a long table only the first rows and those with some of the question's words are read.
    words = [word for word in normal(question).split() if word not in STOP]
    rows = library.rows(table, words=words, limit=_READ)
    grid = _grid(table, rows)
    links = link(question, grid)
    names = f"{table.caption} {table.document.title} {PurePath(table.document.source).stem}"
    figure = read_figure(links, grid, map(stem, normal(names).split()))
    answer = StructuralAnswer("", doubt="No reading of the question fits this table.", confidence=0)
    answer = replace(answer, computes=figure is not None and figure.fits)
    if strict and not answer.computes:
        return answer
    if figure and (figure.sure or figure.near):
        confidence = _SURE if figure.sure else _NEAR
        answer = _reckoned(library, table, figure, grid, rows)
        answer = replace(answer, confidence=confidence, computes=True)
        if figure.sure and answer.values:
            if not _is_denied(links, grid, figure, answer.values):
                return answer
            answer = replace(answer, confidence=_NEAR)
    elif learned := _learned(links, grid):
        ranker = load_ranker()
        best, confidence = learned
        if figure and (strict or best.plan.kind not in ("select", "exists")):
            confidence = min(confidence, _UNCLEAR if strict else ranker.threshold - 0.01)
        found = run(library, table, rows, best.plan)
        computes = found.computes or answer.computes
        answer = replace(found, confidence=round(confidence, 3), computes=computes)
        if confidence >= ranker.threshold and answer.values:
            return answer
    left = f"“{' '.join(figure.unread)}” is not accounted for" if figure and figure.unread else ""
    why = (figure.doubt if figure else "") or left
    doubt = answer.doubt or (
        f"The question may mean: {answer.reading}; that reading is right with a probability of "
        f"{answer.confidence:.0%} only{f' ({why})' if why else ''}."
    )
    unsure = replace(answer, sure=False, doubt=doubt)
    text = f"It is not certain what is asked of {table.name}; see the table."
    return unsure if unsure.probable else replace(unsure, text=text)


def _learned(links: Links, grid: Grid) -> tuple[Candidate, float] | None:
    """Return the likeliest of the readings that the ranker knows, with its probability."""
    readings = candidates(links, grid)
    return load_ranker().judge(example(links, grid, readings), readings) if readings else None


def _is_denied(links: Links, grid: Grid, figure: Figure, values: Sequence[str]) -> bool:
    """Return whether the learned reading, by as many conditions, is sure of another value."""
    learned = None if figure.group else _learned(links, grid)
    if learned is None:
        return False
    best, confidence = learned
    is_other = {*best.result.values} != {*values}
    told = len(best.plan.rows.conditions) >= len(figure.conditions)
    return told and is_other and confidence >= _OTHERWISE


def _reckoned(
    library: Library, table: TableOutline, figure: Figure, grid: Grid, rows: Sequence[TableRow]
) -> StructuralAnswer:
    """Return the value of a figure over all rows; of a whole column, from its own total if any."""
    if figure.kind == "select":
        pick = Pick(figure.column, "value", figure.end == "high")
        plan = Plan("select", Rows(figure.conditions, 0, pick), figure.group)
        return run(library, table, rows, plan)
    column = grid.columns[figure.column - 1] if figure.column else None
    reading = figure_in_words(figure, grid)
    whole = figure.kind in grid.totals.values() and not (figure.conditions or figure.group)
    for at, kind in reversed([*grid.totals.items()] if whole else []):
        cell = grid.rows[at][figure.column - 1]
        if kind == figure.kind and cell.value is not None:
            place = cite_cell(table, rows[at], column, cell.text)
            reading = f"{reading}, as row {rows[at].number} gives it"
            return StructuralAnswer(cell.text, (cell.text,), citations=(place,), reading=reading)
    found = library.read(
        "structure/figures", table=table.id, conditions=[*map(asdict, figure.conditions)],
        column=figure.column, group=figure.group, part=figure.part,
    )  # fmt: skip
    name = "rows" if figure.kind == "count" else figure.kind
    if figure.kind in ("count", "distinct"):
        found = found or ([] if figure.group else [{name: 0, "cited": []}])
    else:
        found = [row for row in found if row["valued"]]
    if figure.end and found:
        best = (max if figure.end == "high" else min)(row[name] for row in found)
        found = [row for row in found if row[name] == best]
    digits = 2 if figure.kind == "average" else 6
    values = [shown(round(float(row[name]), digits)) for row in found]
    text = ", ".join(values)
    if figure.group:
        keys = [row["title"] if not figure.part else _dated(row["key"]) for row in found]
        pairs = [*zip(keys, values, strict=True)]
        listed = "\n".join(f"{key}: {value}" for key, value in pairs)
        text = ", ".join(f"{k} ({v})" for k, v in pairs) if figure.end else listed
        values = keys if figure.end else listed.split("\n")
    places = [TableRow(**place, total=None, cells=()) for row in found for place in row["cited"]]
    cited = tuple(cite_cell(table, place, None, place.title) for place in places[:_CITED])
    cited = cited or (cite_table(table),)
    return StructuralAnswer(text, tuple(values), citations=cited, reading=reading)


def _dated(key: str) -> str:
    """Return a part of a date as people write it: "March 2025" for 2025-03."""
    if key.startswith("--"):
        return month_name[int(key[2:])]
    is_month = len(key) == 7 and key[5:].isdigit()
    return f"{month_name[int(key[5:])]} {key[:4]}" if is_month else key


def _grid(table: TableOutline, rows: Sequence[TableRow], columns: Sequence[int] = ()) -> Grid:
    """Return rows as a grid; where they have the cells of some columns alone, others are empty."""
    orders = columns or [column.order for column in table.columns]
    cells = [dict(zip(orders, row.cells, strict=True)) for row in rows]
    lines = [tuple(line.get(c.order, Cell("", "")) for c in table.columns) for line in cells]
    totals = {at: row.total for at, row in enumerate(rows) if row.total}
    return Grid(table.columns, tuple(lines), tuple(row.number for row in rows), totals)


def run(
    library: Library, table: TableOutline, rows: Sequence[TableRow], plan: Plan
) -> StructuralAnswer:
    """Run a plan on all rows of a table and return its values, with their cells."""
    columns: Sequence[int] = ()
    if len(rows) < table.rows:
        columns = columns_of(plan) or [1]
        rows = library.rows(table, columns=columns, limit=table.rows)
    grid = _grid(table, rows, columns)
    result = denotation(grid, plan)
    column = grid.columns[plan.column - 1] if plan.column else None
    citations = [
        cite_cell(table, rows[at], column, grid.rows[at][plan.column - 1].text if column else "")
        for at in result.rows[:_CITED]
    ]
    return StructuralAnswer(
        ", ".join(result.values),
        values=result.values,
        reading=in_words(plan, grid),
        citations=tuple(citations),
        computes=plan.kind not in ("select", "exists") or plan.rows.pick is not None,
    )
