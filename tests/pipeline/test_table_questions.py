"""Questions over one table: links, plans, answers, confidence."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pytest
from structured_documents import store

from kgp_neo4j.corpus.load.contents import markdown, normal
from kgp_neo4j.corpus.load.stored import delete_corpus
from kgp_neo4j.corpus.tables.outline import Cell, Column, Grid, Library, TableOutline
from kgp_neo4j.corpus.tables.questions.cell_links import link
from kgp_neo4j.corpus.tables.questions.plans import Condition, Pick, Plan, Rows, denotation
from kgp_neo4j.corpus.tables.questions.ranker import candidates
from kgp_neo4j.corpus.tables.reading import Reading, answer_from_table, run
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.text.values import column_type, typed
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import SourceTable, Span

_ROWS = (
    ("Ship", "Flag", "Launched", "Crew", "Cost", "Home port"),
    ("Ardent Rose", "Norway", "12 May 1898", "41", "£9,800", "Bergen"),
    ("Black Gannet", "Denmark", "3 June 1901", "18", "£4,150", "Esbjerg"),
    ("Castle Moyle", "Norway", "1904", "33", "", "Oslo"),
    ("Dover Queen", "Iceland", "20 May 1904", "18", "£7,000", "Reykjavík"),
    ("Elsinore", "Denmark", "August 1911", "62", "£12,000", "Copenhagen"),
    ("Fair Isle", "Norway", "1912-1913", "27", "£8,250", "Bergen"),
)
_SHIPS = SourceTable(rows=_ROWS, caption="Table 1. Ships of the line", number="1")


def _document(name: str, table: SourceTable) -> SourceDocument:
    """Return a document that is a table alone."""
    return SourceDocument(name, markdown(table), f"/{name}.csv", tables=(table,))


@pytest.fixture(scope="module")
def library(database: Database, shared_corpus: str) -> Library:
    """A corpus with the table of ships alone."""
    store(database, shared_corpus, _document("Ships", _SHIPS))
    return Library(database, shared_corpus)


@pytest.fixture(scope="module")
def ships(library: Library) -> TableOutline:
    """The table of ships."""
    (table,) = library.tables(library.documents)
    return table


def grid_of(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Grid:
    """Return the grid of texts that are in no graph; short rows are padded with empty cells."""
    width = len(header)
    texts = [[*row, *[""] * (width - len(row))][:width] for row in rows]
    columns = tuple(
        Column(at + 1, " ".join(name.split()), normal(name), column_type(row[at] for row in texts))
        for at, name in enumerate(header)
    )
    read = [[(text, typed(text)) for text in row] for row in texts]
    cells = tuple(tuple(Cell(t, normal(t), v.number, v.date) for t, v in row) for row in read)
    return Grid(columns, cells, tuple(range(1, len(cells) + 1)))


@pytest.fixture
def grid() -> Grid:
    return grid_of(_ROWS[0], _ROWS[1:])


def _is(column: int, *texts: str) -> Condition:
    return Condition(column, "=", texts=texts)


_NORWAY, _MOYLE = Rows((_is(2, "norway"),)), Rows((_is(1, "castle moyle"),))
_GANNET = Rows((_is(1, "black gannet"),))
_PLANS: list[tuple[Plan, tuple[str, ...]]] = [
    (Plan("select", _MOYLE, 6), ("Oslo",)),
    (Plan("select", Rows((_is(2, "norway"), _is(6, "bergen"))), 1), ("Ardent Rose", "Fair Isle")),
    (Plan("select", Rows((Condition(1, "contains", texts=(" queen ",)),)), 2), ("Iceland",)),
    (Plan("select", Rows((Condition(2, "!=", texts=("norway",)),)), 2), ("Denmark", "Iceland")),
    (Plan("select", Rows((Condition(0, "=", "value", (), 4.0),)), 2), ("Iceland",)),
    (Plan("count", Rows()), ("6",)),
    (Plan("count", Rows((Condition(4, ">=", "value", (), 27.0),))), ("4",)),
    (Plan("count", Rows((Condition(3, "=", "date", date="1904"),))), ("2",)),
    (Plan("exists", Rows((_is(2, "sweden"),))), ("no",)),
    (Plan("distinct", Rows(), 5), ("5",)),
    (Plan("sum", _NORWAY, 4), ("101",)),
    (Plan("average", _NORWAY, 5), ("9025",)),
    (Plan("min", _NORWAY, 5), ("8250",)),
    (Plan("common", Rows(), 2), ("Norway",)),
    (Plan("select", Rows(pick=Pick(4, "value", False)), 1), ("Black Gannet", "Dover Queen")),
    (Plan("select", Rows(pick=Pick(4, "value", True, 2)), 1), ("Ardent Rose",)),
    (Plan("select", Rows(pick=Pick(3, "date", False)), 1), ("Ardent Rose",)),
    (Plan("select", replace(_NORWAY, pick=Pick(0, "order", True)), 1), ("Fair Isle",)),
    (Plan("select", replace(_MOYLE, shift=1), 1), ("Dover Queen",)),
    (Plan("select", replace(_MOYLE, like=2), 1), ("Ardent Rose", "Fair Isle")),
    (Plan("count", Rows(), group=2), ("Denmark: 2", "Iceland: 1", "Norway: 3")),
    (Plan("average", _NORWAY, 4, group=6), ("Bergen: 34", "Oslo: 33")),
    (Plan("count", Rows(), group=3, part="year", end="high"), ("1904",)),
    (Plan("sum", Rows(), 4, group=3, part="month", end="low"), ("June 1901", "May 1904")),
    (Plan("difference", _MOYLE, 3, _GANNET, unit="years"), ("3 years",)),
    (Plan("difference", _NORWAY, 4, _GANNET), ()),
]  # fmt: skip


def test_plans_give_their_values(grid: Grid) -> None:
    for plan, expected in _PLANS:
        assert denotation(grid, plan).values == expected, plan


def test_a_plan_over_a_long_table_looks_at_all_rows(library: Library, ships: TableOutline) -> None:
    """A few rows are enough to read the question, and too few to count by."""
    part = library.rows(ships, words=["elsinore"], limit=2)
    assert [row.number for row in part] == [1, 2, 5]
    for plan, expected in _PLANS[::4]:
        assert run(library, ships, part, plan).values == expected, plan


def test_words_are_linked_to_codes_and_to_words_that_begin_like_them() -> None:
    rows = [("Ada", "W", "ITA"), ("Bo", "L", "GER"), ("Cleo", "W", "Italy, once")]
    for some, flag in ((rows, " italy "), (rows[:2], "ita")):  # all three are more than codes
        links = link("Which Italian player won?", grid_of(("Player", "Result", "Flag"), some))
        conditions = {(each.condition.column, each.condition.texts) for each in links.cells}
        assert conditions == {(2, ("w",)), (3, (flag,))}


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?",
        "ß" * 3000,
        "1 2 3 4 5 6 7 8 9 10",
        "how many a have the most x",
        "row ²",
        "\x00\ud800",
    ],
)
def test_odd_questions_and_tables_do_not_fail(grid: Grid, question: str) -> None:
    empty = [grid_of([], []), grid_of(["a"], []), grid_of(["", ""], [["", ""], ["x", ""]])]
    for each in (grid, *empty):
        assert len(candidates(link(question, each), each)) <= 700


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("What is the home port of Dover Queen?", ("Reykjavík",)),
        ("Which ship has the highest crew?", ("Elsinore",)),
        ("What is the maximum cost?", ("12000", "£12,000")),
        ("How many rows are there?", ("6",)),
        ("What is the difference in crew between Elsinore and Fair Isle?", ("35",)),
        ("Which has the higher crew, Castle Moyle or Fair Isle?", ("Castle Moyle",)),
        ("Which ship comes after Dover Queen?", ("Elsinore",)),
        ("How many different flags are there?", ("3",)),
        ("What is the flag in row 4?", ("Iceland",)),
        ("How many ships have a crew of at least 41?", ("2",)),
        ("How many rows have the launched date 12 May 1898?", ("1",)),
    ],
)
def test_plain_questions_are_answered(
    library: Library, ships: TableOutline, question: str, values: tuple[str, ...]
) -> None:
    answer = answer_from_table(library, ships, question)
    assert answer.values in {values, *((v,) for v in values)}, answer.reading
    assert answer.sure or (answer.probable and answer.text == answer.values[0]), answer.reading
    assert answer.text
    cited = {(c.table, c.table_name, c.title) for c in answer.citations}
    assert cited == {(ships.id, "Table 1", "Ships")}


def test_an_answer_has_its_cell_reading_and_query(library: Library, ships: TableOutline) -> None:
    answer = answer_from_table(library, ships, "What is the home port of Dover Queen?")
    (cited,) = answer.citations
    place = (cited.row, cited.row_name, cited.column, cited.column_name, cited.text)
    assert place == (4, "Dover Queen", 6, "Home port", "Reykjavík")
    assert answer.reading == "Home port where Ship is 'dover queen'"
    query = library.queries[-1]
    assert query.cypher.startswith("// structure.rows(")
    rows = library.database.read("structure/rows", **query.parameters)
    assert rows[3]["cells"][5] == ["Reykjavík", "reykjavík", None, None]
    assert rows[0]["cells"][2] == ["12 May 1898", "12 may 1898", 1898.0, "1898-05-12"]


def test_an_uncertain_answer_claims_nothing(library: Library, ships: TableOutline) -> None:
    answer = answer_from_table(library, ships, "Why did the harbour master resign so suddenly?")
    assert not answer.sure
    assert answer.doubt
    assert not any(value in answer.text for value in answer.values if len(value) > 2)


def test_heading_rows_and_points_between_thousands(database: Database, corpus: str) -> None:
    rows = (
        ("Port", "Berths", "Dues"),
        ("South", "South", "South"),
        ("Lyme", "12", "9,80"),
        ("Poole", "30", "12,40"),
        ("North", "", ""),
        ("Whitby", "980", "7,00"),
        ("Blyth", "2.350", "8,25"),
    )
    table = SourceTable(rows, spans=(Span(1, 0, 1, 3),))
    store(database, corpus, _document("Dues", table))
    library = Library(database, corpus)
    (ports,) = library.tables(library.documents)
    assert ports.rows == 4
    kept = library.rows(ports, limit=10)
    assert [row.number for row in kept] == [1, 2, 3, 4]
    assert [row.cells[1].value for row in kept] == [12.0, 30.0, 980.0, 2350.0]
    assert answer_from_table(library, ports, "How many ports are there?").values == ("4",)
    most = answer_from_table(library, ports, "Which port has the most berths?")
    assert most.values == ("Blyth",)


_VISITS = (
    ("Visit", "Vet", "Animal", "Fee", "Weight", "Seen on", "State", "Insured"),
    ("V-1", "Ida Moen", "goat", "€40", "31.5", "2024-03-02", "healed", "yes"),
    ("V-2", "Ole Berg", "horse", "€120", "480", "2024-03-19", "lost", "no"),
    ("V-3", "Ida Moen", "goat", "€60", "28", "2024-05-07", "healed", "yes"),
    ("V-4", "Ida Moen", "sheep", "€35", "52.5", "2024-05-11", "lost", "no"),
    ("V-5", "Ole Berg", "goat", "€45", "30", "2024-11-30", "healed", "no"),
    ("Total", "", "", "€300", "622", "", "", ""),
)
_ACCOUNTS = (("Monat", "Umsatz", "Kosten"), ("Mai", "900", "400"), ("Juni", "700", "650"))


@pytest.fixture(scope="module")
def figures(database: Database) -> Iterator[str]:
    """A corpus with the tables of visits and of accounts."""
    made = (_document("Visits", SourceTable(_VISITS)), _document("Konten", SourceTable(_ACCOUNTS)))
    store(database, "test figures", *made)
    yield "test figures"
    delete_corpus(database, "test figures")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many visits are there?", "5"),
        ("How many visits did Ida Moen have?", "3"),
        ("How many goats were seen in May?", "1"),
        ("How many visits of Ole Berg were not insured?", "2"),
        ("How many visits did Ida Moen lose?", "1"),
        ("How many visits were there between March 2024 and May 2024?", "4"),
        ("How many visits were there in the last quarter of 2024?", "1"),
        ("What is the average fee of Ida Moen?", "45"),
        ("What is the total fee for goats?", "145"),
        ("Which visit has the highest fee?", "V-2"),
        ("Which visit was the cheapest?", "V-4"),
        ("Which vet had the most visits?", "Ida Moen (3)"),
        ("Which month had the fewest visits?", "November 2024 (1)"),
        ("How many visits were there per animal?", "goat: 3\nhorse: 1\nsheep: 1"),
        # A word that nothing of the table stands for may narrow down what is asked.
        ("How many visits were paid late?", ""),
        ("How many visits did Ida Moen cancel in March?", ""),
        ("What is the total revenue?", ""),
        ("What is the average discount of Ole Berg?", ""),
        ("How many lawyers live in Bergen?", ""),
    ],
)
def test_figures_over_rows_are_reckoned_or_not_stated(
    database: Database, figures: str, question: str, text: str
) -> None:
    reading = Reading(database, figures, question)
    answer = reading.answer()
    assert (answer.text if answer.sure else "") == text, (answer.reading, answer.doubt)
    assert answer.computes or not text
    assert reading.decision.type == "structural" or not text
    assert {c.table_name for c in answer.citations} <= {"Table 1"}
